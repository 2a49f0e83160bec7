// Checks of the acceptance list that the other suites here leave open or half done; each names its number.
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareAcceptance : Groupware {
  using Names = std::set<std::string>;
  static std::string range(const std::string& start, const std::string& end) {
    return "<C:time-range" + (start.empty() ? "" : " start=\"" + start + "\"") +
           (end.empty() ? "" : " end=\"" + end + "\"") + "/>";
  }
  Names events(const std::string& start, const std::string& end) {
    const auto answer = report(cal, "C:calendar-query",
                               "<d:prop><d:getetag/></d:prop><C:filter><C:comp-filter "
                               "name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\">" +
                                   range(start, end) + "</C:comp-filter></C:comp-filter></C:filter>");
    if (answer.http.status != 207) return {std::to_string(answer.http.status)};
    Names out;
    for (const auto& href : answer.hrefs()) out.insert(href.substr(cal.size(), href.size() - cal.size() - 4));
    return out;
  }
  static int count(const std::string& text, const std::string& what) {
    int n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  }
  static std::string photo(std::size_t bytes) { return text::base64(as_bytes(std::string(bytes, '\x5a'))); }
};

TEST(GroupwareAcceptanceProxy, No1_WellKnownNamesTheAddressOutside) {
  TestServer server([](Config& config) { config.trusted_proxies = {"127.0.0.0/8"}; });
  auto nobody = server.nobody();
  for (const std::string path : {"/.well-known/caldav", "/.well-known/carddav"}) {
    const auto answer =
        nobody.send("PROPFIND", path, {{"Host", "ext.example"}, {"X-Forwarded-Proto", "https"}});
    EXPECT_EQ(answer.status, 301);
    EXPECT_EQ(answer.header("location"), "https://ext.example/dav/");
  }
}

TEST_F(GroupwareAcceptance, No4_EachResourceHasOnePropstatOfEachStatus) {
  const auto answer =
      dav.send("PROPFIND", home, {{"Depth", "1"}},
               "<d:propfind" + std::string(kSpaces) +
                   "><d:prop><d:resourcetype/><d:displayname/><CS:getctag/><CS:pushkey/><IC:calendar-color/>"
                   "<d:quota-used-bytes/><CS:xmpp-uri/></d:prop></d:propfind>");
  ASSERT_EQ(answer.status, 207);
  const auto responses = count(answer.body, "<d:response>");
  EXPECT_EQ(count(answer.body, "HTTP/1.1 200 OK"), responses);
  EXPECT_EQ(count(answer.body, "HTTP/1.1 404 Not Found"), responses);
}

TEST_F(GroupwareAcceptance, No6_PropfindsWithoutABodyAndWithAnEmptyOne) {
  const auto all = propfind(cal, "0");
  EXPECT_EQ(all.responses.at(0).status_of(cs("getctag")), 200);
  const auto none =
      dav.send("PROPFIND", cal, {{"Depth", "0"}}, "<propfind xmlns=\"DAV:\"><prop/></propfind>");
  EXPECT_EQ(none.status, 207);
  EXPECT_EQ(count(none.body, "HTTP/1.1 200 OK"), 1) << none.body;
  EXPECT_EQ(dav.send("PROPFIND", cal, {{"Depth", "0"}, {"Content-Type", ""}},
                     "<propfind xmlns=\"DAV:\"><allprop/></propfind>")
                .status,
            207);
}

TEST_F(GroupwareAcceptance, No10_ZonesThatAreNoneAreRefusedInTheirPropstat) {
  const auto before = ctag(cal);
  const auto bad = set(cal, "<C:calendar-timezone>garbage</C:calendar-timezone>");
  EXPECT_EQ(bad.responses.at(0).status_of(caldav("calendar-timezone")), 403);
  EXPECT_NE(bad.http.body.find("<C:valid-calendar-data/>"), std::string::npos);
  const auto mars = set(cal, "<C:calendar-timezone-id>Mars/Base</C:calendar-timezone-id>");
  EXPECT_EQ(mars.responses.at(0).status_of(caldav("calendar-timezone-id")), 403);
  EXPECT_NE(mars.http.body.find("<C:valid-timezone/>"), std::string::npos);
  EXPECT_EQ(ctag(cal), before);
}

