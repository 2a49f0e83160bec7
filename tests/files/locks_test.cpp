#include "welkin/files/locks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "files/room.hpp"

namespace welkin::files {
namespace {

/// root/a/b/f and root/a/c, and a second user without any right.
struct LocksTest : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice), a = room.folder(alice, root, "a"), b = room.folder(alice, a, "b"),
         c = room.folder(alice, a, "c");
  NodeId f = room.put(alice, b, "f", "1").node.id;
  Locks& locks = room.files->locks();

  LockResult take(const Caller& who, NodeId node, bool infinite = false, bool exclusive = true,
                  std::uint32_t seconds = 3600) {
    return run(locks.lock(who, node, {exclusive, infinite, seconds, "<x/>"}));
  }
  db::Uuid token_of(NodeId node, bool infinite = false, bool exclusive = true) {
    const auto taken = take(alice, node, infinite, exclusive);
    EXPECT_TRUE(taken.lock);
    return taken.lock ? taken.lock->token : db::Uuid{};
  }
  std::string overwrite(const Caller& who, NodeId parent, const std::string& name,
                        std::vector<db::Uuid> tokens = {}) {
    return refusal_of([&]() -> Task<> {
      UploadOptions options;
      options.target = {parent, name, {}};
      options.lock_tokens = tokens;
      const auto upload = co_await room.files->begin_upload(who, options);
      co_await upload->write(as_bytes("new"));
      co_await upload->finish();
    });
  }
  std::string mkdir(NodeId parent, const std::string& name, std::vector<db::Uuid> tokens = {}) {
    return refusal_of([&] { return room.files->create_folder(alice, parent, name, tokens); });
  }
  std::string trash(NodeId node, std::vector<db::Uuid> tokens = {}) {
    return refusal_of([&] { return room.files->trash(alice, node, {}, tokens); });
  }
  std::string move(NodeId node, NodeId to, const std::string& name, std::vector<db::Uuid> tokens = {}) {
    return refusal_of([&] {
      Files::Move how;
      how.parent = to;
      how.name = name;
      how.lock_tokens = tokens;
      return room.files->move(alice, node, how);
    });
  }
  void share(NodeId node, const Caller& with, std::int32_t rights) {
    room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(node.value) + ", " +
             std::to_string(with.user.value) + ", " + std::to_string(rights) +
             "); update nodes set flags = flags | 1 where id = " + std::to_string(node.value));
  }
  static constexpr const char* kLocked = "lock_token_submitted";
};

TEST_F(LocksTest, TellWhatTheyAre) {
  const auto taken = take(alice, b, true, true, 100);
  ASSERT_TRUE(taken.lock);
  EXPECT_TRUE(taken.conflicts.empty());
  const auto& lock = *taken.lock;
  EXPECT_EQ(lock.root, b);
  EXPECT_EQ(lock.owner, alice.user);
  EXPECT_EQ(lock.owner_name, "alice");
  EXPECT_TRUE(lock.mine && lock.exclusive && lock.infinite);
  EXPECT_EQ(lock.owner_xml, "<x/>");
  EXPECT_EQ(lock.seconds, 100u);
  EXPECT_GT(lock.expires_at, room.clock.now() + 60'000'000);
  EXPECT_LE(lock.expires_at, room.clock.now() + 130'000'000);

  const auto below = run(locks.covering(alice, f));
  ASSERT_EQ(below.size(), 1u);
  EXPECT_EQ(below[0].token, lock.token);
  EXPECT_EQ(below[0].levels_up, 1u);
  EXPECT_TRUE(run(locks.covering(alice, a)).empty());
  EXPECT_TRUE(run(locks.covering(bob, f)).empty()) << "not readable";
  share(b, bob, rights::kViewer);
  const auto seen = run(locks.covering(bob, f));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_FALSE(seen[0].mine);
  EXPECT_EQ(seen[0].levels_up, 1u);

  const auto on = run(locks.on(alice, {a, b, f}));
  ASSERT_EQ(on.size(), 1u) << "only where they sit";
  EXPECT_EQ(on[0].root, b);
}

