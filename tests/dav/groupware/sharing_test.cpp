// Sharing (acceptance 96, 73, 84, 86), what of it others are shown, and what they are not.
#include <set>

#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareSharing : Groupware {
  TestUser carol = server.user(server.fresh("carol"));
  ApiClient carols = server.as(carol);
  std::string bob_home = "/dav/calendars/" + bob.name + "/",
              bob_books = "/dav/addressbooks/users/" + bob.name + "/";
  std::string bob_href = "/dav/principals/users/" + bob.name + "/";

  static std::string set_one(const std::string& href, bool write) {
    return "<CS:set><d:href>" + href + "</d:href>" + (write ? "<CS:read-write/>" : "<CS:read/>") +
           "</CS:set>";
  }
  static std::string remove_one(const std::string& href) {
    return "<CS:remove><d:href>" + href + "</d:href></CS:remove>";
  }
  int cs_share(ApiClient& as, const std::string& path, const std::string& inside) {
    return send(as, "POST", path, {{"Content-Type", "application/xml"}},
                "<CS:share" + std::string(kSpaces) + ">" + inside + "</CS:share>");
  }
  int share_resource(ApiClient& as, const std::string& path, const std::string& href,
                     const std::string& access) {
    return send(as, "POST", path, {{"Content-Type", "application/davsharing+xml"}},
                "<d:share-resource" + std::string(kSpaces) + "><d:sharee><d:href>" + href +
                    "</d:href><d:share-access><d:" + access +
                    "/></d:share-access></d:sharee></d:share-resource>");
  }
  DavAnswer list(ApiClient& as, const std::string& path, const std::string& props,
                 const std::string& depth = "1") {
    return dav_answer(
        as.send("PROPFIND", path, {{"Depth", depth}},
                "<d:propfind" + std::string(kSpaces) + "><d:prop>" + props + "</d:prop></d:propfind>"));
  }
  /// Addresses in a home that say they are shared.
  std::vector<std::string> shared_in(ApiClient& as, const std::string& home_path) {
    std::vector<std::string> out;
    for (const auto& r : list(as, home_path, "<d:resourcetype/>").responses)
      if (r.properties.at("resourcetype").element.child("http://calendarserver.org/ns/", "shared") != nullptr)
        out.push_back(r.href);
    return out;
  }
  DavAnswer home_sync(ApiClient& as, const std::string& path, const std::string& token,
                      const std::string& more = "") {
    return dav_answer(as.send("REPORT", path, {},
                              "<d:sync-collection" + std::string(kSpaces) + "><d:sync-token>" + token +
                                  "</d:sync-token><d:sync-level>1</d:sync-level>" + more +
                                  "<d:prop><d:displayname/></d:prop></d:sync-collection>"));
  }
  DavAnswer search(ApiClient& as, const std::string& prop, const std::string& match,
                   const std::string& type = "contains") {
    return dav_answer(as.send("REPORT", "/dav/principals/", {{"Depth", "0"}},
                              "<d:principal-property-search" + std::string(kSpaces) +
                                  "><d:property-search><d:prop>" + prop + "</d:prop><d:match match-type=\"" +
                                  type + "\">" + match +
                                  "</d:match></d:property-search><d:prop><d:displayname/></d:prop>"
                                  "</d:principal-property-search>"));
  }
  void put_in_group(const std::string& group, std::initializer_list<const TestUser*> members) {
    server.sql("insert into groups (name, display_name) values ('" + group + "', 'Group " + group + "')");
    for (const auto* member : members)
      server.sql("insert into group_members (user_id, group_id) select " + std::to_string(member->id.value) +
                 ", id from groups where name = '" + group + "'");
  }
};

