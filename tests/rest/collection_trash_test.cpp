#include <thread>

#include "rest/groupware_api.hpp"
#include "welkin/collections/upkeep.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct CollectionTrash : GroupwareApi {
  CollectionTrash() { use("spare"); }  // the one that invitations go to cannot be deleted
  const std::string trash = "/api/calendars/trash";
  json items(const std::string& query = "") {
    return json_of(api.get(trash + "/resources" + query))["items"];
  }
  std::string id_of(const std::string& name) {
    for (const auto& each : items("?limit=200"))
      if (each["resource"]["name"] == name) return each["resource"]["id"];
    return "";
  }
  HttpResponse restore(const std::string& id) { return api.send("POST", trash + "/" + id + "/restore"); }
  /// What the counters say against what is there.
  void expect_true_sums() {
    const auto id = std::to_string(alice.id.value);
    EXPECT_EQ(
        used(),
        server.number(
            "select (coalesce((select sum(o.size) from collection_objects o join collections c on c.id = "
            "o.collection_id where c.owner_id = " +
            id +
            "), 0) + coalesce((select sum(octet_length(t.data)) from "
            "collection_trash t join collections c on c.id = t.collection_id where c.owner_id = " +
            id + "), 0))::bigint"));
    EXPECT_EQ(used(), server.number("select collection_bytes(" + id + ")::bigint"));
  }
};

TEST_F(CollectionTrash, ADeletedEventComesBackAsItWas) {
  const auto data = event("a", "DTSTART:20260105T100000Z\r\nSUMMARY:gone\r\nX-ODD: kept ");
  put("a.ics", data);
  const auto weight = used();
  EXPECT_EQ(api.send("DELETE", cal() + "a.ics").status, 204);
  EXPECT_EQ(used(), weight) << "the trash counts";
  const auto listed = items();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["resource_type"], "event");
  EXPECT_EQ(listed[0]["days_until_deletion"], 30);
  EXPECT_EQ(listed[0]["resource"]["collection_id"], cal_id);
  const auto answer = restore(listed[0]["resource"]["id"]);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(api.get(cal() + "a.ics").body, data);
  EXPECT_EQ(json_of(api.get(events() + "/" + json_of(answer)["id"].get<std::string>()))["summary"], "gone");
  EXPECT_EQ(json_of(api.get(events() + "?from=2026-01-05&to=2026-01-06"))["items"].size(), 1u)
      << "found by its time again";
  EXPECT_EQ(items().size(), 0u);
  expect_error(restore(listed[0]["resource"]["id"]), 404, "not_found");
  expect_true_sums();
}

TEST_F(CollectionTrash, ConflictsAreToldAndChangeNothing) {
  put("a.ics", event("a", "DTSTART:20260105T100000Z\r\nSUMMARY:one"));
  api.send("DELETE", cal() + "a.ics");
  const auto id = id_of("one");
  put("a.ics", event("other"));
  EXPECT_EQ(restore(id).status, 200) << "another name does";
  api.send("DELETE", cal() + "a.ics");
  put("b.ics", event("b", "DTSTART:20260105T100000Z\r\nSUMMARY:two"));
  api.send("DELETE", cal() + "b.ics");
  const auto two = id_of("two");
  put("c.ics", event("b", "DTSTART:20260105T100000Z\r\nSUMMARY:again"));
  expect_error(restore(two), 409, "uid_conflict");
  EXPECT_EQ(id_of("two"), two) << "still there";
  put("d.ics", event("d", "DTSTART:20260105T100000Z\r\nSUMMARY:three"));
  api.send("DELETE", cal() + "d.ics");
  const auto three = id_of("three");
  EXPECT_EQ(api.send("DELETE", "/api/calendars/" + cal_id).status, 204);
  expect_error(restore(three), 409, "collection_gone");
  EXPECT_EQ(id_of("three"), "") << "told with the calendar it was in";
  EXPECT_EQ(restore(cal_id).status, 200);
  EXPECT_EQ(restore(three).status, 200);
  expect_true_sums();
}

