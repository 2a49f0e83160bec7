#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

using GroupwareDiscovery = Groupware;

TEST_F(GroupwareDiscovery, WellKnownAddressesLeadOnBeforeAnybodyIsKnown) {
  auto nobody = server.nobody();
  for (const std::string path : {"/.well-known/caldav", "/.well-known/carddav", "/.well-known/caldav/"}) {
    for (const std::string method : {"GET", "PROPFIND", "OPTIONS", "REPORT"}) {
      const auto answer = nobody.send(method, path, {{"Host", "127.0.0.1:" + std::to_string(server.port())}});
      EXPECT_EQ(answer.status, 301) << method << path;
      EXPECT_EQ(answer.header("location"), "http://127.0.0.1:" + std::to_string(server.port()) + "/dav/");
      EXPECT_EQ(answer.header("cache-control"), "no-cache");
      EXPECT_TRUE(answer.body.empty());
    }
  }
  EXPECT_EQ(dav.get("/.well-known/caldav").status, 301) << "with credentials too";
}

TEST_F(GroupwareDiscovery, EveryRootTellsThePrincipal) {
  const auto principal = "principals/users/" + alice.name + "/";
  for (const std::string root : {"/", "/dav/", "/dav", "/caldav/", "/carddav/", "/dav/principals/"}) {
    auto nobody = server.nobody();
    const auto refused = nobody.send("PROPFIND", root, {{"Depth", "0"}});
    EXPECT_EQ(refused.status, 401) << root;
    EXPECT_EQ(refused.header("www-authenticate"), "Basic realm=\"Welkin\", charset=\"UTF-8\"");
    const auto answer = propfind(root, "0", "<d:current-user-principal/>");
    ASSERT_EQ(answer.http.status, 207) << root << answer.http.body;
    EXPECT_FALSE(answer.http.has("dav")) << "only on OPTIONS";
    const auto& found = answer.responses.at(0).properties.at("current-user-principal").element.children.at(0);
    const auto mount = root.starts_with("/ca") ? root : std::string("/dav/");
    EXPECT_EQ(found.text, mount + principal) << "below the mount that was asked";
  }
}

TEST_F(GroupwareDiscovery, ThePrincipalTellsTheHomes) {
  const auto answer =
      propfind("/caldav/principals/users/" + alice.name + "/", "0",
               "<d:displayname/><d:resourcetype/><C:calendar-home-set/><A:addressbook-home-set/>"
               "<d:principal-URL/><C:schedule-inbox-URL/><C:calendar-user-address-set/>"
               "<CS:dropbox-home-URL/>");
  const auto& r = answer.responses.at(0);
  EXPECT_EQ(r.properties.at(caldav("calendar-home-set")).element.children.at(0).text,
            "/caldav/calendars/" + alice.name + "/");
  EXPECT_EQ(r.properties.at(carddav("addressbook-home-set")).element.children.at(0).text,
            "/caldav/addressbooks/users/" + alice.name + "/");
  EXPECT_NE(r.properties.at("resourcetype").element.child("DAV:", "principal"), nullptr);
  EXPECT_EQ(r.text("displayname"), alice.name);
  EXPECT_EQ(r.properties.at(caldav("schedule-inbox-URL")).element.children.at(0).text,
            "/caldav/calendars/" + alice.name + "/inbox/");
  EXPECT_EQ(r.status_of(cs("dropbox-home-URL")), 404);
}

TEST_F(GroupwareDiscovery, OptionsTellsWhatIsOfferedAndNoMore) {
  for (const auto& path : {"/dav/principals/users/" + alice.name + "/", home, cal, book}) {
    EXPECT_EQ(send("OPTIONS", path), 200);
    EXPECT_EQ(last.header("dav"),
              "1, 3, extended-mkcol, access-control, calendar-access, addressbook, calendarserver-sharing, "
              "resource-sharing, calendarserver-home-sync, calendarserver-principal-property-search, "
              "calendarserver-principal-search, calendarserver-subscribed, calendar-auto-schedule")
        << path;
    EXPECT_NE(last.header("allow").find("PROPFIND"), std::string::npos);
  }
  EXPECT_EQ(server.nobody().send("OPTIONS", cal).status, 200);
  EXPECT_EQ(ApiClient(server.port(), basic(alice.name, "wrong")).send("OPTIONS", cal).status, 401);
  EXPECT_NE(dav.send("OPTIONS", cal).header("allow").find("MKCALENDAR"), std::string::npos);
  EXPECT_EQ(send("LOCK", cal), 405);
  EXPECT_NE(last.header("allow").find("PROPFIND"), std::string::npos);
}

TEST_F(GroupwareDiscovery, ListsGoDownFromTheRoot) {
  EXPECT_EQ(propfind("/dav/", "1", "<d:resourcetype/>").hrefs(),
            (std::vector<std::string>{"/dav/", "/dav/principals/", "/dav/calendars/", "/dav/addressbooks/"}));
  EXPECT_EQ(propfind("/dav/calendars/", "1", "<d:resourcetype/>").hrefs(),
            (std::vector<std::string>{"/dav/calendars/", home}));
  EXPECT_EQ(propfind("/dav/principals/users/", "1", "<d:resourcetype/>").hrefs().at(1),
            "/dav/principals/users/" + alice.name + "/");
  const auto calendars = propfind(home, "1", "<d:resourcetype/><d:displayname/>");
  EXPECT_EQ(calendars.hrefs(),
            (std::vector<std::string>{home, cal, tasks, home + "inbox/", home + "outbox/"}));
  EXPECT_EQ(calendars.at(cal).text("displayname"), "Personal");
  EXPECT_NE(calendars.at(cal)
                .properties.at("resourcetype")
                .element.child("urn:ietf:params:xml:ns:caldav", "calendar"),
            nullptr);
  const auto cards = propfind(books, "1", "<d:resourcetype/>");
  EXPECT_EQ(cards.hrefs(), (std::vector<std::string>{books, book}));
  EXPECT_NE(cards.at(book)
                .properties.at("resourcetype")
                .element.child("urn:ietf:params:xml:ns:carddav", "addressbook"),
            nullptr);
}