TEST_F(GroupwareSharing, Acceptance96ASharedCalendarComesAndGoes) {
  const auto before = home_sync(bobs, bob_home, "");
  ASSERT_EQ(before.http.status, 207) << before.http.body;
  EXPECT_EQ(before.responses.size(), 2u);
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, true)), 200) << last.body;
  const auto found = shared_in(bobs, bob_home);
  ASSERT_EQ(found.size(), 1u);
  const auto shared = found[0];
  auto changes = home_sync(bobs, bob_home, before.sync_token);
  ASSERT_EQ(changes.responses.size(), 1u) << changes.http.body;
  EXPECT_EQ(changes.responses[0].href, shared);
  EXPECT_EQ(changes.responses[0].status, 0);

  const HeaderList type{{"Content-Type", "text/calendar"}};
  EXPECT_EQ(send(bobs, "PUT", shared + "b.ics", type, event("b")), 201);
  EXPECT_EQ(get(cal + "b.ics"), event("b"));
  EXPECT_EQ(list(dav, cal, "<d:resourcetype/>", "0")
                    .responses.at(0)
                    .properties.at("resourcetype")
                    .element.child("http://calendarserver.org/ns/", "shared-owner") != nullptr,
            true);

  const auto token = home_sync(bobs, bob_home, "").sync_token;
  ASSERT_EQ(cs_share(dav, cal, remove_one(bob_href)), 200) << last.body;
  EXPECT_EQ(shared_in(bobs, bob_home).size(), 0u);
  EXPECT_EQ(send(bobs, "PROPFIND", shared, {{"Depth", "0"}}), 404);
  EXPECT_EQ(send(bobs, "GET", shared + "b.ics"), 404);
  changes = home_sync(bobs, bob_home, token);
  ASSERT_EQ(changes.responses.size(), 1u) << changes.http.body;
  EXPECT_EQ(changes.responses[0].href, shared);
  EXPECT_EQ(changes.responses[0].status, 404);
  EXPECT_EQ(home_sync(bobs, bob_home, changes.sync_token).responses.size(), 0u);
}

TEST_F(GroupwareSharing, Acceptance73AHomeTellsWhatHasChangedInIt) {
  auto token = home_sync(dav, home, "").sync_token;
  EXPECT_EQ(text(home, "d:sync-token", "sync-token"), token);
  EXPECT_EQ(home_sync(dav, home, token).sync_token, token) << "nothing changed, the same token";
  ASSERT_EQ(send("MKCALENDAR", home + "new/"), 201);
  auto changes = home_sync(dav, home, token);
  EXPECT_EQ(changes.hrefs(), std::vector<std::string>{home + "new/"});
  token = changes.sync_token;
  set(cal, "<d:displayname>Other</d:displayname>");
  changes = home_sync(dav, home, token);
  EXPECT_EQ(changes.hrefs(), std::vector<std::string>{cal});
  EXPECT_EQ(changes.responses.at(0).text("displayname"), "Other");
  token = changes.sync_token;
  put(cal + "x.ics", event("x"));
  EXPECT_EQ(home_sync(dav, home, token).hrefs(), std::vector<std::string>{cal});
  token = home_sync(dav, home, "").sync_token;
  ASSERT_EQ(send("DELETE", home + "new/"), 204);
  changes = home_sync(dav, home, token);
  ASSERT_EQ(changes.responses.size(), 1u);
  EXPECT_EQ(changes.responses[0].href, home + "new/");
  EXPECT_EQ(changes.responses[0].status, 404);
  // A name that something else has is there, not gone.
  ASSERT_EQ(send("MKCALENDAR", home + "new/"), 201);
  changes = home_sync(dav, home, token);
  ASSERT_EQ(changes.responses.size(), 1u);
  EXPECT_EQ(changes.responses[0].status, 0);

  // Piece by piece, and nothing is left out.
  std::set<std::string> seen;
  token.clear();
  for (int round = 0; round < 3; ++round) {
    const auto piece = home_sync(dav, home, token, "<d:limit><d:nresults>1</d:nresults></d:limit>");
    for (const auto& r : piece.responses)
      if (r.status == 0) seen.insert(r.href);
    EXPECT_EQ(piece.find(home) != nullptr && piece.at(home).status == 507, round < 2);
    token = piece.sync_token;
  }
  EXPECT_EQ(seen, (std::set<std::string>{cal, tasks, home + "new/"}));

  for (const std::string bad : {"garbage", "urn:welkin:home:calendars/AAAA", "urn:welkin:home:calendars/",
                                "urn:welkin:home:books/x"}) {
    EXPECT_EQ(home_sync(dav, home, bad).http.status, 403) << bad;
  }
  EXPECT_EQ(home_sync(bobs, bob_home, token).http.status, 403) << "another home's";
  EXPECT_EQ(home_sync(dav, books, token).http.status, 403) << "of the other kind";
  EXPECT_EQ(send("REPORT", home, {},
                 "<d:sync-collection" + std::string(kSpaces) +
                     "><d:sync-token/><d:sync-level>infinite</d:sync-level><d:prop/></d:sync-collection>"),
            403);
  EXPECT_EQ(condition(), "d:sync-traversal-supported");
}