TEST_F(GroupwareAcceptance, No13_AMadeCalendarTellsWhatItWasMadeWith) {
  const std::string zone = calendar(
      "BEGIN:VTIMEZONE / TZID:Europe/Berlin / BEGIN:STANDARD / DTSTART:19701025T030000 / TZOFFSETFROM:+0200 "
      "/ TZOFFSETTO:+0100 / "
      "END:STANDARD / END:VTIMEZONE");
  ASSERT_EQ(send("MKCALENDAR", home + "todo/", {},
                 "<C:mkcalendar" + std::string(kSpaces) +
                     "><d:set><d:prop><d:displayname>To do</d:displayname>"
                     "<C:supported-calendar-component-set><C:comp "
                     "name=\"VTODO\"/></C:supported-calendar-component-set>"
                     "<C:calendar-timezone>" +
                     zone + "</C:calendar-timezone></d:prop></d:set></C:mkcalendar>"),
            201)
      << last.body;
  const auto r = propfind(home + "todo/", "0",
                          "<d:displayname/><C:supported-calendar-component-set/><C:calendar-timezone/"
                          "><C:calendar-timezone-id/>")
                     .responses.at(0);
  EXPECT_EQ(r.text("displayname"), "To do");
  EXPECT_NE(r.text(caldav("calendar-timezone")).find("TZID:Europe/Berlin"), std::string::npos);
  EXPECT_EQ(r.text(caldav("calendar-timezone-id")), "Europe/Berlin");
  ASSERT_EQ(r.properties.at(caldav("supported-calendar-component-set")).element.children.size(), 1u);
  EXPECT_EQ(put(home + "todo/a.ics", event("a")), 403);
  EXPECT_EQ(condition(), "C:supported-calendar-component");
}

TEST_F(GroupwareAcceptance, No19_CompressionLeavesTheTagAlone) {
  const auto body = event("z", "DTSTART:20260105T100000Z / DESCRIPTION:" + std::string(4000, 'd'));
  ASSERT_EQ(put(cal + "z.ics", body), 201);
  const auto etag = last.header("etag");
  const auto got = dav.get(cal + "z.ics", {{"Accept-Encoding", "gzip, br, zstd"}});
  EXPECT_EQ(got.header("etag"), etag);
  EXPECT_EQ(put(cal + "z.ics", body, {{"If-Match", got.header("etag")}}), 204);
}

TEST_F(GroupwareAcceptance, No25_WhatIsNoCalendarIsNotTakenForOne) {
  EXPECT_EQ(put(cal + "k.ics", card("k")), 403);
  EXPECT_EQ(condition(), "C:valid-calendar-data");
  EXPECT_EQ(put(cal + "f.ics", event("f"), {{"Content-Type", "text/vcard"}}), 403);
  EXPECT_EQ(condition(), "C:supported-calendar-data");
  EXPECT_EQ(put(book + "e.vcf", event("e")), 403);
  EXPECT_EQ(condition(), "A:valid-address-data");
  EXPECT_EQ(put(book + "e.vcf", card("e"), {{"Content-Type", "text/calendar"}}), 403);
  EXPECT_EQ(condition(), "A:supported-address-data");
}