TEST_F(LocksTest, AboveWhatTheCallerMaySeeAreToldAsHere) {
  token_of(a, true);
  share(b, bob, rights::kEditor);
  const auto seen = run(locks.covering(bob, f));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].levels_up, 0u);
  EXPECT_EQ(overwrite(bob, b, "f"), kLocked);
}

TEST_F(LocksTest, ExcludeEachOtherUpAndDown) {
  token_of(b, true);
  const auto same = take(alice, b);
  ASSERT_EQ(same.conflicts.size(), 1u) << "also for the lock's own user";
  EXPECT_EQ(same.conflicts[0].levels_up, 0u);
  const auto under = take(alice, f, false, false);
  ASSERT_EQ(under.conflicts.size(), 1u);
  EXPECT_EQ(under.conflicts[0].root, b);
  EXPECT_EQ(under.conflicts[0].levels_up, 1u);
  const auto over = take(alice, root, true, false);
  ASSERT_EQ(over.conflicts.size(), 1u);
  EXPECT_EQ(over.conflicts[0].names_below, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(over.lock);
  EXPECT_TRUE(take(alice, a).lock) << "depth 0 above covers nothing below";
  EXPECT_TRUE(take(alice, c, true).lock);
  EXPECT_EQ(room.number("select count(*) from locks"), 3);
}

TEST_F(LocksTest, SharedOnesStandTogether) {
  const auto first = token_of(f, false, false), second = token_of(f, false, false);
  EXPECT_NE(first, second);
  EXPECT_EQ(take(alice, f).conflicts.size(), 2u);
  EXPECT_EQ(overwrite(alice, b, "f"), kLocked);
  EXPECT_EQ(overwrite(alice, b, "f", {second}), "") << "one of them is enough";
  token_of(a, true, false);
  EXPECT_EQ(overwrite(alice, b, "f", {first}), "") << "from wherever they cover it";
  EXPECT_EQ(run(locks.covering(alice, f)).size(), 3u);
  EXPECT_EQ(trash(a, {first}), kLocked);
}

TEST_F(LocksTest, DepthZeroGuardsMembershipNotContent) {
  const auto token = token_of(b);
  EXPECT_EQ(overwrite(alice, b, "f"), "");
  EXPECT_EQ(overwrite(alice, b, "new"), kLocked);
  EXPECT_EQ(mkdir(b, "new"), kLocked);
  EXPECT_EQ(trash(f), kLocked);
  EXPECT_EQ(move(f, b, "g"), kLocked);
  EXPECT_EQ(move(f, c, "f"), kLocked);
  EXPECT_EQ(move(c, b, "c"), kLocked);
  EXPECT_EQ(overwrite(alice, b, "new", {token}), "");
  EXPECT_EQ(mkdir(b, "newer", {token}), "");
  EXPECT_EQ(move(c, b, "c", {token}), "");
  EXPECT_EQ(trash(f, {token}), "");
  EXPECT_EQ(overwrite(alice, c, "deep"), "") << "a member of a member is not its member";
}

TEST_F(LocksTest, InfiniteOnesGuardWhatComesLater) {
  const auto token = token_of(a, true);
  EXPECT_EQ(mkdir(c, "later"), kLocked);
  EXPECT_EQ(mkdir(c, "later", {token}), "");
  EXPECT_EQ(overwrite(alice, c, "later.txt"), kLocked);
  EXPECT_EQ(overwrite(alice, b, "f"), kLocked);
  EXPECT_EQ(overwrite(alice, b, "f", {token}), "");
  EXPECT_EQ(overwrite(alice, root, "beside"), "");
}

TEST_F(LocksTest, TokensCountForTheirMakerOnly) {
  share(a, bob, rights::kEditor);
  const auto token = token_of(f);
  EXPECT_EQ(overwrite(bob, b, "f", {token}), kLocked);
  EXPECT_EQ(refusal_of([&] { return locks.unlock(bob, f, token); }), "not_lock_owner");
  EXPECT_EQ(refusal_of([&] { return locks.refresh(bob, f, token, 60); }), "lock_token_matches_request_uri");
  EXPECT_EQ(refusal_of([&] { return locks.unlock(bob, f, token, true); }), "not_lock_owner");
  EXPECT_EQ(overwrite(alice, b, "f", {token}), "");
  // An editor's lock can be broken by who manages the file.
  EXPECT_EQ(refusal_of([&] { return locks.unlock(alice, f, token); }), "");
  const auto his = take(bob, f).lock->token;
  EXPECT_EQ(overwrite(alice, b, "f", {his}), kLocked);
  EXPECT_EQ(refusal_of([&] { return locks.unlock(alice, f, his); }), "not_lock_owner");
  EXPECT_EQ(refusal_of([&] { return locks.unlock(alice, f, his, true); }), "");
  EXPECT_EQ(overwrite(alice, b, "f"), "");
}

TEST_F(LocksTest, NeedTheRightToWrite) {
  share(b, bob, rights::kViewer);
  EXPECT_EQ(refusal_of([&] { return locks.lock(bob, f, {}); }), "forbidden");
  EXPECT_EQ(refusal_of([&] { return locks.lock(bob, c, {}); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return locks.lock_new(bob, b, "x", {}, {}); }), "forbidden");
  EXPECT_EQ(refusal_of([&] { return locks.lock_new(bob, c, "x", {}, {}); }), "not_found");
  Caller read_only = alice;
  read_only.rights_mask = rights::kRead;
  EXPECT_EQ(refusal_of([&] { return locks.lock(read_only, f, {}); }), "forbidden");
  Caller link;
  link.link_node = b;
  link.link_rights = rights::kEditor;
  EXPECT_EQ(refusal_of([&] { return locks.lock(link, f, {}); }), "forbidden") << "nobody to hold it";
  EXPECT_EQ(room.number("select count(*) from locks"), 0);
}

TEST_F(LocksTest, OnAFreeNameMakeAnEmptyFile) {
  const auto made = run(locks.lock_new(alice, b, "new.txt", {true, false, 60, ""}, {}));
  ASSERT_TRUE(made.lock && made.made);
  EXPECT_EQ(made.made->name, "new.txt");
  EXPECT_EQ(made.made->size_bytes, 0u);
  const auto node = run(room.files->child(alice, b, "new.txt"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->id, made.made->id);
  EXPECT_EQ(node->etag, made.made->etag);
  EXPECT_EQ(node->mime_type, "text/plain");
  EXPECT_EQ(room.get(alice, node->id), "");
  EXPECT_EQ(overwrite(alice, b, "new.txt"), kLocked);
  EXPECT_EQ(overwrite(alice, b, "new.txt", {made.lock->token}), "");
  EXPECT_EQ(room.number("select count(*) from versions"), 0) << "the empty state is no version";
  EXPECT_EQ(refusal_of([&] { return locks.lock_new(alice, b, "new.txt", {}, {}); }), "precondition_failed");

  const auto folder = token_of(c);
  EXPECT_EQ(refusal_of([&] { return locks.lock_new(alice, c, "x", {}, {}); }), kLocked);
  EXPECT_TRUE(run(locks.lock_new(alice, c, "x", {}, {folder})).lock) << "depth 0 guards the name only";
}

TEST_F(LocksTest, AConflictOnAFreeNameMakesNothing) {
  const auto token = token_of(a, true);
  const auto before = room.number("select count(*) from nodes");
  const auto refused = run(locks.lock_new(alice, b, "x", {}, {token}));
  EXPECT_FALSE(refused.lock);
  ASSERT_EQ(refused.conflicts.size(), 1u);
  EXPECT_EQ(refused.conflicts[0].root, a);
  EXPECT_EQ(refused.conflicts[0].levels_up, 2u);
  EXPECT_EQ(room.number("select count(*) from nodes"), before);
  EXPECT_FALSE(run(room.files->child(alice, b, "x")));
}

TEST_F(LocksTest, WhoMayOnlyFillAFolderLocksWhatHeMakes) {
  share(c, bob, rights::kContributor);
  const auto made = run(locks.lock_new(bob, c, "mine", {}, {}));
  ASSERT_TRUE(made.lock);
  EXPECT_TRUE(made.lock->mine);
  EXPECT_EQ(overwrite(alice, c, "mine"), kLocked);
}

TEST_F(LocksTest, AreRefreshedThroughAnythingTheyCover) {
  const auto token = take(alice, a, true, true, 100).lock->token;
  const auto before = run(locks.covering(alice, a))[0].expires_at;
  const auto longer = run(locks.refresh(alice, f, token, 2000));
  EXPECT_EQ(longer.seconds, 2000u);
  EXPECT_GT(longer.expires_at, before + 1'500'000'000);
  EXPECT_EQ(longer.levels_up, 2u);
  EXPECT_EQ(run(locks.refresh(alice, a, token, std::nullopt)).seconds, 2000u) << "the old length again";
  EXPECT_EQ(refusal_of([&] { return locks.refresh(alice, root, token, 60); }),
            "lock_token_matches_request_uri");
  EXPECT_EQ(refusal_of([&] { return locks.refresh(alice, a, new_lock_token(), 60); }),
            "lock_token_matches_request_uri");
  room.sql("update locks set expires_at = now() - interval '1 second'");
  EXPECT_EQ(refusal_of([&] { return locks.refresh(alice, a, token, 60); }), "lock_token_matches_request_uri")
      << "the dead stay dead";
}

TEST_F(LocksTest, AreEndedThroughAnythingTheyCover) {
  const auto token = token_of(a, true);
  EXPECT_EQ(refusal_of([&] { return locks.unlock(alice, root, token); }), "lock_token_matches_request_uri");
  EXPECT_EQ(refusal_of([&] { return locks.unlock(alice, f, new_lock_token()); }),
            "lock_token_matches_request_uri");
  EXPECT_EQ(refusal_of([&] { return locks.unlock(alice, f, token); }), "");
  EXPECT_EQ(refusal_of([&] { return locks.unlock(alice, f, token); }), "lock_token_matches_request_uri");
  EXPECT_EQ(overwrite(alice, b, "f"), "");
}

TEST_F(LocksTest, EndByTimeAlone) {
  token_of(f);
  room.sql("update locks set expires_at = now() - interval '1 second'");
  EXPECT_TRUE(run(locks.covering(alice, f)).empty());
  EXPECT_EQ(overwrite(alice, b, "f"), "");
  EXPECT_TRUE(take(alice, f).lock) << "a dead lock is in nobody's way";
  token_of(c);
  room.sql("update locks set expires_at = now() - interval '1 second' where node_id = " +
           std::to_string(c.value));
  EXPECT_FALSE(locks.expire());
  EXPECT_EQ(room.number("select count(*) from locks"), 1);
}

TEST_F(LocksTest, StayBehindWhenTheirNodeLeaves) {
  const auto token = token_of(f);
  EXPECT_EQ(move(b, c, "b"), kLocked) << "a member below goes along";
  EXPECT_EQ(move(b, c, "b", {token}), "");
  EXPECT_TRUE(run(locks.covering(alice, f)).empty());
  EXPECT_EQ(overwrite(alice, b, "f"), "");
  const auto again = token_of(f);
  EXPECT_EQ(trash(c), kLocked);
  EXPECT_EQ(trash(c, {again}), "");
  EXPECT_EQ(room.number("select count(*) from locks"), 0);
}

TEST_F(LocksTest, SayWhatIsInTheWay) {
  const auto deep = token_of(f);
  const auto seen = run(locks.blocking(alice, {.node = a, .deep = true}, {}));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].names_below, (std::vector<std::string>{"b", "f"}));
  EXPECT_TRUE(run(locks.blocking(alice, {.node = a, .deep = true}, {deep})).empty());
  EXPECT_TRUE(run(locks.blocking(alice, {.node = a}, {})).empty());
  token_of(b);
  EXPECT_EQ(run(locks.blocking(alice, {.node = f}, {deep})).size(), 0u);
  const auto member = run(locks.blocking(alice, {.node = f, .membership = true}, {deep}));
  ASSERT_EQ(member.size(), 1u);
  EXPECT_EQ(member[0].levels_up, 1u);
  EXPECT_EQ(run(locks.blocking(alice, {.node = b, .is_new = true}, {}))[0].root, b);
}

TEST_F(LocksTest, AreBounded) {
  for (int i = 0; i < Locks::kPerNodeMax; ++i) ASSERT_TRUE(take(alice, f, false, false).lock);
  EXPECT_EQ(refusal_of([&] { return locks.lock(alice, f, {false, false, 60, ""}); }), "too_many_locks");
  room.sql(
      "insert into locks (token, node_id, drive_id, owner_id, expires_at, depth_infinity, exclusive, app) "
      "select gen_random_uuid(), " +
      std::to_string(c.value) + ", drive_id, " + std::to_string(alice.user.value) +
      ", now() + interval '1 hour', false, false, 1 from nodes, "
      "generate_series(1, " +
      std::to_string(Locks::kPerUserMax - Locks::kPerNodeMax) + ") where id = " + std::to_string(c.value));
  EXPECT_EQ(refusal_of([&] { return locks.lock(alice, b, {}); }), "too_many_locks");
}

TEST_F(LocksTest, OneOfManyAtOnceIsTaken) {
  std::atomic<int> taken = 0, refused = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto result = take(alice, f);
      (result.lock ? taken : refused) += 1;
    });
  }
  threads.clear();
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(refused, 7);
}

