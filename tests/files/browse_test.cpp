#include "welkin/files/browse.hpp"

#include <gtest/gtest.h>

#include "files/room.hpp"
#include "welkin/files/changes.hpp"
#include "welkin/files/properties.hpp"

namespace welkin::files {
namespace {

using Strings = std::vector<std::string>;

struct Looking : ::testing::Test {
  Room room;
  Caller alice = room.user("alice");
  NodeId home = room.root(alice);

  static Task<Strings> names(Files& files, const Caller& caller, NodeId folder, std::int32_t rights,
                             std::string after) {
    Strings out;
    auto browse = files.browse(caller, folder, rights, {}, std::move(after));
    for (auto page = co_await browse.next(); !page.empty(); page = co_await browse.next()) {
      for (const auto& row : page) out.push_back((row.is_mount ? "*" : "") + std::string(row.name));
    }
    EXPECT_TRUE((co_await browse.next()).empty()) << "the end stays the end";
    co_return out;
  }
  Strings browse(const Caller& caller, NodeId folder, const std::string& after = "") {
    const auto node = run(room.files->node(caller, folder));
    return run(names(*room.files, caller, folder, node.rights, after));
  }
  void mount(const Caller& caller, NodeId target, const std::string& name) {
    const auto node = std::to_string(target.value), user = std::to_string(caller.user.value);
    room.sql("insert into grants (node_id, user_id, rights) values (" + node + ", " + user + ", 1);" +
             "update nodes set flags = flags | 1 where id = " + node + ";" +
             "insert into mounts (user_id, parent_id, target_id, name) values (" + user + ", " +
             std::to_string(room.root(caller).value) + ", " + node + ", '" + name + "')");
  }
};

TEST_F(Looking, ShowsMembersInByteOrder) {
  for (const char* name : {"b", "a", "B", "\xC3\xA9", "a b"}) room.put(alice, home, name, "x");
  room.folder(alice, home, "aa");
  EXPECT_EQ(browse(alice, home), (Strings{"B", "a", "a b", "aa", "b", "\xC3\xA9"}));
  EXPECT_EQ(browse(alice, home, "a b"), (Strings{"aa", "b", "\xC3\xA9"}));
  EXPECT_TRUE(browse(alice, home, "\xF4\x8F\xBF\xBF").empty());
  EXPECT_TRUE(browse(alice, room.folder(alice, home, "empty")).empty());
}

TEST_F(Looking, PagesNeitherRepeatNorSkip) {
  const auto folder = std::to_string(room.folder(alice, home, "many").value);
  room.sql(
      "insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)"
      " select n.id, 1, 1, 1, n.drive_id, n.drive_id, 2, lpad(i::text, 6, '0')"
      " from nodes n, generate_series(1, 1000) i where n.id = " +
      folder +
      "; insert into folders (node_id, etag_seq, changed_at) select id, 1, 1 from nodes where parent_id = " +
      folder);
  const auto seen = browse(alice, NodeId{std::stoll(folder)});
  ASSERT_EQ(seen.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), "001000");
}

TEST_F(Looking, SaysTheSameAsANodeDoes) {
  const auto file = room.put(alice, home, "file.txt", "hello").node;
  const auto folder = run(room.files->node(alice, room.folder(alice, home, "folder")));
  room.put(alice, folder.id, "inside", "12345");
  // Numbers that mostly are those of a neighbouring column: a time of creation, the drive that made the tag.
  const auto old = room.put(alice, home, "old.md", "older").node;
  room.sql("update nodes set created_at = 7, etag_drive = 77, flags = flags | 4 where id = " +
           std::to_string(old.id.value));
  room.sql("update nodes set created_at = 8 where id = " + std::to_string(folder.id.value));
  const auto look = [&](BrowseWants wants) -> Task<> {
    auto browse = room.files->browse(alice, home, rights::kOwner, wants);
    const auto page = co_await browse.next();
    EXPECT_EQ(page.size(), 3u);
    for (const auto& row : page) {
      const auto node = co_await room.files->node(alice, row.id);
      EXPECT_EQ(row.name, node.name);
      EXPECT_EQ(row.kind, node.kind);
      EXPECT_EQ(row.drive, node.drive);
      EXPECT_EQ(row.etag(), node.etag);
      EXPECT_EQ(row.size_bytes, node.size_bytes);
      EXPECT_EQ(row.modified_at, node.modified_at);
      EXPECT_EQ(row.created_at, node.created_at);
      EXPECT_EQ(row.author_name, wants.author ? "alice" : "");
      EXPECT_EQ(row.rights, node.rights);
      EXPECT_EQ(row.has_properties, row.name == "old.md");
      EXPECT_EQ(node.has_properties, row.has_properties);
      EXPECT_EQ(browse_row(node).etag(), row.etag());
      EXPECT_EQ(browse_row(node).has_properties, row.has_properties);
      if (row.is_folder()) continue;
      EXPECT_EQ(row.mime_type, wants.mime_type ? node.mime_type : "");
      EXPECT_EQ(row.sha256.size(), wants.digests ? 32u : 0u);
      if (wants.digests) {
        EXPECT_TRUE(std::ranges::equal(row.sha256, std::as_bytes(std::span(*node.sha256))));
      }
    }
  };
  run(look({}));
  run(look({.mime_type = true}));
  run(look({.mime_type = true, .digests = true, .author = true}));
  EXPECT_EQ(file.etag.size(), 32u);
}

// A mount stands in its place by name; a member of the same name hides it, and without the right it is not
// there.
TEST_F(Looking, ShowsMountsInTheirPlace) {
  const auto bob = room.user("bob");
  const auto shared = room.folder(alice, home, "shared"), other = room.folder(alice, home, "other");
  for (const char* name : {"a", "c", "hidden"}) room.put(bob, room.root(bob), name, "x");
  mount(bob, shared, "b");
  mount(bob, other, "hidden");
  EXPECT_EQ(browse(bob, room.root(bob)), (Strings{"a", "*b", "c", "hidden"}));
  EXPECT_EQ(browse(bob, room.root(bob), "b"), (Strings{"c", "hidden"}));
  EXPECT_EQ(browse(alice, home), (Strings{"other", "shared"})) << "nobody else's";
  room.sql("delete from grants");
  EXPECT_EQ(browse(bob, room.root(bob)), (Strings{"a", "c", "hidden"}));
}

struct Kept : Looking {
  NodeId file = room.put(alice, home, "file", "hello").node.id;
  std::string patch(PropertyPatch patch, std::optional<Caller> who = std::nullopt) {
    return refusal_of([&] { return room.files->properties().patch(who.value_or(alice), file, patch); });
  }
  std::string change(std::vector<PropertyPatch::Change> changes, std::optional<Caller> who = std::nullopt) {
    PropertyPatch wanted;
    wanted.changes = std::move(changes);
    return patch(std::move(wanted), std::move(who));
  }
  std::vector<NodeProperty> all() { return run(room.files->properties().of({file}, {})); }
};

TEST_F(Kept, ChangesHappenInOrderAndTogether) {
  EXPECT_EQ(change({{"n", "a", "1"}, {"n", "b", "2"}, {"n", "a", std::nullopt}, {"m", "a", "3"}}), "");
  const auto kept = all();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].ns + kept[0].name + kept[0].value, "ma3");
  EXPECT_EQ(kept[1].ns + kept[1].name + kept[1].value, "nb2");
  EXPECT_EQ(run(room.files->properties().of({file}, {{"n", "b"}, {"n", "a"}})).size(), 1u);
  EXPECT_EQ(room.number("select flags & 4 from nodes where id = " + std::to_string(file.value)), 4);
  EXPECT_EQ(change({{"n", "b", std::nullopt}, {"m", "a", std::nullopt}}), "");
  EXPECT_EQ(room.number("select flags & 4 from nodes where id = " + std::to_string(file.value)), 0);
}

