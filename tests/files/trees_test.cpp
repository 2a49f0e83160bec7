#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "files/room.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/batch.hpp"

namespace welkin::files {
namespace {

struct Trees : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice), bobs = room.root(bob);
  NodeId from = room.folder(alice, root, "from"), to = room.folder(alice, root, "to");

  static Files::Copy copy_to(NodeId parent, const std::string& name, bool replace = false) {
    Files::Copy c;
    c.parent = parent;
    c.name = name;
    c.replace = replace;
    return c;
  }
  static Files::Move move_to(NodeId parent, const std::string& name, bool replace = false) {
    Files::Move m;
    m.parent = parent;
    m.name = name;
    m.replace = replace;
    return m;
  }
  std::string copy_refusal(const Caller& who, NodeId what, const Files::Copy& c) {
    return refusal_of([&] { return room.files->copy(who, what, c); });
  }
  std::string move_refusal(const Caller& who, NodeId what, const Files::Move& m) {
    return refusal_of([&] { return room.files->move(who, what, m); });
  }
  NodeId at(const Caller& who, const std::vector<std::string>& path) {
    return run(room.files->by_path(who, path)).id;
  }
  void grant(NodeId node, const Caller& to_whom, std::int32_t rights) {
    room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(node.value) + ", " +
             std::to_string(to_whom.user.value) + ", " + std::to_string(rights) +
             "); update nodes set flags = flags | 1 where id = " + std::to_string(node.value));
  }
  void lock(NodeId node, int token, bool deep = true) {
    room.sql(
        "insert into locks (token, node_id, drive_id, expires_at, depth_infinity, exclusive, app) select '" +
        std::string("00000000-0000-0000-0000-00000000000") + std::to_string(token) +
        "', id, drive_id, now() + interval '1 hour', " + (deep ? "true" : "false") +
        ", true, 1 from nodes where id = " + std::to_string(node.value));
  }
  static db::Uuid token(int n) {
    db::Uuid t{};
    t[15] = static_cast<std::uint8_t>(n);
    return t;
  }
  void property(NodeId node) {
    room.sql("insert into node_properties values (" + std::to_string(node.value) +
             ", 'urn:x', 'colour', '<c/>'); update nodes set flags = flags | 4 where id = " +
             std::to_string(node.value) + "; select recount_drive(drive_id) from nodes where id = " +
             std::to_string(node.value));
  }
  void expect_sound() {
    EXPECT_EQ(room.wrong_folder_sums(), 0);
    EXPECT_EQ(room.miscounted_bytes(), 0);
    EXPECT_EQ(room.number("select count(*) from nodes n join nodes p on p.id = n.parent_id "
                          "where n.drive_id <> p.drive_id"),
              0);
    EXPECT_EQ(room.number("select count(*) from nodes n where (kind = 2) <> exists (select from folders f "
                          "where f.node_id = n.id)"),
              0);
  }
};

TEST_F(Trees, AFileKeepsItsEtagAndMakerWhereverItGoes) {
  const auto made = room.put(alice, from, "f", "one").node;
  EXPECT_EQ(made.creator, alice.user);
  const auto before_root = run(room.files->node(alice, root)).etag;
  const auto renamed = run(room.files->move(alice, made.id, move_to(from, "g"))).node;
  EXPECT_EQ(renamed.etag, made.etag);
  const auto moved = run(room.files->move(alice, made.id, move_to(to, "h"))).node;
  EXPECT_EQ(moved.etag, made.etag);
  EXPECT_EQ(moved.modified_at, made.modified_at);
  EXPECT_NE(run(room.files->node(alice, root)).etag, before_root);

  grant(to, bob, rights::kEditor);
  UploadOptions over;
  over.target.file = made.id;
  const auto written = room.put(bob, over, "two").node;
  EXPECT_EQ(written.creator, alice.user);
  EXPECT_EQ(written.author, bob.user);
  const auto seen = run(room.files->node(alice, made.id));
  EXPECT_EQ(seen.creator, alice.user);
  EXPECT_EQ(seen.author, bob.user);
  EXPECT_NE(seen.etag, made.etag);

  const auto across = run(room.files->move(bob, made.id, move_to(bobs, "mine"))).node;
  EXPECT_EQ(across.etag, seen.etag);
  EXPECT_EQ(across.id, made.id);
  EXPECT_EQ(across.creator, alice.user);
  expect_sound();
}

