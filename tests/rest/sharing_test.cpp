// Who sees calendars and address books, and what is published of them: every route as every kind of subject.
#include <set>

#include "rest/api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct Sharing : Api {
  TestUser bob = server.user(server.fresh("bob")), carol = server.user(server.fresh("carol"));
  ApiClient bobs = server.as(bob), carols = server.as(carol), nobody = server.nobody();
  std::string cal = id_of("personal", 1), book = id_of("contacts", 2);

  std::string id_of(const std::string& path, int kind) {
    const auto key = server.number("select id from collections where deleted_at is null and path = '" + path +
                                   "' and kind = " + std::to_string(kind) +
                                   " and owner_id = " + std::to_string(alice.id.value));
    return server.ids.encode(kind == 1 ? IdKind::calendar : IdKind::address_book, key);
  }
  std::string calendar(const std::string& rest) const { return "/api/calendars/" + cal + rest; }
  std::string user_id(const TestUser& user) const { return server.ids.encode(IdKind::user, user.id.value); }
  json put(const std::string& target, const json& body, int expected = 200) {
    const auto answer = api.json("PUT", target, body.dump());
    EXPECT_EQ(answer.status, expected) << answer.body;
    return json_of(answer);
  }
  /// What bob sees in his home over DAV.
  bool bob_sees(const std::string& kind = "calendars") {
    const auto answer =
        bobs.send("PROPFIND",
                  kind == "calendars" ? "/dav/calendars/" + bob.name + "/"
                                      : "/dav/addressbooks/users/" + bob.name + "/",
                  {{"Depth", "1"}}, "<propfind xmlns='DAV:'><prop><resourcetype/></prop></propfind>");
    return answer.body.find("/shared-") != std::string::npos;
  }
};

TEST_F(Sharing, ASharedThingIsThereAtOnceAndGoesAtOnce) {
  for (const bool calendars : {true, false}) {
    const auto base = calendars ? calendar("/shares") : "/api/address-books/" + book + "/shares";
    const std::string kind = calendars ? "calendars" : "books";
    const auto shares = put(base, {{"user", bob.name}, {"access", "read"}});
    ASSERT_EQ(shares["shares"].size(), 1u);
    const auto& share = shares["shares"][0];
    EXPECT_EQ(share["id"], user_id(bob));
    EXPECT_EQ(share["type"], "user");
    EXPECT_EQ(share["name"], bob.name);
    EXPECT_EQ(share["access"], "read");
    EXPECT_FALSE(share.contains("email"));
    EXPECT_TRUE(bob_sees(kind));
    EXPECT_EQ(put(base, {{"user", bob.name}, {"access", "write"}})["shares"][0]["access"], "write");
    EXPECT_EQ(json_of(api.get(base))["shares"].size(), 1u);
    EXPECT_EQ(api.send("DELETE", base + "/" + user_id(bob)).status, 204);
    EXPECT_FALSE(bob_sees(kind));
    expect_error(api.send("DELETE", base + "/" + user_id(bob)), 404, "no_such_share");
  }
}

TEST_F(Sharing, EveryRouteForEverySubject) {
  put(calendar("/shares"), {{"user", bob.name}, {"access", "write"}});
  const auto share_body = json{{"user", carol.name}, {"access", "read"}}.dump();
  people::NewAppPassword reading;
  reading.label = "reader";
  reading.protocol_mask = protocols::kRest;
  reading.read_only = true;
  ApiClient reader(
      server.port(),
      basic(alice.name, run(server.people->create_app_password(alice.caller, reading, {})).second));
  struct Row {
    const char* method;
    std::string path, body;
    int owner, sharee, stranger, read_only;
  };
  const Row rows[] = {
      {"GET", "/shares", "", 200, 200, 404, 200},
      {"PUT", "/shares", share_body, 200, 403, 404, 403},
      {"DELETE", "/shares/" + user_id(carol), "", 204, 404, 404, 403},
      {"GET", "/feed", "", 200, 403, 404, 200},
      {"POST", "/feed", "{}", 201, 403, 404, 403},
      {"DELETE", "/feed", "", 204, 403, 404, 403},
      {"GET", "/subscription", "", 404, 404, 404, 404},
      {"PATCH", "/subscription", "{}", 404, 404, 404, 404},
  };
  for (const auto& row : rows) {
    const auto send = [&](ApiClient& as) {
      HeaderList headers;
      if (!row.body.empty()) headers.emplace_back("Content-Type", "application/json");
      return as.send(row.method, calendar(row.path), headers, row.body).status;
    };
    const auto what = std::string(row.method) + ' ' + row.path;
    EXPECT_EQ(send(nobody), 401) << what;
    EXPECT_EQ(send(carols), row.stranger) << what;
    EXPECT_EQ(send(bobs), row.sharee) << what;
    // As the owner would have left it for him.
    if (std::string_view(row.method) == "DELETE" && row.path.starts_with("/shares/"))
      put(calendar("/shares"), {{"user", carol.name}, {"access", "read"}});
    EXPECT_EQ(send(reader), row.read_only) << what;
    EXPECT_EQ(send(api), row.owner) << what;
    if (row.path == "/shares" && std::string_view(row.method) == "PUT")
      api.send("DELETE", calendar("/shares/" + user_id(carol)));
  }
  EXPECT_EQ(json_of(bobs.get(calendar("/shares")))["shares"].size(), 1u) << "he sees himself only";
  EXPECT_EQ(api.get("/api/calendars/" + book + "/shares").status, 404) << "an id of another kind";
  EXPECT_EQ(api.get("/api/address-books/" + cal + "/shares").status, 404);
  EXPECT_EQ(api.get("/api/calendars/nonsense/shares").status, 400);
}