TEST_F(GroupwareSharing, EverybodySeesItInHisOwnWay) {
  ASSERT_EQ(cs_share(dav, cal,
                     set_one(bob_href, false) + set_one("/dav/principals/users/" + carol.name + "/", false)),
            200);
  const auto at_bob = shared_in(bobs, bob_home).at(0);
  const auto at_carol = shared_in(carols, "/dav/calendars/" + carol.name + "/").at(0);
  const auto token = text(cal, "d:sync-token", "sync-token");
  auto bob_token = home_sync(bobs, bob_home, "").sync_token;
  proppatch(bobs, at_bob,
            "<d:set><d:prop><d:displayname>Alice's</d:displayname><IC:calendar-order>7</IC:calendar-order>"
            "<IC:calendar-color>#112233</IC:calendar-color></d:prop></d:set>");
  const std::string props = "<d:displayname/><IC:calendar-order/><IC:calendar-color/>";
  EXPECT_EQ(list(bobs, at_bob, props, "0").responses.at(0).text("displayname"), "Alice's");
  EXPECT_EQ(list(bobs, at_bob, props, "0").responses.at(0).text(apple("calendar-order")), "7");
  EXPECT_NE(list(carols, at_carol, props, "0").responses.at(0).text("displayname"), "Alice's");
  EXPECT_NE(list(dav, cal, props, "0").responses.at(0).text("displayname"), "Alice's");
  EXPECT_EQ(text(cal, "d:sync-token", "sync-token"), token) << "nobody else has to look again";
  EXPECT_EQ(home_sync(bobs, bob_home, bob_token).hrefs(), std::vector<std::string>{at_bob})
      << "but his own other devices";
  // What he set goes with the share.
  ASSERT_EQ(cs_share(dav, cal, remove_one(bob_href)), 200);
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, false)), 200);
  EXPECT_NE(list(bobs, at_bob, props, "0").responses.at(0).text("displayname"), "Alice's");
}

TEST_F(GroupwareSharing, AccessChangesAtOnce) {
  const auto privileges = [&](const std::string& path) {
    std::set<std::string> out;
    const auto told = list(bobs, path, "<d:current-user-privilege-set/>", "0");
    for (const auto& p : told.at(path).properties.at("current-user-privilege-set").element.children)
      out.insert(p.children.at(0).name);
    return out;
  };
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, false)), 200);
  const auto shared = shared_in(bobs, bob_home).at(0);
  EXPECT_FALSE(privileges(shared).contains("write-content"));
  const auto token = home_sync(bobs, bob_home, "").sync_token;
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, true)), 200);
  EXPECT_TRUE(privileges(shared).contains("write-content"));
  EXPECT_FALSE(privileges(shared).contains("share"));
  EXPECT_EQ(home_sync(bobs, bob_home, token).hrefs(), std::vector<std::string>{shared});
  const HeaderList type{{"Content-Type", "text/calendar"}};
  EXPECT_EQ(send(bobs, "PUT", shared + "b.ics", type, event("b")), 201);
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, false)), 200);
  EXPECT_EQ(send(bobs, "PUT", shared + "c.ics", type, event("c")), 403);
  EXPECT_EQ(condition(), "d:need-privileges");
}

TEST_F(GroupwareSharing, WhoWasInvitedLeaves) {
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, true)), 200);
  const auto shared = shared_in(bobs, bob_home).at(0);
  EXPECT_EQ(send(bobs, "DELETE", shared), 204);
  EXPECT_EQ(shared_in(bobs, bob_home).size(), 0u);
  EXPECT_EQ(dav.send("PROPFIND", cal, {{"Depth", "0"}}).status, 207) << "the owner keeps it";
  EXPECT_EQ(list(dav, cal, "<CS:invite/>", "0").responses.at(0).status_of(cs("invite")), 404);
}

