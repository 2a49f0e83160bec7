#include "welkin/files/trash.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "files/room.hpp"

namespace welkin::files {
namespace {

struct TrashBin : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice);
  Trash& bin = room.files->trash_bin();

  NodeId file(NodeId parent, const std::string& name, const std::string& body = "12345") {
    return room.put(alice, parent, name, body).node.id;
  }
  void trash(const Caller& who, NodeId id) { run(room.files->trash(who, id)); }
  std::vector<std::string> names(const Caller& who) {
    std::vector<std::string> out;
    for (const auto& item : run(bin.list(who, {}, "", 100)).items) out.push_back(item.name);
    return out;
  }
  std::string restore_refusal(const Caller& who, NodeId id) {
    return refusal_of([&] { return bin.restore(who, id); });
  }
  std::string purge_refusal(const Caller& who, NodeId id) {
    return refusal_of([&] { return bin.purge(who, id); });
  }
  void grant(NodeId node, const Caller& to_whom, std::int32_t rights) {
    room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(node.value) + ", " +
             std::to_string(to_whom.user.value) + ", " + std::to_string(rights) +
             "); update nodes set flags = flags | 1 where id = " + std::to_string(node.value));
  }
  void member(const Caller& who, std::int32_t rights) {
    room.sql("insert into drive_members (drive_id, user_id, rights) values (1, " +
             std::to_string(who.user.value) + ", " + std::to_string(rights) + ")");
  }
  std::int64_t used() { return room.number("select used_bytes from drives where id = 1"); }
  void expect_sound() {
    EXPECT_EQ(room.wrong_folder_sums(), 0);
    EXPECT_EQ(room.miscounted_bytes(), 0);
  }
};

TEST_F(TrashBin, ListsNewestFirstInPages) {
  const auto a = room.folder(alice, root, "a");
  for (int i = 0; i < 7; ++i) trash(alice, file(a, "f" + std::to_string(i)));
  trash(alice, a);
  std::vector<std::string> seen;
  std::string after;
  do {
    const auto page = run(bin.list(alice, {}, after, 3));
    for (const auto& item : page.items) seen.push_back(item.name);
    after = page.next;
  } while (!after.empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "f6", "f5", "f4", "f3", "f2", "f1", "f0"}));
  EXPECT_EQ(run(bin.list(alice, {}, "not ours", 3)).items.size(), 3u);
  EXPECT_TRUE(names(bob).empty());
  const auto top = run(bin.item(alice, a));
  EXPECT_EQ(top.kind, Kind::folder);
  EXPECT_EQ(top.original_path, "/a");
  EXPECT_EQ(top.trashed_by, alice.user);
  EXPECT_GT(bin.expiry(top), top.trashed_at);
}

TEST_F(TrashBin, RestoresToItsPlaceUnderItsName) {
  const auto a = room.folder(alice, root, "a"), b = room.folder(alice, a, "b");
  const auto f = file(b, "f.txt");
  const auto before = run(room.files->node(alice, f));
  trash(alice, b);
  const auto item = run(bin.item(alice, b));
  EXPECT_EQ(item.name, "b");
  EXPECT_EQ(item.size_bytes, 5u);
  EXPECT_EQ(item.original_path, "/a/b");
  const auto back = run(bin.restore(alice, b));
  EXPECT_EQ(back.id, b);
  EXPECT_EQ(*back.path, "/a/b");
  EXPECT_EQ(run(room.files->node(alice, f)).etag, before.etag);
  EXPECT_EQ(room.get(alice, f), "12345");
  EXPECT_EQ(restore_refusal(alice, b), "not_found");
  EXPECT_EQ(restore_refusal(alice, f), "not_found");  // never was in it by itself
  EXPECT_EQ(room.number("select count(*) from changes where op = 1 and node_id = " + std::to_string(b.value)),
            1);
  expect_sound();
}

