#include <set>

#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

const std::string kBerlin = "TZID=Europe/Berlin";

/// The objects every test looks for, by their UIDs: F2 a series with an exception, an addition and a moved
/// one; F3 days; F4 floating; F6 a leap day; T1 to T8 to-dos.
struct GroupwareQuery : Groupware {
  using Names = std::set<std::string>;

  void SetUp() override {
    const auto series = [](const std::string& uid) {
      return calendar(
          "BEGIN:VEVENT / UID:" + uid + " / DTSTAMP:20260101T000000Z / DTSTART;" + kBerlin +
          ":20260302T093000 / DURATION:PT1H / SUMMARY:weekly / RRULE:FREQ=WEEKLY;COUNT=8 / EXDATE;" +
          kBerlin + ":20260316T093000 / RDATE;" + kBerlin +
          ":20260401T093000 / END:VEVENT / BEGIN:VEVENT / UID:" + uid +
          " / DTSTAMP:20260101T000000Z / RECURRENCE-ID;" + kBerlin + ":20260330T093000 / DTSTART;" + kBerlin +
          ":20260331T150000 / DURATION:PT1H / SUMMARY:moved / DESCRIPTION:here only / END:VEVENT");
    };
    add("F1", event("F1", "DTSTART:20260105T100000Z / DTEND:20260105T110000Z / SUMMARY:plain"));
    add("F2", series("F2"));
  }
  void add(const std::string& name, const std::string& body) {
    ASSERT_EQ(put(cal + name + ".ics", body), 201) << last.body;
  }
  static std::string range(const std::string& start, const std::string& end) {
    return "<C:time-range" + (start.empty() ? "" : " start=\"" + start + "\"") +
           (end.empty() ? "" : " end=\"" + end + "\"") + "/>";
  }
  static std::string comp(const std::string& name, const std::string& inside = "") {
    return "<C:comp-filter name=\"" + name + "\">" + inside + "</C:comp-filter>";
  }
  static std::string prop(const std::string& name, const std::string& inside = "") {
    return "<C:prop-filter name=\"" + name + "\">" + inside + "</C:prop-filter>";
  }
  Names query(const std::string& filter, const std::string& more = "", HeaderList headers = {},
              const std::string& props = "<d:prop><d:getetag/></d:prop>") {
    const auto answer = report(cal, "C:calendar-query", props + "<C:filter>" + filter + "</C:filter>" + more,
                               std::move(headers));
    Names out;
    if (answer.http.status != 207) return {std::to_string(answer.http.status) + condition()};
    for (const auto& href : answer.hrefs()) out.insert(href.substr(cal.size(), href.size() - cal.size() - 4));
    return out;
  }
  Names events(const std::string& start, const std::string& end, const std::string& more = "") {
    return query(comp("VCALENDAR", comp("VEVENT", range(start, end))), more);
  }
  bool finds(const std::string& name, const std::string& start, const std::string& end,
             const std::string& more = "") {
    return events(start, end, more).contains(name);
  }
  std::string data(const std::string& name, const std::string& inside) {
    const auto answer = report(cal, "C:calendar-multiget",
                               "<d:prop><C:calendar-data>" + inside + "</C:calendar-data></d:prop><d:href>" +
                                   cal + name + ".ics</d:href>");
    return answer.responses.empty() ? last.body : answer.responses[0].text(caldav("calendar-data"));
  }
  static int count(const std::string& text, const std::string& what) {
    int n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  }
};

TEST_F(GroupwareQuery, AFilterThatAsksNothingFindsAll) {
  add("t", todo("t"));
  const Names all{"F1", "F2", "t"};
  EXPECT_EQ(query(comp("VCALENDAR")), all);
  EXPECT_EQ(query(comp("VCALENDAR", comp("VTODO"))), (Names{"t"}));
  EXPECT_EQ(query(comp("VCALENDAR", comp("VEVENT"))), (Names{"F1", "F2"}));
  EXPECT_EQ(query(comp("VCALENDAR", comp("VEVENT") + comp("VTODO"))), Names{}) << "both are asked for";
  for (const std::string depth : {"0", "1"})
    EXPECT_EQ(query(comp("VCALENDAR"), "", {{"Depth", depth}}), all) << depth;
}