TEST_F(GroupwareSharing, BooksAreSharedToo) {
  put(book + "eva.vcf", card("eva"));
  ASSERT_EQ(share_resource(dav, book, bob_href, "read"), 200) << last.body;
  const auto shared = shared_in(bobs, bob_books).at(0);
  EXPECT_EQ(bobs.get(shared + "eva.vcf").body, card("eva"));
  EXPECT_EQ(send(bobs, "PUT", shared + "x.vcf", {{"Content-Type", "text/vcard"}}, card("x")), 403);
  const auto invite = list(bobs, shared, "<d:invite/><d:share-access/>", "0").responses.at(0);
  EXPECT_NE(invite.properties.at("share-access").element.child("DAV:", "read"), nullptr);
  EXPECT_EQ(invite.properties.at("invite").element.children.size(), 1u);
  ASSERT_EQ(share_resource(dav, book, bob_href, "no-access"), 200);
  EXPECT_EQ(shared_in(bobs, bob_books).size(), 0u);
}

TEST_F(GroupwareSharing, TheOwnerSeesWhoIsInvitedAndOthersOnlyThemselves) {
  ASSERT_EQ(cs_share(dav, cal,
                     set_one(bob_href, true) + set_one("/dav/principals/users/" + carol.name + "/", false)),
            200);
  const auto users = [&](ApiClient& as, const std::string& path) {
    std::set<std::string> out;
    const auto told = list(as, path, "<CS:invite/>", "0");
    for (const auto& user : told.at(path).properties.at(cs("invite")).element.children)
      if (user.name == "user") out.insert(user.child("DAV:", "href")->text);
    return out;
  };
  EXPECT_EQ(users(dav, cal).size(), 2u);
  const auto shared = shared_in(bobs, bob_home).at(0);
  EXPECT_EQ(users(bobs, shared), std::set<std::string>{bob_href});
  EXPECT_EQ(list(bobs, shared, "<d:acl/>", "0").responses.at(0).status_of("acl"), 404);
  EXPECT_NE(list(dav, cal, "<d:acl/>", "0").http.body.find(bob.name), std::string::npos);
  const std::string acl = "<d:acl-principal-prop-set" + std::string(kSpaces) +
                          "><d:prop><d:displayname/></d:prop></d:acl-principal-prop-set>";
  EXPECT_EQ(dav_answer(dav.send("REPORT", cal, {}, acl)).responses.size(), 3u);
  EXPECT_EQ(send(bobs, "REPORT", shared, {}, acl), 403);
  EXPECT_EQ(last.body.find(carol.name), std::string::npos);
  EXPECT_EQ(cs_share(bobs, shared, set_one("/dav/principals/users/" + carol.name + "/", true)), 403)
      << "who may write does not give";
  EXPECT_EQ(last.body.find("<d:share/>") != std::string::npos, true) << last.body;
  EXPECT_EQ(cs_share(bobs, cal, set_one(bob_href, true)), 404) << "and under the owner's address it is not";
}

TEST_F(GroupwareSharing, ThoseWeDoNotKnowAreNamedAndTheOthersShared) {
  EXPECT_EQ(cs_share(dav, cal, set_one("mailto:nobody@nowhere.example", true) + set_one(bob_href, false)),
            207);
  const auto answer = dav_answer(last);
  EXPECT_EQ(answer.at("mailto:nobody@nowhere.example").status, 404);
  EXPECT_EQ(answer.at(bob_href).status, 200);
  EXPECT_EQ(shared_in(bobs, bob_home).size(), 1u);
  EXPECT_EQ(cs_share(dav, cal, set_one("/dav/principals/users/" + alice.name + "/", true)), 400);
  EXPECT_EQ(cs_share(dav, cal, ""), 400);
  EXPECT_EQ(send("POST", cal, {{"Content-Type", "application/xml"}}, "<d:x xmlns:d=\"DAV:\"/>"), 400);
  EXPECT_EQ(send("POST", cal, {{"Content-Type", "application/xml"}}, "not xml"), 400);
  EXPECT_EQ(send("POST", cal), 400);
  EXPECT_EQ(send("POST", home, {{"Content-Type", "application/xml"}}, "<d:x xmlns:d=\"DAV:\"/>"), 405);
  EXPECT_EQ(send("POST", cal + "a.ics"), 404);
  server.sql("update users set email = '" + carol.name +
             "@example.org' where id = " + std::to_string(carol.id.value));
  EXPECT_EQ(cs_share(dav, cal, set_one("mailto:" + carol.name + "@EXAMPLE.org", false)), 200);
  EXPECT_EQ(shared_in(carols, "/dav/calendars/" + carol.name + "/").size(), 1u);
}

