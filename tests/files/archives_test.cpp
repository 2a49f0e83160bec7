#include "welkin/files/archives.hpp"

#include <gtest/gtest.h>

#include <set>

#include "files/archive_builder.hpp"
#include "files/room.hpp"

namespace welkin::files {
namespace {

struct Archiving : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice), folder = room.folder(alice, root, "folder");
  Archives& archives = room.files->archives();

  std::shared_ptr<const Archive> of(NodeId id) { return run(archives.folder(alice, id, "top")); }
  static std::string path(const Archive& archive, std::size_t i) {
    const auto& e = archive[i];
    return (e.parent == Archive::kTop ? "" : path(archive, e.parent)) + std::string(archive.name(i)) +
           (e.kind == Kind::folder ? "/" : "");
  }
  static std::string text(const Archive& archive) {
    std::string out;
    for (std::size_t i = 0; i < archive.size(); ++i) out += (i ? " " : "") + path(archive, i);
    return out;
  }
};

TEST_F(Archiving, FoldersComeBeforeWhatIsInThemInOrderOfNames) {
  const auto b = room.folder(alice, folder, "b"), deep = room.folder(alice, b, "deep");
  room.folder(alice, folder, "empty");
  room.put(alice, folder, "a", "1");
  room.put(alice, folder, "c", "22");
  room.put(alice, deep, "x", "333");
  const auto archive = of(folder);
  EXPECT_EQ(text(*archive), "top/ top/a top/b/ top/b/deep/ top/b/deep/x top/c top/empty/");
  EXPECT_EQ((*archive)[4].size_bytes, 3u);
  EXPECT_EQ((*archive)[4].crc32, 0x92D786FDu);  // of "333", by zlib
  EXPECT_EQ(text(*run(archives.selection(alice, {deep, folder, deep}))).substr(0, 13), "deep/ deep/x ");
}

TEST_F(Archiving, VersionIsTheSameAsLongAsTheBytesAre) {
  const auto file = room.put(alice, folder, "f", "one").node.id;
  const auto first = of(folder)->version();
  EXPECT_EQ(first.size(), 32u);
  EXPECT_EQ(of(folder)->version(), first);
  room.put(alice, root, "elsewhere", "x");
  EXPECT_EQ(of(folder)->version(), first);
  EXPECT_NE(run(archives.folder(alice, folder, "other"))->version(), first);
  std::set<std::string> seen{first};
  const auto is_new = [&] { return seen.insert(of(folder)->version()).second; };
  room.put(alice, folder, "f", "two");
  EXPECT_TRUE(is_new());
  Files::Move rename;
  rename.name = "g";
  run(room.files->move(alice, file, rename));
  EXPECT_TRUE(is_new());
  room.folder(alice, folder, "d");
  EXPECT_TRUE(is_new());
  run(room.files->trash(alice, file));
  EXPECT_TRUE(is_new());
}

TEST_F(Archiving, NamesThatUnpackersWouldMixUpAreToldApart) {
  for (const char* name : {"a.txt", "A.TXT", "a (2).txt", "b:c", "b_c", ".hidden", ".HIDDEN"})
    room.put(alice, folder, name, "x");
  room.folder(alice, folder, "D.d");
  room.folder(alice, folder, "d.D");
  const auto one = room.folder(alice, folder, "one"), two = room.folder(alice, folder, "two");
  const auto x = room.put(alice, one, "x.tar.gz", "1").node.id,
             y = room.put(alice, two, "x.tar.gz", "2").node.id;
  EXPECT_EQ(
      text(*of(folder)),
      "top/ top/.HIDDEN top/.hidden (2) top/A.TXT top/D.d/ top/a (2).txt top/a (3).txt top/b_c top/b_c (2) "
      "top/d.D (2)/ top/one/ top/one/x.tar.gz top/two/ top/two/x.tar.gz");
  const auto picked = run(archives.selection(alice, {y, x}));
  EXPECT_EQ(text(*picked), "x.tar.gz x.tar (2).gz");
  EXPECT_EQ(picked->version(), run(archives.selection(alice, {x, y}))->version());
}

TEST(ArchiveNames, ManyThatDifferInCaseOnlyAreNumberedOnce) {
  TakenNames taken;
  std::set<std::string> names;
  for (int i = 0; i < 40'000; ++i) {
    std::string name = "abcdefghijklmnop.txt";
    for (int bit = 0; bit < 16; ++bit)
      if (i >> bit & 1) name[static_cast<std::size_t>(bit)] = static_cast<char>('A' + bit);
    names.insert(free_name(name, Kind::file, taken));
  }
  EXPECT_EQ(names.size(), 40'000u);
  EXPECT_TRUE(names.contains("abcdefghijklmnop (2).txt") || names.contains("Abcdefghijklmnop (2).txt"));
}

TEST_F(Archiving, OnlyWhatMayBeReadIsIn) {
  const auto inside = room.folder(alice, folder, "inside");
  const auto file = room.put(alice, inside, "f", "1").node.id,
             other = room.put(alice, root, "other", "2").node.id;
  const auto refusal = [&](const Caller& who, NodeId id) {
    return refusal_of([&] { return archives.folder(who, id, "x"); });
  };
  EXPECT_EQ(refusal(bob, folder), "not_found");
  EXPECT_EQ(refusal(alice, file), "not_a_folder");
  EXPECT_EQ(refusal_of([&] { return archives.selection(bob, {folder, file}); }), "not_found");
  room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(inside.value) + ", " +
           std::to_string(bob.user.value) +
           ", 1); update nodes set flags = 1 where id = " + std::to_string(inside.value));
  EXPECT_EQ(refusal(bob, folder), "not_found");
  EXPECT_EQ(text(*run(archives.folder(bob, inside, "in"))), "in/ in/f");
  EXPECT_EQ(text(*run(archives.selection(bob, {other, file, folder, NodeId{999'999}}))), "f");
  Caller limited = alice;
  limited.root_limit = inside;
  EXPECT_EQ(text(*run(archives.selection(limited, {other, inside}))), "inside/ inside/f");
  Caller link;
  link.link_node = inside;
  link.link_rights = rights::kRead;
  EXPECT_EQ(text(*run(archives.selection(link, {root, file, other}))), "f");
  link.link_rights = rights::kCreate;
  EXPECT_EQ(refusal(link, inside), "not_found");
  run(room.files->trash(alice, folder));
  EXPECT_EQ(refusal(alice, folder), "not_found");
}

TEST_F(Archiving, TooManyEntriesAreRefusedAndMemoryIsSharedByAll) {
  const auto fill = [&](std::int64_t n) {
    room.sql(
        "insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name) "
        "select " +
        std::to_string(folder.value) + ", 0, 1, 0, 1, 1, 2, g::text from generate_series(1, " +
        std::to_string(n) + ") g on conflict do nothing");
  };
  Archives small(room.database.db(), *room.store, {1000, 3999});
  const auto refusal = [&] { return refusal_of([&] { return small.folder(alice, folder, "x"); }); };
  fill(999);
  std::vector<std::shared_ptr<const Archive>> held;
  for (int i = 0; i < 3; ++i) held.push_back(run(small.folder(alice, folder, "x")));
  EXPECT_EQ(held[0]->size(), 1000u);
  EXPECT_EQ(refusal(), "busy");
  held.pop_back();
  EXPECT_EQ(refusal(), "");
  fill(1000);
  EXPECT_EQ(refusal(), "too_many_entries");
  EXPECT_EQ(refusal(), "too_many_entries");  // and gives back what it had taken
  EXPECT_EQ(refusal(), "too_many_entries");
}

}  // namespace
}  // namespace welkin::files