TEST_F(GroupwareQuery, EveryInstanceOfASeriesCounts) {
  EXPECT_FALSE(finds("F2", "20260330T000000Z", "20260331T000000Z")) << "it was moved";
  EXPECT_TRUE(finds("F2", "20260331T130000Z", "20260331T133000Z"));
  EXPECT_FALSE(finds("F2", "20260316T000000Z", "20260317T000000Z")) << "it was taken out";
  EXPECT_FALSE(finds("F2", "20260420T083000Z", "20260420T090000Z"));
  EXPECT_TRUE(finds("F2", "20260401T073000Z", "20260401T080000Z")) << "it was added";
  EXPECT_TRUE(finds("F2", "20260323T083000Z", "20260323T084500Z"));
  EXPECT_TRUE(finds("F2", "20260101T000000Z", "")) << "a start only";
  EXPECT_FALSE(finds("F2", "20270101T000000Z", ""));
  EXPECT_EQ(events("", "20260201T000000Z"), (Names{"F1"}));
  EXPECT_EQ(events("", ""), (Names{"400w:bad_report"}));
}

TEST_F(GroupwareQuery, DaysAndFloatingTimesStandWhereTheZoneSays) {
  add("F3", event("F3", "DTSTART;VALUE=DATE:20260328 / DTEND;VALUE=DATE:20260331"));
  add("F4", event("F4", "DTSTART:20260601T120000 / DTEND:20260601T130000"));
  EXPECT_FALSE(finds("F3", "20260327T230000Z", "20260328T000000Z"));
  EXPECT_TRUE(finds("F3", "20260330T220000Z", "20260330T230000Z"));
  EXPECT_FALSE(finds("F3", "20260331T000000Z", "20260331T010000Z"));
  const std::string new_york = "<C:timezone-id>America/New_York</C:timezone-id>";
  EXPECT_TRUE(finds("F4", "20260601T160000Z", "20260601T163000Z", new_york));
  EXPECT_FALSE(finds("F4", "20260601T120000Z", "20260601T130000Z", new_york));
  EXPECT_TRUE(finds("F4", "20260601T120000Z", "20260601T130000Z"));
  EXPECT_EQ(events("20260601T120000Z", "20260601T130000Z", "<C:timezone-id>Mars/Base</C:timezone-id>"),
            (Names{"403C:valid-timezone"}));
  EXPECT_EQ(events("20260601T120000Z", "20260601T130000Z", "<C:timezone>garbage</C:timezone>"),
            (Names{"403C:valid-calendar-data"}));
  ASSERT_EQ(set(cal, "<C:calendar-timezone-id>Europe/Berlin</C:calendar-timezone-id>")
                .responses.at(0)
                .status_of(caldav("calendar-timezone-id")),
            200);
  EXPECT_FALSE(finds("F3", "20260327T220000Z", "20260327T230000Z"));
  EXPECT_TRUE(finds("F3", "20260327T230000Z", "20260327T233000Z"));
  EXPECT_TRUE(finds("F3", "20260330T215900Z", "20260330T220000Z"));
  EXPECT_FALSE(finds("F3", "20260330T220000Z", "20260330T230000Z"));
}