TEST_F(GroupwareAcceptance, No27_OneOctetTooManyIsTooMany) {
  const auto exact = [](std::size_t size, const std::string& uid) {
    const auto frame = event(uid, "DTSTART:20260105T100000Z / ATTACH;ENCODING=BASE64;VALUE=BINARY:").size();
    return event(uid, "DTSTART:20260105T100000Z / ATTACH;ENCODING=BASE64;VALUE=BINARY:" +
                          std::string(size - frame, 'A'));
  };
  constexpr std::size_t kMax = std::size_t{10} << 20;
  EXPECT_EQ(put(cal + "max.ics", exact(kMax, "max")), 201) << last.body;
  const auto before = ctag(cal);
  const auto large = exact(kMax + 1, "large");
  EXPECT_EQ(put(cal + "large.ics", large), 403);
  EXPECT_EQ(condition(), "C:max-resource-size");
  auto& http = dav.http();
  std::string chunked = "PUT " + cal +
                        "large.ics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: " + dav.authorization() +
                        "\r\nContent-Type: text/calendar\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < large.size(); at += 1 << 20) {
    const auto piece = large.substr(at, 1 << 20);
    char head[32];
    std::snprintf(head, sizeof head, "%zx\r\n", piece.size());
    (chunked += head) += piece;
    chunked += "\r\n";
  }
  http.connect();
  ASSERT_TRUE(http.send(chunked + "0\r\n\r\n"));
  last = http.read_response();
  EXPECT_EQ(last.status, 403);
  EXPECT_EQ(condition(), "C:max-resource-size");
  EXPECT_EQ(dav.get(cal + "large.ics").status, 404) << "the connection goes on";
  EXPECT_EQ(ctag(cal), before);
}

TEST_F(GroupwareAcceptance, No31_EndlessRulesAreKeptAndAnsweredFor) {
  const std::string e = "DTSTART:20260101T100000Z / DURATION:PT1M / RRULE:";
  EXPECT_EQ(put(cal + "a.ics", event("a", e + "FREQ=SECONDLY")), 201);
  EXPECT_EQ(put(cal + "c.ics", event("c", e + "FREQ=DAILY;COUNT=2000000000")), 201);
  const auto d = put(cal + "d.ics", event("d", e + "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"));
  EXPECT_TRUE(d == 201 || d == 403) << d;
  EXPECT_EQ(put(cal + "e.ics",
                event("e", "DTSTART:20260105T093000Z / DURATION:PT1M / RRULE:FREQ=HOURLY;INTERVAL=7")),
            201);
  EXPECT_EQ(put(cal + "f.ics", event("f", e + "FREQ=DAILY;UNTIL=20260110")), 201);
  EXPECT_EQ(events("20270601T000000Z", "20270602T000000Z"), (Names{"a", "c", "e"}));
}

TEST_F(GroupwareAcceptance, No33_NamesThatCannotBe) {
  for (const std::string name : {"a%2Fb.ics", "a%00b.ics", "%2e%2e%2fx.ics", "..%2Fx.ics"}) {
    const auto status = dav.send("PUT", cal + name, {{"Content-Type", "text/calendar"}}, event("x")).status;
    EXPECT_TRUE(status == 400 || status == 403) << name << status;
  }
  for (const std::size_t length : {256, 1000, 4000}) {
    const auto status =
        dav.send("PUT", cal + std::string(length, 'n'), {{"Content-Type", "text/calendar"}}, event("x"))
            .status;
    EXPECT_EQ(status / 100, 4) << length << ' ' << status;
  }
  EXPECT_EQ(put(cal + std::string(255, 'n'), event("x")), 201);
}

TEST_F(GroupwareAcceptance, No39_ACalendarOfTheSameNameIsAnother) {
  cal = home + "gone/";
  ASSERT_EQ(send("MKCALENDAR", cal), 201);
  ASSERT_EQ(put(cal + "a.ics", event("a")), 201);
  const auto token = text(cal, "d:sync-token", "sync-token");
  EXPECT_EQ(send("DELETE", cal), 204);
  EXPECT_EQ(send("MKCALENDAR", cal), 201);
  EXPECT_EQ(put(cal + "a.ics", event("a")), 201);
  EXPECT_EQ(sync(cal, token).http.status, 403);
  EXPECT_EQ(condition(), "d:valid-sync-token");
}