TEST_F(Trees, AFolderIsCopiedWithEverythingBelowAndItsBytesByReference) {
  const auto deep = room.folder(alice, room.folder(alice, from, "a"), "b");
  const auto file = room.put(alice, deep, "f", std::string(100'000, 'f')).node;
  room.put(alice, from, "g", "12345");
  room.put(alice, from, "g", "123456");  // its version is not copied
  property(file.id);
  property(from);
  lock(file.id, 1);
  grant(from, bob, rights::kRead);
  const auto contents = room.number("select count(*) from contents");

  const auto made = run(room.files->copy(alice, from, copy_to(to, "twin")));
  EXPECT_TRUE(made.created);
  EXPECT_EQ(made.node.name, "twin");
  EXPECT_EQ(made.node.size_bytes, 100'006u);
  EXPECT_EQ(*made.node.path, "/to/twin");
  const auto twin = run(room.files->node(alice, at(alice, {"to", "twin", "a", "b", "f"})));
  EXPECT_NE(twin.id, file.id);
  EXPECT_NE(twin.etag, file.etag);
  EXPECT_EQ(twin.modified_at, file.modified_at);
  EXPECT_EQ(twin.sha256, file.sha256);
  EXPECT_EQ(room.get(alice, twin.id), std::string(100'000, 'f'));
  EXPECT_EQ(room.number("select count(*) from contents"), contents);
  EXPECT_EQ(room.number("select count(*) from node_properties"), 4);
  EXPECT_EQ(room.number("select count(*) from locks"), 1);
  EXPECT_EQ(room.number("select count(*) from grants"), 1);
  EXPECT_EQ(room.number("select count(*) from versions"), 1);
  EXPECT_EQ(room.number("select count(*) from changes where op = 1 and node_id = " +
                        std::to_string(made.node.id.value)),
            1);
  EXPECT_EQ(run(room.files->node(alice, root)).size_bytes, 200'012u);
  // A copy's life is its own.
  run(room.files->move(alice, twin.id, move_to(to, "out")));
  EXPECT_EQ(room.get(alice, file.id), std::string(100'000, 'f'));
  expect_sound();
}

TEST_F(Trees, AFolderAloneIsCopiedWithItsPropertiesOnly) {
  room.put(alice, from, "f", "1");
  room.folder(alice, from, "below");
  property(from);
  auto alone = copy_to(to, "alone");
  alone.children = false;
  const auto made = run(room.files->copy(alice, from, alone)).node;
  EXPECT_TRUE(made.is_folder());
  EXPECT_EQ(made.size_bytes, 0u);
  EXPECT_TRUE(run(room.files->list(alice, made.id, {})).items.empty());
  EXPECT_EQ(room.number("select count(*) from node_properties"), 2);
  alone.parent = from;  // alone, it goes into itself
  EXPECT_EQ(copy_refusal(alice, from, alone), "");
  expect_sound();
}

TEST_F(Trees, NothingGoesIntoOrOntoItself) {
  const auto below = room.folder(alice, from, "below");
  const auto file = room.put(alice, below, "f", "1").node.id;
  EXPECT_EQ(copy_refusal(alice, from, copy_to(from, "x")), "into_itself");
  EXPECT_EQ(copy_refusal(alice, from, copy_to(below, "x")), "into_itself");
  EXPECT_EQ(copy_refusal(alice, root, copy_to(to, "x")), "into_itself");
  EXPECT_EQ(move_refusal(alice, from, move_to(below, "x", true)), "into_itself");
  // Onto what contains it: the source would go to the trash with the target.
  EXPECT_EQ(copy_refusal(alice, file, copy_to(root, "from", true)), "into_itself");
  EXPECT_EQ(move_refusal(alice, below, move_to(root, "from", true)), "into_itself");
  EXPECT_EQ(copy_refusal(alice, file, copy_to(below, "f", true)), "into_itself");
  EXPECT_EQ(copy_refusal(alice, file, copy_to(below, "f")), "exists");
  EXPECT_EQ(move_refusal(alice, file, move_to(below, "f", true)), "");  // nothing changes
  EXPECT_EQ(room.number("select count(*) from trash"), 0);
  EXPECT_EQ(room.get(alice, file), "1");
  expect_sound();
}

TEST_F(Trees, ATakenNameIsAConflictOrGoesToTheTrash) {
  const auto source = room.put(alice, from, "f", "new").node;
  const auto taken = room.put(alice, to, "f", "old").node;
  EXPECT_EQ(copy_refusal(alice, source.id, copy_to(to, "f")), "exists");
  EXPECT_EQ(move_refusal(alice, source.id, move_to(to, "f")), "exists");

  const auto copied = run(room.files->copy(alice, source.id, copy_to(to, "f", true)));
  EXPECT_FALSE(copied.created);
  EXPECT_EQ(room.get(alice, copied.node.id), "new");
  EXPECT_EQ(room.number("select count(*) from trash where from_name = 'f' and node_id = " +
                        std::to_string(taken.id.value)),
            1);
  const auto moved = run(room.files->move(alice, source.id, move_to(to, "f", true)));
  EXPECT_FALSE(moved.created);
  EXPECT_EQ(moved.node.id, source.id);
  EXPECT_EQ(room.number("select count(*) from trash"), 2);

  // A folder over a file and a file over a folder: one entry each, no merging.
  room.put(alice, from, "inside", "1");
  EXPECT_FALSE(run(room.files->move(alice, from, move_to(to, "f", true))).created);
  EXPECT_TRUE(run(room.files->node(alice, at(alice, {"to", "f"}))).is_folder());
  const auto last = room.put(alice, root, "last", "1").node.id;
  EXPECT_FALSE(run(room.files->copy(alice, last, copy_to(to, "f", true))).created);
  EXPECT_EQ(room.number("select count(*) from trash"), 4);
  EXPECT_EQ(run(room.files->list(alice, to, {})).items.size(), 1u);
  expect_sound();
}

TEST_F(Trees, LocksGuardTheNameAndEndWithAMove) {
  const auto source = room.put(alice, from, "f", "new").node;
  const auto taken = room.put(alice, to, "f", "old").node;
  lock(taken.id, 1);
  auto c = copy_to(to, "f", true);
  EXPECT_EQ(copy_refusal(alice, source.id, c), "lock_token_submitted");
  c.lock_tokens = {token(1)};
  const auto copied = run(room.files->copy(alice, source.id, c)).node;
  // The lock stays on the name: on what took it.
  EXPECT_EQ(room.number("select node_id from locks"), copied.id.value);
  EXPECT_EQ(move_refusal(alice, source.id, move_to(to, "f", true)), "lock_token_submitted");
  auto m = move_to(to, "f", true);
  m.lock_tokens = {token(1)};
  EXPECT_EQ(move_refusal(alice, source.id, m), "");
  EXPECT_EQ(room.number("select count(*) from locks"), 0);

  lock(to, 2, false);  // its members are locked, not what is in them
  EXPECT_EQ(copy_refusal(alice, source.id, copy_to(to, "free")), "lock_token_submitted");
  c = copy_to(from, "free");  // a lock on the source hinders no copy
  EXPECT_EQ(copy_refusal(alice, to, c), "");
  const auto below = room.put(alice, from, "below", "1").node.id;
  lock(below, 3);
  EXPECT_EQ(move_refusal(alice, from, move_to(root, "renamed")), "lock_token_submitted");
  m = move_to(root, "renamed");
  m.lock_tokens = {token(3)};
  EXPECT_EQ(move_refusal(alice, from, m), "");
  EXPECT_EQ(room.number("select count(*) from locks"), 1);  // of `to`
  expect_sound();
}

TEST_F(Trees, PreconditionsSpeakOfTheSource) {
  const auto file = room.put(alice, from, "f", "1").node;
  auto c = copy_to(to, "f");
  c.expect = {Expect::Kind::etag_is, {"00"}};
  EXPECT_EQ(copy_refusal(alice, file.id, c), "precondition_failed");
  c.expect = {Expect::Kind::etag_is, {file.etag}};
  EXPECT_EQ(copy_refusal(alice, file.id, c), "");
  c.name = "g";
  c.expect = {Expect::Kind::must_be_new, {}};
  EXPECT_EQ(copy_refusal(alice, file.id, c), "precondition_failed");
}

TEST_F(Trees, RightsAreAskedAtBothEnds) {
  const auto file = room.put(alice, from, "f", "secret").node.id;
  EXPECT_EQ(copy_refusal(bob, file, copy_to(bobs, "x")), "not_found");
  EXPECT_EQ(copy_refusal(bob, from, copy_to(bobs, "x")), "not_found");
  EXPECT_EQ(copy_refusal(bob, NodeId{1'000'000}, copy_to(bobs, "x")), "not_found");
  const auto own = room.put(bob, bobs, "own", "1").node.id;
  EXPECT_EQ(copy_refusal(bob, own, copy_to(to, "x")), "not_found");
  EXPECT_EQ(move_refusal(bob, own, move_to(to, "x")), "not_found");

  grant(from, bob, rights::kRead);
  EXPECT_EQ(copy_refusal(bob, from, copy_to(bobs, "read")), "");
  EXPECT_EQ(room.get(bob, at(bob, {"read", "f"})), "secret");
  EXPECT_EQ(copy_refusal(bob, own, copy_to(from, "x")), "forbidden");
  EXPECT_EQ(move_refusal(bob, from, move_to(bobs, "x")), "forbidden");
  grant(to, bob, rights::kContributor);
  EXPECT_EQ(copy_refusal(bob, own, copy_to(to, "x")), "");
  EXPECT_EQ(copy_refusal(bob, own, copy_to(to, "x", true)), "forbidden");  // may add, not replace
  room.sql("update grants set rights = " + std::to_string(rights::kEditor));
  EXPECT_EQ(copy_refusal(bob, own, copy_to(to, "x", true)), "");
  Caller reader = bob;
  reader.rights_mask = rights::kRead;
  EXPECT_EQ(copy_refusal(reader, from, copy_to(bobs, "y")), "forbidden");
  Caller limited = alice;
  limited.root_limit = from;
  EXPECT_EQ(copy_refusal(limited, file, copy_to(to, "y")), "not_found");
  EXPECT_EQ(copy_refusal(limited, to, copy_to(from, "y")), "not_found");
  EXPECT_EQ(copy_refusal(limited, file, copy_to(from, "y")), "");
  Caller link;
  link.credential = Credential::link;
  link.link_node = from;
  link.link_rights = rights::kEditor;
  EXPECT_EQ(copy_refusal(link, file, copy_to(from, "z")), "");
  EXPECT_EQ(copy_refusal(link, file, copy_to(root, "z")), "not_found");
  room.sql("update grants set expires_at = now() - interval '1 second'");
  EXPECT_EQ(copy_refusal(bob, from, copy_to(bobs, "late")), "not_found");
  expect_sound();
}

TEST_F(Trees, TheTrashIsNoSource) {
  const auto file = room.put(alice, from, "f", "1").node.id;
  run(room.files->trash(alice, from));
  EXPECT_EQ(copy_refusal(alice, from, copy_to(to, "x")), "not_found");
  EXPECT_EQ(copy_refusal(alice, file, copy_to(to, "x")), "not_found");
  EXPECT_EQ(copy_refusal(alice, to, copy_to(from, "x")), "not_found");
}

TEST_F(Trees, CopiesObeyTheQuotaAndTheDepth) {
  const auto poor = room.user("poor", 250);
  const auto home = room.root(poor), a = room.folder(poor, home, "a");
  room.put(poor, a, "f", std::string(100, 'x'));
  EXPECT_EQ(copy_refusal(poor, a, copy_to(home, "b")), "");
  EXPECT_EQ(copy_refusal(poor, a, copy_to(home, "c")), "quota_not_exceeded");
  EXPECT_EQ(room.number("select count(*) from nodes where name = 'c'"), 0);
  auto top = room.folder(alice, root, "top"), bottom = top;
  for (int i = 1; i < 70; ++i) bottom = room.folder(alice, bottom, "d");
  EXPECT_EQ(copy_refusal(alice, top, copy_to(to, "x")), "");
  auto deepest = at(alice, {"to", "x"});
  for (int i = 1; i < 70; ++i) deepest = run(room.files->child(alice, deepest, "d"))->id;
  EXPECT_EQ(copy_refusal(alice, top, copy_to(deepest, "x")), "too_deep");
  EXPECT_EQ(copy_refusal(alice, room.put(alice, to, "f", "1").node.id, copy_to(deepest, "f")), "");
  expect_sound();
}

TEST_F(Trees, AMoveBetweenDrivesTakesBytesVersionsAndRightsAlong) {
  const auto shared = room.folder(bob, bobs, "shared");
  grant(shared, alice, rights::kEditor);
  const auto below = room.folder(alice, from, "below");
  const auto file = room.put(alice, below, "f", "12345").node;
  room.put(alice, below, "f", "1234567");
  const auto carol = room.user("carol");
  grant(file.id, carol, rights::kRead);
  EXPECT_EQ(room.get(carol, file.id), "1234567");
  lock(file.id, 1);
  auto m = move_to(shared, "gone");
  EXPECT_EQ(move_refusal(alice, from, m), "lock_token_submitted");
  m.lock_tokens = {token(1)};
  const auto folder_before = run(room.files->node(alice, below)).etag;
  const auto moved = run(room.files->move(alice, from, m)).node;
  EXPECT_EQ(moved.id, from);
  EXPECT_EQ(moved.drive, run(room.files->node(bob, bobs)).drive);
  EXPECT_EQ(room.get(bob, file.id), "1234567");
  EXPECT_NE(run(room.files->node(bob, below)).etag, folder_before);
  EXPECT_EQ(refusal_of([&] { return room.files->node(carol, file.id); }), "not_found");
  EXPECT_EQ(room.number("select used_bytes from drives where owner_id = " + std::to_string(bob.user.value)),
            12);
  EXPECT_EQ(room.number("select used_bytes from drives where owner_id = " + std::to_string(alice.user.value)),
            0);
  EXPECT_EQ(room.number("select count(*) from locks"), 0);
  const auto id = std::to_string(from.value);
  EXPECT_EQ(room.number("select count(*) from changes where op = 3 and drive_id = 1 and node_id = " + id), 1);
  EXPECT_EQ(room.number("select count(*) from changes where op = 1 and drive_id = 2 and node_id = " + id), 1);
  // And home again, over something.
  room.put(alice, root, "from", "in the way");
  EXPECT_FALSE(run(room.files->move(alice, from, move_to(root, "from", true))).created);
  expect_sound();
}

TEST_F(Trees, AMoveBetweenDrivesObeysTheQuotaThere) {
  const auto poor = room.user("poor", 10);
  const auto home = room.root(poor);
  grant(home, alice, rights::kEditor);
  const auto file = room.put(alice, from, "f", "12345").node.id;
  room.put(alice, from, "f", "123456");  // 11 bytes with its version
  EXPECT_EQ(move_refusal(alice, file, move_to(home, "f")), "quota_not_exceeded");
  EXPECT_EQ(room.get(alice, file), "123456");
  expect_sound();
}

// The limit is a parameter of the statements, so that it is shown on a small tree.
TEST_F(Trees, ATreeBeyondTheLimitIsRefusedWhole) {
  for (const char* name : {"a", "b", "c"}) room.put(alice, from, name, "1");
  const auto shared = room.folder(bob, bobs, "shared");
  grant(shared, alice, rights::kEditor);
  const auto call = [&](const std::string& head, int most) -> std::string {
    const auto user = std::to_string(alice.user.value);
    try {
      room.sql("do $$ begin perform " + head + ", false, " + user + ", array[" + user +
               "]::bigint[], 127, 0, 0, 0, 0::smallint, '{}', '{}', 128, " + std::to_string(most) +
               "); end $$");
    } catch (const db::SqlError& e) {
      return e.message();
    }
    return "";
  };
  const auto ids = std::to_string(from.value) + ", " + std::to_string(shared.value);
  const std::string copy = "copy_node(" + ids + ", 'x', true", move = "move_node(" + ids + ", 'y'";
  EXPECT_EQ(call(copy, 3), "too_many_nodes");
  EXPECT_EQ(call(move, 3), "too_many_nodes");
  EXPECT_TRUE(run(room.files->list(bob, shared, {})).items.empty());
  EXPECT_EQ(call(copy, 4), "");
  EXPECT_EQ(call(move, 4), "");
  EXPECT_EQ(run(room.files->list(bob, shared, {})).items.size(), 2u);
  // The operator says how many.
  Config config;
  config.tree_nodes_max = 1;
  Files files(room.database.db(), *room.store, config, room.clock);
  const auto tree = room.folder(alice, root, "tree");
  room.put(alice, tree, "a", "1");
  Files::Copy twice;
  twice.parent = root;
  twice.name = "twice";
  EXPECT_EQ(refusal_of([&] { return files.copy(alice, tree, twice); }), "too_many_nodes");
  Batch batch;
  batch.op = Batch::Op::copy;
  batch.items = {tree};
  batch.target = shared;
  EXPECT_STREQ(run(files.batches().run(alice, batch)).at(0).error->slug(), "too_many_nodes");
  expect_sound();
}

TEST_F(Trees, AQuotaStormOfCopiesStopsExactly) {
  const auto poor = room.user("poor", 1000);
  const auto home = room.root(poor);
  const auto file = room.put(poor, home, "f", std::string(100, 'x')).node.id;
  std::atomic<int> done{0}, refused{0}, other{0};
  std::vector<std::thread> threads;
  threads.reserve(6);
  for (int w = 0; w < 6; ++w)
    threads.emplace_back([&, w] {
      for (int i = 0; i < 5; ++i) {
        const auto slug =
            copy_refusal(poor, file, copy_to(home, std::to_string(w) + "-" + std::to_string(i)));
        ++(slug.empty() ? done : slug == "quota_not_exceeded" ? refused : other);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(done, 9);
  EXPECT_EQ(refused, 21);
  EXPECT_EQ(other, 0);
  expect_sound();
}

TEST_F(Trees, MovesAcrossAndBackByManyLeaveOneSoundTree) {
  const auto there = room.folder(bob, bobs, "there");
  grant(there, alice, rights::kEditor);
  grant(root, bob, rights::kEditor);
  std::vector<NodeId> folders;
  for (int i = 0; i < 4; ++i) {
    folders.push_back(room.folder(alice, from, "d" + std::to_string(i)));
    room.put(alice, folders.back(), "f", std::string(static_cast<std::size_t>(100 + i), 'x'));
  }
  std::atomic<int> internal{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int w = 0; w < 4; ++w)
    threads.emplace_back([&, w] {
      std::uint32_t seed = static_cast<std::uint32_t>(w) * 7919 + 1;
      const auto next = [&seed](std::uint32_t n) {
        return (seed = seed * 1664525u + 1013904223u) / 65536u % n;
      };
      for (int i = 0; i < 25; ++i) {
        const auto what = folders[next(4)];
        const NodeId places[] = {from, to, there, folders[next(4)]};
        try {
          const auto where = places[next(4)];
          const auto name = "d" + std::to_string(next(4));
          if (next(4) == 0)
            run(room.files->copy(alice, what, copy_to(where, name, true)));
          else
            run(room.files->move(w % 2 ? alice : bob, what, move_to(where, name, next(2) == 0)));
        } catch (const Error& e) {
          if (e.code() == Errc::internal || e.code() == Errc::unavailable) {
            ++internal;
            ADD_FAILURE() << e.slug() << ": " << e.what();
          }
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(internal, 0);
  // Every node still hangs on a root or a trash.
  EXPECT_EQ(
      room.number("with recursive r as (select root_id id from drives union select trash_id from drives "
                  "union all select n.id from r join nodes n on n.parent_id = r.id) "
                  "select (select count(*) from nodes) - count(*) from r"),
      0);
  expect_sound();
}

}  // namespace
}  // namespace welkin::files
