#include <chrono>
#include <thread>

#include "people/people_fixture.hpp"

namespace welkin::people {
namespace {

using namespace std::chrono_literals;

TEST(Accounts, AreMadeWithTheirDrive) {
  World w;
  const auto admin = w.user("root-like", true);
  const auto made = run(w.people.create_user({.name = "Alice",
                                              .password = kSecret,
                                              .email = "Alice@Example.org",
                                              .display_name = "Alice A.",
                                              .quota_bytes = 1000},
                                             admin.id, kHere));
  EXPECT_EQ(made.name, "alice");
  EXPECT_EQ(made.email, "alice@example.org");
  EXPECT_EQ(made.display_name, "Alice A.");
  EXPECT_EQ(made.quota_bytes, 1000);
  EXPECT_EQ(made.used_bytes, 0);
  EXPECT_EQ(made.auth_provider, "local");
  EXPECT_FALSE(made.is_admin);
  EXPECT_FALSE(made.last_login_at);
  EXPECT_EQ(w.number("select count(*) from drives where owner_id = " + std::to_string(made.id.value)), 1);
  EXPECT_EQ(run(w.people.user(made.id)).name, "alice");
  EXPECT_EQ(run(w.people.user_by_name("ALICE")).id, made.id);
  EXPECT_EQ(run(w.people.me(w.session_of("alice"))).id, made.id);
  EXPECT_EQ(outcome([&] { w.user("alice"); }), "conflict user_exists");
  EXPECT_EQ(outcome([&] { w.user("bob", false, "alice@example.org"); }), "conflict email_exists");
  EXPECT_EQ(w.number("select count(*) from users"), 2);
  EXPECT_EQ(outcome([&] { run(w.people.user(UserId{999'999})); }), "not_found no_such_user");
  EXPECT_EQ(outcome([&] { run(w.people.user_by_name("nobody")); }), "not_found no_such_user");
  EXPECT_EQ(w.number("select count(*) from audit where action = 'user.create' and actor_id = " +
                     std::to_string(admin.id.value)),
            1);
}

TEST(Accounts, OfOneNameAtOnceAreOne) {
  World w;
  std::vector<Task<User>> tasks;
  for (int i = 0; i < 10; ++i)
    tasks.push_back(w.people.create_user(
        {.name = "alice", .password = kSecret, .email = "", .display_name = "", .quota_bytes = {}}, {},
        kHere));
  EXPECT_EQ(at_once(std::move(tasks)), (std::map<std::string, int>{{"ok", 1}, {"conflict user_exists", 9}}));
  EXPECT_EQ(w.number("select count(*) from drives"), 1);
}

TEST(Accounts, AreListedNewestFirst) {
  World w;
  for (int i = 0; i < 5; ++i) w.user("user" + std::to_string(i));
  const auto page = run(w.people.users(2, 1));
  EXPECT_EQ(page.total, 5);
  ASSERT_EQ(page.users.size(), 2u);
  EXPECT_EQ(page.users[0].name, "user3");
  EXPECT_EQ(page.users[1].name, "user2");
  EXPECT_TRUE(run(w.people.users(10, 100)).users.empty());
}

TEST(Accounts, QuotasAreSetAndCounted) {
  World w;
  const auto alice = w.user("alice"), bob = w.user("bob");
  EXPECT_EQ(alice.quota_bytes, 0);
  run(w.people.set_quota(alice.id, 1000, {}, kHere));
  run(w.people.set_quota(bob.id, 500, {}, kHere));
  EXPECT_EQ(outcome([&] { run(w.people.set_quota(alice.id, -1, {}, kHere)); }), "invalid bad_quota");
  EXPECT_EQ(outcome([&] { run(w.people.set_quota(UserId{999'999}, 1, {}, kHere)); }),
            "not_found no_such_user");
  w.test.script("update drives set used_bytes = 900");
  const auto totals = run(w.people.totals());
  EXPECT_EQ(totals.users, 2);
  EXPECT_EQ(totals.active, 2);
  EXPECT_EQ(totals.admins, 0);
  EXPECT_EQ(totals.quota_bytes, 1500);
  EXPECT_EQ(totals.used_bytes, 1800);
  EXPECT_EQ(totals.over_80_percent, 2);
  EXPECT_EQ(totals.over_quota, 1);
  run(w.people.set_quota(alice.id, 0, {}, kHere));
  EXPECT_EQ(run(w.people.user(alice.id)).quota_bytes, 0);
  EXPECT_EQ(run(w.people.user(alice.id)).used_bytes, 900);
  EXPECT_EQ(run(w.people.totals()).quota_bytes, 500) << "no limit adds nothing";
  EXPECT_EQ(w.audits("user.quota"), 3);
}

TEST(Accounts, TheLastAdministratorStays) {
  World w;
  const auto a = w.user("admin-a", true), b = w.user("admin-b", true), user = w.user("alice");
  run(w.people.set_disabled(b.id, true, {}, kHere));
  EXPECT_EQ(outcome([&] { run(w.people.set_admin(a.id, false, {}, kHere)); }), "conflict last_admin")
      << "a disabled one does not count";
  EXPECT_EQ(outcome([&] { run(w.people.set_disabled(a.id, true, {}, kHere)); }), "conflict last_admin");
  EXPECT_EQ(outcome([&] { run(w.people.delete_user(a.id, {}, kHere)); }), "conflict last_admin");
  EXPECT_TRUE(run(w.people.user(a.id)).is_admin);
  EXPECT_EQ(outcome([&] { run(w.people.set_disabled(user.id, true, {}, kHere)); }), "ok");
  EXPECT_EQ(outcome([&] { run(w.people.set_admin(b.id, false, {}, kHere)); }), "ok");
  run(w.people.set_admin(b.id, true, {}, kHere));
  run(w.people.set_disabled(b.id, false, {}, kHere));
  EXPECT_EQ(outcome([&] { run(w.people.delete_user(a.id, {}, kHere)); }), "ok");
  EXPECT_EQ(w.audits("user.delete"), 1);
  EXPECT_EQ(w.audits("user.role"), 2);
}

TEST(Accounts, TwoAdministratorsDemotingEachOtherLeaveOne) {
  World w;
  for (int round = 0; round < 10; ++round) {
    const auto a = w.user("a" + std::to_string(round), true), b = w.user("b" + std::to_string(round), true);
    w.test.script("update users set is_admin = false where id not in (" + std::to_string(a.id.value) + ", " +
                  std::to_string(b.id.value) + ")");
    std::vector<Task<>> tasks;
    tasks.push_back(w.people.set_admin(a.id, false, b.id, kHere));
    tasks.push_back(w.people.set_disabled(b.id, true, a.id, kHere));
    EXPECT_EQ(at_once(std::move(tasks)), (std::map<std::string, int>{{"ok", 1}, {"conflict last_admin", 1}}));
    EXPECT_EQ(w.number("select count(*) from users where is_admin and not is_disabled"), 1);
    w.test.script("update users set is_disabled = false");
  }
}

TEST(Accounts, ChangesThatChangeNothingLeaveSessionsAlone) {
  World w;
  const auto admin = w.user("admin-a", true);
  const auto token = w.login("admin-a").access_token;
  run(w.people.set_admin(admin.id, true, {}, kHere));
  run(w.people.set_disabled(admin.id, false, {}, kHere));
  EXPECT_TRUE(w.bearer(token));
  EXPECT_EQ(w.audits("user.role") + w.audits("user.enable"), 0);
}

TEST(Accounts, AResetEndsEverythingAndUnlocks) {
  World w;
  const auto alice = w.user("alice");
  const auto token = w.login("alice").access_token;
  for (int i = 0; i < 5; ++i) outcome([&] { w.login("alice", "wrong"); });
  EXPECT_EQ(outcome([&] { run(w.people.reset_password(alice.id, "short", {}, kHere)); }),
            "invalid weak_password");
  EXPECT_TRUE(w.bearer(token));
  run(w.people.reset_password(alice.id, "another good one", {}, kHere));
  EXPECT_FALSE(w.bearer(token));
  EXPECT_EQ(outcome([&] { w.login("alice", "another good one"); }), "ok");
  EXPECT_EQ(w.audits("password.reset"), 1);
  w.test.script("update users set auth_provider = 'corp'");
  EXPECT_EQ(outcome([&] { run(w.people.reset_password(alice.id, "yet another one", {}, kHere)); }),
            "invalid not_local");
}

/// A small tree with contents in the drive of `user`: 60 folders of 50 files.
void fill(World& w, UserId user) {
  w.test.script(R"(
    with d as (select id, root_id from drives where owner_id = )" +
                std::to_string(user.value) + R"(),
    f as (insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)
      select d.root_id, 0, 1, 0, d.id, d.id, 2, 'folder' || i from d, generate_series(1, 60) i returning id, drive_id)
    insert into folders (node_id, etag_seq, changed_at) select id, 1, 0 from f;
    with c as (insert into contents (size, crc32, n_chunks) select 1, 0, 0 from generate_series(1, 3000) returning id),
         n as (select id, row_number() over () - 1 k from c),
         f as (select x.id, x.drive_id, row_number() over () - 1 k from nodes x where x.name like 'folder%')
    insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)
      select f.id, n.id, 1, 0, 1, 0, f.drive_id, f.drive_id, 1, 'file' || n.k from n join f on f.k = n.k % 60;)");
}

TEST(Accounts, ADeletedUsersContentsGoToTheCollector) {
  World w;
  w.user("admin-a", true);
  const auto alice = w.user("alice");
  const auto kept = w.user("bob");
  const auto token = w.login("alice").access_token;
  fill(w, alice.id);
  run(w.people.delete_user(alice.id, {}, kHere));
  EXPECT_FALSE(w.bearer(token));
  EXPECT_EQ(w.number("select count(*) from users where name = 'alice'"), 0);
  EXPECT_EQ(w.number("select count(*) from drives"), 2);
  EXPECT_EQ(w.number("select count(*) from nodes"), 4) << "roots and trashes of the others";
  EXPECT_EQ(w.number("select count(*) from content_gc"), 3000);
  EXPECT_EQ(w.audits("user.delete"), 1);
  EXPECT_EQ(outcome([&] { run(w.people.delete_user(alice.id, {}, kHere)); }), "not_found no_such_user");
  EXPECT_EQ(run(w.people.user(kept.id)).name, "bob");
  EXPECT_NE(w.user("alice").id, alice.id) << "the name is free again";
}

TEST(Accounts, ADeletionCutShortGoesOn) {
  World w;
  w.user("admin-a", true);
  const auto alice = w.user("alice");
  fill(w, alice.id);
  w.test.script("update users set deleting_since = now(), is_disabled = true where name = 'alice'");
  EXPECT_EQ(outcome([&] { run(w.people.user(alice.id)); }), "not_found no_such_user") << "nobody at once";
  EXPECT_EQ(outcome([&] { run(w.people.set_disabled(alice.id, false, {}, kHere)); }),
            "not_found no_such_user");
  EXPECT_EQ(run(w.people.totals()).users, 1);
  EXPECT_EQ(run(w.people.users(10, 0)).total, 1);
  EXPECT_EQ(outcome([&] { w.user("alice"); }), "conflict user_exists") << "not free before it is done";
  int turns = 0;
  while (w.people.prune()) ASSERT_LT(++turns, 100);
  EXPECT_GT(turns, 1);
  EXPECT_EQ(w.number("select count(*) from users"), 1);
  EXPECT_EQ(w.number("select count(*) from content_gc"), 3000);
}

TEST(Settings, AreMadeOnce) {
  World w;
  std::vector<std::string> got(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&, i] {
      got[i] = w.people.setting_or_make("some.key", [i] { return "made by " + std::to_string(i); });
    });
  for (auto& thread : threads) thread.join();
  for (const auto& value : got) EXPECT_EQ(value, got[0]);
  EXPECT_EQ(w.people.setting_or_make("some.key", [] { return std::string("never"); }), got[0]);
}

}  // namespace
}  // namespace welkin::people
