#include <algorithm>
#include <set>

#include "dav/dav_client.hpp"
#include "welkin/files/locks.hpp"

namespace welkin::tests {
namespace {

using Strings = std::vector<std::string>;
struct DavPropfind : DavTest {};

TEST_F(DavPropfind, ShowsAFolderAndItsMembersInOrder) {
  server.file(alice, area, "b.txt", "hello");
  server.file(alice, area, "a", "");
  server.folder(alice, area, "B");
  const auto answer =
      propfind("/webdav/area/", "1", prop("<d:resourcetype/><d:getcontentlength/><d:displayname/>"));
  ASSERT_EQ(answer.http.status, 207) << answer.http.body;
  EXPECT_EQ(answer.hrefs(),
            (Strings{"/webdav/area/", "/webdav/area/B/", "/webdav/area/a", "/webdav/area/b.txt"}));
  const auto& file = answer.at("/webdav/area/b.txt");
  EXPECT_EQ(file.text("getcontentlength"), "5");
  EXPECT_EQ(file.text("displayname"), "b.txt");
  EXPECT_TRUE(file.properties.at("resourcetype").element.children.empty());
  const auto& folder = answer.at("/webdav/area/B/");
  EXPECT_NE(folder.properties.at("resourcetype").element.child("DAV:", "collection"), nullptr);
  EXPECT_EQ(folder.status_of("getcontentlength"), 404);
  EXPECT_EQ(propfind("/webdav/area", "0").hrefs(), Strings{"/webdav/area/"});
  EXPECT_EQ(propfind("/webdav/area/a", "1").hrefs(), Strings{"/webdav/area/a"}) << "a file has no members";
}

// A folder is served in place without its slash; nothing is redirected.
TEST_F(DavPropfind, ServesFoldersWithoutSlashInPlace) {
  for (const std::string path : {"/webdav", "/webdav/area"}) {
    const auto answer = propfind(path, "0");
    EXPECT_EQ(answer.http.status, 207);
    EXPECT_EQ(answer.responses.at(0).href, path + "/");
    EXPECT_EQ(answer.http.header("content-location"), path + "/");
    EXPECT_FALSE(propfind(path + "/", "0").http.has("content-location"));
  }
  EXPECT_EQ(propfind("/webdav//area///", "0").responses.at(0).href, "/webdav/area/");
}

TEST_F(DavPropfind, KnowsItsDepths) {
  server.file(alice, server.folder(alice, area, "sub"), "deep", "x");
  server.file(alice, area, "file", "x");
  const Strings one{"/webdav/area/", "/webdav/area/file", "/webdav/area/sub/"};
  const Strings all{"/webdav/area/", "/webdav/area/file", "/webdav/area/sub/", "/webdav/area/sub/deep"};
  EXPECT_EQ(propfind("/webdav/area", "1").hrefs(), one);
  for (const std::string depth : {"infinity", "Infinity", "INFINITY", ""}) {
    EXPECT_EQ(propfind("/webdav/area", depth).hrefs(), all) << depth;
  }
  EXPECT_EQ(propfind("/webdav/area/file", "").hrefs(), Strings{"/webdav/area/file"});
  EXPECT_EQ(propfind("/webdav/area", "1,noroot").hrefs(), Strings(one.begin() + 1, one.end()));
  for (const std::string depth : {"2", "-1", "0x1", "one", "1,2", "infinite"}) {
    expect_dav_error(propfind("/webdav/area", depth).http, 400, "bad_depth");
  }
}

// What is not there is an HTTP 404, never a 207 with a 404 inside.
TEST_F(DavPropfind, MissingIs404) {
  server.file(alice, area, "file", "x");
  for (const std::string path :
       {"/webdav/nothing", "/webdav/area/file/", "/webdav/area/file/below", "/webdav/Area"}) {
    expect_dav_error(propfind(path, "0").http, 404, "not_found");
  }
}

TEST_F(DavPropfind, WithoutBodyMeansAllprop) {
  server.file(alice, area, "file-000000.txt", std::string(100, 'x'));
  const auto answer = propfind("/webdav/area", "1");
  const auto& file = answer.at("/webdav/area/file-000000.txt");
  EXPECT_EQ(std::set<std::string>(file.order.begin(), file.order.end()),
            (std::set<std::string>{"resourcetype", "creationdate", "displayname", "getcontentlength",
                                   "getcontenttype", "getetag", "getlastmodified", "lockdiscovery"}));
  EXPECT_EQ(file.properties.size(), file.order.size()) << "allprop tells nothing missing";
  EXPECT_EQ(file.text("getcontenttype"), "text/plain");
  const auto at = answer.http.body.find("<d:response><d:href>/webdav/area/file");
  EXPECT_LE(answer.http.body.find("</d:response>", at) + 13 - at, 600u) << "some clients count bytes";
  const auto same = propfind("/webdav/area", "1", "<propfind xmlns='DAV:'><foobar/><allprop/></propfind>");
  EXPECT_EQ(same.http.body, answer.http.body);
  const auto more =
      propfind("/webdav/area", "0",
               "<propfind "
               "xmlns='DAV:'><allprop/><include><quota-used-bytes/><getetag/><nosuch/></include></propfind>");
  EXPECT_EQ(more.responses.at(0).status_of("quota-used-bytes"), 200);
  EXPECT_EQ(more.responses.at(0).status_of("nosuch"), 404);
}

TEST_F(DavPropfind, TellsNames) {
  server.file(alice, area, "file", "x");
  const auto answer = propfind("/webdav/area", "1", "<propfind xmlns='DAV:'><propname/></propfind>");
  const auto& file = answer.at("/webdav/area/file");
  const auto& folder = answer.at("/webdav/area/");
  EXPECT_EQ(file.status_of("getcontentlength"), 200);
  EXPECT_EQ(file.status_of("{http://owncloud.org/ns}checksums"), 200);
  EXPECT_EQ(file.text("getetag"), "");
  EXPECT_EQ(folder.status_of("getcontentlength"), 0);
  EXPECT_EQ(folder.status_of("quota-used-bytes"), 200);
  EXPECT_EQ(folder.status_of("supportedlock"), 200);
}

TEST_F(DavPropfind, RefusesBodiesThatAreNone) {
  for (const std::string body :
       {"<foo>", "<foo/>", "<propfind/>", "<d:propfind xmlns:d='DAV:'/>", "x",
        "<d:propfind xmlns:d='DAV:'><d:prop/><d:allprop/></d:propfind>",
        "<d:propfind xmlns:d='DAV:'><d:propname/><d:allprop/></d:propfind>",
        "<d:propfind xmlns:d='DAV:'><d:prop><bar:foo xmlns:bar=''/></d:prop></d:propfind>"}) {
    EXPECT_EQ(propfind("/webdav/area", "0", body).http.status, 400) << body;
  }
  expect_dav_error(dav.send("PROPFIND", "/webdav/area", {{"Depth", "0"}, {"Content-Encoding", "gzip"}}, "x"),
                   415, "content_encoding");
}

TEST_F(DavPropfind, AsksEachPropertyOnceAndTellsWhatIsMissing) {
  const auto answer = propfind(
      "/webdav/area", "0",
      prop("<d:getetag/><x xmlns='urn:x'/><d:displayname/><d:getetag/><x xmlns='urn:x'/><y xmlns=''/>"
           "<d:quota/><appledoubleheader xmlns='http://www.apple.com/webdav_fs/props/'/>"));
  const auto& folder = answer.responses.at(0);
  EXPECT_EQ(folder.order, (Strings{"getetag", "displayname"}));
  for (const std::string name :
       {"{urn:x}x", "{}y", "quota", "{http://www.apple.com/webdav_fs/props/}appledoubleheader"}) {
    EXPECT_EQ(folder.status_of(name), 404) << name;
  }
  EXPECT_NE(answer.http.body.find("<d:status>HTTP/1.1 200 OK</d:status>"), std::string::npos);
  const auto nothing = propfind("/webdav/area", "0", prop(""));
  EXPECT_NE(nothing.http.body.find("<d:prop></d:prop><d:status>HTTP/1.1 200 OK"), std::string::npos)
      << nothing.http.body;
}

// Whatever the type says: many clients send none or a wrong one.
TEST_F(DavPropfind, TakesXmlOfAnyContentType) {
  for (const std::string type : {"text/plain", "application/x-www-form-urlencoded", "application/xml",
                                 "text/xml; charset=utf-8", "nonsense"}) {
    EXPECT_EQ(propfind("/webdav/area", "0", prop("<d:getetag/>"), {{"Content-Type", type}}).http.status, 207)
        << type;
  }
  EXPECT_EQ(
      propfind("/webdav/area", "0", prop("<d:getetag/>"), {{"Content-Type", "text/xml; charset=latin1"}})
          .http.status,
      400);
}

// Conditions of caches have no say here: some clients add them to every request.
TEST_F(DavPropfind, IgnoresConditionsOfCaches) {
  const auto etag = propfind("/webdav/area", "0").responses.at(0).text("getetag");
  for (const HeaderList& headers :
       {HeaderList{{"If-None-Match", etag}}, HeaderList{{"If-None-Match", "JoplinIgnore-7"}},
        HeaderList{{"If-None-Match", "*"}},
        HeaderList{{"If-Modified-Since", "Fri, 14 Jul 2034 02:40:00 GMT"}}}) {
    EXPECT_EQ(propfind("/webdav/area", "0", "", headers).http.status, 207) << headers[0].second;
  }
}

TEST_F(DavPropfind, HrefsLeadToTheirResources) {
  const Strings names = {"a b",
                         "a&b",
                         "a%b",
                         "a#b",
                         "a?b",
                         "[x]",
                         "a+b",
                         "\xC3\xA9",
                         "'q'",
                         "\xE6\x97\xA5\xE6\x9C\xAC",
                         "<t>\"",
                         "\xF0\x9F\x98\x80",
                         "a;b=c,d",
                         "~!$()*:@",
                         " lead",
                         "trail ",
                         "trail.",
                         "CON",
                         std::string(255, 'n')};
  for (const auto& name : names) server.file(alice, area, name, name);
  const auto answer = propfind("/webdav/area/", "1", prop("<d:displayname/>"));
  ASSERT_EQ(answer.responses.size(), names.size() + 1);
  std::set<std::string> seen;
  for (std::size_t i = 1; i < answer.responses.size(); ++i) {
    const auto& r = answer.responses[i];
    EXPECT_TRUE(r.href.starts_with("/webdav/area/"));
    EXPECT_EQ(text::percent_decode(r.href.substr(13)), r.text("displayname"));
    EXPECT_EQ(dav.get(r.href).body, r.text("displayname")) << r.href;
    seen.insert(r.text("displayname"));
  }
  EXPECT_EQ(seen, std::set<std::string>(names.begin(), names.end()));
  // The other form of the same name finds the same file.
  EXPECT_EQ(propfind("/webdav/area/e%CC%81", "0").responses.at(0).href, "/webdav/area/%C3%A9");
}

TEST_F(DavPropfind, HonoursPreferences) {
  server.file(alice, area, "file", "x");
  const auto body = prop("<d:getetag/><d:getcontentlength/><x xmlns='urn:x'/>");
  for (const HeaderList& headers : {HeaderList{{"Prefer", "return=minimal"}}, HeaderList{{"Brief", "t"}},
                                    HeaderList{{"Prefer", "respond-async, return=minimal; a=b"}}}) {
    const auto answer = propfind("/webdav/area", "1", body, headers);
    EXPECT_EQ(answer.http.body.find("404"), std::string::npos);
    EXPECT_EQ(answer.http.header("preference-applied"), "return=minimal");
  }
  const auto nothing =
      propfind("/webdav/area", "0", prop("<x xmlns='urn:x'/>"), {{"Prefer", "return=minimal"}});
  EXPECT_NE(nothing.http.body.find("<d:prop></d:prop><d:status>HTTP/1.1 200 OK"), std::string::npos);
  const auto no_root = propfind("/webdav/area", "1", body, {{"Prefer", "depth-noroot"}});
  EXPECT_EQ(no_root.hrefs(), Strings{"/webdav/area/file"});
  EXPECT_EQ(no_root.http.header("preference-applied"), "depth-noroot");
  EXPECT_EQ(propfind("/webdav/area/file", "1", body, {{"Prefer", "depth-noroot"}}).hrefs(),
            Strings{"/webdav/area/file"});
  const auto both = propfind("/webdav/area", "1", body, {{"Prefer", "depth-noroot, return=minimal"}});
  EXPECT_EQ(both.http.header("preference-applied"), "return=minimal, depth-noroot");
  EXPECT_NE(both.http.header("vary").find("Prefer"), std::string::npos);
}

TEST_F(DavPropfind, ValuesAreWrittenAsClientsReadThem) {
  server.file(alice, area, "file.txt", "hello");
  server.sql(
      "update nodes set mtime = 1500000000000000, created_at = 1400000000999999 where name = 'file.txt' and "
      "parent_id = " +
      std::to_string(area.value));
  const auto answer = propfind(
      "/webdav/area/file.txt", "0",
      prop("<d:getlastmodified/><d:creationdate/><d:getetag/><d:lastmodified/><d:resource-id/><d:owner/>"
           "<d:current-user-principal/><d:principal-collection-set/><d:supported-report-set/>"
           "<d:supported-method-set/><d:quota-used-bytes/><d:supportedlock/><d:current-user-privilege-set/>"
           "<Z:Win32CreationTime xmlns:Z='urn:schemas-microsoft-com:'/><Z:Win32LastModifiedTime "
           "xmlns:Z='urn:schemas-microsoft-com:'/><A:executable xmlns:A='http://apache.org/dav/props/'/>"
           "<oc:checksums xmlns:oc='http://owncloud.org/ns'/>"));
  const auto& file = answer.responses.at(0);
  EXPECT_EQ(file.text("getlastmodified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(file.text("{urn:schemas-microsoft-com:}Win32LastModifiedTime"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(file.text("creationdate"), "2014-05-13T16:53:20Z");
  EXPECT_EQ(file.text("{urn:schemas-microsoft-com:}Win32CreationTime"), "Tue, 13 May 2014 16:53:20 GMT");
  EXPECT_EQ(file.text("lastmodified"), "1500000000");
  EXPECT_EQ(file.text("{http://apache.org/dav/props/}executable"), "F");
  EXPECT_EQ(file.status_of("quota-used-bytes"), 404);
  const auto got = dav.get("/webdav/area/file.txt");
  EXPECT_EQ(file.text("getetag"), got.header("etag"));
  EXPECT_EQ(file.text("getlastmodified"), got.header("last-modified"));
  const auto href = [&](const std::string& name) {
    return file.properties.at(name).element.child("DAV:", "href")->text;
  };
  EXPECT_EQ(href("current-user-principal"), "/dav/principals/users/" + alice.name + "/");
  EXPECT_EQ(href("owner"), href("current-user-principal"));
  EXPECT_EQ(href("principal-collection-set"), "/dav/principals/");
  EXPECT_EQ(file.properties.at("supportedlock").element.children.size(), 2u);
  EXPECT_NE(answer.http.body.find("<d:privilege><d:write/></d:privilege>"), std::string::npos);
  EXPECT_EQ(file.properties.at("{http://owncloud.org/ns}checksums").element.children.at(0).text,
            "SHA256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
}

// RFC 4331: two numbers on folders, by name only.
TEST_F(DavPropfind, TellsQuota) {
  const auto limited = server.user(server.fresh("limited"), false, 1'000'000);
  auto client = server.as(limited);
  const auto ask = [&] {
    return dav_answer(client.send("PROPFIND", "/webdav/", {{"Depth", "0"}},
                                  prop("<d:quota-available-bytes/><d:quota-used-bytes/>")))
        .responses.at(0);
  };
  const auto before = ask();
  EXPECT_EQ(before.text("quota-used-bytes"), "0");
  EXPECT_EQ(before.text("quota-available-bytes"), "1000000");
  server.file(limited, server.home(limited), "x", std::string(1000, 'x'));
  EXPECT_EQ(ask().text("quota-used-bytes"), "1000");
  EXPECT_EQ(ask().text("quota-available-bytes"), "999000");
  const auto unlimited = propfind("/webdav/", "0", prop("<d:quota-available-bytes/>")).responses.at(0);
  EXPECT_GT(std::stoull(unlimited.text("quota-available-bytes")), 1'000'000u) << "what the disk has left";
}

// A received share is a member like any other, in its place by name; what its reader may not do is not
// offered.
TEST_F(DavPropfind, ShowsMounts) {
  const auto bob = server.user(server.fresh("bob"));
  auto client = server.as(bob);
  server.file(alice, area, "inside", "x");
  server.file(bob, server.home(bob), "a", "x");
  server.file(bob, server.home(bob), "z", "x");
  const auto node = std::to_string(area.value), user = std::to_string(bob.id.value);
  server.sql("insert into grants (node_id, user_id, rights) values (" + node + ", " + user +
             ", 1);"
             "update nodes set flags = flags | 1 where id = " +
             node +
             ";"
             "insert into mounts (user_id, parent_id, target_id, name) values (" +
             user + ", " + std::to_string(server.home(bob).value) + ", " + node + ", 'from alice')");
  const auto props = prop("<d:supportedlock/><d:current-user-privilege-set/>");
  const auto list = dav_answer(client.send("PROPFIND", "/webdav/", {{"Depth", "1"}}, props));
  EXPECT_EQ(list.hrefs(), (Strings{"/webdav/", "/webdav/a", "/webdav/from%20alice/", "/webdav/z"}));
  const auto& shared = list.at("/webdav/from%20alice/");
  EXPECT_TRUE(shared.properties.at("supportedlock").element.children.empty());
  EXPECT_EQ(shared.properties.at("current-user-privilege-set").element.children.size(), 2u);
  EXPECT_FALSE(list.at("/webdav/a").properties.at("supportedlock").element.children.empty());
  const auto deep = dav_answer(client.send("PROPFIND", "/webdav/", {}, props));
  EXPECT_NE(deep.find("/webdav/from%20alice/inside"), nullptr);
  server.sql("delete from grants where node_id = " + node);
  EXPECT_EQ(dav_answer(client.send("PROPFIND", "/webdav/", {{"Depth", "1"}}, props)).responses.size(), 3u);
}

TEST_F(DavPropfind, TellsLocks) {
  const NodeId sub = server.folder(alice, area, "sub");
  const NodeId file = server.file(alice, sub, "file", "x");
  files::LockRequest wanted;
  wanted.owner_xml = "me";
  ASSERT_TRUE(run(server.files->locks().lock(alice.caller, file, wanted)).lock);
  const auto body = prop("<d:lockdiscovery/>");
  const auto list = propfind("/webdav/area/sub", "1", body);
  const auto& locked = list.at("/webdav/area/sub/file").properties.at("lockdiscovery").element;
  ASSERT_EQ(locked.children.size(), 1u) << list.http.body;
  const auto& active = locked.children[0];
  EXPECT_TRUE(active.is("DAV:", "activelock"));
  EXPECT_EQ(active.child("DAV:", "owner")->text, "me");
  EXPECT_EQ(active.child("DAV:", "depth")->text, "0");
  EXPECT_EQ(active.child("DAV:", "lockroot")->children.at(0).text, "/webdav/area/sub/file");
  EXPECT_TRUE(active.child("DAV:", "locktoken")->children.at(0).text.starts_with("opaquelocktoken:"));
  EXPECT_TRUE(active.child("DAV:", "timeout")->text.starts_with("Second-"));
  EXPECT_TRUE(list.at("/webdav/area/sub/").properties.at("lockdiscovery").element.children.empty());
}

// A lock from above is told on everything it covers, with where it was taken.
TEST_F(DavPropfind, TellsLocksFromAbove) {
  const NodeId sub = server.folder(alice, area, "sub");
  server.file(alice, sub, "file", "x");
  files::LockRequest wanted;
  wanted.infinite = true;
  ASSERT_TRUE(run(server.files->locks().lock(alice.caller, area, wanted)).lock);
  for (const auto& answer : {propfind("/webdav/area/sub", "1", prop("<d:lockdiscovery/>")),
                             propfind("/webdav/area", "infinity", prop("<d:lockdiscovery/>"))}) {
    for (const auto& response : answer.responses) {
      const auto& active = response.properties.at("lockdiscovery").element.children.at(0);
      EXPECT_EQ(active.child("DAV:", "depth")->text, "infinity");
      EXPECT_EQ(active.child("DAV:", "lockroot")->children.at(0).text, "/webdav/area/") << response.href;
    }
  }
}

TEST_F(DavPropfind, RefusesHostileXml) {
  const auto refused = [&](const std::string& body, int status) {
    const auto answer = dav.send("PROPFIND", "/webdav/area", {{"Depth", "0"}}, body);
    EXPECT_EQ(answer.status, status) << body.substr(0, 100) << answer.body;
    return answer;
  };
  expect_dav_error(refused("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>", 403), 403,
                   "<d:no-external-entities");
  std::string nested, many;
  for (int i = 0; i < 5000; ++i) nested += "<a>";
  refused(nested, 400);
  for (int i = 0; i < 10'000; ++i) many += "<p" + std::to_string(i) + "/>";
  refused(prop(many), 400);
  refused(prop(std::string(2 << 20, ' ')), 413);
  many.clear();
  for (int i = 0; i < 257; ++i) many += "<p" + std::to_string(i) + "/>";
  expect_dav_error(refused(prop(many), 400), 400, "too_many_properties");
  EXPECT_EQ(dav.get("/webdav/area/").status, 200) << "and goes on";
}

}  // namespace
}  // namespace welkin::tests
