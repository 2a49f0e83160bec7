#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

using GroupwareProperties = Groupware;

// What the calendar of a phone asks of every collection in one go.
constexpr const char* kBlock =
    "<d:add-member/><CS:allowed-sharing-modes/><IC:autoprovisioned/><M:bulk-requests "
    "xmlns:M=\"http://me.com/_namespace/\"/><C:calendar-alarm/><IC:calendar-color/><C:calendar-description/>"
    "<C:calendar-free-busy-set/><IC:calendar-order/><C:calendar-timezone/><d:current-user-privilege-set/>"
    "<C:default-alarm-vevent-date/><C:default-alarm-vevent-datetime/><d:displayname/><CS:getctag/><CS:invite/"
    ">"
    "<IC:language-code/><IC:location-code/><d:owner/><CS:pre-publish-url/><CS:publish-url/"
    "><CS:push-transports/>"
    "<CS:pushkey/><d:quota-available-bytes/><d:quota-used-bytes/><IC:refreshrate/><d:resource-id/"
    "><d:resourcetype/>"
    "<C:schedule-calendar-transp/><C:schedule-default-calendar-URL/><CS:source/><CS:subscribed-strip-alarms/>"
    "<CS:subscribed-strip-attachments/><CS:subscribed-strip-todos/><C:supported-calendar-component-set/>"
    "<C:supported-calendar-component-sets/><d:supported-report-set/><d:sync-token/>";

TEST_F(GroupwareProperties, TheLongBlockIsAnsweredForEveryResource) {
  const auto answer = propfind(home, "1", kBlock);
  ASSERT_EQ(answer.http.status, 207);
  ASSERT_EQ(answer.responses.size(), 5u) << "home, two calendars, inbox, outbox";
  for (const auto& response : answer.responses) {
    EXPECT_EQ(response.properties.size(), 38u) << response.href;
    for (const auto& [name, property] : response.properties)
      EXPECT_TRUE(property.status == 200 || property.status == 404) << name;
  }
  const auto& own = answer.at(cal);
  EXPECT_EQ(own.status_of("sync-token"), 200);
  EXPECT_EQ(own.text("sync-token"), own.text(cs("getctag")));
  EXPECT_NE(own.text("sync-token").find(':'), std::string::npos);
  EXPECT_NE(own.text("sync-token").find('/'), std::string::npos);
  EXPECT_EQ(answer.at(home).status_of(caldav("supported-calendar-component-sets")), 200);
  EXPECT_EQ(own.properties.at(caldav("supported-calendar-component-set")).element.children.size(), 3u);
  EXPECT_EQ(
      answer.at(tasks).properties.at(caldav("supported-calendar-component-set")).element.children.size(), 1u);
}

TEST_F(GroupwareProperties, AllpropIsShortAndHasWhatClientsExpect) {
  set(cal,
      "<IC:calendar-color>#00FF00</IC:calendar-color><C:calendar-description>d</C:calendar-description>"
      "<x:mine xmlns:x=\"urn:x\">kept</x:mine>");
  const auto answer = propfind(cal, "0");
  const auto& r = answer.responses.at(0);
  for (const auto& name : {cs("getctag"), apple("calendar-color"), std::string("displayname"),
                           std::string("resourcetype"), std::string("{urn:x}mine")})
    EXPECT_EQ(r.status_of(name), 200) << name;
  for (const auto& name : {caldav("calendar-timezone"), caldav("calendar-description"),
                           std::string("supported-report-set"), std::string("sync-token")})
    EXPECT_EQ(r.status_of(name), 0) << name;
}

TEST_F(GroupwareProperties, BodiesOfEveryForm) {
  EXPECT_EQ(dav.send("PROPFIND", cal, {{"Depth", "0"}}).status, 207);
  const auto empty =
      dav_answer(dav.send("PROPFIND", cal, {{"Depth", "0"}}, "<propfind xmlns=\"DAV:\"><prop/></propfind>"));
  EXPECT_EQ(empty.http.status, 207);
  EXPECT_TRUE(empty.responses.at(0).properties.empty());
  const auto names = dav_answer(
      dav.send("PROPFIND", cal, {{"Depth", "0"}}, "<propfind xmlns=\"DAV:\"><propname/></propfind>"));
  EXPECT_EQ(names.responses.at(0).status_of("supported-report-set"), 200);
  EXPECT_EQ(names.responses.at(0).status_of(caldav("calendar-timezone")), 0) << "has none";
  EXPECT_EQ(send("PROPFIND", cal, {{"Depth", "0"}}, "<propfind xmlns=\"DAV:\">"), 400);
  EXPECT_EQ(send("PROPFIND", cal, {{"Depth", "0"}},
                 "<!DOCTYPE x [<!ENTITY a \"b\">]><propfind xmlns=\"DAV:\"><allprop/></propfind>"),
            403);
  EXPECT_EQ(condition(), "d:no-external-entities");
  for (const auto& path : {std::string("/dav/"), home, cal}) {
    EXPECT_EQ(send("PROPFIND", path, {{"Depth", "infinity"}}), 403) << path;
    EXPECT_EQ(condition(), "d:propfind-finite-depth");
  }
}

