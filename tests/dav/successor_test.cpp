// Programs that save under another name and rename: the file that had the name keeps its id and its past.
#include "dav/dav_fixture.hpp"

namespace welkin::tests {
namespace {

struct DavSuccessors : DavFixture {
  std::int64_t id(const std::string& name) {
    return server.number("select coalesce(max(id), 0) from nodes where name = '" + name +
                         "' and parent_id = " + std::to_string(t.value));
  }
  std::int64_t versions_of(std::int64_t node) {
    return server.number("select count(*) from versions where node_id = " + std::to_string(node));
  }
  std::int64_t in_trash() {
    return server.number("select count(*) from trash where deleted_by = " + std::to_string(alice.id.value));
  }
  int move(const std::string& from, const std::string& to, HeaderList more = {}) {
    more.emplace_back("Destination", b + to);
    return status("MOVE", b + from, std::move(more));
  }
  /// The drive's sums are what its rows add up to.
  void expect_sums() {
    EXPECT_EQ(
        server.number(
            "select (used_bytes - (select sum(n.size) from nodes n where n.drive_id = d.id and n.kind = 1)"
            " - (select coalesce(sum(v.size), 0) from versions v join nodes n on n.id = v.node_id where "
            "n.drive_id = d.id))::bigint from drives d where owner_id = " +
            std::to_string(alice.id.value)),
        0);
    EXPECT_EQ(server.number("select (f.bytes_below - (select sum(size) from nodes where parent_id = "
                            "f.node_id and kind = 1))::bigint"
                            " from folders f where f.node_id = " +
                            std::to_string(t.value)),
              0);
  }
  /// Older than a program's saving takes.
  void age(std::int64_t node) {
    server.sql("update nodes set created_at = created_at - 61000000 where id = " + std::to_string(node));
  }
};

TEST_F(DavSuccessors, PutDeleteMove) {
  EXPECT_EQ(put(b + "/x", "one"), 201);
  EXPECT_EQ(put(b + "/x", "two!"), 204);
  const auto x = id("x");
  EXPECT_EQ(versions_of(x), 1);
  EXPECT_EQ(put(b + "/x.tmp", "three"), 201);
  EXPECT_EQ(status("DELETE", b + "/x"), 204);
  EXPECT_EQ(move("/x.tmp", "/x"), 201);
  EXPECT_EQ(last.header("location"), b + "/x");
  const auto etag = last.header("etag");
  EXPECT_EQ(get(b + "/x"), "three");
  EXPECT_EQ(dav.get(b + "/x").header("etag"), etag);
  EXPECT_EQ(id("x"), x) << "the same file";
  EXPECT_EQ(versions_of(x), 2) << "with all its past";
  EXPECT_EQ(in_trash(), 0);
  EXPECT_EQ(get(b + "/x.tmp"), "status 404");
  expect_sums();
}

TEST_F(DavSuccessors, PutMoveOver) {
  EXPECT_EQ(put(b + "/x", "one", {{"X-OC-Mtime", "1400000000"}}), 201);
  const auto x = id("x");
  EXPECT_EQ(put(b + "/x.tmp", "three", {{"X-OC-Mtime", "1500000000"}}), 201);
  EXPECT_EQ(move("/x.tmp", "/x", {{"Overwrite", "F"}}), 412);
  EXPECT_EQ(move("/x.tmp", "/x"), 204);
  EXPECT_EQ(id("x"), x);
  EXPECT_EQ(versions_of(x), 1);
  EXPECT_EQ(dav.get(b + "/x").header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(get(b + "/x"), "three");
  expect_sums();
  // Whoever synchronises sees one come and one go.
  EXPECT_EQ(
      server.number("select count(*) from changes where op = 3 and old_name = 'x.tmp' and parent_id = " +
                    std::to_string(t.value)),
      1);
}

TEST_F(DavSuccessors, AnEmptyPastIsNoVersion) {
  EXPECT_EQ(put(b + "/x", ""), 201);
  const auto x = id("x");
  EXPECT_EQ(put(b + "/x.tmp", "three"), 201);
  EXPECT_EQ(move("/x.tmp", "/x"), 204);
  EXPECT_EQ(id("x"), x);
  EXPECT_EQ(versions_of(x), 0);
  expect_sums();
}

// What has a past, shares or properties of its own is moved as itself; so is what is older, somebody else's,
// or a folder.
TEST_F(DavSuccessors, OnlyWhatIsFreshEnds) {
  const auto replaced = [&](const char* why) {
    const auto from = id("from"), to = id("to");
    EXPECT_EQ(move("/from", "/to"), 204) << why;
    EXPECT_EQ(id("to"), from) << why;
    EXPECT_EQ(server.number("select count(*) from trash where node_id = " + std::to_string(to)), 1) << why;
    EXPECT_EQ(status("DELETE", b + "/to"), 204);
    server.sql("update trash set deleted_at = now() - interval '2 minutes'");
  };
  const auto make = [&] {
    EXPECT_EQ(put(b + "/from", "from"), 201);
    EXPECT_EQ(put(b + "/to", "to"), 201);
  };
  make();
  age(id("from"));
  replaced("older");
  make();
  EXPECT_EQ(put(b + "/from", "again"), 204);
  replaced("with a version");
  make();
  EXPECT_EQ(
      dav.send("PROPPATCH", b + "/from", {},
               "<propertyupdate xmlns='DAV:'><set><prop><c xmlns='urn:c'>1</c></prop></set></propertyupdate>")
          .status,
      207);
  replaced("with a property");
  make();
  server.sql("update nodes set creator_id = null where id = " + std::to_string(id("from")));
  replaced("somebody else's");
  EXPECT_EQ(put(b + "/from", "from"), 201);
  server.folder(alice, t, "to");
  replaced("onto a folder");
  EXPECT_EQ(put(b + "/x", "x"), 201);
  EXPECT_EQ(put(b + "/y", "y"), 201);
  const auto y = id("y");
  EXPECT_EQ(status("DELETE", b + "/x"), 204);
  server.sql("update trash set deleted_at = now() - interval '61 seconds' where from_name = 'x'");
  EXPECT_EQ(move("/y", "/x"), 201);
  EXPECT_EQ(id("x"), y) << "deleted too long ago";
}

TEST_F(DavSuccessors, LocksAreObeyed) {
  EXPECT_EQ(put(b + "/x", "one"), 201);
  const auto x = id("x");
  EXPECT_EQ(put(b + "/x.tmp", "two"), 201);
  const auto token = lock(b + "/x");
  EXPECT_EQ(move("/x.tmp", "/x"), 423);
  EXPECT_EQ(move("/x.tmp", "/x", {{"If", "<" + b + "/x> (" + token + ")"}}), 204);
  EXPECT_EQ(id("x"), x);
  EXPECT_EQ(put(b + "/x", "three"), 204) << "a MOVE ends the lock of what it replaces";
}

}  // namespace
}  // namespace welkin::tests