TEST_F(GroupwareQuery, ZonesThatAreNoneAreNotKept) {
  const auto answer = set(cal, "<C:calendar-timezone>garbage</C:calendar-timezone>");
  EXPECT_EQ(answer.responses.at(0).status_of(caldav("calendar-timezone")), 403);
  EXPECT_NE(answer.http.body.find("<C:valid-calendar-data/>"), std::string::npos);
  const auto id = set(cal, "<C:calendar-timezone-id>Mars/Base</C:calendar-timezone-id>");
  EXPECT_EQ(id.responses.at(0).status_of(caldav("calendar-timezone-id")), 403);
  EXPECT_NE(id.http.body.find("<C:valid-timezone/>"), std::string::npos);
  const auto zone = calendar(
      "BEGIN:VTIMEZONE / TZID:Europe/Berlin / BEGIN:STANDARD / DTSTART:19701025T030000 / "
      "TZOFFSETFROM:+0200 / TZOFFSETTO:+0100 / END:STANDARD / END:VTIMEZONE");
  EXPECT_EQ(set(cal, "<C:calendar-timezone>" + zone + "</C:calendar-timezone>")
                .responses.at(0)
                .status_of(caldav("calendar-timezone")),
            200);
  EXPECT_EQ(text(cal, "C:calendar-timezone-id", caldav("calendar-timezone-id")), "Europe/Berlin");
}

TEST_F(GroupwareQuery, RarelyAndForEver) {
  add("F6", event("F6", "DTSTART;VALUE=DATE:20240229 / RRULE:FREQ=YEARLY"));
  add("F19", event("F19", "DTSTART:20260131T090000Z / RRULE:FREQ=MONTHLY;COUNT=5"));
  add("F7e", event("F7e", "DTSTART:20260105T093000Z / DURATION:PT1M / RRULE:FREQ=HOURLY;INTERVAL=7"));
  add("F7f", event("F7f", "DTSTART:20260101T100000Z / DURATION:PT1M / RRULE:FREQ=DAILY;UNTIL=20260110"));
  EXPECT_TRUE(finds("F6", "20280229T000000Z", "20280301T000000Z"));
  EXPECT_FALSE(finds("F6", "20260201T000000Z", "20260401T000000Z"));
  EXPECT_FALSE(finds("F19", "20260201T000000Z", "20260301T000000Z"));
  EXPECT_FALSE(finds("F19", "20260401T000000Z", "20260501T000000Z"));
  EXPECT_TRUE(finds("F7e", "20280617T153000Z", "20280617T153100Z"));
  EXPECT_FALSE(finds("F7e", "20280617T163000Z", "20280617T163100Z"));
  EXPECT_TRUE(finds("F7f", "20260110T000000Z", "20260111T000000Z"));
}

TEST_F(GroupwareQuery, ClocksThatAreSetBackAndForth) {
  const auto at = [](const std::string& time, const std::string& more = "") {
    return "DTSTART;" + kBerlin + ":" + time + " / DURATION:PT30M" + more;
  };
  add("F18", event("F18", at("20260328T023000", " / RRULE:FREQ=DAILY;COUNT=3")));
  add("F18b", event("F18b", at("20261025T023000")));
  EXPECT_TRUE(finds("F18", "20260329T013000Z", "20260329T014500Z"));
  EXPECT_FALSE(finds("F18", "20260329T003000Z", "20260329T004500Z"));
  EXPECT_TRUE(finds("F18b", "20261025T003000Z", "20261025T004500Z"));
  EXPECT_FALSE(finds("F18b", "20261025T013000Z", "20261025T014500Z"));
  add("F12", event("F12", "DTSTART;TZID=W. Europe Standard Time:20260706T090000 / DURATION:PT1H"));
  EXPECT_TRUE(finds("F12", "20260706T070000Z", "20260706T073000Z"));
  EXPECT_FALSE(finds("F12", "20260706T090000Z", "20260706T093000Z"));
}

TEST_F(GroupwareQuery, TodosByTheirManyDates) {
  const std::pair<const char*, const char*> todos[] = {
      {"T1", "DTSTART:20260109T120000Z / DURATION:P1D"},
      {"T2", "DTSTART:20260110T120000Z"},
      {"T3", "DUE:20260111T000000Z"},
      {"T4", "CREATED:20260101T000000Z / COMPLETED:20260111T000000Z"},
      {"T5", "SUMMARY:nothing"},
      {"T6", "DUE:20260110T000000Z"},
      {"T7", "COMPLETED:20260109T235959Z"},
      {"T8", "DTSTART:20260111T000000Z"}};
  for (const auto& [name, dates] : todos) add(name, todo(name, dates));
  EXPECT_EQ(query(comp("VCALENDAR", comp("VTODO", range("20260110T000000Z", "20260111T000000Z")))),
            (Names{"T1", "T2", "T3", "T4", "T5"}));
}