TEST_F(Sharing, NoRouteIsLeftOut) {
  // Those of the table above; the rest concerns the caller alone or is tried below.
  const std::set<std::string> known{"calendar_shares.list",
                                    "calendar_shares.put",
                                    "calendar_shares.delete",
                                    "book_shares.list",
                                    "book_shares.put",
                                    "book_shares.delete",
                                    "feeds.get",
                                    "feeds.publish",
                                    "feeds.unpublish",
                                    "subscriptions.create",
                                    "subscriptions.get",
                                    "subscriptions.patch",
                                    "birthdays.get",
                                    "birthdays.put",
                                    "groupware.feed"};
  std::set<std::string> routes;
  for (const auto& route : server.router.routes())
    for (const char* resource : {"share", "feed", "subscription", "birthdays"})
      // What Nextcloud's clients ask of shares of files lists nothing.
      if (route.resource == resource && !route.name.starts_with("ocs.")) routes.insert(route.name);
  EXPECT_EQ(routes, known);
  for (const char* target : {"/api/calendar-subscriptions", "/api/birthday-calendar"})
    for (const char* method : {"GET", "PUT", "POST"}) {
      const auto status = nobody.send(method, target).status;
      EXPECT_TRUE(status == 401 || status == 405) << method << ' ' << target << status;
    }
}

TEST_F(Sharing, WhoWasInvitedLeaves) {
  put(calendar("/shares"), {{"user", bob.name}, {"access", "write"}});
  EXPECT_EQ(bobs.send("DELETE", calendar("/shares/" + user_id(bob))).status, 204);
  EXPECT_FALSE(bob_sees());
  EXPECT_EQ(json_of(api.get(calendar("/shares")))["shares"].size(), 0u);
}

TEST_F(Sharing, BadInputIsToldSo) {
  const auto bad = [&](const json& body, int status, const std::string& slug) {
    expect_error(api.json("PUT", calendar("/shares"), body.dump()), status, slug, body.dump());
  };
  bad({{"access", "read"}}, 400, "bad_share");
  bad({{"user", bob.name}, {"email", "x@y.example"}, {"access", "read"}}, 400, "bad_share");
  bad({{"user", bob.name}, {"access", "own"}}, 400, "bad_share");
  bad({{"user", alice.name}, {"access", "read"}}, 400, "share_with_owner");
  bad({{"user", "nobody-at-all"}, {"access", "read"}}, 404, "no_such_user");
  bad({{"group", "no-such-group"}, {"access", "read"}}, 404, "no_such_group");
  bad({{"email", "nobody@nowhere.example"}, {"access", "read"}}, 404, "no_such_user");
  EXPECT_EQ(json_of(api.get(calendar("/shares")))["shares"].size(), 0u);
}

TEST_F(Sharing, AFeedIsToldOnce) {
  EXPECT_EQ(json_of(api.get(calendar("/feed"))), (json{{"published", false}}));
  const auto made =
      api.json("POST", calendar("/feed"), R"({"with_alarms":true,"expires_at":"2999-01-01T00:00:00Z"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("cache-control"), "no-store");
  const std::string url = json_of(made)["url"];
  const auto path = url.substr(url.find("/dav/public/"));
  EXPECT_EQ(nobody.get(path).status, 200);
  const auto seen = json_of(api.get(calendar("/feed")));
  EXPECT_EQ(seen["published"], true);
  EXPECT_EQ(seen["with_alarms"], true);
  EXPECT_EQ(seen["expires_at"], "2999-01-01T00:00:00Z");
  EXPECT_FALSE(seen["last_read_at"].is_null());
  EXPECT_FALSE(seen.contains("url"));
  expect_error(api.json("POST", calendar("/feed"), R"({"expires_at":"2001-01-01T00:00:00Z"})"), 400,
               "bad_expiry");
  EXPECT_EQ(nobody.get(path).status, 200) << "a refusal ends nothing";
  EXPECT_EQ(api.send("DELETE", calendar("/feed")).status, 204);
  EXPECT_EQ(nobody.get(path).status, 404);
}

TEST_F(Sharing, SubscriptionsAreMade) {
  const auto made =
      api.json("POST", "/api/calendar-subscriptions",
               R"({"url":"webcal://calendar.example/x.ics","name":"A & B","refresh_seconds":3600})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto subscription = json_of(made);
  EXPECT_EQ(subscription["url"], "webcal://calendar.example/x.ics");
  EXPECT_EQ(subscription["refresh_seconds"], 3600);
  EXPECT_TRUE(subscription["fetched_at"].is_null());
  const std::string id = subscription["id"];
  EXPECT_EQ(api.get("/api/calendars/" + id + "/subscription").status, 200);
  EXPECT_EQ(bobs.get("/api/calendars/" + id + "/subscription").status, 404);
  const auto home = api.send("PROPFIND", "/dav/calendars/" + alice.name + "/", {{"Depth", "1"}},
                             "<propfind xmlns='DAV:'><prop><displayname/></prop></propfind>");
  EXPECT_NE(home.body.find("A &amp; B"), std::string::npos) << home.body;
  for (const std::string body :
       {R"({"url":"http://127.0.0.1/"})", R"({"url":"ftp://x.example/"})", R"({"name":"x"})",
        R"({"url":"http://x.example/","refresh_seconds":10})", R"({"url":"http://x.example/","more":1})"}) {
    const auto status = api.json("POST", "/api/calendar-subscriptions", body).status;
    EXPECT_TRUE(status == 400 || status == 422) << body << status;
  }
}

}  // namespace
}  // namespace welkin::tests
