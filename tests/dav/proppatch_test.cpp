#include "dav/dav_client.hpp"
#include "welkin/files/locks.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::tests {
namespace {

struct DavProppatch : DavTest {
  NodeId file = server.file(alice, area, "file", "hello");
  static constexpr const char* kFile = "/webdav/area/file";

  wire::XmlElement value(const std::string& names, const std::string& clark_name,
                         const std::string& path = kFile) {
    const auto answer = propfind(path, "0", prop(names));
    const auto& properties = answer.responses.at(0).properties;
    const auto at = properties.find(clark_name);
    if (at == properties.end() || at->second.status != 200) return {};
    return at->second.element;
  }
  std::string written(const wire::XmlElement& element) {
    std::string out;
    wire::append_xml(out, element);
    return out;
  }
};

// A value comes back as it was meant: attributes, language, namespaces, order, and what is beyond U+FFFF.
TEST_F(DavProppatch, KeepsValuesOfAnyXml) {
  const std::string inner =
      "<x:p xmlns:x='urn:x' xmlns:y='urn:y' y:a='&lt;1&amp;' b='2'>mixed <x:b xmlns:x='urn:other'>bold</x:b> "
      "&lt;text&gt;\xC3\xA9&#65536;<none xmlns=''/><y:e/> end</x:p>";
  const auto answer = dav.send("PROPPATCH", kFile, {},
                               "<d:propertyupdate xmlns:d='DAV:' xml:lang='de'><d:set><d:prop>" + inner +
                                   "</d:prop></d:set></d:propertyupdate>");
  ASSERT_EQ(dav_answer(answer).responses.at(0).status_of("{urn:x}p"), 200) << answer.body;
  auto wanted = wire::parse_xml(inner);
  wanted.attributes.push_back({"http://www.w3.org/XML/1998/namespace", "lang", "de"});
  EXPECT_EQ(written(value("<p xmlns='urn:x'/>", "{urn:x}p")), written(wanted));
  // In an allprop, too, and by name.
  EXPECT_EQ(written(propfind(kFile, "0").responses.at(0).properties.at("{urn:x}p").element), written(wanted));
  const auto names = propfind(kFile, "0", "<propfind xmlns='DAV:'><propname/></propfind>");
  EXPECT_EQ(names.responses.at(0).text("{urn:x}p"), "");
  EXPECT_EQ(names.responses.at(0).status_of("{urn:x}p"), 200);
}

TEST_F(DavProppatch, KeepsPropertiesWithoutNamespaceAndOfDav) {
  proppatch(kFile, set("<x xmlns=''>1</x><d:foo>2</d:foo>"));
  EXPECT_EQ(value("<x xmlns=''/>", "{}x").text, "1");
  EXPECT_EQ(value("<d:foo/>", "foo").text, "2");
  for (int i = 0; i < 10; ++i) {
    proppatch(kFile, set("<n xmlns='urn:" + std::to_string(i) + "'>" + std::to_string(i) + "</n>"));
  }
  for (int i = 0; i < 10; ++i) {
    const auto ns = "urn:" + std::to_string(i);
    EXPECT_EQ(value("<n xmlns='" + ns + "'/>", "{" + ns + "}n").text, std::to_string(i));
  }
}

TEST_F(DavProppatch, TheLastWordWins) {
  const std::string a1 = "<a xmlns='urn:x'>1</a>", a2 = "<a xmlns='urn:x'>2</a>", a = "<a xmlns='urn:x'/>";
  proppatch(kFile, set(a1) + remove(a) + set(a2));
  EXPECT_EQ(value(a, "{urn:x}a").text, "2");
  proppatch(kFile, set(a1) + remove(a));
  EXPECT_EQ(value(a, "{urn:x}a").name, "");
  for (int i = 0; i < 2; ++i) {
    const auto again = proppatch(kFile, remove(a));
    EXPECT_EQ(again.responses.at(0).status_of("{urn:x}a"), 200) << "removing what is not there";
  }
  EXPECT_EQ(server.number("select flags & 4 from nodes where id = " + std::to_string(file.value)), 0);
}

TEST_F(DavProppatch, AllOrNothing) {
  const auto answer = proppatch(kFile, set("<ok xmlns='urn:x'>1</ok>") + set("<d:getetag>x</d:getetag>"));
  const auto& r = answer.responses.at(0);
  EXPECT_EQ(r.status_of("{urn:x}ok"), 424);
  EXPECT_EQ(r.status_of("getetag"), 403);
  EXPECT_NE(answer.http.body.find("<d:error><d:cannot-modify-protected-property/></d:error>"),
            std::string::npos);
  EXPECT_EQ(value("<ok xmlns='urn:x'/>", "{urn:x}ok").name, "");
  for (const std::string name :
       {"resourcetype", "getcontentlength", "lockdiscovery", "supportedlock", "quota-used-bytes",
        "sync-token", "current-user-principal", "owner", "resource-id"}) {
    EXPECT_EQ(proppatch(kFile, set("<d:" + name + "/>")).responses.at(0).status_of(name), 403) << name;
    EXPECT_EQ(proppatch(kFile, remove("<d:" + name + "/>")).responses.at(0).status_of(name), 403) << name;
  }
}

// What Explorer writes after each upload.
TEST_F(DavProppatch, TakesWhatWindowsSets) {
  const auto answer =
      proppatch(kFile, set("<Z:Win32CreationTime>Tue, 13 May 2014 16:53:20 GMT</Z:Win32CreationTime>"
                           "<Z:Win32LastAccessTime>Wed, 14 May 2014 16:53:20 GMT</Z:Win32LastAccessTime>"
                           "<Z:Win32LastModifiedTime>Fri, 14 Jul 2017 02:40:00 GMT"
                           "</Z:Win32LastModifiedTime>"
                           "<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>"));
  for (const auto& [name, property] : answer.responses.at(0).properties)
    EXPECT_EQ(property.status, 200) << name;
  const auto after = propfind(kFile, "0",
                              prop("<d:getlastmodified/><d:creationdate/><Win32FileAttributes "
                                   "xmlns='urn:schemas-microsoft-com:'/><Win32LastAccessTime "
                                   "xmlns='urn:schemas-microsoft-com:'/>"))
                         .responses.at(0);
  EXPECT_EQ(after.text("getlastmodified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(after.text("creationdate"), "2014-05-13T16:53:20Z");
  EXPECT_EQ(after.text("{urn:schemas-microsoft-com:}Win32FileAttributes"), "00000020");
  EXPECT_EQ(after.text("{urn:schemas-microsoft-com:}Win32LastAccessTime"), "Wed, 14 May 2014 16:53:20 GMT");
  EXPECT_EQ(proppatch(kFile, set("<Z:Win32LastModifiedTime>yesterday</Z:Win32LastModifiedTime>"))
                .responses.at(0)
                .status_of("{urn:schemas-microsoft-com:}Win32LastModifiedTime"),
            409);
}

TEST_F(DavProppatch, SetsTimesWithoutTouchingTheEtag) {
  const auto etag = dav.get(kFile).header("etag");
  for (const std::string named : {"<d:getlastmodified>Fri, 14 Jul 2017 02:40:00 GMT</d:getlastmodified>",
                                  "<d:lastmodified>1500000000</d:lastmodified>",
                                  "<d:lastmodified>Fri, 14 Jul 2017 02:40:00 GMT</d:lastmodified>"}) {
    server.sql("update nodes set mtime = 1 where id = " + std::to_string(file.value));
    EXPECT_EQ(proppatch(kFile, set(named)).responses.at(0).properties.begin()->second.status, 200) << named;
    const auto got = dav.get(kFile);
    EXPECT_EQ(got.header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT") << named;
    EXPECT_EQ(got.header("etag"), etag);
  }
  EXPECT_EQ(
      proppatch("/webdav/area/", set("<d:getlastmodified>Fri, 14 Jul 2017 02:40:00 GMT</d:getlastmodified>"))
          .http.status,
      207);
  EXPECT_EQ(propfind("/webdav/area/", "0").responses.at(0).text("getlastmodified"),
            "Fri, 14 Jul 2017 02:40:00 GMT");
}

TEST_F(DavProppatch, SetsWhatElseIsLive) {
  proppatch(
      kFile,
      set("<d:displayname>Shown &amp; told</d:displayname><d:getcontentlanguage>de</d:getcontentlanguage>"
          "<d:getcontenttype>Text/Markdown</d:getcontenttype>"
          "<executable xmlns='http://apache.org/dav/props/'>T</executable>"));
  const auto r = propfind(kFile, "0",
                          prop("<d:displayname/><d:getcontentlanguage/><d:getcontenttype/><executable "
                               "xmlns='http://apache.org/dav/props/'/>"))
                     .responses.at(0);
  EXPECT_EQ(r.text("displayname"), "Shown & told");
  EXPECT_EQ(r.text("getcontentlanguage"), "de");
  EXPECT_EQ(r.text("getcontenttype"), "text/markdown");
  EXPECT_EQ(r.text("{http://apache.org/dav/props/}executable"), "T");
  EXPECT_EQ(dav.get(kFile).status, 200) << "the name in the tree is another thing";
  proppatch(kFile, set("<d:displayname/>"));
  EXPECT_EQ(value("<d:displayname/>", "displayname").text, "file");
  EXPECT_EQ(proppatch(kFile, set("<d:getcontenttype>no type</d:getcontenttype>"))
                .responses.at(0)
                .status_of("getcontenttype"),
            409);
  // rclone gives the checksums back that it has read.
  EXPECT_EQ(
      proppatch(kFile,
                set("<checksums xmlns='http://owncloud.org/ns'><checksum>SHA1:00</checksum></checksums>"))
          .responses.at(0)
          .status_of("{http://owncloud.org/ns}checksums"),
      200);
}

TEST_F(DavProppatch, IsBounded) {
  const auto big = [](std::size_t bytes) {
    return "<big xmlns='urn:x'>" + std::string(bytes, 'x') + "</big>";
  };
  const auto refused = proppatch(kFile, set(big(65 << 10) + "<other xmlns='urn:x'/>")).responses.at(0);
  EXPECT_EQ(refused.status_of("{urn:x}big"), 507);
  EXPECT_EQ(refused.status_of("{urn:x}other"), 424);
  EXPECT_EQ(proppatch(kFile, set(big(60 << 10))).responses.at(0).status_of("{urn:x}big"), 200);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "<p" + std::to_string(i) + " xmlns='urn:x'/>";
  const auto answer = proppatch(kFile, set(many));
  EXPECT_TRUE(answer.http.body.find("507") != std::string::npos || answer.http.status >= 400);
  EXPECT_EQ(
      server.number("select count(*) from node_properties where node_id = " + std::to_string(file.value)), 1);
  int stored = 1;  // four more of 60 KiB do not fit into 256 KiB
  for (int i = 0; i < 4; ++i) {
    const auto name = "big" + std::to_string(i);
    const auto one = proppatch(
        kFile, set("<" + name + " xmlns='urn:x'>" + std::string(60 << 10, 'x') + "</" + name + ">"));
    const auto status = one.responses.at(0).status_of("{urn:x}" + name);
    if (status == 200) ++stored;
    EXPECT_TRUE(status == 200 || status == 507) << status;
  }
  EXPECT_EQ(stored, 4);
}

// Properties take room like everything else, in every way a node can come and go.
TEST_F(DavProppatch, CountsInTheQuota) {
  const auto poor = server.user(server.fresh("poor"), false, 100'000);
  auto client = server.as(poor);
  const auto drive = " from drives d where owner_id = " + std::to_string(poor.id.value);
  const auto used = [&] { return server.number("select used_bytes" + drive); };
  const auto stored = [&] {
    return server.number(
        "select ((select coalesce(sum(size), 0) from nodes n where n.drive_id = d.id and kind = 1)"
        " + (select coalesce(sum(octet_length(ns) + octet_length(p.name) + octet_length(value)), 0)"
        " from node_properties p join nodes n on n.id = p.node_id where n.drive_id = d.id))::bigint" +
        drive);
  };
  server.file(poor, server.folder(poor, server.home(poor), "f"), "x", "hello");
  const auto patch = [&](const std::string& path, const std::string& name, std::size_t bytes) {
    return dav_answer(client.send("PROPPATCH", path, {},
                                  "<d:propertyupdate xmlns:d=\"DAV:\">" +
                                      (bytes == 0 ? remove('<' + name + " xmlns='urn:x'/>")
                                                  : set('<' + name + " xmlns='urn:x'>" +
                                                        std::string(bytes, 'x') + "</" + name + '>')) +
                                      "</d:propertyupdate>"))
        .responses.at(0)
        .status_of("{urn:x}" + name);
  };
  EXPECT_EQ(patch("/webdav/f/x", "a", 40'000), 200);
  EXPECT_GT(used(), 40'000);
  EXPECT_EQ(used(), stored());
  EXPECT_EQ(patch("/webdav/f/x", "b", 60'000), 507) << "the quota is 100,000";
  EXPECT_EQ(patch("/webdav/f", "b", 60'000), 507) << "of folders, too";
  EXPECT_EQ(used(), stored());
  EXPECT_EQ(patch("/webdav/f/x", "a", 10'000), 200) << "less than before";
  EXPECT_EQ(used(), stored());
  EXPECT_EQ(client.send("COPY", "/webdav/f", {{"Destination", "/webdav/g"}}).status, 201);
  EXPECT_GT(used(), 20'000);
  EXPECT_EQ(used(), stored());
  EXPECT_EQ(patch("/webdav/f/x", "a", 0), 200);
  EXPECT_EQ(used(), stored());
  const auto g = NodeId{server.number("select id from nodes where name = 'g' and parent_id = " +
                                      std::to_string(server.home(poor).value))};
  run(server.files->trash_bin().destroy(poor.caller, g));
  EXPECT_EQ(used(), 5);
  EXPECT_EQ(used(), stored());
}

TEST_F(DavProppatch, AnswersMinimallyWhenAsked) {
  const HeaderList minimal = {{"Prefer", "return=minimal"}};
  const auto good = proppatch(kFile, set("<a xmlns='urn:x'/>"), minimal);
  EXPECT_EQ(good.http.status, 200);
  EXPECT_EQ(good.http.body, "");
  EXPECT_EQ(good.http.header("preference-applied"), "return=minimal");
  EXPECT_EQ(proppatch(kFile, set("<d:getetag/>"), minimal).http.status, 207);
}

TEST_F(DavProppatch, RefusesBodiesThatAreNone) {
  for (const std::string body :
       {"", "<d:propertyupdate xmlns:d='DAV:'/>", "<d:propfind xmlns:d='DAV:'/>", "x",
        "<d:propertyupdate xmlns:d='DAV:'><d:set/></d:propertyupdate>",
        "<d:propertyupdate xmlns:d='DAV:'><d:set><d:prop/></d:set></d:propertyupdate>"}) {
    EXPECT_EQ(dav.send("PROPPATCH", kFile, {}, body).status, 400) << body;
  }
  EXPECT_EQ(proppatch("/webdav/area/missing", set("<a xmlns='urn:x'/>")).http.status, 404);
}

TEST_F(DavProppatch, ObeysLocksAndConditions) {
  files::LockRequest wanted;
  const auto lock = run(server.files->locks().lock(alice.caller, file, wanted)).lock.value();
  const auto one = set("<a xmlns='urn:x'>1</a>");
  const auto refused = proppatch(kFile, one);
  EXPECT_EQ(refused.http.status, 423) << "also its own user's, without the token";
  EXPECT_NE(refused.http.body.find("<d:lock-token-submitted><d:href>/webdav/area/file</d:href>"),
            std::string::npos)
      << refused.http.body;
  const auto token = "(<" + files::lock_token_uri(lock.token) + ">)";
  EXPECT_EQ(proppatch(kFile, one, {{"If", token}}).http.status, 207);
  EXPECT_EQ(proppatch(kFile, one, {{"If", token}, {"If-Match", "\"other\""}}).http.status, 412);
  EXPECT_EQ(proppatch(kFile, one, {{"If", "(<DAV:no-lock>)"}}).http.status, 412);
  EXPECT_EQ(proppatch(kFile, one, {{"If", token}, {"If-None-Match", "JoplinIgnore-7"}}).http.status, 207);
}

TEST_F(DavProppatch, TheFolderAboveLooksDifferent) {
  const auto before = propfind("/webdav/area", "0").responses.at(0);
  proppatch(kFile, set("<a xmlns='urn:x'>1</a>"));
  const auto after = propfind("/webdav/area", "0").responses.at(0);
  EXPECT_NE(before.text("getetag"), after.text("getetag"));
  EXPECT_EQ(before.text("getlastmodified"), after.text("getlastmodified"));
}

TEST_F(DavProppatch, ManyFilesWithPropertiesAreListedWhole) {
  for (int i = 0; i < 40; ++i) {
    const auto name = "n" + std::to_string(i);
    server.file(alice, area, name, "x");
    proppatch("/webdav/area/" + name, set("<a xmlns='urn:x'>" + name + "</a>"));
  }
  const auto list = propfind("/webdav/area", "1", prop("<a xmlns='urn:x'/>"));
  int found = 0;
  for (const auto& r : list.responses) {
    if (!r.href.starts_with("/webdav/area/n")) continue;
    EXPECT_EQ(r.text("{urn:x}a"), r.href.substr(13));
    ++found;
  }
  EXPECT_EQ(found, 40);
}

// A megabyte of elements is read and refused for about what reading it costs.
TEST_F(DavProppatch, WhatCannotFitIsNotWorkedOn) {
  std::string many;
  for (int i = 0; i < 9'900; ++i) many += "<a" + std::to_string(i) + "/>";
  const auto refused = proppatch(kFile, set(many));
  ASSERT_EQ(refused.responses.size(), 1u);
  EXPECT_EQ(refused.responses[0].status_of("{}a0"), 424);
  EXPECT_LT(refused.responses[0].properties.size(), 300u) << "nor told of one by one";
  const auto language = dav.send("PROPPATCH", kFile, {},
                                 "<d:propertyupdate xmlns:d='DAV:'><d:set><d:prop xml:lang='" +
                                     std::string(101, 'x') + "'><a/></d:prop></d:set></d:propertyupdate>");
  EXPECT_EQ(language.status, 400);
  EXPECT_EQ(propfind(kFile, "0", prop("<a/>")).responses.at(0).status_of("{}a"), 404);
}

TEST_F(DavProppatch, TimesBeforeAllTimeAreRefused) {
  for (const char* seconds : {"-9223372036855", "-18446744073709", "-1", "0", "9223372036854775807"}) {
    const auto answer =
        proppatch(kFile, set(std::string("<d:lastmodified>") + seconds + "</d:lastmodified>"));
    EXPECT_EQ(answer.responses.at(0).status_of("lastmodified"), 409) << seconds;
  }
}

}  // namespace
}  // namespace welkin::tests