TEST_F(CollectionTrash, ADeletedCalendarComesBackWithEverything) {
  put("a.ics", event("a"));
  const auto before = json_of(api.get("/api/calendars/" + cal_id));
  EXPECT_EQ(api.send("DELETE", cal()).status, 204);
  const auto listed = items();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["resource_type"], "calendar");
  EXPECT_EQ(listed[0]["resource"]["object_count"], 1);
  EXPECT_EQ(api.send("MKCALENDAR", cal()).status, 201) << "its path was free";
  EXPECT_EQ(restore(cal_id).status, 200);
  const auto now = json_of(api.get("/api/calendars/" + cal_id));
  EXPECT_EQ(now["object_count"], 1);
  EXPECT_EQ(json_of(api.get("/api/calendars")).size(), 4u) << "beside the new one";
  EXPECT_EQ(now["created_at"], before["created_at"]);
  expect_error(restore(cal_id), 404, "not_found");
}

TEST_F(CollectionTrash, WhatIsPurgedIsGoneAndWeighsNothing) {
  for (const std::string name : {"a", "b", "c"}) {
    put(name + ".ics", event(name, "DTSTART:20260105T100000Z\r\nSUMMARY:" + name));
    api.send("DELETE", cal() + name + ".ics");
  }
  put("live.ics", event("live"));
  const auto weight = used();
  const auto a = id_of("a");
  EXPECT_EQ(api.send("DELETE", trash + "/" + a).status, 200);
  expect_error(restore(a), 404, "not_found");
  EXPECT_LT(used(), weight);
  EXPECT_EQ(json_of(api.send("DELETE", trash))["items"], 2);
  EXPECT_EQ(items().size(), 0u);
  EXPECT_EQ(used(), static_cast<std::int64_t>(event("live").size()));
  EXPECT_EQ(api.send("DELETE", "/api/calendars/" + cal_id).status, 204);
  EXPECT_EQ(api.send("DELETE", trash + "/" + cal_id).status, 200);
  expect_error(restore(cal_id), 404, "not_found");
  while (collections::purge_trash(*server.db)) {
  }
  EXPECT_EQ(used(), 0) << "the job has taken it away";
  expect_true_sums();
}

TEST_F(CollectionTrash, TheJobEndsWhatIsOldAndNothingElse) {
  for (const std::string name : {"old", "young"}) {
    put(name + ".ics", event(name, "DTSTART:20260105T100000Z\r\nSUMMARY:" + name));
    api.send("DELETE", cal() + name + ".ics");
  }
  put("kept.ics", event("kept"));
  const auto other = api.json("POST", "/api/calendars", R"({"name":"Other"})");
  const auto other_id = json_of(other)["id"].get<std::string>();
  EXPECT_EQ(
      api.json("POST", other.header("location") + "/events", R"({"summary":"in it","start":"2026-01-05"})")
          .status,
      201);
  EXPECT_EQ(api.send("DELETE", other.header("location")).status, 204);
  server.sql("update collection_trash set deleted_at = now() - interval '31 days' where title = 'old'");
  server.sql(
      "update collections set deleted_at = now() - interval '31 days' where deleted_at is not null and "
      "owner_id = " +
      std::to_string(alice.id.value));
  while (collections::purge_trash(*server.db)) {
  }
  EXPECT_EQ(items().size(), 1u);
  EXPECT_EQ(items()[0]["resource"]["name"], "young");
  expect_error(restore(other_id), 404, "not_found");
  expect_true_sums();
}

