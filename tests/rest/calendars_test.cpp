#include "rest/groupware_api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;
using Calendars = GroupwareApi;

const std::string kSeries =
    "BEGIN:VCALENDAR\nPRODID:-//t//EN\nX-OWN:kept\nBEGIN:VEVENT\nUID:s\nDTSTAMP:20260101T000000Z\n"
    "DTSTART;TZID=Europe/Berlin:20260302T093000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=8\n"
    "EXDATE;TZID=Europe/Berlin:20260316T093000\nX-STRANGE;P=\"a:b\":odd\n  folded where nobody would\n"
    "SUMMARY;LANGUAGE=de:old\nEND:VEVENT\nBEGIN:VEVENT\nUID:s\nRECURRENCE-ID;TZID=Europe/"
    "Berlin:20260330T093000\n"
    "DTSTART;TZID=Europe/Berlin:20260331T150000\nDURATION:PT1H\nSUMMARY:moved\nEND:VEVENT\nEND:VCALENDAR";

TEST_F(Calendars, AreListedMadeChangedAndDeleted) {
  const auto all = json_of(api.get("/api/calendars"));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["name"], "Personal");
  EXPECT_EQ(all[0]["components"], json::array({"event", "todo", "journal"}));
  EXPECT_EQ(all[1]["components"], json::array({"todo"}));
  EXPECT_EQ(all[0]["access"], "owner");

  const auto made =
      api.json("POST", "/api/calendars",
               R"({"name":"Wörk <&>","color":"#112233","description":"x\ny","components":["event"],
                                 "timezone":"europe/berlin","order":3})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto work = json_of(made);
  EXPECT_EQ(work["name"], "Wörk <&>");
  EXPECT_EQ(work["color"], "#112233");
  EXPECT_EQ(work["timezone"], "Europe/Berlin");
  EXPECT_EQ(work["order"], 3);
  const auto at = made.header("location");
  EXPECT_EQ(json_of(api.get(at)), work);
  EXPECT_EQ(api.get(at, {{"If-None-Match", made.header("etag")}}).status, 304);

  const auto changed = api.json("PUT", at, R"({"name":"Other","color":null})");
  EXPECT_EQ(json_of(changed)["name"], "Other");
  EXPECT_TRUE(json_of(changed)["color"].is_null());
  EXPECT_EQ(json_of(changed)["description"], "x\ny") << "what is not spoken of stays";
  expect_error(api.json("PUT", at, R"({"name":"x"})", {{"If-Match", made.header("etag")}}), 412,
               "precondition_failed");

  expect_error(api.json("POST", "/api/calendars", R"({"name":""})"), 400, "bad_field");
  expect_error(api.json("POST", "/api/calendars", R"({"name":"a","color":"red"})"), 400, "bad_field");
  expect_error(api.json("POST", "/api/calendars", R"({"name":"a","timezone":"Mars/Base"})"), 400,
               "bad_field");
  expect_error(api.json("POST", "/api/calendars", R"({"name":"a","components":["poll"]})"), 400, "bad_field");
  expect_error(api.json("POST", "/api/calendars", R"({"name":"a","owner":"me"})"), 422, "unknown_field");

  EXPECT_EQ(api.send("DELETE", at).status, 204);
  expect_error(api.get(at), 404, "not_found");
  EXPECT_EQ(json_of(api.get("/api/calendars")).size(), 2u);
}