TEST_F(TrashBin, RestoresUnderALikeNameOrAtTheRoot) {
  const auto a = room.folder(alice, root, "a");
  const auto one = file(a, "f.tar.gz"), folder = room.folder(alice, a, "v1.2");
  trash(alice, one);
  trash(alice, folder);
  const auto two = file(a, "f.tar.gz");
  trash(alice, two);
  file(a, "f.tar.gz");
  room.folder(alice, a, "v1.2");
  EXPECT_EQ(run(bin.restore(alice, one)).name, "f.tar (2).gz");
  EXPECT_EQ(run(bin.restore(alice, two)).name, "f.tar (3).gz");
  EXPECT_EQ(run(bin.restore(alice, folder)).name, "v1.2 (2)");

  const auto orphan = file(a, "orphan");
  const std::string long_name = std::string(250, 'n') + ".txt";
  const auto big = file(root, long_name);
  trash(alice, orphan);
  trash(alice, a);
  EXPECT_EQ(*run(bin.restore(alice, orphan)).path, "/orphan");
  trash(alice, big);
  file(root, long_name);
  const auto shortened = run(bin.restore(alice, big)).name;
  EXPECT_EQ(shortened, std::string(247, 'n') + " (2).txt");
  // The folder it came from is purged: the root again.
  const auto b = room.folder(alice, root, "b"), late = file(b, "late");
  trash(alice, late);
  trash(alice, b);
  run(bin.purge(alice, b));
  EXPECT_EQ(*run(bin.restore(alice, late)).path, "/late");
  expect_sound();
}

TEST_F(TrashBin, PurgingGivesBytesBackAndQueuesContents) {
  const auto a = room.folder(alice, root, "a"), b = room.folder(alice, a, "b");
  const auto f = file(b, "f", std::string(1000, 'x'));
  file(b, "f", std::string(500, 'y'));
  file(a, "g");
  EXPECT_EQ(used(), 1505);
  trash(alice, a);
  EXPECT_EQ(used(), 1505);
  run(bin.purge(alice, a));
  EXPECT_EQ(used(), 0);
  EXPECT_EQ(room.number("select count(*) from content_gc"), 3);
  EXPECT_EQ(room.number("select count(*) from nodes where id in (" + std::to_string(a.value) + ", " +
                        std::to_string(f.value) + ")"),
            0);
  EXPECT_EQ(purge_refusal(alice, a), "not_found");
  // What another still names stays: a copy shares its content.
  const auto original = file(root, "original", "shared");
  Files::Copy copy;
  copy.parent = root;
  copy.name = "twin";
  const auto twin = run(room.files->copy(alice, original, copy)).node.id;
  run(bin.destroy(alice, original));
  room.sql("update content_gc set since = now() - interval '10 days'");
  while (room.store->collect() > 0) {
  }
  EXPECT_EQ(room.get(alice, twin), "shared");
  expect_sound();
}

TEST_F(TrashBin, LargeItemsGoInBoundedSteps) {
  const auto a = room.folder(alice, root, "a");
  file(a, "seed");
  const auto id = std::to_string(a.value);
  // 30 folders of 20 files of 5 bytes.
  room.sql(
      "do $$ declare f bigint; begin for i in 1..30 loop "
      "insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name) values "
      "(" +
      id +
      ", 1, 1, 1, 1, 1, 2, 'd' || i) returning id into f; insert into folders values (f, 1, 1, 100); "
      "insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, "
      "kind, "
      "name) select f, c.id, 5, 1, 1, 1, 1, 1, 1, 'f' || n from generate_series(1, 20) n, "
      "(select id from contents limit 1) c; end loop; "
      "update folders set bytes_below = bytes_below + 3000 where node_id in (" +
      id + ", " + std::to_string(root.value) +
      "); update drives set used_bytes = used_bytes + 3000 where id = 1; end $$");
  expect_sound();
  trash(alice, a);
  room.sql("update trash set purging = true");
  int steps = 0;
  const db::Stmt batch{"test.purge", "select purge_batch($1, 50)"};
  while (!room.database.db().write_now([&](db::Tx& tx) { return tx.one(batch, a)[0].boolean(0); })) {
    ++steps;
    EXPECT_LT(steps, 100);
    EXPECT_EQ(room.wrong_folder_sums(), 0);
  }
  EXPECT_GT(steps, 10);
  EXPECT_EQ(room.number("select count(*) from nodes"), 4);  // the roots and trashes of two drives
  expect_sound();
}