TEST_F(CollectionTrash, IsListedInPages) {
  for (int i = 0; i < 5; ++i) {
    put(std::to_string(i) + ".ics",
        event(std::to_string(i), "DTSTART:20260105T100000Z\r\nSUMMARY:o" + std::to_string(i)));
    api.send("DELETE", cal() + std::to_string(i) + ".ics");
    const auto made = api.json("POST", "/api/calendars", json{{"name", "c" + std::to_string(i)}}.dump());
    api.send("DELETE", made.header("location"));
  }
  for (const int limit : {1, 2, 5, 7}) {
    std::vector<std::string> seen;
    std::string cursor;
    for (int pages = 0; pages < 20; ++pages) {
      const auto page =
          json_of(api.get(trash + "/resources?limit=" + std::to_string(limit) + "&cursor=" + cursor));
      for (const auto& each : page["items"]) seen.push_back(each["resource"]["name"]);
      cursor = page.value("next_cursor", "");
      if (cursor.empty()) break;
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"c4", "c3", "c2", "c1", "c0", "o4", "o3", "o2", "o1", "o0"}))
        << limit;
  }
}

TEST_F(CollectionTrash, ContactsHaveOneOfTheirOwn) {
  put("eva.vcf", card("eva"));
  api.send("DELETE", book() + "eva.vcf");
  EXPECT_EQ(items().size(), 0u);
  const auto listed = json_of(api.get("/api/address-books/trash/resources"))["items"];
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["resource"]["name"], "Eva");
  const auto id = listed[0]["resource"]["id"].get<std::string>();
  expect_error(restore(id), 404, "not_found");
  EXPECT_EQ(api.send("POST", "/api/address-books/trash/" + id + "/restore").status, 200);
  EXPECT_EQ(api.get(book() + "eva.vcf").body, card("eva"));
}

struct GroupwareQuota : GroupwareApi {
  void leave(std::int64_t bytes) {
    server.sql("update drives set quota_bytes = used_bytes + " + std::to_string(bytes) +
               " where kind = 1 and owner_id = " + std::to_string(alice.id.value));
  }
};

TEST_F(GroupwareQuota, CountsWhatIsThere) {
  EXPECT_EQ(used(), 0);
  put("a.ics", event("a"));
  const auto one = static_cast<std::int64_t>(event("a").size());
  EXPECT_EQ(used(), one);
  put("a.ics", event("a", "DTSTART:20260105T100000Z\r\nSUMMARY:1234567890"));
  EXPECT_EQ(used(), one + 20);
  put("a.ics", event("a"));
  EXPECT_EQ(used(), one) << "less is given back";
  EXPECT_EQ(api.send("MKCALENDAR", "/dav/calendars/" + alice.name + "/second/").status, 201);
  const std::string second = "/dav/calendars/" + alice.name + "/second/a.ics";
  EXPECT_EQ(api.send("COPY", cal() + "a.ics", {{"Destination", second}}).status, 201);
  EXPECT_EQ(used(), 2 * one);
  EXPECT_EQ(api.send("MOVE", cal() + "a.ics", {{"Destination", second}}).status, 204);
  EXPECT_EQ(used(), one) << "it took the place of the other";
  EXPECT_EQ(json_of(api.get("/api/auth/me"))["storage_used_bytes"], one);
}