TEST_F(GroupwareSharing, GroupsAreSharedWithByTheirMembers) {
  const auto group = server.fresh("team");
  put_in_group(group, {&alice, &bob});
  alice.token = run(server.people->login(alice.name, alice.password, {})).access_token;
  const auto href = "/dav/principals/groups/" + group + "/";
  ASSERT_EQ(cs_share(dav, cal, set_one(href, true)), 200) << last.body;
  const auto found = shared_in(bobs, bob_home);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(send(bobs, "PUT", found[0] + "b.ics", {{"Content-Type", "text/calendar"}}, event("b")), 201);
  EXPECT_EQ(send(bobs, "DELETE", found[0]), 403) << "one of many does not end what all have";
  EXPECT_EQ(shared_in(carols, "/dav/calendars/" + carol.name + "/").size(), 0u);
  EXPECT_EQ(cs_share(carols, "/dav/calendars/" + carol.name + "/personal/", set_one(href, true)), 207)
      << "who is not in it does not know it";
  EXPECT_EQ(list(bobs, href, "<d:displayname/><CS:record-type/>", "0").responses.at(0).text("displayname"),
            "Group " + group);
  EXPECT_EQ(send(carols, "PROPFIND", href, {{"Depth", "0"}}), 404);
  // Who leaves the group sees it no more, at the next request.
  server.sql("delete from group_members where user_id = " + std::to_string(bob.id.value));
  EXPECT_EQ(send(bobs, "PROPFIND", found[0], {{"Depth", "0"}}), 404);
  EXPECT_EQ(shared_in(bobs, bob_home).size(), 0u);
}

