#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

struct GroupwareMoving : Groupware {
  std::string second = home + "second/";
  GroupwareMoving() {
    send("MKCALENDAR", second, {},
         "<C:mkcalendar" + std::string(kSpaces) +
             "><d:set><d:prop><C:supported-calendar-component-set><C:comp name=\"VEVENT\"/>"
             "</C:supported-calendar-component-set></d:prop></d:set></C:mkcalendar>");
    put(cal + "a.ics", event("a"));
  }
  int transfer(const std::string& method, const std::string& from, const std::string& to,
               HeaderList headers = {}) {
    headers.emplace_back("Destination", to);
    return send(method, from, std::move(headers));
  }
};

TEST_F(GroupwareMoving, ARenameIsToldAsOneGoneAndOneNew) {
  const auto before = etag(cal + "a.ics");
  const auto token = text(cal, "d:sync-token", "sync-token");
  EXPECT_EQ(
      transfer("MOVE", cal + "a.ics", "http://127.0.0.1:" + std::to_string(server.port()) + cal + "b.ics"),
      201);
  EXPECT_EQ(last.header("location"), cal + "b.ics");
  EXPECT_EQ(etag(cal + "b.ics"), before);
  const auto changes = sync(cal, token);
  EXPECT_EQ(changes.at(cal + "a.ics").status, 404);
  EXPECT_EQ(changes.at(cal + "b.ics").text("getetag"), before);
}

TEST_F(GroupwareMoving, AMoveChangesBothCollections) {
  const auto from = text(cal, "d:sync-token", "sync-token"), to = text(second, "d:sync-token", "sync-token");
  EXPECT_EQ(transfer("MOVE", cal + "a.ics", second + "a.ics", {{"If-Match", "\"x\""}}), 412);
  EXPECT_EQ(transfer("MOVE", cal + "a.ics", second + "a.ics", {{"If-Match", etag(cal + "a.ics")}}), 201);
  EXPECT_EQ(sync(cal, from).at(cal + "a.ics").status, 404);
  EXPECT_EQ(sync(second, to).at(second + "a.ics").status_of("getetag"), 200);
  EXPECT_EQ(get(second + "a.ics"), event("a"));
}

TEST_F(GroupwareMoving, ConflictsLeaveTheSourceAlone) {
  EXPECT_EQ(put(second + "twin.ics", event("a")), 201) << "another calendar may have the UID";
  EXPECT_EQ(transfer("MOVE", second + "twin.ics", cal + "new.ics"), 403);
  EXPECT_EQ(condition(), "C:no-uid-conflict");
  EXPECT_NE(last.body.find(cal + "a.ics"), std::string::npos);
  EXPECT_EQ(transfer("COPY", cal + "a.ics", cal + "copy.ics"), 403);
  EXPECT_EQ(condition(), "C:no-uid-conflict");
  EXPECT_EQ(transfer("COPY", cal + "a.ics", second + "twin.ics", {{"Overwrite", "F"}}), 412);
  EXPECT_EQ(transfer("COPY", cal + "a.ics", second + "twin.ics"), 204);
  put(cal + "t.ics", todo("t"));
  EXPECT_EQ(transfer("MOVE", cal + "t.ics", second + "t.ics"), 403);
  EXPECT_EQ(condition(), "C:supported-calendar-component");
  EXPECT_EQ(get(cal + "t.ics"), todo("t"));
}

TEST_F(GroupwareMoving, DestinationsThatAreNone) {
  EXPECT_EQ(transfer("MOVE", cal + "a.ics", home + "missing/a.ics"), 409);
  EXPECT_EQ(transfer("MOVE", cal + "a.ics", "/webdav/a.ics"), 400);
  EXPECT_EQ(transfer("MOVE", cal + "a.ics", "http://elsewhere.example" + cal + "b.ics"), 400);
  EXPECT_EQ(transfer("MOVE", cal + "a.ics", cal + "a.ics"), 403);
  EXPECT_EQ(transfer("MOVE", cal + "a.ics", book + "a.vcf"), 403);
  EXPECT_EQ(transfer("MOVE", cal, home + "renamed/"), 403);
  EXPECT_EQ(transfer("MOVE", cal + "none.ics", cal + "b.ics"), 404);
  EXPECT_EQ(get(cal + "a.ics"), event("a"));
}

}  // namespace
}  // namespace welkin::tests