TEST_F(GroupwareQuery, Alarms) {
  add("F10",
      calendar("BEGIN:VEVENT / UID:F10 / DTSTART:20260115T100000Z / DTEND:20260115T110000Z / BEGIN:VALARM / "
               "ACTION:DISPLAY / TRIGGER:-PT15M / REPEAT:2 / DURATION:PT5M / END:VALARM / END:VEVENT"));
  const auto alarm = [&](const std::string& start, const std::string& end) {
    return query(comp("VCALENDAR", comp("VEVENT", comp("VALARM", range(start, end)))));
  };
  EXPECT_EQ(alarm("20260115T095000Z", "20260115T095100Z"), (Names{"F10"}));
  EXPECT_EQ(alarm("20260115T094600Z", "20260115T095000Z"), Names{});
  EXPECT_EQ(alarm("20260115T100000Z", "20260115T100100Z"), Names{});
}

TEST_F(GroupwareQuery, TextsAreLookedFor) {
  const auto summary = [&](const std::string& match) {
    return query(comp("VCALENDAR", comp("VEVENT", prop("SUMMARY", match))));
  };
  EXPECT_EQ(summary("<C:text-match collation=\"i;ascii-casemap\">PLA</C:text-match>"), (Names{"F1"}));
  EXPECT_EQ(summary("<C:text-match collation=\"i;octet\">PLA</C:text-match>"), Names{});
  EXPECT_EQ(summary("<C:text-match negate-condition=\"yes\">PLA</C:text-match>"), (Names{"F2"}));
  EXPECT_EQ(query(comp("VCALENDAR", comp("VEVENT", prop("DESCRIPTION", "<C:is-not-defined/>")))),
            (Names{"F1", "F2"}))
      << "one of the components has none";
  EXPECT_EQ(summary("<C:text-match collation=\"i;klingon\">x</C:text-match>"),
            (Names{"403C:supported-collation"}));
  std::string faces;
  for (int i = 0; i < 40; ++i) faces += "\xF0\x9F\x98\x80";
  std::string folded = "SUMMARY:" + faces;
  folded.insert(75, "\r\n ");  // inside a code point
  add("F11", event("F11", "DTSTART:20260105T100000Z / " + folded));
  EXPECT_EQ(summary("<C:text-match>" + faces + "</C:text-match>"), (Names{"F11"}));
  EXPECT_NE(get(cal + "F11.ics").find(folded), std::string::npos) << "as it was sent";
}

TEST_F(GroupwareQuery, FiltersThatCannotBeMeant) {
  const std::string r = range("20260101T000000Z", "20260201T000000Z");
  for (const auto& filter :
       {comp("VEVENT"), comp("VCALENDAR", r), comp("VCALENDAR", comp("VTIMEZONE", r)),
        comp("VCALENDAR", comp("VALARM")), comp("VCALENDAR", comp("VEVENT", comp("VEVENT"))),
        comp("VCALENDAR", comp("VEVENT", prop("SUMMARY", r))),
        comp("VCALENDAR", comp("VEVENT", "<C:is-not-defined/>" + prop("SUMMARY"))),
        comp("VCALENDAR", comp("VEVENT", range("20260101", "20260201"))),
        comp("VCALENDAR", comp("VEVENT", range("20260101T000000", "20260201T000000"))), std::string()})
    EXPECT_EQ(query(filter), (Names{"403C:valid-filter"})) << filter;
  EXPECT_EQ(report(cal, "C:calendar-query", "<d:prop/>").http.status, 400);
  EXPECT_EQ(
      query(comp("VCALENDAR"), "", {}, "<d:prop><C:calendar-data content-type=\"application/x\"/></d:prop>"),
      (Names{"403C:supported-calendar-data"}));
}