TEST_F(GroupwareQuota, IsObeyedByEveryWay) {
  put("a.ics", event("a"));
  leave(50);
  const auto dav = api.send("PUT", cal() + "b.ics", {{"Content-Type", "text/calendar"}}, event("b"));
  EXPECT_EQ(dav.status, 507) << dav.body;
  EXPECT_NE(dav.body.find("<d:quota-not-exceeded/>"), std::string::npos) << dav.body;
  EXPECT_EQ(api.get(cal() + "b.ics").status, 404) << "nothing was stored";
  expect_error(api.json("POST", events(), R"({"summary":"x","start":"2026-01-05T10:00:00Z"})"), 507,
               "quota_not_exceeded");
  expect_error(api.json("POST", contacts(), R"({"full_name":"Eva"})"), 507, "quota_not_exceeded");
  EXPECT_EQ(api.send("MKCALENDAR", "/dav/calendars/" + alice.name + "/second/").status, 201);
  EXPECT_EQ(
      api.send("COPY", cal() + "a.ics", {{"Destination", "/dav/calendars/" + alice.name + "/second/a.ics"}})
          .status,
      507);
  EXPECT_EQ(
      api.send("MOVE", cal() + "a.ics", {{"Destination", "/dav/calendars/" + alice.name + "/second/a.ics"}})
          .status,
      201)
      << "it weighs the same there";
  leave(0);
  EXPECT_EQ(api.send("DELETE", "/dav/calendars/" + alice.name + "/second/a.ics").status, 204)
      << "a full drive lets go";
  const auto listed = json_of(api.get("/api/calendars/trash/resources"))["items"];
  EXPECT_EQ(
      api.send("POST", "/api/calendars/trash/" + listed[0]["resource"]["id"].get<std::string>() + "/restore")
          .status,
      200);
  const auto upload = api.send("PUT", child(root_id, "file"), {}, "x");
  expect_error(upload, 507, "quota_not_exceeded", "files and events share it");
}

TEST_F(GroupwareQuota, ABurstDoesNotPassIt) {
  const auto one = static_cast<std::int64_t>(event("x00").size());
  leave(10 * one);
  std::vector<std::thread> writers;
  std::atomic<int> stored = 0, refused = 0;
  for (int w = 0; w < 8; ++w)
    writers.emplace_back([&, w] {
      auto client = server.as(alice);
      for (int i = 0; i < 5; ++i) {
        const auto name = "x" + std::to_string(w) + std::to_string(i);
        const auto path = (i % 2 == 0 ? cal() : "/dav/calendars/" + alice.name + "/tasks/") + name + ".ics";
        const auto data = i % 2 == 0
                              ? event(name)
                              : "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:" + name +
                                    "\r\nSUMMARY:" + std::string(static_cast<std::size_t>(one) - 74, 's') +
                                    "\r\nEND:VTODO\r\nEND:VCALENDAR\r\n";
        const auto status = client.send("PUT", path, {{"Content-Type", "text/calendar"}}, data).status;
        if (status == 201) ++stored;
        if (status == 507) ++refused;
      }
    });
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(stored + refused, 40);
  EXPECT_GE(refused.load(), 25);
  EXPECT_LE(used(), server.number("select quota_bytes from drives where kind = 1 and owner_id = " +
                                  std::to_string(alice.id.value)));
  EXPECT_EQ(used(), server.number("select collection_bytes(" + std::to_string(alice.id.value) + ")::bigint"));
}

TEST_F(GroupwareQuota, WhatIsSharedWeighsOnItsOwner) {
  const auto bob = server.user(server.fresh("bob"));
  const auto key = key_of(alice, 1, "personal");
  server.sql("insert into collection_shares (collection_id, user_id, access) values (" + std::to_string(key) +
             ", " + std::to_string(bob.id.value) + ", 2)");
  auto bobs = server.as(bob);
  const auto shared = "/dav/calendars/" + bob.name + "/shared-" + std::to_string(key) + "/";
  EXPECT_EQ(bobs.send("PUT", shared + "a.ics", {{"Content-Type", "text/calendar"}}, event("a")).status, 201);
  const auto one = static_cast<std::int64_t>(event("a").size());
  const auto bobs_use = [&] {
    return server.number("select used_bytes from drives where kind = 1 and owner_id = " +
                         std::to_string(bob.id.value));
  };
  EXPECT_EQ(used(), one);
  EXPECT_EQ(bobs_use(), 0);
  EXPECT_EQ(
      bobs.send("MOVE", shared + "a.ics", {{"Destination", "/dav/calendars/" + bob.name + "/personal/a.ics"}})
          .status,
      201);
  EXPECT_EQ(used(), 0);
  EXPECT_EQ(bobs_use(), one);
}

}  // namespace
}  // namespace welkin::tests