TEST_F(Kept, AreBoundedTogether) {
  PropertyPatch many;
  for (int i = 0; i < 201; ++i) many.changes.push_back({"n", "p" + std::to_string(i), "x"});
  EXPECT_EQ(patch(many), "too_many_properties");
  EXPECT_TRUE(all().empty());
  many.changes.pop_back();
  EXPECT_EQ(patch(many), "");
  EXPECT_EQ(change({{"n", "more", "x"}}), "too_many_properties");
  EXPECT_EQ(change({{"n", "p0", std::nullopt}, {"n", "more", "x"}}), "");
  EXPECT_EQ(change({{"n", "p1", std::string(256 << 10, 'x')}}), "too_many_properties");
  EXPECT_EQ(all().size(), 200u);
}

TEST_F(Kept, NeedTheRightToChange) {
  auto reader = alice;
  reader.rights_mask = rights::kRead;
  const auto bob = room.user("bob");
  EXPECT_EQ(change({{"n", "a", "1"}}, reader), "forbidden");
  EXPECT_EQ(change({{"n", "a", "1"}}, bob), "not_found");
  PropertyPatch stale;
  stale.changes = {{"n", "a", "1"}};
  stale.expect = {Expect::Kind::etag_is, {"00"}};
  EXPECT_EQ(patch(stale), "precondition_failed");
  EXPECT_TRUE(all().empty());
}

// A property is no content: the file's tag and time stay, but whoever follows changes is told.
TEST_F(Kept, AreAChangeOfTheFolderOnly) {
  const auto before = run(room.files->node(alice, file));
  const auto token = run(room.files->change_log().token(alice, home));
  EXPECT_EQ(change({{"n", "a", "1"}}), "");
  const auto after = run(room.files->node(alice, file));
  EXPECT_EQ(after.etag, before.etag);
  EXPECT_EQ(after.modified_at, before.modified_at);
  const auto page = run(room.files->change_log().since(alice, home, token, ChangeLog::Depth::one, 100));
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].path, "file");
  PropertyPatch own;
  own.modified_at = 1'500'000'000'000'000;
  own.created_at = 7;
  own.mime_type = "text/x-new";
  EXPECT_EQ(patch(own), "");
  const auto set = run(room.files->node(alice, file));
  EXPECT_EQ(set.modified_at, 1'500'000'000'000'000);
  EXPECT_EQ(set.created_at, 7);
  EXPECT_EQ(set.mime_type, "text/x-new");
  EXPECT_EQ(set.etag, before.etag);
}

}  // namespace
}  // namespace welkin::files