TEST_F(GroupwareQuery, ASeriesIsToldInstanceByInstance) {
  const auto expanded = data("F2", "<C:expand start=\"20260323T000000Z\" end=\"20260402T000000Z\"/>");
  EXPECT_EQ(count(expanded, "BEGIN:VEVENT"), 3) << expanded;
  for (const char* id : {"RECURRENCE-ID:20260323T083000Z", "RECURRENCE-ID:20260330T073000Z",
                         "RECURRENCE-ID:20260401T073000Z", "DTSTART:20260331T130000Z", "SUMMARY:moved"})
    EXPECT_EQ(count(expanded, id), 1) << id;
  for (const char* no : {"RRULE", "EXDATE", "RDATE", "VTIMEZONE"}) EXPECT_EQ(count(expanded, no), 0) << no;
  const std::string both = "<C:limit-recurrence-set start=\"20260330T000000Z\" end=\"20260401T000000Z\"/>";
  EXPECT_EQ(count(data("F2", both), "BEGIN:VEVENT"), 2);
  EXPECT_EQ(count(data("F2", "<C:limit-recurrence-set start=\"20260413T000000Z\" end=\"20260414T000000Z\"/>"),
                  "BEGIN:VEVENT"),
            1);
  EXPECT_NE(
      data("F2", both + "<C:expand start=\"20260323T000000Z\" end=\"20260402T000000Z\"/>").find("bad_report"),
      std::string::npos);
}

TEST_F(GroupwareQuery, PartsOfAnObject) {
  const auto part = data("F1",
                         "<C:comp name=\"VCALENDAR\"><C:comp name=\"VEVENT\"><C:prop name=\"UID\"/>"
                         "<C:prop name=\"SUMMARY\"/></C:comp></C:comp>");
  EXPECT_EQ(count(part, "UID:F1"), 1) << part;
  EXPECT_EQ(count(part, "SUMMARY:plain"), 1);
  EXPECT_EQ(count(part, "DTSTART"), 0);
}

TEST_F(GroupwareQuery, BusyTimesTellNoMore) {
  add("open", event("open", "DTSTART:20260105T120000Z / DURATION:PT1H / TRANSP:TRANSPARENT"));
  add("maybe", event("maybe", "DTSTART:20260105T103000Z / DURATION:PT1H / STATUS:TENTATIVE"));
  const auto busy = [&](const std::string& inside, HeaderList headers = {}) {
    last = dav.send("REPORT", cal, std::move(headers),
                    "<C:free-busy-query" + std::string(kSpaces) + ">" + inside + "</C:free-busy-query>");
    return last.body;
  };
  const auto body = busy(range("20260101T000000Z", "20260310T000000Z"));
  ASSERT_EQ(last.status, 200) << body;
  EXPECT_EQ(last.header("content-type"), "text/calendar; charset=utf-8");
  EXPECT_EQ(count(body, "BEGIN:VFREEBUSY"), 1);
  EXPECT_EQ(count(body, "20260105T100000Z/"), 1) << body;
  EXPECT_EQ(count(body, "BUSY-TENTATIVE:20260105T110000Z/"), 1) << body;
  EXPECT_EQ(count(body, "20260302T083000Z/"), 1) << body;
  for (const char* no : {"plain", "weekly", "20260105T120000Z/"}) EXPECT_EQ(count(body, no), 0) << no;
  EXPECT_EQ(count(busy(range("20260101T000000Z", "20260310T000000Z"), {{"Depth", "0"}}), "FREEBUSY:"), 0);
  busy(range("20260101", "20260310"));
  EXPECT_EQ(last.status, 400);
  busy("");
  EXPECT_EQ(last.status, 400);
}

}  // namespace
}  // namespace welkin::tests