TEST_F(GroupwareAcceptance, No40_AWholeCalendarIsOneFileWithAllOfIt) {
  const std::string berlin = "TZID=Europe/Berlin";
  put(cal + "1.ics",
      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:F1\nDTSTART:20260105T100000Z\nEND:VEVENT\nEND:VCALENDAR");
  put(cal + "2.ics", event("F2", "DTSTART;" + berlin + ":20260302T093000 / RRULE:FREQ=WEEKLY;COUNT=8"));
  put(cal + "3.ics", event("F3", "DTSTART;VALUE=DATE:20260328 / DTEND;VALUE=DATE:20260331"));
  put(cal + "4.ics", event("F4", "DTSTART:20260601T120000"));
  put(cal + "5.ics",
      event("F5", "RECURRENCE-ID;" + berlin + ":20260330T093000 / DTSTART;" + berlin + ":20260331T150000"));
  put(cal + "6.ics", event("F6", "DTSTART;VALUE=DATE:20240229 / RRULE:FREQ=YEARLY"));
  const auto got = dav.get(cal);
  ASSERT_EQ(got.status, 200);
  EXPECT_EQ(count(got.body, "BEGIN:VCALENDAR"), 1);
  EXPECT_TRUE(got.body.ends_with("END:VCALENDAR\r\n"));
  for (const std::string uid : {"F1", "F2", "F3", "F4", "F5", "F6"})
    EXPECT_EQ(count(got.body, "UID:" + uid + "\r\n"), 1) << uid;
}

TEST_F(GroupwareAcceptance, No53_ZonesByOtherNames) {
  put(cal + "w.ics", event("w", "DTSTART;TZID=W. Europe Standard Time:20260706T090000 / DURATION:PT1H"));
  put(cal + "n.ics", event("n", "DTSTART;TZID=Nowhere/Land:20260706T090000 / DURATION:PT1H"));
  EXPECT_EQ(events("20260706T070000Z", "20260706T073000Z"), Names{"w"});
  EXPECT_EQ(events("20260706T090000Z", "20260706T093000Z"), Names{"n"}) << "floating, and that is UTC here";
}

TEST_F(GroupwareAcceptance, No58_RangesWithOneEnd) {
  put(cal + "a.ics", event("a", "DTSTART:20260105T100000Z / DURATION:PT1H"));
  put(cal + "b.ics", event("b", "DTSTART:20260205T100000Z / DURATION:PT1H"));
  EXPECT_EQ(events("20260201T000000Z", ""), Names{"b"});
  EXPECT_EQ(events("", "20260201T000000Z"), Names{"a"});
  EXPECT_EQ(events("", ""), Names{"400"});
}

TEST_F(GroupwareAcceptance, No62_FiltersThatCannotBe) {
  const auto comp = [](const std::string& name, const std::string& inside = "") {
    return "<C:comp-filter name=\"" + name + "\">" + inside + "</C:comp-filter>";
  };
  const auto prop = [](const std::string& name, const std::string& inside) {
    return "<C:prop-filter name=\"" + name + "\">" + inside + "</C:prop-filter>";
  };
  const auto r = range("20260101T000000Z", "20260201T000000Z");
  const std::string bad[] = {comp("VEVENT"),
                             comp("VCALENDAR", r),
                             comp("VCALENDAR", comp("VTIMEZONE", r)),
                             comp("VCALENDAR", comp("VALARM")),
                             comp("VCALENDAR", comp("VEVENT", comp("VEVENT"))),
                             comp("VCALENDAR", comp("VEVENT", comp("VALARM", comp("VEVENT")))),
                             comp("VCALENDAR", comp("VEVENT", prop("SUMMARY", r))),
                             comp("VCALENDAR", comp("VEVENT", range("20260101", "20260201"))),
                             comp("VCALENDAR", comp("VEVENT", range("20260101T000000", "20260201T000000"))),
                             comp("VCALENDAR", comp("VEVENT", "<C:is-not-defined/>" + prop("SUMMARY", "")))};
  for (const auto& filter : bad) {
    const auto answer =
        report(cal, "C:calendar-query", "<d:prop><d:getetag/></d:prop><C:filter>" + filter + "</C:filter>");
    EXPECT_EQ(answer.http.status, 403) << filter;
    EXPECT_EQ(condition(), "C:valid-filter") << filter;
  }
  report(cal, "C:calendar-query",
         "<d:prop><d:getetag/></d:prop><C:filter>" +
             comp("VCALENDAR",
                  comp("VEVENT", prop("SUMMARY", "<C:text-match collation=\"i;klingon\">x</C:text-match>"))) +
             "</C:filter>");
  EXPECT_EQ(last.status, 403);
  EXPECT_EQ(condition(), "C:supported-collation");
}

TEST_F(GroupwareAcceptance, No65_BusyTimesAreMergedAndSorted) {
  put(cal + "b.ics", event("b", "DTSTART:20260105T110000Z / DURATION:PT1H"));
  put(cal + "a.ics", event("a", "DTSTART:20260105T100000Z / DURATION:PT1H"));
  put(cal + "c.ics", event("c", "DTSTART:20260105T113000Z / DURATION:PT2H"));
  put(cal + "t.ics", event("t", "DTSTART:20260104T100000Z / DURATION:PT1H / STATUS:TENTATIVE"));
  put(cal + "o.ics", event("o", "DTSTART:20260103T100000Z / DURATION:PT1H / TRANSP:TRANSPARENT"));
  last = dav.send("REPORT", cal, {{"Depth", "1"}},
                  "<C:free-busy-query" + std::string(kSpaces) + ">" +
                      range("20260101T000000Z", "20260201T000000Z") + "</C:free-busy-query>");
  ASSERT_EQ(last.status, 200);
  EXPECT_EQ(count(last.body, "BEGIN:VFREEBUSY"), 1);
  EXPECT_EQ(count(last.body, "20260105T100000Z/20260105T133000Z"), 1) << last.body;
  EXPECT_EQ(count(last.body, "20260105T"), 2) << "one period";
  EXPECT_EQ(count(last.body, "FBTYPE=BUSY-TENTATIVE:20260104T100000Z/20260104T110000Z"), 1) << last.body;
  EXPECT_EQ(count(last.body, "20260103T"), 0);
  EXPECT_LT(last.body.find("20260104T100000Z/"), last.body.find("20260105T100000Z/"));
}

TEST_F(GroupwareAcceptance, No71_APollerMissesNothing) {
  constexpr int kWriters = 8, kEach = 25;
  std::atomic<int> running = kWriters;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      auto client = server.as(alice);
      for (int i = 0; i < kEach; ++i) {
        const auto name = std::to_string(w) + "-" + std::to_string(i);
        EXPECT_EQ(
            client.send("PUT", cal + name + ".ics", {{"Content-Type", "text/calendar"}}, event(name)).status,
            201);
      }
      --running;
    });
  std::map<std::string, std::string> seen;
  std::string token;
  int polls = 0;
  for (bool last_poll = false; !last_poll; ++polls) {
    last_poll = running == 0;
    const auto answer = sync(cal, token);
    ASSERT_EQ(answer.http.status, 207);
    token = answer.sync_token;
    for (const auto& each : answer.responses) seen[each.href] = each.text("getetag");
  }
  for (auto& writer : writers) writer.join();
  std::map<std::string, std::string> there;
  for (const auto& each : propfind(cal, "1", "<d:getetag/>").responses)
    if (each.href != cal) there[each.href] = each.text("getetag");
  EXPECT_EQ(there.size(), static_cast<std::size_t>(kWriters * kEach));
  EXPECT_EQ(seen, there) << "after " << polls << " polls";
}

