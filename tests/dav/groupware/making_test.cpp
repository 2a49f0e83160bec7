#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareMaking : Groupware {
  int mkcalendar(const std::string& path, const std::string& props = "") {
    return send("MKCALENDAR", path, {},
                props.empty() ? ""
                              : "<C:mkcalendar" + std::string(kSpaces) + "><d:set><d:prop>" + props +
                                    "</d:prop></d:set></C:mkcalendar>");
  }
  int mkcol(const std::string& path, const std::string& props = "") {
    return send("MKCOL", path, {},
                props.empty() ? ""
                              : "<d:mkcol" + std::string(kSpaces) + "><d:set><d:prop>" + props +
                                    "</d:prop></d:set></d:mkcol>");
  }
};

TEST_F(GroupwareMaking, CalendarsAreMadeWithTheirProperties) {
  EXPECT_EQ(mkcalendar(home + "w%20x/"), 201);
  EXPECT_EQ(last.header("cache-control"), "no-cache");
  EXPECT_EQ(mkcalendar(home + "w%20x/"), 403);
  EXPECT_EQ(condition(), "d:resource-must-be-null");
  EXPECT_EQ(mkcalendar(home + "todo/",
                       "<d:displayname>To do</d:displayname><C:supported-calendar-component-set><C:comp "
                       "name=\"VTODO\"/></C:supported-calendar-component-set><IC:calendar-color>#111111"
                       "</IC:calendar-color>"),
            201);
  const auto r = propfind(home + "todo/", "0", "<d:displayname/><IC:calendar-color/>").responses.at(0);
  EXPECT_EQ(r.text("displayname"), "To do");
  EXPECT_EQ(r.text(apple("calendar-color")), "#111111");
  EXPECT_EQ(put(home + "todo/a.ics", event("a")), 403);
  EXPECT_EQ(condition(), "C:supported-calendar-component");
  EXPECT_EQ(propfind(home, "1", "<d:resourcetype/>").hrefs().at(4), home + "todo/");
}

TEST_F(GroupwareMaking, WrongPlacesAreRefused) {
  EXPECT_EQ(mkcalendar(cal + "inner/"), 403);
  EXPECT_EQ(condition(), "C:calendar-collection-location-ok");
  EXPECT_EQ(mkcalendar(home + "missing/inner/"), 409);
  EXPECT_EQ(mkcalendar(books + "b/"), 403);
  EXPECT_EQ(condition(), "C:calendar-collection-location-ok");
  EXPECT_EQ(mkcalendar("/dav/calendars/" + bob.name + "/x/"), 403);
  EXPECT_EQ(mkcalendar("/dav/other/x/"), 403);
  EXPECT_EQ(mkcalendar(home + "shared-7/"), 400) << "names of what is shared are not taken";
}

TEST_F(GroupwareMaking, OneBadPropertyMakesNothing) {
  EXPECT_EQ(mkcalendar(home + "n/", "<d:displayname>x</d:displayname><d:getetag>y</d:getetag>"), 207);
  const auto answer = dav_answer(last);
  EXPECT_EQ(answer.responses.at(0).status_of("getetag"), 403);
  EXPECT_EQ(answer.responses.at(0).status_of("displayname"), 424);
  EXPECT_EQ(propfind(home + "n/", "0").http.status, 404);
  EXPECT_EQ(mkcalendar(home + "n/",
                       "<C:supported-calendar-component-set><C:comp name=\"VPOLL\"/>"
                       "</C:supported-calendar-component-set>"),
            207);
  EXPECT_NE(last.body.find("<C:supported-calendar-component/>"), std::string::npos);
}

TEST_F(GroupwareMaking, ExtendedMkcolMakesBothKinds) {
  EXPECT_EQ(mkcol(books + "work/",
                  "<d:resourcetype><d:collection/><A:addressbook/></d:resourcetype>"
                  "<d:displayname>Work</d:displayname>"),
            201);
  EXPECT_EQ(text(books + "work/", "d:displayname", "displayname"), "Work");
  EXPECT_EQ(mkcol(home + "c/", "<d:resourcetype><d:collection/><C:calendar/></d:resourcetype>"), 201);
  EXPECT_EQ(mkcol(home + "c/", "<d:resourcetype><d:collection/><C:calendar/></d:resourcetype>"), 405);
  for (const std::string type : {"<d:collection/><C:calendar/><A:addressbook/>", "<d:collection/>",
                                 "<d:collection/><A:addressbook/>", "<C:calendar/>"}) {
    EXPECT_EQ(mkcol(home + "d/", "<d:resourcetype>" + type + "</d:resourcetype>"), 403) << type;
    EXPECT_EQ(condition(), "d:valid-resourcetype");
  }
  EXPECT_EQ(mkcol(home + "d/"), 403) << "a plain collection holds nothing here";
  EXPECT_EQ(
      mkcol(books + "e/", "<d:resourcetype><d:collection/><A:addressbook/></d:resourcetype><d:getetag/>"),
      424);
  EXPECT_NE(last.body.find("mkcol-response"), std::string::npos);
  EXPECT_EQ(propfind(books + "e/", "0").http.status, 404);
}

TEST_F(GroupwareMaking, ADeletedCalendarFreesItsName) {
  cal = home + "gone/";
  ASSERT_EQ(mkcalendar(cal), 201);
  put(cal + "a.ics", event("a"));
  const auto token = text(cal, "d:sync-token", "sync-token");
  EXPECT_EQ(send("DELETE", cal, {{"If", "<" + cal + "> (<urn:other>)"}}), 412);
  EXPECT_EQ(send("DELETE", cal), 204);
  EXPECT_EQ(send("DELETE", cal), 404);
  EXPECT_EQ(propfind(cal, "0").http.status, 404);
  EXPECT_EQ(mkcalendar(cal), 201);
  EXPECT_EQ(put(cal + "a.ics", event("a")), 201);
  EXPECT_EQ(sync(cal, token).http.status, 403);
  EXPECT_NE(last.body.find("<d:valid-sync-token/>"), std::string::npos);
  EXPECT_EQ(sync(cal, "").responses.size(), 1u);
  for (const auto& path : {std::string("/dav/"), home, "/dav/principals/users/" + alice.name + "/"})
    EXPECT_EQ(send("DELETE", path), 403) << path;
}

}  // namespace
}  // namespace welkin::tests
