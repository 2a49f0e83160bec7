#include "rest/groupware_api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct CollectionFiles : GroupwareApi {
  json import(const std::string& body, const std::string& query = "", bool book = false) {
    const auto answer = api.send(
        "POST", (book ? "/api/address-books/" + book_id : "/api/calendars/" + cal_id) + "/import" + query,
        {{"Content-Type", book ? "text/vcard" : "text/calendar"}}, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json_of(answer);
  }
  static std::string vevent(const std::string& uid, const std::string& more = "") {
    return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTART:20260105T100000Z\r\n" + more + "END:VEVENT\r\n";
  }
  static std::string file(const std::string& inside) {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:PUBLISH\r\n" + inside + "END:VCALENDAR\r\n";
  }
};

TEST_F(CollectionFiles, AFileOfManyBecomesOneObjectAUid) {
  const std::string zone =
      "BEGIN:VTIMEZONE\r\nTZID:Own\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+"
      "0300\r\nTZOFFSETTO:+0300\r\n"
      "END:STANDARD\r\nEND:VTIMEZONE\r\n";
  const auto report = import(file(vevent("a", "X-KEPT: odd  \r\nSUMMARY:fol\r\n ded\r\n") +
                                  "BEGIN:VEVENT\r\nUID:z\r\nDTSTART;TZID=Own:20260105T100000\r\nRRULE:FREQ="
                                  "DAILY;COUNT=3\r\nEND:VEVENT\r\n" +
                                  vevent("b") +
                                  "BEGIN:VEVENT\r\nUID:z\r\nRECURRENCE-ID;TZID=Own:"
                                  "20260106T100000\r\nDTSTART;TZID=Own:20260106T120000\r\nEND:VEVENT\r\n" +
                                  zone + "BEGIN:VTODO\r\nUID:t\r\nEND:VTODO\r\n" +
                                  "BEGIN:VEVENT\r\nDTSTART:20260107T100000Z\r\nEND:VEVENT\r\n"));
  EXPECT_EQ(report["created"], 5) << report;
  EXPECT_EQ(report["skipped_count"], 0) << report;
  const auto z = json_of(api.get(events() + "?from=2026-01-05&to=2026-01-08T00:00:00Z"))["items"];
  std::vector<std::string> starts;
  for (const auto& each : z)
    if (each["uid"] == "z") starts.push_back(each["start"]);
  EXPECT_EQ(starts, (std::vector<std::string>{"2026-01-05T07:00:00Z", "2026-01-06T09:00:00Z",
                                              "2026-01-07T07:00:00Z"}));
  const json objects = json_of(api.get("/api/calendars/" + cal_id + "/objects"));
  for (const auto& each : objects["items"]) {
    if (each["uid"] != "a") continue;
    const auto text = api.get(events() + "/" + each["id"].get<std::string>() + "/ics").body;
    EXPECT_NE(text.find("X-KEPT: odd  \r\nSUMMARY:fol\r\n ded\r\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("METHOD"), std::string::npos);
  }
}

TEST_F(CollectionFiles, TheSameFileAgainChangesNothing) {
  put("dav.ics", event("dav", "DTSTART:20260105T100000Z\r\nX-A:1"));
  const auto body = file(vevent("a") + "BEGIN:VEVENT\r\nDTSTART:20260107T100000Z\r\nEND:VEVENT\r\n");
  EXPECT_EQ(import(body)["created"], 2);
  const auto before = json_of(api.get("/api/calendars/" + cal_id))["etag"];
  const auto again = import(body);
  EXPECT_EQ(again["unchanged"], 2) << again;
  EXPECT_EQ(again["created"], 0);
  const auto exported = api.get("/api/calendars/" + cal_id + "/export");
  EXPECT_EQ(import(exported.body)["unchanged"], 3) << "what comes out goes in as it is";
  EXPECT_EQ(json_of(api.get("/api/calendars/" + cal_id))["etag"], before);
}

TEST_F(CollectionFiles, WhatIsThereUnderAUidStaysUnlessAskedFor) {
  import(file(vevent("a", "SUMMARY:mine\r\n")));
  const auto skipped = import(file(vevent("a", "SUMMARY:theirs\r\n")));
  EXPECT_EQ(skipped["skipped"][0]["slug"], "uid_conflict") << skipped;
  EXPECT_EQ(skipped["skipped"][0]["title"], "theirs");
  EXPECT_EQ(json_of(api.get(events() + "?from=2026-01-05&to=2026-01-06"))["items"][0]["summary"], "mine");
  EXPECT_EQ(import(file(vevent("a", "SUMMARY:theirs\r\n")), "?on_conflict=replace")["updated"], 1);
  EXPECT_EQ(json_of(api.get(events() + "?from=2026-01-05&to=2026-01-06"))["items"][0]["summary"], "theirs");
  expect_error(api.send("POST", "/api/calendars/" + cal_id + "/import?on_conflict=maybe", {}, file("")), 400,
               "bad_query");
}

TEST_F(CollectionFiles, OneBrokenPieceDoesNotCostTheOthers) {
  const auto report = import(
      file(vevent("a") + "BEGIN:VEVENT\r\nUID:nostart\r\nEND:VEVENT\r\n" +
           "BEGIN:VEVENT\r\nUID:latin\r\nSUMMARY:caf\xE9\r\nDTSTART:20260105T100000Z\r\nEND:VEVENT\r\n" +
           "BEGIN:VEVENT\r\nUID:cross\r\nEND:VTODO\r\nEND:VEVENT\r\n" +
           "BEGIN:VPOLL\r\nUID:p\r\nEND:VPOLL\r\n" + vevent("b") + vevent("twice") + vevent("twice") +
           "BEGIN:VEVENT\r\nUID:never\r\nDTSTART:20260105T100000Z\r\nRRULE:FREQ=MINUTELY;BYMONTH=2;"
           "BYMONTHDAY=30\r\nEND:VEVENT\r\n") +
      file(vevent("c")) + "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:cut\r\n");
  EXPECT_EQ(report["created"], 3) << report;
  std::map<std::string, std::string> why;
  for (const auto& each : report["skipped"]) {
    EXPECT_GT(each["line"], 0);
    EXPECT_FALSE(each["reason"].get<std::string>().empty());
    if (each["uid"].is_string()) why[each["uid"]] = each["slug"];
  }
  EXPECT_EQ(report["skipped_count"], 7) << report;
  EXPECT_EQ(why["nostart"], "valid_calendar_data");
  EXPECT_EQ(why["twice"], "valid_calendar_object_resource");
  EXPECT_EQ(why["never"], "max_instances");
  expect_error(api.send("POST", "/api/calendars/" + cal_id + "/import", {}, "hello"), 400, "no_calendar");
  expect_error(
      api.send("POST", "/api/calendars/" + cal_id + "/import", {{"Content-Type", "application/json"}}, "{}"),
      415, "content_type");
  const auto tasks = api.send("POST", "/api/calendars/" + tasks_id + "/import",
                              {{"Content-Type", "text/calendar"}}, file(vevent("a")));
  EXPECT_EQ(json_of(tasks)["skipped"][0]["slug"], "supported_calendar_component");
}

TEST_F(CollectionFiles, CardsOfEveryVersionComeIn) {
  // F16 of vCard 2.1: quoted-printable with a soft break inside.
  const std::string old =
      "BEGIN:VCARD\r\nVERSION:2.1\r\nN:;\r\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=\r\n="
      "BCller\r\nTEL;HOME:1\r\nEND:VCARD\r\n";
  const std::string four = "BEGIN:VCARD\r\nVERSION:4.0\r\nUID:4\r\nFN:Four\r\nX-ODD: a \r\nEND:VCARD\r\n";
  const auto body =
      old + four + "BEGIN:VCARD\r\nVERSION:9.9\r\nFN:x\r\nEND:VCARD\r\n" + card("three", "Three");
  const auto report = import(body, "", true);
  EXPECT_EQ(report["created"], 3) << report;
  EXPECT_EQ(report["skipped"][0]["slug"], "supported_address_data");
  std::vector<std::string> names;
  for (const auto& each : json_of(api.get(contacts()))) names.push_back(each["full_name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"Four", "Müller", "Three"}));
  const auto id = json_of(api.get(contacts()))[0]["id"].get<std::string>();
  EXPECT_EQ(api.get(contacts() + "/" + id + "/vcf").body, four) << "octet by octet";
  EXPECT_EQ(import(body, "", true)["unchanged"], 3) << "the one without UID too";
  const auto exported = api.get("/api/address-books/" + book_id + "/export");
  EXPECT_EQ(exported.header("content-type"), "text/vcard; charset=utf-8");
  EXPECT_EQ(import(exported.body, "", true)["unchanged"], 3);
  expect_error(api.send("POST", "/api/address-books/" + book_id + "/import", {}, "hello"), 400, "no_card");
}

TEST_F(CollectionFiles, ALargeFileComesInWhole) {
  std::string body;
  for (int i = 0; i < 1000; ++i)
    body += vevent("many" + std::to_string(i), "DESCRIPTION:" + std::string(500, 'd') + "\r\n");
  EXPECT_EQ(import(file(body))["created"], 1000);
  const auto exported = api.get("/api/calendars/" + cal_id + "/export");
  EXPECT_EQ(
      api.get("/api/calendars/" + cal_id + "/export", {{"If-None-Match", exported.header("etag")}}).status,
      304);
  EXPECT_EQ(import(exported.body)["unchanged"], 1000);
}

TEST_F(CollectionFiles, AnImportStopsAtTheQuotaAndSaysWhatIsMissing) {
  server.sql("update drives set quota_bytes = used_bytes + 5000 where kind = 1 and owner_id = " +
             std::to_string(alice.id.value));
  std::string body = vevent("large", "DESCRIPTION:" + std::string(20'000, 'd') + "\r\n");
  for (int i = 0; i < 5; ++i) body += vevent("small" + std::to_string(i));
  const auto report = import(file(body));
  EXPECT_EQ(report["created"], 5) << report;
  EXPECT_EQ(report["skipped"][0]["slug"], "quota_not_exceeded");
  EXPECT_EQ(report["skipped"][0]["uid"], "large");
  EXPECT_EQ(used(), server.number("select collection_bytes(" + std::to_string(alice.id.value) + ")::bigint"));
}

}  // namespace
}  // namespace welkin::tests