TEST_F(GroupwareAcceptance, No75_AnApplesCardInBothVersions) {
  std::string folded;
  const auto digits = photo(60 << 10);
  for (std::size_t at = 0; at < digits.size(); at += 74)
    (folded += at == 0 ? "" : "\r\n ") += digits.substr(at, 74);
  const auto f13 = lines(
                       "BEGIN:VCARD / VERSION:3.0 / UID:F13 / N:Müller;Eva;;; / FN:Eva Müller / "
                       "item1.EMAIL;type=INTERNET:eva@example.org / item1.X-ABLabel:_$!<Other>!$_ / "
                       "BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20") +
                   "PHOTO;ENCODING=b;TYPE=JPEG:" + folded + "\r\n" + lines("X-ABUID:1:ABPerson / END:VCARD");
  ASSERT_EQ(put(book + "f13.vcf", f13), 201) << last.body;
  EXPECT_EQ(get(book + "f13.vcf"), f13);
  const auto data = [&](const std::string& arguments) {
    return report(book, "A:addressbook-multiget",
                  "<d:prop><A:address-data" + arguments + "/></d:prop><d:href>" + book + "f13.vcf</d:href>")
        .responses.at(0)
        .text(carddav("address-data"));
  };
  const auto without_cr = [](std::string text) {
    std::erase(text, '\r');
    return text;
  };
  EXPECT_EQ(without_cr(data("")), without_cr(f13)) << "no version asked for: 3.0, octet by octet";
  const auto four = data(" content-type=\"text/vcard\" version=\"4.0\"");
  EXPECT_NE(four.find("VERSION:4.0"), std::string::npos);
  EXPECT_NE(four.find("PHOTO:data:image/jpeg;base64"), std::string::npos) << four.substr(0, 400);
  EXPECT_NE(four.find("BDAY:--0620"), std::string::npos);
  EXPECT_NE(four.find("item1.EMAIL"), std::string::npos);
  EXPECT_NE(four.find("item1.X-ABLABEL"), std::string::npos) << four.substr(0, 400);
}

