// The tree of files as sync clients see it. Tests are named after the checks that a client makes.
#include "nextcloud/nextcloud_fixture.hpp"

namespace welkin::tests {
namespace {

const std::string kOc = "{http://owncloud.org/ns}", kNc = "{http://nextcloud.org/ns}";
const std::string kDesktop =
    "<d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getetag/><oc:id/><oc:fileid/"
    "><oc:downloadURL/><oc:dDC/>"
    "<oc:permissions/><oc:checksums/><oc:size/><oc:share-types/><oc:data-fingerprint/><nc:lock/"
    "><nc:lock-owner/>"
    "<nc:lock-owner-displayname/><nc:lock-owner-type/><nc:lock-owner-editor/><nc:lock-time/><nc:lock-timeout/"
    ">"
    "<nc:lock-token/><nc:is-encrypted/><nc:is-mount-root/><nc:metadata-files-live-photo/>";

TEST_F(NextcloudTest, N12_FormOfAListing) {
  ASSERT_EQ(status("MKCOL", files + "/Docs"), 201);
  ASSERT_EQ(put(files + "/a%20b+c.txt", "hello"), 201);
  for (const auto* slash : {"", "/"}) {
    const auto answer = propfind(files + slash, "1", kDesktop);
    ASSERT_EQ(answer.http.status, 207);
    EXPECT_EQ(answer.http.header("content-type"), "application/xml; charset=utf-8");
    ASSERT_EQ(answer.responses.size(), 3u);
    EXPECT_EQ(answer.responses[0].href, files + "/");
    EXPECT_EQ(answer.responses[1].href, files + "/Docs/");
    EXPECT_EQ(answer.responses[2].href, files + "/a%20b+c.txt");
  }
}

TEST_F(NextcloudTest, N13_EveryEntryHasWhatASyncNeeds) {
  ASSERT_EQ(status("MKCOL", files + "/Docs"), 201);
  ASSERT_EQ(put(files + "/a.txt", "hello", {{"OC-Checksum", sha1("hello")}}), 201);
  const auto answer = propfind(files, "1", kDesktop);
  ASSERT_EQ(answer.responses.size(), 3u);
  for (const auto& entry : answer.responses) {
    for (const auto& name :
         {kOc + "id", kOc + "fileid", kOc + "permissions", std::string("getetag"), kOc + "size"})
      EXPECT_EQ(entry.status_of(name), 200) << name << " of " << entry.href;
    const auto id = entry.text(kOc + "id");
    EXPECT_EQ(id.substr(0, 8),
              std::string(8 - entry.text(kOc + "fileid").size(), '0') + entry.text(kOc + "fileid"));
    EXPECT_EQ(id.substr(8, 2), "oc");
    EXPECT_EQ(id.size(), 20u);
  }
  EXPECT_EQ(answer.responses[0].text(kOc + "permissions"), "RGDNVCK");
  EXPECT_EQ(answer.responses[2].text(kOc + "permissions"), "RGDNVW");
  EXPECT_TRUE(answer.responses[2].properties.at("resourcetype").element.children.empty());
  EXPECT_EQ(answer.responses[0].text(kOc + "data-fingerprint"), "");
  EXPECT_EQ(answer.responses[0].text(kOc + "size"), "5");
  // Apps look for names as they are written, and at the first propstat only.
  const auto first = answer.http.body.find("<d:propstat>");
  EXPECT_LT(answer.http.body.find("<oc:id>", first), answer.http.body.find("</d:propstat>", first));
  EXPECT_NE(answer.http.body.find("<oc:checksum>" + sha1("hello") + " SHA256:"), std::string::npos);
}

TEST_F(NextcloudTest, N14_UnknownAndUnnamedProperties) {
  ASSERT_EQ(put(files + "/a", "x"), 201);
  const auto asked = propfind(files + "/a", "0", "<nc:nonsense/><d:getetag/>");
  ASSERT_EQ(asked.responses.size(), 1u);
  EXPECT_EQ(asked.responses[0].status_of(kNc + "nonsense"), 404);
  EXPECT_EQ(asked.responses[0].status_of("getetag"), 200);
  const auto all = propfind(files + "/a", "0", "");
  ASSERT_EQ(all.responses.size(), 1u);
  EXPECT_EQ(all.responses[0].order,
            (std::vector<std::string>{"resourcetype", "getcontentlength", "getcontenttype", "getetag",
                                      "getlastmodified"}));
}

TEST_F(NextcloudTest, N20_WhatIsNotThere) {
  EXPECT_EQ(status("PROPFIND", files + "/nowhere", {{"Depth", "0"}}), 404);
  EXPECT_TRUE(says("<s:exception>Sabre\\DAV\\Exception\\NotFound</s:exception>")) << last.body;
  EXPECT_EQ(status("PROPFIND", dav + "/files/" + bob.name + "/", {{"Depth", "0"}}), 404);
  EXPECT_EQ(status("PUT", dav + "/files/" + bob.name + "/x", {}, "x"), 404);
}

TEST_F(NextcloudTest, N28_AStaleEtagWritesNothing) {
  ASSERT_EQ(put(files + "/a", "one"), 201);
  const auto id = id_of(files + "/a");
  const auto tag = last.header("etag");
  ASSERT_EQ(put(files + "/a", "two", {{"If-Match", tag}}), 204);
  EXPECT_EQ(last.header("oc-fileid"), id);
  EXPECT_EQ(last.header("oc-etag"), last.header("etag"));
  EXPECT_EQ(put(files + "/a", "three", {{"If-Match", tag}}), 412);
  EXPECT_EQ(get(files + "/a"), "two");
}

TEST_F(NextcloudTest, N39_Checksums) {
  EXPECT_EQ(put(files + "/a", "hello", {{"OC-Checksum", sha1("other")}}), 400);
  EXPECT_TRUE(says("Sabre\\DAV\\Exception\\BadRequest"));
  EXPECT_EQ(get(files + "/a"), "status 404");
  ASSERT_EQ(put(files + "/a", "hello", {{"OC-Checksum", sha1("hello")}}), 201);
  EXPECT_EQ(get(files + "/a"), "hello");
  EXPECT_EQ(last.header("oc-checksum"), sha1("hello"));
  ASSERT_EQ(put(files + "/a", "changed"), 204);
  get(files + "/a");
  EXPECT_EQ(last.header("oc-checksum").substr(0, 7), "SHA256:") << "never that of another content";
}

TEST_F(NextcloudTest, N40_Times) {
  for (const auto* time : {"1700000000", "1700000000.5"}) {
    EXPECT_LT(put(files + "/a", "x", {{"X-OC-Mtime", time}}), 300);
    EXPECT_EQ(last.header("x-oc-mtime"), "accepted");
    EXPECT_EQ(one(files + "/a", "d:getlastmodified", "getlastmodified"), "Tue, 14 Nov 2023 22:13:20 GMT");
  }
  for (const auto* time : {"abc", "0x10", "-5", "0"})
    EXPECT_EQ(put(files + "/a", "y", {{"X-OC-Mtime", time}}), 400);
  EXPECT_EQ(get(files + "/a"), "x");
  ASSERT_EQ(put(files + "/b", "x", {{"X-OC-CTime", "1600000000"}}), 201);
  EXPECT_EQ(last.header("x-oc-ctime"), "accepted");
  EXPECT_EQ(one(files + "/b", "nc:creation_time", kNc + "creation_time"), "1600000000");
}

TEST_F(NextcloudTest, N41_Parents) {
  EXPECT_EQ(put(files + "/x/y/a", "x"), 409);
  EXPECT_EQ(put(files + "/x/y/a", "x", {{"X-NC-WebDAV-AutoMkcol", "1"}}), 201);
  EXPECT_EQ(get(files + "/x/y/a"), "x");
  EXPECT_EQ(put(files + "/x/z/a", "x", {{"X-NC-WebDAV-Auto-Mkcol", "1"}}), 201);
  EXPECT_EQ(status("MKCOL", files + "/m"), 201);
  EXPECT_EQ(last.header("oc-fileid").substr(8, 2), "oc");
  EXPECT_EQ(status("MKCOL", files + "/m"), 405);
  EXPECT_EQ(status("MKCOL", files + "/no/m"), 409);
  EXPECT_EQ(status("MKCOL", files + "/n", {{"Content-Type", "text/plain"}}, "x"), 415);
}

TEST_F(NextcloudTest, N49_TheDeadSchemeOfChunksIsRefused) {
  EXPECT_EQ(put(files + "/big-chunking-1-2-0", "x", {{"OC-Chunked", "1"}}), 501);
  EXPECT_EQ(get(files + "/big-chunking-1-2-0"), "status 404");
}

TEST_F(NextcloudTest, N53_WhatIsOfferedAbove) {
  last = client.send("OPTIONS", dav);
  EXPECT_EQ(last.status, 200);
  EXPECT_NE(last.header("allow").find("SEARCH"), std::string::npos);
  for (const auto* word : {"1, 3", "calendar-access", "addressbook"})
    EXPECT_NE(last.header("dav").find(word), std::string::npos) << last.header("dav");
}

TEST_F(NextcloudTest, N55_PreviewsArePromisedOfWhatTheyAreMadeOf) {
  const std::string name = "{http://nextcloud.org/ns}has-preview";
  put(files + "/a.jpg", "no picture, but called one");
  put(files + "/a.bin", "no picture");
  put(files + "/empty.jpg", "");
  EXPECT_EQ(one(files + "/a.jpg", "nc:has-preview", name),
            server.thumbnails->makes_of("image/jpeg") ? "true" : "false");
  EXPECT_EQ(one(files + "/a.bin", "nc:has-preview", name), "false");
  EXPECT_EQ(one(files + "/empty.jpg", "nc:has-preview", name), "false");
  EXPECT_EQ(one(files + "/", "nc:has-preview", name), "false");
}

TEST_F(NextcloudTest, RenamedFilesKeepTheirIds) {
  ASSERT_EQ(put(files + "/old", "1"), 201);
  ASSERT_EQ(status("DELETE", files + "/old"), 204);
  ASSERT_EQ(put(files + "/a", "2"), 201);
  const auto id = last.header("oc-fileid");
  ASSERT_EQ(status("MOVE", files + "/a", {{"Destination", files + "/old"}}), 201);
  EXPECT_EQ(last.header("oc-fileid"), id);
  EXPECT_EQ(id_of(files + "/old"), id);
}

TEST_F(NextcloudTest, TheLegacyAddressIsTheSameTree) {
  ASSERT_EQ(put(files + "/a", "x"), 201);
  EXPECT_EQ(get("/remote.php/webdav/a"), "x");
  const auto answer = propfind("/remote.php/webdav", "1", "<oc:id/>");
  ASSERT_EQ(answer.responses.size(), 2u);
  EXPECT_EQ(answer.responses[1].href, "/remote.php/webdav/a");
  EXPECT_EQ(answer.responses[1].text(kOc + "id"), id_of(files + "/a"));
}

}  // namespace
}  // namespace welkin::tests
