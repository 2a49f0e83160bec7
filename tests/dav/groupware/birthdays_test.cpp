// The calendar of birthdays (acceptance 100).
#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareBirthdays : Groupware {
  std::string birthdays = home + "contact-birthdays/";

  static std::string born(const std::string& uid, const std::string& more) {
    return lines("BEGIN:VCARD / VERSION:3.0 / UID:" + uid + " / FN:Eva Müller / N:Müller;Eva;;; / " + more +
                 " / END:VCARD");
  }
  DavAnswer all(const std::string& inside = "") {
    return report(birthdays, "C:calendar-query",
                  "<d:prop><d:getetag/><C:calendar-data/></d:prop><C:filter><C:comp-filter "
                  "name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\">" +
                      inside + "</C:comp-filter></C:comp-filter></C:filter>");
  }
  /// The one event there is.
  std::string only() {
    const auto found = all();
    EXPECT_EQ(found.responses.size(), 1u) << found.http.body;
    return found.responses.empty() ? "" : found.responses[0].text(caldav("calendar-data"));
  }
  bool on(const std::string& from, const std::string& to) {
    return !all("<C:time-range start=\"" + from + "T000000Z\" end=\"" + to + "T000000Z\"/>")
                .responses.empty();
  }
};

TEST_F(GroupwareBirthdays, Acceptance100ADayWithoutAYearComesEveryYear) {
  EXPECT_EQ(send("PROPFIND", birthdays, {{"Depth", "0"}}), 404) << "nobody is born yet";
  put(book + "eva.vcf", born("eva", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20"));
  const auto event_text = only();
  EXPECT_EQ(event_text.find("1604"), std::string::npos) << event_text;
  EXPECT_NE(event_text.find("SUMMARY:\U0001F382 Eva Müller"), std::string::npos) << event_text;
  EXPECT_NE(event_text.find("RRULE:FREQ=YEARLY"), std::string::npos);
  EXPECT_NE(event_text.find("TRANSP:TRANSPARENT"), std::string::npos);
  EXPECT_TRUE(on("20260620", "20260621"));
  EXPECT_TRUE(on("20310620", "20310621"));
  EXPECT_FALSE(on("20260622", "20260623"));
  report(birthdays, "C:free-busy-query",
         "<C:time-range start=\"20260601T000000Z\" end=\"20260701T000000Z\"/>", {{"Depth", "1"}});
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(last.body.find("FREEBUSY:"), std::string::npos) << "nobody is busy for it";
  EXPECT_EQ(last.body.find("1604"), std::string::npos);

  // The same card gives the same bytes, for ever: also when everything is made anew.
  const auto tag = all().responses.at(0).text("getetag");
  const auto name = all().responses.at(0).href;
  put(book + "eva.vcf", born("eva", "NOTE:new / BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20"));
  EXPECT_EQ(all().responses.at(0).text("getetag"), tag);
  const auto token = text(birthdays, "d:sync-token", "sync-token");
  put(book + "eva.vcf", born("eva", "NOTE:newer / BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20"));
  EXPECT_EQ(text(birthdays, "d:sync-token", "sync-token"), token) << "nothing to tell";
  server.sql(
      "delete from collection_objects where collection_id = (select collection_id from birthday_calendars "
      "where user_id = " +
      std::to_string(alice.id.value) + ")");
  server.sql("delete from birthday_sources");
  EXPECT_EQ(all().responses.at(0).text("getetag"), tag);
  EXPECT_EQ(all().responses.at(0).href, name);
}

TEST_F(GroupwareBirthdays, WhatTheCardSaysIsToldAtOnce) {
  put(book + "eva.vcf", born("eva", "BDAY:1990-03-04 / ANNIVERSARY:2015-08-09"));
  EXPECT_EQ(all().responses.size(), 2u);
  const auto first = sync(birthdays, "");
  EXPECT_EQ(first.responses.size(), 2u);
  put(book + "eva.vcf", born("eva", "BDAY:1990-03-05"));
  auto changes = sync(birthdays, first.sync_token);
  EXPECT_EQ(changes.responses.size(), 2u) << "one changed, one gone";
  EXPECT_NE(only().find("DTSTART;VALUE=DATE:19900305"), std::string::npos);
  EXPECT_NE(only().find("(1990)"), std::string::npos);
  // Moving a card, deleting it, deleting its book.
  ASSERT_EQ(
      send("MKCOL", books + "more/", {},
           "<d:mkcol" + std::string(kSpaces) +
               "><d:set><d:prop><d:resourcetype><d:collection/><A:addressbook/></d:resourcetype></d:prop>"
               "</d:set></d:mkcol>"),
      201);
  ASSERT_EQ(send("MOVE", book + "eva.vcf", {{"Destination", books + "more/eva.vcf"}}), 201);
  EXPECT_NE(only().find("19900305"), std::string::npos);
  put(book + "jo.vcf", born("jo", "BDAY:--0101"));
  EXPECT_EQ(all().responses.size(), 2u);
  ASSERT_EQ(send("DELETE", books + "more/"), 204);
  EXPECT_NE(only().find("DTSTART;VALUE=DATE:19720101"), std::string::npos);
  ASSERT_EQ(send("DELETE", book + "jo.vcf"), 204);
  EXPECT_EQ(all().responses.size(), 0u);
}

TEST_F(GroupwareBirthdays, DatesOfEveryForm) {
  const auto told = [&](const std::string& property) {
    put(book + "eva.vcf",
        lines("BEGIN:VCARD / VERSION:4.0 / UID:eva / FN:Eva / " + property + " / END:VCARD"));
    const auto found = all();
    if (found.responses.size() != 1) return std::to_string(found.responses.size());
    const auto data = found.responses[0].text(caldav("calendar-data"));
    const auto at = data.find("DTSTART;VALUE=DATE:");
    return at == std::string::npos ? data : data.substr(at + 19, 8);
  };
  put(book + "other.vcf", born("other", "NOTE:x"));
  EXPECT_EQ(told("BDAY:19900304"), "19900304");
  EXPECT_EQ(told("BDAY:1990-03-04"), "19900304");
  EXPECT_EQ(told("BDAY:19900304T101010Z"), "19900304") << "the time of day does not count";
  EXPECT_EQ(told("BDAY:--0304"), "19720304");
  EXPECT_EQ(told("BDAY:1850-03-04"), "19000304");
  EXPECT_EQ(told("BDAY:1992-12-31"), "19921231");
  EXPECT_EQ(told("BDAY:---20"), "0");
  EXPECT_EQ(told("BDAY;VALUE=text:circa 1800"), "0");
  EXPECT_EQ(told("BDAY:1990-02-30"), "0");
  EXPECT_EQ(told("BDAY:"), "0");
  EXPECT_EQ(told("BDAY:--0229"), "19720229");
  EXPECT_TRUE(on("20280229", "20280301")) << "in leap years on the day itself";
  EXPECT_FALSE(on("20280227", "20280228"));
  EXPECT_TRUE(on("20270228", "20270301")) << "in others on the last of February";
  EXPECT_EQ(told("BDAY:1896-02-29"), "19040229");
}

TEST_F(GroupwareBirthdays, NobodyWritesThereAndWhoDoesNotWantItHasNone) {
  put(book + "eva.vcf", born("eva", "BDAY:1990-03-04"));
  const auto name = all().responses.at(0).href;
  EXPECT_EQ(put(birthdays + "x.ics", event("x")), 403);
  EXPECT_EQ(condition(), "d:need-privileges");
  EXPECT_EQ(put(name, event("x")), 403);
  EXPECT_EQ(send("DELETE", name), 403);
  EXPECT_EQ(send("MOVE", name, {{"Destination", cal + "x.ics"}}), 403);
  put(cal + "mine.ics", event("mine"));
  EXPECT_EQ(send("MOVE", cal + "mine.ics", {{"Destination", birthdays + "mine.ics"}}), 403);
  EXPECT_EQ(dav.get(cal + "mine.ics").status, 200);
  EXPECT_EQ(send("COPY", name, {{"Destination", cal + "copy.ics"}}), 201);
  EXPECT_EQ(set(birthdays, "<IC:calendar-color>#FF00FF</IC:calendar-color>")
                .responses.at(0)
                .status_of(apple("calendar-color")),
            200);
  EXPECT_EQ(text(birthdays, "d:displayname", "displayname"), "Birthdays");
  const auto privileges = propfind(birthdays, "0", "<d:current-user-privilege-set/>");
  EXPECT_EQ(privileges.http.body.find("<d:write-content/>"), std::string::npos);
  EXPECT_NE(privileges.http.body.find("<d:write-properties/>"), std::string::npos);

  const auto shared = share(birthdays, 2);
  EXPECT_EQ(send(bobs, "PUT", shared + "x.ics", {{"Content-Type", "text/calendar"}}, event("x")), 403)
      << "also who was let write everything else";
  EXPECT_EQ(bobs.get(shared + name.substr(name.rfind('/') + 1)).status, 200);

  ASSERT_EQ(send("DELETE", birthdays), 204);
  EXPECT_EQ(send("PROPFIND", birthdays, {{"Depth", "0"}}), 404);
  put(book + "jo.vcf", born("jo", "BDAY:1991-03-04"));
  EXPECT_EQ(send("PROPFIND", birthdays, {{"Depth", "0"}}), 404) << "it does not come back by itself";
  EXPECT_EQ(propfind(home, "1", "<d:displayname/>").find(birthdays), nullptr);
  EXPECT_EQ(json_of(dav.get("/api/birthday-calendar"))["enabled"], false);
  EXPECT_EQ(dav.json("PUT", "/api/birthday-calendar", R"({"enabled":true})").status, 200);
  EXPECT_EQ(all().responses.size(), 2u);
  EXPECT_EQ(dav.json("PUT", "/api/birthday-calendar", R"({"enabled":false})").status, 200);
  EXPECT_EQ(send("PROPFIND", birthdays, {{"Depth", "0"}}), 404);
  EXPECT_EQ(dav.json("PUT", "/api/birthday-calendar", R"({"enabled":"yes"})").status, 422);
}

TEST_F(GroupwareBirthdays, OthersBooksAreTheirs) {
  ApiClient& theirs = bobs;
  const auto bob_book = "/dav/addressbooks/users/" + bob.name + "/contacts/";
  ASSERT_EQ(send(theirs, "PUT", bob_book + "eva.vcf", {{"Content-Type", "text/vcard"}},
                 born("eva", "BDAY:1990-03-04")),
            201);
  server.sql("insert into collection_shares (collection_id, user_id, access) select id, " +
             std::to_string(alice.id.value) +
             ", 2 from collections where kind = 2 and owner_id = " + std::to_string(bob.id.value));
  EXPECT_EQ(send("PROPFIND", home, {{"Depth", "1"}}), 207);
  EXPECT_EQ(send("PROPFIND", birthdays, {{"Depth", "0"}}), 404) << "bob has it, alice would have it twice";
}

TEST_F(GroupwareBirthdays, TheJobReadsWhatNobodyLookedAt) {
  for (int i = 0; i < 40; ++i)
    put(book + std::to_string(i) + ".vcf", born(std::to_string(i), "BDAY:1990-03-04"));
  while (server.birthdays->catch_up_turn()) {
  }
  EXPECT_EQ(server.number("select object_count::bigint from collection_state where collection_id = (select "
                          "collection_id from birthday_calendars where user_id = " +
                          std::to_string(alice.id.value) + ")"),
            40);
}

}  // namespace
}  // namespace welkin::tests