TEST_F(GroupwareAcceptance, No78_AnOldCardIsForTheImport) {
  EXPECT_EQ(put(book + "old.vcf",
                "BEGIN:VCARD\r\nVERSION:2.1\r\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=\r\n="
                "BCller\r\nEND:VCARD\r\n"),
            403);
  EXPECT_EQ(condition(), "A:supported-address-data");
}

TEST_F(GroupwareAcceptance, No84_PeopleAreFoundByThemselves) {
  const auto search = [&](const std::string& name) {
    return report("/dav/principals/", "d:principal-property-search",
                  "<d:property-search><d:prop><d:displayname/></d:prop><d:match match-type=\"equals\">" +
                      name + "</d:match></d:property-search><d:prop><d:displayname/></d:prop>");
  };
  EXPECT_EQ(search(alice.name).responses.size(), 1u);
  const auto none = search("nobody-of-this-name");
  EXPECT_EQ(none.http.status, 207);
  EXPECT_EQ(none.responses.size(), 0u);
}

TEST_F(GroupwareAcceptance, No86_WhoHasNoRightsLearnsNoNames) {
  ASSERT_EQ(
      put(cal + "secret-name.ics", event("secret-uid", "DTSTART:20260105T100000Z / SUMMARY:secret-title")),
      201);
  const std::string query = "<C:calendar-query" + std::string(kSpaces) +
                            "><d:prop><C:calendar-data/></d:prop><C:filter><C:comp-filter "
                            "name=\"VCALENDAR\"/></C:filter></C:calendar-query>";
  const std::tuple<const char*, std::string, std::string> asks[] = {
      {"PROPFIND", cal, ""},
      {"PROPFIND", home, ""},
      {"GET", cal, ""},
      {"GET", cal + "secret-name.ics", ""},
      {"PUT", cal + "secret-name.ics", event("secret-uid")},
      {"PUT", cal + "new.ics", event("secret-uid")},
      {"REPORT", cal, query},
      {"MOVE", cal + "secret-name.ics", ""}};
  for (const auto& [method, path, body] : asks) {
    const auto answer =
        bobs.send(method, path,
                  {{"Depth", "1"},
                   {"Content-Type", method == std::string("PUT") ? "text/calendar" : "application/xml"},
                   {"Destination", "/dav/calendars/" + bob.name + "/personal/x.ics"}},
                  body);
    EXPECT_TRUE(answer.status == 403 || answer.status == 404 || answer.status == 409)
        << method << answer.status;
    EXPECT_EQ(answer.body.find("secret"), std::string::npos) << method << answer.body;
  }
}