TEST_F(GroupwareSharing, PrivateIsTheOwnersAndConfidentialIsBusy) {
  const auto when = std::string("DTSTART:20260105T100000Z / DTEND:20260105T110000Z / ");
  const auto with_class = [&](const std::string& uid, const std::string& value) {
    return event(uid,
                 when + "SUMMARY:secret of " + uid + " / LOCATION:secret place / CLASS:" + value +
                     " / BEGIN:VALARM / ACTION:DISPLAY / DESCRIPTION:secret / TRIGGER:-PT5M / END:VALARM");
  };
  put(cal + "open.ics", event("open", when + "SUMMARY:open"));
  put(cal + "private.ics", with_class("private", "PRIVATE"));
  put(cal + "odd.ics", with_class("odd", "X-OURS"));
  put(cal + "half.ics", with_class("half", "CONFIDENTIAL"));
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, true)), 200);
  const auto shared = shared_in(bobs, bob_home).at(0);
  const auto see = [&](const HttpResponse& answer) {
    EXPECT_EQ(answer.body.find("secret"), std::string::npos) << answer.body;
    return answer;
  };
  const std::string data_props = "<d:prop><d:getetag/><C:calendar-data/></d:prop>";
  const auto ask = [&](const std::string& name, const std::string& inside) {
    return dav_answer(
        see(bobs.send("REPORT", shared, {}, "<" + name + kSpaces + ">" + inside + "</" + name + ">")));
  };
  const std::string range = "<C:time-range start=\"20260105T000000Z\" end=\"20260106T000000Z\"/>";
  const auto filter = [&](const std::string& inside) {
    return "<C:filter><C:comp-filter name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\">" + inside +
           "</C:comp-filter></C:comp-filter></C:filter>";
  };
  const std::vector<std::string> both{shared + "half.ics", shared + "open.ics"};
  const auto sorted = [](const DavAnswer& answer) {
    auto out = answer.hrefs();
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_EQ(sorted(ask("C:calendar-query", data_props + filter(""))), both);
  EXPECT_EQ(sorted(ask("C:calendar-query", data_props + filter(range))), both);
  EXPECT_EQ(ask("C:calendar-query", data_props + filter("<C:prop-filter name=\"SUMMARY\"><C:text-match>secret"
                                                        "</C:text-match></C:prop-filter>"))
                .responses.size(),
            0u)
      << "what is not told is not found either";
  const auto initial = ask("d:sync-collection", "<d:sync-token/><d:sync-level>1</d:sync-level>" + data_props);
  EXPECT_EQ(sorted(initial), both);
  const auto got =
      ask("C:calendar-multiget", data_props + "<d:href>" + shared + "private.ics</d:href><d:href>" + shared +
                                     "half.ics</d:href><d:href>" + shared + "odd.ics</d:href>");
  EXPECT_EQ(got.at(shared + "private.ics").status, 404);
  EXPECT_EQ(got.at(shared + "odd.ics").status, 404) << "what is unknown is private";
  const auto masked = see(bobs.get(shared + "half.ics"));
  EXPECT_EQ(masked.status, 200);
  EXPECT_NE(masked.body.find("SUMMARY:Busy"), std::string::npos);
  EXPECT_NE(masked.body.find("DTSTART:20260105T100000Z"), std::string::npos);
  const auto tag = got.at(shared + "half.ics").text("getetag");
  EXPECT_EQ(masked.header("etag"), tag) << "of what is told";
  EXPECT_EQ(list(bobs, shared, "<d:getetag/>").at(shared + "half.ics").text("getetag"), tag);
  EXPECT_NE(etag(cal + "half.ics"), tag);
  EXPECT_EQ(see(bobs.get(shared + "private.ics")).status, 404);
  EXPECT_EQ(see(bobs.get(shared)).status, 200);
  EXPECT_EQ(see(bobs.send("PROPFIND", shared, {{"Depth", "1"}})).status, 207);

  const HeaderList type{{"Content-Type", "text/calendar"}};
  for (const std::string name : {"private.ics", "half.ics"}) {
    EXPECT_EQ(send(bobs, "PUT", shared + name, type, event(name.substr(0, name.find('.')))), 403) << name;
    EXPECT_EQ(send(bobs, "DELETE", shared + name), name == "half.ics" ? 403 : 404) << name;
    for (const std::string method : {"COPY", "MOVE"})
      EXPECT_EQ(send(bobs, method, shared + name, {{"Destination", bob_home + "personal/stolen.ics"}}),
                name == "half.ics" ? 403 : 404)
          << method << ' ' << name;
    send(bobs, "PUT", bob_home + "personal/mine.ics", type, event(name.substr(0, name.find('.'))));
    EXPECT_EQ(send(bobs, "MOVE", bob_home + "personal/mine.ics", {{"Destination", shared + name}}), 403);
    send(bobs, "DELETE", bob_home + "personal/mine.ics");
  }
  EXPECT_EQ(send(bobs, "PUT", shared + "new.ics", type, event("private")), 403);
  EXPECT_EQ(condition(), "C:no-uid-conflict");
  EXPECT_EQ(last.body.find("private.ics"), std::string::npos) << "there is one, and no more is told";
  EXPECT_EQ(get(cal + "half.ics"), with_class("half", "CONFIDENTIAL")) << "the owner sees his own bytes";
  EXPECT_EQ(get(cal + "private.ics"), with_class("private", "PRIVATE"));
  // What becomes private is gone for others, and comes back.
  put(cal + "open.ics", with_class("open", "PRIVATE"));
  auto changes = ask("d:sync-collection", "<d:sync-token>" + initial.sync_token +
                                              "</d:sync-token><d:sync-level>1</d:sync-level>" + data_props);
  ASSERT_EQ(changes.responses.size(), 1u);
  EXPECT_EQ(changes.at(shared + "open.ics").status, 404);
  put(cal + "open.ics", event("open", when + "SUMMARY:open"));
  changes = ask("d:sync-collection", "<d:sync-token>" + changes.sync_token +
                                         "</d:sync-token><d:sync-level>1</d:sync-level>" + data_props);
  EXPECT_EQ(changes.at(shared + "open.ics").status, 0);
}