TEST_F(Calendars, AnEventIsMadeReadChangedAndDeleted) {
  const auto made =
      api.json("POST", events(),
               R"({"summary":"Lunch, with; Eva","start":"2026-07-06T12:00:00","end":"2026-07-06T13:00:00",
                                 "timezone":"Europe/Berlin","location":"Here\nthere","categories":["a,b","c"],
                                 "alarms":[15],"transparent":true,"status":"confirmed"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto event = json_of(made);
  EXPECT_EQ(event["summary"], "Lunch, with; Eva");
  EXPECT_EQ(event["start"], "2026-07-06T12:00:00");
  EXPECT_EQ(event["timezone"], "Europe/Berlin");
  EXPECT_EQ(event["categories"], json::array({"a,b", "c"}));
  EXPECT_EQ(event["alarms"], json::array({15}));
  EXPECT_EQ(event["transparent"], true);
  const auto at = made.header("location");
  const auto text = api.get(at + "/ics").body;
  EXPECT_NE(text.find("BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find("SUMMARY:Lunch\\, with\\; Eva\r\n"), std::string::npos);

  const auto etag = made.header("etag");
  const auto changed = api.json("PUT", at, R"({"start":"2026-07-06T11:00:00Z","end":"2026-07-06T14:30:00"})",
                                {{"If-Match", etag}});
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(json_of(changed)["start"], "2026-07-06T13:00:00") << "by the clock the event has";
  EXPECT_EQ(json_of(changed)["end"], "2026-07-06T14:30:00");
  expect_error(api.json("PUT", at, R"({"summary":"x"})", {{"If-Match", etag}}), 412, "precondition_failed");
  expect_error(api.send("DELETE", at, {{"If-Match", etag}}), 412, "precondition_failed");
  EXPECT_EQ(api.get(at, {{"If-None-Match", changed.header("etag")}}).status, 304);
  EXPECT_EQ(api.send("DELETE", at, {{"If-Match", changed.header("etag")}}).status, 204);
  expect_error(api.get(at), 404, "not_found");
}

TEST_F(Calendars, WhatCannotBeIsRefusedAndChangesNothing) {
  const std::string start = R"("start":"2026-07-06T12:00:00Z")";
  const std::pair<const char*, std::string> cases[] = {
      {"no start", R"({"summary":"x"})"},
      {"no such day", R"({"start":"2026-02-30"})"},
      {"end before", "{" + start + R"(,"end":"2026-07-06T11:00:00Z"})"},
      {"day and time", "{" + start + R"(,"end":"2026-07-07"})"},
      {"zone", R"({"start":"2026-07-06T12:00:00","timezone":"Mars/Base"})"},
      {"rule", "{" + start + R"(,"rrule":"FREQ=SOMETIMES"})"},
      {"rule with a line", "{" + start + R"(,"rrule":"FREQ=DAILY\nX-EVIL:1"})"},
      {"url with a line", "{" + start + R"(,"url":"http://x\r\nX-EVIL:1"})"},
      {"status", "{" + start + R"(,"status":"needs-action"})"},
      {"due", "{" + start + R"(,"due":"2026-07-07"})"},
      {"alarm", "{" + start + R"(,"alarms":[9999999999]})"},
      {"type", "{" + start + R"(,"type":"poll"})"},
      {"never", "{" + start + R"(,"rrule":"FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30"})"},
  };
  for (const auto& [what, body] : cases) {
    const auto answer = api.json("POST", events(), body);
    EXPECT_TRUE(answer.status == 400 || answer.status == 422) << what << answer.status << answer.body;
  }
  EXPECT_EQ(json_of(api.get("/api/calendars/" + cal_id)).value("object_count", -1), 0);
  expect_error(api.json("POST", "/api/calendars/" + tasks_id + "/events", "{" + start + "}"), 400,
               "supported_calendar_component");
  expect_error(api.json("POST", "/api/calendars/" + book_id + "/events", "{" + start + "}"), 404,
               "not_found");
  expect_error(api.json("POST", "/api/calendars/nonsense/events", "{" + start + "}"), 400, "bad_id");
}

TEST_F(Calendars, ARangeTellsEveryInstance) {
  put("s.ics", kSeries);
  put("day.ics", event("d", "DTSTART;VALUE=DATE:20260401\r\nDTEND;VALUE=DATE:20260403\r\nSUMMARY:days"));
  put("float.ics", event("f", "DTSTART:20260401T120000\r\nDTEND:20260401T130000\r\nSUMMARY:floating"));
  const auto answer =
      api.get(events() + "?from=2026-03-23&to=2026-04-07T00:00:00Z&timezone=America/New_York");
  ASSERT_EQ(answer.status, 200) << answer.body;
  std::vector<std::string> told;
  const json items = json_of(answer)["items"];
  for (const auto& each : items)
    told.push_back(each["start"].get<std::string>() + ' ' + each["summary"].get<std::string>());
  EXPECT_EQ(told, (std::vector<std::string>{"2026-03-23T08:30:00Z old", "2026-03-31T13:00:00Z moved",
                                            "2026-04-01 days", "2026-04-01T12:00:00 floating",
                                            "2026-04-06T07:30:00Z old"}));
  const auto moved = json_of(answer)["items"][1];
  EXPECT_EQ(moved["recurrence_id"], "20260330T073000Z");
  EXPECT_EQ(api.get(events() + "?from=2026-03-23&to=2026-04-07T00:00:00Z&timezone=America/New_York",
                    {{"If-None-Match", answer.header("etag")}})
                .status,
            304);
  EXPECT_EQ(json_of(api.get(events() + "?from=2026-03-16&to=2026-03-17"))["items"].size(), 0u) << "taken out";
  EXPECT_EQ(json_of(api.get(events() + "?from=2026-03-01&to=2026-05-01&types=todo"))["items"].size(), 0u);
  for (const std::string query :
       {"", "?from=2026-03-01", "?from=x&to=y", "?from=2026-03-02&to=2026-03-01",
        "?from=2026-01-01&to=2028-01-01", "?from=2026-03-01&to=2026-04-01&timezone=Mars",
        "?from=2026-03-01&to=2026-04-01&types=poll"})
    expect_error(api.get(events() + query), 400, "bad_query", query);
}

TEST_F(Calendars, ASeriesThatIsTooMuchIsToldSo) {
  put("s.ics", event("s", "DTSTART:20260101T100000Z\r\nDURATION:PT1M\r\nRRULE:FREQ=MINUTELY"));
  expect_error(api.get(events() + "?from=2026-03-01&to=2026-04-01"), 422, "too_many_instances");
  EXPECT_EQ(json_of(api.get(events() + "?from=2026-03-01T10:00:00Z&to=2026-03-01T10:30:00Z"))["items"].size(),
            30u);
}

TEST_F(Calendars, AnEditKeepsTheOctetsItDoesNotSpeakOf) {
  put("s.ics", kSeries);
  const auto id =
      json_of(api.get("/api/calendars/" + cal_id + "/objects"))["items"][0]["id"].get<std::string>();
  const auto at = events() + "/" + id;
  const auto changed = api.json("PUT", at, R"({"location":"new","summary":"old"})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  const auto text = api.get(at + "/ics").body;
  for (const std::string kept :
       {"X-OWN:kept\n", "X-STRANGE;P=\"a:b\":odd\n  folded where nobody would\n", "SUMMARY;LANGUAGE=de:old\n",
        "EXDATE;TZID=Europe/Berlin:20260316T093000\n", "SUMMARY:moved\n"})
    EXPECT_NE(text.find(kept), std::string::npos) << kept << text;
  EXPECT_NE(text.find("LOCATION:new\n"), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos) << "its own line ends";
  const auto etag = changed.header("etag");
  EXPECT_EQ(api.json("PUT", at, R"({"location":"new"})").header("etag"), etag) << "nothing to change";
  expect_error(api.json("PUT", at, R"({"rrule":"FREQ=X"})"), 400, "valid_calendar_data");
  EXPECT_EQ(api.get(at + "/ics").body, text);
}

TEST_F(Calendars, OneInstanceIsChangedOrTakenOut) {
  put("s.ics", kSeries);
  const auto id =
      json_of(api.get("/api/calendars/" + cal_id + "/objects"))["items"][0]["id"].get<std::string>();
  const auto at = events() + "/" + id;
  const auto changed = api.json(
      "PUT", at, R"({"recurrence_id":"20260413T073000Z","summary":"once","start":"2026-04-13T10:00:00Z"})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(json_of(changed)["overrides"].size(), 2u);
  EXPECT_EQ(api.json("PUT", at, R"({"recurrence_id":"20260330T073000Z","summary":"moved on"})").status, 200);
  EXPECT_EQ(api.send("DELETE", at + "?recurrence_id=20260420T073000Z").status, 200);
  expect_error(api.send("DELETE", at + "?recurrence_id=20260420T073000Z"), 404, "no_such_instance");
  expect_error(api.json("PUT", at, R"({"recurrence_id":"20260316T073000Z","summary":"x"})"), 404,
               "no_such_instance");
  expect_error(api.json("PUT", at, R"({"recurrence_id":"20260323T083000Z","rrule":"FREQ=DAILY"})"), 400,
               "bad_field");
  std::vector<std::string> told;
  const json rest = json_of(api.get(events() + "?from=2026-03-25&to=2026-05-01"));
  for (const auto& each : rest["items"])
    told.push_back(each["start"].get<std::string>() + ' ' + each["summary"].get<std::string>());
  EXPECT_EQ(told, (std::vector<std::string>{"2026-03-31T13:00:00Z moved on", "2026-04-06T07:30:00Z old",
                                            "2026-04-13T10:00:00Z once"}));
}

TEST_F(Calendars, ObjectsAreListedInPages) {
  for (int i = 0; i < 7; ++i) put("e" + std::to_string(i) + ".ics", event("u" + std::to_string(i)));
  std::vector<std::string> seen;
  std::string cursor;
  int pages = 0;
  do {
    const auto page = json_of(api.get("/api/calendars/" + cal_id + "/objects?limit=3&cursor=" + cursor));
    for (const auto& each : page["items"]) seen.push_back(each["uid"]);
    cursor = page.value("next_cursor", "");
  } while (!cursor.empty() && ++pages < 10);
  EXPECT_EQ(seen, (std::vector<std::string>{"u0", "u1", "u2", "u3", "u4", "u5", "u6"}));
  const auto first = api.get("/api/calendars/" + cal_id + "/objects?limit=3");
  EXPECT_EQ(
      api.get("/api/calendars/" + cal_id + "/objects?limit=3", {{"If-None-Match", first.header("etag")}})
          .status,
      304);
  put("e7.ics", event("u7"));
  EXPECT_EQ(
      api.get("/api/calendars/" + cal_id + "/objects?limit=3", {{"If-None-Match", first.header("etag")}})
          .status,
      200);
  EXPECT_EQ(api.get("/api/calendars/" + cal_id + "/objects?cursor=garbage").status, 200);
}

TEST_F(Calendars, TodosAndJournalEntries) {
  const auto todo =
      api.json("POST", "/api/calendars/" + tasks_id + "/events",
               R"({"type":"todo","summary":"t","due":"2026-07-06","percent_complete":30,"priority":1})");
  ASSERT_EQ(todo.status, 201) << todo.body;
  EXPECT_EQ(json_of(todo)["due"], "2026-07-06");
  const auto done =
      api.json("PUT", todo.header("location"),
               R"({"status":"completed","completed":"2026-07-05T10:00:00+02:00","percent_complete":100})");
  EXPECT_EQ(json_of(done)["completed"], "2026-07-05T08:00:00Z");
  EXPECT_EQ(json_of(done)["status"], "completed");
  const auto entry = api.json("POST", events(), R"({"type":"journal","summary":"j","start":"2026-07-06"})");
  EXPECT_EQ(json_of(entry)["all_day"], true) << entry.body;
}

TEST_F(Calendars, WhoIsInvitedHearsOfEdits) {
  const auto bob = server.user(server.fresh("bob"));
  server.sql("update users set email = name || '@example.org' where id in (" +
             std::to_string(alice.id.value) + ", " + std::to_string(bob.id.value) + ")");
  put("m.ics", event("meet-" + bob.name,
                     "DTSTART:20360105T100000Z\r\nDURATION:PT1H\r\nSUMMARY:meet\r\nORGANIZER:mailto:" +
                         alice.name + "@example.org\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:" + alice.name +
                         "@example.org\r\nATTENDEE;RSVP=TRUE:mailto:" + bob.name + "@example.org"));
  auto bobs = server.as(bob);
  const auto bob_cal = server.ids.encode(IdKind::calendar, key_of(bob, 1, "personal"));
  const auto copy = [&] { return json_of(bobs.get("/api/calendars/" + bob_cal + "/objects"))["items"][0]; };
  ASSERT_EQ(copy().value("summary", ""), "meet");
  const auto id =
      json_of(api.get("/api/calendars/" + cal_id + "/objects"))["items"][0]["id"].get<std::string>();
  ASSERT_EQ(api.json("PUT", events() + "/" + id, R"({"location":"Room 7"})").status, 200);
  EXPECT_EQ(copy()["location"], "Room 7");
  // Where he is invited, the start is not his to say.
  const auto refused =
      bobs.json("PUT", "/api/calendars/" + bob_cal + "/events/" + copy()["id"].get<std::string>(),
                R"({"start":"2036-01-06T10:00:00Z"})");
  EXPECT_EQ(refused.status, 403) << refused.body;
  // However full his drive is.
  server.sql("update drives set quota_bytes = 0 where kind = 1 and owner_id = " +
             std::to_string(bob.id.value));
  EXPECT_EQ(api.json("PUT", events() + "/" + id, R"({"location":"Room 8"})").status, 200);
  EXPECT_EQ(copy()["location"], "Room 8");
  ASSERT_EQ(api.send("DELETE", events() + "/" + id).status, 204);
  EXPECT_EQ(copy()["status"], "cancelled");
}

}  // namespace
}  // namespace welkin::tests