TEST_F(GroupwareAcceptance, No87_WhoReadsIsToldWhatIsMissing) {
  ASSERT_EQ(put(cal + "a.ics", event("a")), 201);
  const auto shared = share(cal, 1);
  const auto refused = [&](const std::string& method, const std::string& path, const std::string& privilege,
                           const std::string& body = "") {
    EXPECT_EQ(send(bobs, method, path,
                   {{"Content-Type", "text/calendar"},
                    {"Destination", "/dav/calendars/" + bob.name + "/personal/a.ics"}},
                   body),
              403);
    EXPECT_EQ(condition(), "d:need-privileges") << method;
    EXPECT_NE(last.body.find("<d:href>" + shared + "</d:href>"), std::string::npos) << last.body;
    EXPECT_NE(last.body.find("<d:privilege><" + privilege + "/></d:privilege>"), std::string::npos)
        << last.body;
  };
  refused("PUT", shared + "a.ics", "d:write-content", event("a"));
  refused("PUT", shared + "b.ics", "d:bind", event("b"));
  refused("DELETE", shared + "a.ics", "d:unbind");
  refused("MOVE", shared + "a.ics", "d:unbind");
  EXPECT_EQ(get(cal + "a.ics"), event("a"));
}

TEST_F(GroupwareAcceptance, No107_HostileXmlIsTurnedAway) {
  std::string bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">";
  for (char c = 'b'; c <= 'j'; ++c)
    bomb += std::string("<!ENTITY ") + c + " \"&" + static_cast<char>(c - 1) + ";&" +
            static_cast<char>(c - 1) + ";\">";
  bomb += "]><d:propfind xmlns:d=\"DAV:\"><d:prop>&j;</d:prop></d:propfind>";
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "<a>";
  const std::pair<const char*, std::string> cases[] = {
      {"dtd",
       "<!DOCTYPE propfind SYSTEM \"file:///etc/passwd\"><propfind xmlns=\"DAV:\"><allprop/></propfind>"},
      {"bomb", bomb},
      {"attribute",
       "<propfind xmlns=\"DAV:\" x=\"" + std::string(10 << 20, 'x') + "\"><allprop/></propfind>"},
      {"deep", deep}};
  for (const auto& [what, body] : cases)
    for (const std::string method : {"PROPFIND", "REPORT", "PROPPATCH"}) {
      const auto status =
          dav.send(method, cal, {{"Depth", "0"}, {"Content-Type", "application/xml"}}, body).status;
      EXPECT_TRUE(status == 400 || status == 403 || status == 413) << what << ' ' << method << ' ' << status;
    }
  EXPECT_EQ(propfind(cal, "0").http.status, 207);
}

TEST_F(GroupwareAcceptance, QuotasAreToldOfOnesOwn) {
  server.sql("update drives set quota_bytes = used_bytes + 1000000 where kind = 1 and owner_id = " +
             std::to_string(alice.id.value));
  put(cal + "a.ics", event("a"));
  const auto r = propfind(cal, "0", "<d:quota-used-bytes/><d:quota-available-bytes/>").responses.at(0);
  EXPECT_EQ(r.text("quota-used-bytes"), std::to_string(event("a").size()));
  EXPECT_EQ(r.text("quota-available-bytes"), std::to_string(1'000'000 - event("a").size()));
  const auto shared = share(cal, 1);
  const auto seen = dav_answer(
      bobs.send("PROPFIND", shared, {{"Depth", "0"}},
                "<d:propfind xmlns:d=\"DAV:\"><d:prop><d:quota-used-bytes/></d:prop></d:propfind>"));
  EXPECT_EQ(seen.responses.at(0).status_of("quota-used-bytes"), 404);
}

}  // namespace
}  // namespace welkin::tests