TEST_F(GroupwareSharing, Acceptance84SearchesFindWhomTheSettingShows) {
  server.sql("update users set display_name = 'Robert ' || name, email = name || '@example.org' where id = " +
             std::to_string(bob.id.value));
  EXPECT_EQ(search(dav, "<d:displayname/>", "Robert " + bob.name, "equals").responses.size(), 0u)
      << "not in a group with him";
  EXPECT_EQ(search(dav, "<CS:email-address-set/>", bob.name + "@example.org", "equals").responses.size(), 1u)
      << "but who knows his address finds him";
  EXPECT_EQ(search(dav, "<CS:email-address-set/>", bob.name + "@example", "contains").responses.size(), 0u);
  EXPECT_EQ(send("PROPFIND", bob_href, {{"Depth", "0"}}), 404);
  put_in_group(server.fresh("team"), {&alice, &bob});
  const auto found = search(dav, "<d:displayname/>", "Robert " + bob.name, "equals");
  ASSERT_EQ(found.responses.size(), 1u);
  EXPECT_EQ(found.responses[0].href, bob_href);
  EXPECT_EQ(found.responses[0].text("displayname"), "Robert " + bob.name);
  const auto seen = list(dav, bob_href,
                         "<d:displayname/><C:calendar-home-set/><A:addressbook-home-set/>"
                         "<d:group-membership/><d:current-user-privilege-set/>",
                         "0")
                        .responses.at(0);
  EXPECT_EQ(seen.status_of(caldav("calendar-home-set")), 404) << "where he keeps things is his business";
  EXPECT_EQ(seen.status_of(carddav("addressbook-home-set")), 404);
  const auto apple_search = dav_answer(dav.send(
      "REPORT", "/dav/principals/", {},
      "<CS:calendarserver-principal-search" + std::string(kSpaces) +
          " context=\"attendee\"><CS:search-token>robert</CS:search-token><CS:search-token>" + bob.name +
          "</CS:search-token><d:prop><d:displayname/></d:prop>"
          "</CS:calendarserver-principal-search>"));
  EXPECT_EQ(apple_search.hrefs(), std::vector<std::string>{bob_href});
  EXPECT_EQ(search(carols, "<d:displayname/>", bob.name).responses.size(), 0u);

  TestServer quiet([](Config& config) { config.people_search = "off"; });
  const auto a = quiet.user("alice"), b = quiet.user("bob");
  quiet.sql("insert into groups (name, display_name) values ('g', 'G')");
  quiet.sql("insert into group_members (user_id, group_id) select u.id, g.id from users u, groups g");
  quiet.sql("update users set email = name || '@example.org'");
  auto as_a = quiet.as(a);
  EXPECT_EQ(search(as_a, "<d:displayname/>", "bob", "equals").responses.size(), 0u);
  EXPECT_EQ(search(as_a, "<CS:email-address-set/>", "bob@example.org", "equals").responses.size(), 0u);
}

TEST_F(GroupwareSharing, CredentialsThatMayOnlyReadShareNothing) {
  people::NewAppPassword wanted;
  wanted.label = "reader";
  wanted.protocol_mask = protocols::kCaldav;
  wanted.read_only = true;
  const auto secret = run(server.people->create_app_password(alice.caller, wanted, {})).second;
  ApiClient reader(server.port(), basic(alice.name, secret));
  EXPECT_EQ(cs_share(reader, cal, set_one(bob_href, false)), 403);
  EXPECT_EQ(shared_in(bobs, bob_home).size(), 0u);
  EXPECT_EQ(list(reader, cal, "<CS:allowed-sharing-modes/>", "0")
                .responses.at(0)
                .status_of(cs("allowed-sharing-modes")),
            404);
}

TEST_F(GroupwareSharing, WhoLeavesTheServerTakesHisSharesAlong) {
  ASSERT_EQ(cs_share(dav, cal, set_one(bob_href, true)), 200);
  run(server.people->delete_user(bob.id, UserId{}, {}));
  EXPECT_EQ(list(dav, cal, "<CS:invite/>", "0").responses.at(0).status_of(cs("invite")), 404);
}

}  // namespace
}  // namespace welkin::tests