TEST_F(LocksTest, EmptyFilesNobodyWroteArePutAway) {
  const auto abandoned = run(locks.lock_new(alice, c, "abandoned", {}, {}));
  const auto held = run(locks.lock_new(alice, c, "held", {}, {}));
  const auto written = run(locks.lock_new(alice, c, "written", {}, {}));
  EXPECT_EQ(overwrite(alice, c, "written", {written.lock->token}), "");
  run(locks.unlock(alice, abandoned.made->id, abandoned.lock->token));
  run(locks.unlock(alice, written.made->id, written.lock->token));
  EXPECT_FALSE(locks.put_away_unwritten());
  EXPECT_TRUE(run(room.files->child(alice, c, "abandoned"))) << "not yet";
  EXPECT_FALSE(locks.put_away_unwritten(0));
  EXPECT_FALSE(run(room.files->child(alice, c, "abandoned")));
  EXPECT_TRUE(run(room.files->child(alice, c, "held")));
  EXPECT_TRUE(run(room.files->child(alice, c, "written")));
  EXPECT_EQ(room.number("select count(*) from trash"), 1) << "recoverable";
  EXPECT_EQ(room.wrong_folder_sums(), 0);
  EXPECT_EQ(room.miscounted_bytes(), 0);
}

TEST(LockTokens, AreReadAsTheyAreWritten) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto token = new_lock_token();
    const auto uri = lock_token_uri(token);
    EXPECT_TRUE(seen.insert(uri).second);
    EXPECT_EQ(uri.size(), 52u);
    EXPECT_EQ(uri[30], '4') << uri;
    EXPECT_EQ(parse_lock_token(uri), token);
    std::string upper = uri;
    for (auto& ch : upper) ch = static_cast<char>(std::toupper(static_cast<unsigned char>(ch)));
    EXPECT_EQ(parse_lock_token(upper), token);
  }
  const std::string good = lock_token_uri(new_lock_token());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = '!';
    EXPECT_FALSE(parse_lock_token(bad)) << bad;
    EXPECT_FALSE(parse_lock_token(good.substr(0, i)));
  }
  EXPECT_FALSE(parse_lock_token(good + "0"));
  EXPECT_FALSE(parse_lock_token(good + "x"));
}

}  // namespace
}  // namespace welkin::files