TEST_F(GroupwareDiscovery, ReportsAboutPeople) {
  const auto mine = "/dav/principals/users/" + alice.name + "/";
  const auto search = [&](const std::string& value, const std::string& type) {
    return report("/dav/principals/", "d:principal-property-search",
                  "<d:property-search><d:prop><d:displayname/></d:prop><d:match match-type=\"" + type +
                      "\">" + value + "</d:match></d:property-search><d:prop><d:displayname/></d:prop>")
        .hrefs();
  };
  using Hrefs = std::vector<std::string>;
  EXPECT_EQ(search(alice.name, "equals"), Hrefs{mine});
  EXPECT_EQ(search("ALICE", "starts-with"), Hrefs{mine});
  EXPECT_EQ(search(bob.name, "equals"), Hrefs{}) << "nobody can be found out about";
  last = dav.send("REPORT", "/dav/principals/", {}, "<d:principal-search-property-set xmlns:d=\"DAV:\"/>");
  EXPECT_EQ(last.status, 200);
  EXPECT_NE(last.body.find("<d:displayname/>"), std::string::npos);
  EXPECT_EQ(report("/dav/principals/", "d:principal-match", "<d:self/>").hrefs(), Hrefs{mine});
  EXPECT_EQ(
      report(home, "d:principal-match", "<d:principal-property><d:owner/></d:principal-property>").hrefs(),
      (Hrefs{cal, tasks}));
}

TEST_F(GroupwareDiscovery, HrefsAreExpanded) {
  const auto answer =
      report("/dav/principals/users/" + alice.name + "/", "d:expand-property",
             "<d:property name=\"calendar-proxy-read-for\" namespace=\"http://calendarserver.org/ns/\">"
             "<d:property name=\"displayname\"/></d:property>"
             "<d:property name=\"calendar-home-set\" namespace=\"urn:ietf:params:xml:ns:caldav\">"
             "<d:property name=\"resourcetype\"/><d:property name=\"nothing\"/></d:property>"
             "<d:property name=\"displayname\"/><d:property name=\"none\"/>");
  ASSERT_EQ(answer.http.status, 207) << answer.http.body;
  const auto& r = answer.responses.at(0);
  EXPECT_EQ(r.status_of(cs("calendar-proxy-read-for")), 200);
  EXPECT_EQ(r.text("displayname"), alice.name);
  EXPECT_EQ(r.status_of("none"), 404);
  const auto& nested = r.properties.at(caldav("calendar-home-set")).element;
  ASSERT_EQ(nested.children.size(), 1u) << answer.http.body;
  const auto& inner = nested.children[0];
  EXPECT_TRUE(inner.is("DAV:", "response"));
  EXPECT_EQ(inner.children.at(0).text, home);
  EXPECT_NE(answer.http.body.find("<d:collection/>"), std::string::npos);
}

TEST_F(GroupwareDiscovery, AppPasswordsReachTheirHalfOnly) {
  const auto password = [&](std::int32_t protocols, NodeId folder = {}) {
    people::People::UserPage page;
    people::NewAppPassword wanted;
    wanted.label = "phone";
    wanted.protocol_mask = protocols;
    wanted.folder = folder;
    return basic(alice.name, run(server.people->create_app_password(alice.caller, wanted, {})).second);
  };
  ApiClient calendars(server.port(), password(protocols::kCaldav)),
      contacts(server.port(), password(protocols::kCarddav)),
      files(server.port(), password(protocols::kWebdav)),
      folder(server.port(), password(protocols::kAll, server.home(alice)));
  const HeaderList zero{{"Depth", "0"}};
  EXPECT_EQ(calendars.send("PROPFIND", cal, zero).status, 207);
  EXPECT_EQ(calendars.send("PROPFIND", book, zero).status, 403);
  EXPECT_EQ(contacts.send("PROPFIND", book, zero).status, 207);
  EXPECT_EQ(contacts.send("PROPFIND", cal, zero).status, 403);
  EXPECT_EQ(files.send("PROPFIND", cal, zero).status, 401);
  EXPECT_EQ(folder.send("PROPFIND", cal, zero).status, 403);
  EXPECT_EQ(calendars.send("PROPFIND", "/", zero).status, 207);
  EXPECT_EQ(calendars.send("PROPFIND", "/webdav/", zero).status, 401);
  const auto seen =
      dav_answer(contacts.send("PROPFIND", "/dav/principals/users/" + alice.name + "/", zero,
                               "<d:propfind" + std::string(kSpaces) +
                                   "><d:prop><C:calendar-home-set/><A:addressbook-home-set/></d:prop>"
                                   "</d:propfind>"));
  EXPECT_EQ(seen.responses.at(0).status_of(caldav("calendar-home-set")), 404);
  EXPECT_EQ(seen.responses.at(0).status_of(carddav("addressbook-home-set")), 200);
}

}  // namespace
}  // namespace welkin::tests