TEST_F(TrashBin, EmptiesTheOwnDriveOnly) {
  member(bob, rights::kEditor);
  for (const char* name : {"a", "b"}) trash(alice, file(root, name));
  const auto bobs = room.put(bob, room.root(bob), "own", "1").node.id;
  trash(bob, bobs);
  EXPECT_EQ(run(bin.empty(bob)), 1);
  EXPECT_EQ(names(bob), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(run(bin.empty(bob, DriveId{1})), 2);
  EXPECT_TRUE(names(alice).empty());
  EXPECT_EQ(run(bin.empty(alice)), 0);
  EXPECT_EQ(room.number("select count(*) from trash"), 0);
  EXPECT_EQ(refusal_of([&] { return bin.empty(alice, DriveId{2}); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return bin.empty(Caller{}); }), "not_found");
  expect_sound();
}

TEST_F(TrashBin, OthersSeeWhatTheyDeletedThemselvesAndDestroyNothing) {
  const auto shared = room.folder(alice, root, "shared");
  grant(shared, bob, rights::kEditor);
  const auto by_alice = file(shared, "by alice"), by_bob = file(shared, "by bob");
  trash(alice, by_alice);
  trash(bob, by_bob);
  EXPECT_EQ(names(bob), std::vector<std::string>{"by bob"});
  EXPECT_EQ(run(bin.item(bob, by_bob)).original_path, "");
  EXPECT_EQ(restore_refusal(bob, by_alice), "not_found");
  EXPECT_EQ(purge_refusal(bob, by_alice), "not_found");
  EXPECT_EQ(purge_refusal(bob, by_bob), "forbidden");
  EXPECT_EQ(refusal_of([&] { return bin.destroy(bob, file(shared, "x")); }), "forbidden");
  EXPECT_EQ(names(bob), std::vector<std::string>{"by bob"});  // and destroying was rolled back as a whole
  // Less rights now, less trash: what is granted ends with the grant.
  room.sql("update grants set rights = 1");
  EXPECT_TRUE(names(bob).empty());
  EXPECT_EQ(restore_refusal(bob, by_bob), "not_found");
  room.sql("update grants set rights = " + std::to_string(rights::kEditor));
  EXPECT_EQ(restore_refusal(bob, by_bob), "");
  trash(bob, by_bob);
  trash(alice, shared);
  EXPECT_TRUE(names(bob).empty());
  // A grant on the item itself shows nothing, once it is in the trash.
  const auto direct = file(root, "direct");
  grant(direct, bob, rights::kOwner);
  EXPECT_EQ(refusal_of([&] { return bin.destroy(bob, direct); }), "forbidden");
  EXPECT_EQ(room.get(bob, direct), "12345");
  trash(alice, direct);
  EXPECT_TRUE(names(bob).empty());
  EXPECT_EQ(restore_refusal(bob, direct), "not_found");
}

TEST_F(TrashBin, MembersAndCredentialsCount) {
  const auto folder = room.folder(alice, root, "folder");
  const auto inside = file(folder, "inside"), outside = file(root, "outside");
  trash(alice, inside);
  trash(alice, outside);
  member(bob, rights::kContributor);
  EXPECT_TRUE(names(bob).empty());
  EXPECT_EQ(purge_refusal(bob, outside), "not_found");
  room.sql("update drive_members set rights = " + std::to_string(rights::kEditor) +
           " where user_id = " + std::to_string(bob.user.value) + " and drive_id = 1");
  EXPECT_EQ(names(bob), (std::vector<std::string>{"outside", "inside"}));
  Caller reader = alice;
  reader.rights_mask = rights::kRead;
  EXPECT_TRUE(names(reader).empty());
  EXPECT_EQ(restore_refusal(reader, outside), "not_found");
  Caller limited = alice;
  limited.root_limit = folder;
  EXPECT_EQ(names(limited), std::vector<std::string>{"inside"});
  EXPECT_EQ(restore_refusal(limited, outside), "not_found");
  EXPECT_EQ(refusal_of([&] { return bin.empty(limited); }), "not_found");
  EXPECT_EQ(restore_refusal(limited, inside), "");
  Caller link;
  link.credential = Credential::link;
  link.link_node = folder;
  link.link_rights = rights::kEditor;
  trash(link, inside);
  EXPECT_TRUE(names(link).empty());
  EXPECT_EQ(restore_refusal(link, inside), "not_found");
  EXPECT_EQ(names(alice), (std::vector<std::string>{"inside", "outside"}));
}

TEST_F(TrashBin, LocksGuardThePlaceOfARestore) {
  const auto a = room.folder(alice, root, "a"), f = file(a, "f");
  trash(alice, f);
  room.sql(
      "insert into locks (token, node_id, drive_id, expires_at, depth_infinity, exclusive, app) values "
      "('00000000-0000-0000-0000-000000000001', " +
      std::to_string(a.value) + ", 1, now() + interval '1 hour', true, true, 1)");
  EXPECT_EQ(restore_refusal(alice, f), "lock_token_submitted");
  db::Uuid token{};
  token[15] = 1;
  EXPECT_EQ(run(bin.restore(alice, f, {token})).parent, a);
}

TEST_F(TrashBin, AgeEndsItems) {
  trash(alice, file(root, "old"));
  trash(alice, file(root, "young"));
  room.sql("update trash set deleted_at = now() - interval '31 days' where from_name = 'old'");
  while (bin.purge_turn()) {
  }
  EXPECT_EQ(names(alice), std::vector<std::string>{"young"});
  EXPECT_EQ(used(), 5);
  expect_sound();
}

TEST_F(TrashBin, RestoreAndPurgeAtOnceHaveOneWinner) {
  for (int round = 0; round < 10; ++round) {
    const auto f = file(root, "f" + std::to_string(round));
    trash(alice, f);
    std::atomic<int> restored{0}, purged{0};
    std::thread one([&] { restored = restore_refusal(alice, f).empty(); });
    std::thread two([&] { purged = purge_refusal(alice, f).empty(); });
    one.join();
    two.join();
    EXPECT_EQ(restored + purged, 1);
    EXPECT_EQ(refusal_of([&] { return room.files->node(alice, f); }), restored ? "" : "not_found");
  }
  expect_sound();
}

TEST_F(TrashBin, AnEndingDriveHandsItsUploadsOver) {
  room.sql(
      "insert into chunks (id, sha256, size, crc32, stored_size) values (64, sha256('x'), 1, 1, 1); "
      "insert into uploads (user_id, drive_id, parent_id, expires_at, name) values (" +
      std::to_string(bob.user.value) +
      ", 2, 1, now() + interval '1 day', 'u'); "
      "insert into upload_chunks select id, 0, 0, 64 from uploads");
  const db::Stmt drop{"test.drop_drive", "select drop_drive_batch(2, 100)"};
  while (!room.database.db().write_now([&](db::Tx& tx) { return tx.one(drop)[0].boolean(0); })) {
  }
  EXPECT_EQ(room.number("select count(*) from uploads"), 0);
  EXPECT_EQ(room.number("select count(*) from chunk_gc where chunk_id = 64"), 1);
  EXPECT_EQ(room.number("select count(*) from drives"), 1);
}

}  // namespace
}  // namespace welkin::files