TEST_F(GroupwareProperties, ColoursKeepTheirAttributes) {
  const auto answer = set(cal, "<IC:calendar-color symbolic-color=\"custom\">#FF0000FF</IC:calendar-color>");
  EXPECT_EQ(answer.responses.at(0).status_of(apple("calendar-color")), 200);
  const auto read = propfind(cal, "0", "<IC:calendar-color/>");
  const auto& element = read.responses.at(0).properties.at(apple("calendar-color")).element;
  EXPECT_EQ(element.text, "#FF0000FF");
  ASSERT_NE(element.attribute("", "symbolic-color"), nullptr);
  EXPECT_EQ(*element.attribute("", "symbolic-color"), "custom");
}

TEST_F(GroupwareProperties, AProppatchIsAllOrNothing) {
  const auto before = ctag(cal);
  const auto answer = set(cal, "<d:displayname>x</d:displayname><d:getetag>y</d:getetag>");
  const auto& r = answer.responses.at(0);
  EXPECT_EQ(r.status_of("getetag"), 403);
  EXPECT_EQ(r.status_of("displayname"), 424);
  EXPECT_NE(answer.http.body.find("<d:cannot-modify-protected-property/>"), std::string::npos);
  EXPECT_EQ(text(cal, "d:displayname", "displayname"), "Personal");
  EXPECT_EQ(ctag(cal), before);
  EXPECT_EQ(set(cal, "<d:displayname>x</d:displayname>").responses.at(0).status_of("displayname"), 200);
  EXPECT_EQ(text(cal, "d:displayname", "displayname"), "x");
  EXPECT_NE(ctag(cal), before);
  const auto removed = proppatch(dav, cal, "<d:remove><d:prop><d:displayname/></d:prop></d:remove>");
  EXPECT_EQ(removed.responses.at(0).status_of("displayname"), 200);
  EXPECT_EQ(text(cal, "d:displayname", "displayname"), "Personal");
  EXPECT_EQ(set(cal, "<C:supported-calendar-component-set/>")
                .responses.at(0)
                .status_of(caldav("supported-calendar-component-set")),
            403);
  EXPECT_EQ(set(cal, "<C:schedule-calendar-transp><C:maybe/></C:schedule-calendar-transp>")
                .responses.at(0)
                .status_of(caldav("schedule-calendar-transp")),
            409);
}

TEST_F(GroupwareProperties, DeadPropertiesAreKeptWhole) {
  set(book, "<x:a xmlns:x=\"urn:x\" x:k=\"v\" xml:lang=\"de\">t<x:b/>u</x:a>");
  const auto read = propfind(book, "0", "<x:a xmlns:x=\"urn:x\"/>");
  const auto& element = read.responses.at(0).properties.at("{urn:x}a").element;
  EXPECT_EQ(element.text, "t");
  EXPECT_EQ(element.children.at(0).tail, "u");
  EXPECT_EQ(*element.attribute("urn:x", "k"), "v");
  EXPECT_EQ(*element.attribute("http://www.w3.org/XML/1998/namespace", "lang"), "de");
  const auto long_value = std::string(70'000, 'x');
  EXPECT_EQ(
      set(book, "<x:c xmlns:x=\"urn:x\">" + long_value + "</x:c>").responses.at(0).status_of("{urn:x}c"),
      507);
}

TEST_F(GroupwareProperties, AHomeKeepsDefaultAlarms) {
  const auto answer = set(home, "<C:default-alarm-vevent-date>BEGIN:VALARM</C:default-alarm-vevent-date>");
  EXPECT_EQ(answer.responses.at(0).status_of(caldav("default-alarm-vevent-date")), 200);
  EXPECT_EQ(text(home, "C:default-alarm-vevent-date", caldav("default-alarm-vevent-date")), "BEGIN:VALARM");
}

TEST_F(GroupwareProperties, MembersTellWhatTheyAre) {
  put(cal + "a.ics", event("a"));
  put(tasks + "t.ics", todo("t"));
  const auto answer = propfind(cal, "1",
                               "<d:getcontenttype/><d:getetag/><d:getcontentlength/><d:resourcetype/>"
                               "<d:getlastmodified/><d:owner/><d:displayname/>");
  const auto& a = answer.at(cal + "a.ics");
  EXPECT_EQ(a.text("getcontenttype"), "text/calendar; charset=utf-8; component=VEVENT");
  EXPECT_EQ(a.text("getetag"), dav.get(cal + "a.ics").header("etag"));
  EXPECT_EQ(a.text("getcontentlength"), std::to_string(event("a").size()));
  EXPECT_EQ(a.text("getlastmodified"), dav.get(cal + "a.ics").header("last-modified"));
  EXPECT_EQ(a.status_of("resourcetype"), 200);
  EXPECT_EQ(a.status_of("displayname"), 404);
  EXPECT_EQ(propfind(tasks + "t.ics", "0", "<d:getcontenttype/>").responses.at(0).text("getcontenttype"),
            "text/calendar; charset=utf-8; component=VTODO");
}

}  // namespace
}  // namespace welkin::tests
