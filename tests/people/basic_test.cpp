#include <chrono>
#include <thread>

#include "people/people_fixture.hpp"

namespace welkin::people {
namespace {

using namespace std::chrono_literals;

std::string app_password(World& w, const Caller& caller, NewAppPassword wanted) {
  return run(w.people.create_app_password(caller, std::move(wanted), kHere)).second;
}

NewAppPassword dav(std::int32_t mask = protocols::kWebdav) {
  NewAppPassword wanted;
  wanted.label = "phone";
  wanted.protocol_mask = mask;
  return wanted;
}

TEST(AppPasswords, OpenTheProtocolsTheyAreFor) {
  World w;
  w.user("alice", true, "alice@example.org");
  w.user("bob");
  const auto owner = w.session_of("alice");
  const auto secret = app_password(w, owner, dav(protocols::kCaldav | protocols::kCarddav));
  const auto caller = w.basic("alice", secret, protocols::kCaldav);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->user, owner.user);
  EXPECT_EQ(caller->credential, Credential::app_password);
  EXPECT_EQ(caller->protocol_mask, protocols::kCaldav | protocols::kCarddav);
  EXPECT_EQ(caller->rights_mask, rights::kOwner);
  EXPECT_FALSE(caller->is_admin) << "an administrator's app password is no administrator";
  EXPECT_TRUE(caller->app_password);
  EXPECT_FALSE(caller->session);
  EXPECT_TRUE(w.basic("ALICE@example.org", secret, protocols::kCarddav));
  EXPECT_FALSE(w.basic("alice", secret, protocols::kWebdav));
  EXPECT_FALSE(w.basic("alice", secret, protocols::kRest));
  EXPECT_FALSE(w.basic("bob", secret, protocols::kCaldav));
  EXPECT_FALSE(w.basic("", secret, protocols::kCaldav));
  EXPECT_FALSE(w.bearer(secret));
}

TEST(AppPasswords, NarrowWhatTheirUsersMayDo) {
  World w;
  const auto alice = w.user("alice");
  const auto owner = w.session_of("alice");
  const NodeId root{
      w.number("select root_id from drives where owner_id = " + std::to_string(alice.id.value))};
  auto wanted = dav();
  wanted.read_only = true;
  wanted.folder = root;
  const auto caller = w.basic("alice", app_password(w, owner, wanted)).value();
  EXPECT_EQ(caller.rights_mask, rights::kRead);
  EXPECT_EQ(caller.root_limit, root);
  wanted.folder = NodeId{987'654'321};
  EXPECT_EQ(outcome([&] { app_password(w, owner, wanted); }), "not_found no_such_folder");
}

TEST(AppPasswords, EndWhenTheyShould) {
  World w;
  const auto alice = w.user("alice");
  const auto owner = w.session_of("alice");
  auto wanted = dav();
  wanted.expires_at = w.clock.now() + 10'000'000;
  const auto brief = app_password(w, owner, wanted);
  const auto revoked = app_password(w, owner, dav());
  EXPECT_TRUE(w.basic("alice", brief));
  w.clock.advance(10s);
  EXPECT_FALSE(w.basic("alice", brief));

  const auto all = run(w.people.app_passwords(owner));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].prefix, revoked.substr(0, 11)) << "newest first";
  EXPECT_TRUE(w.basic("alice", revoked));
  w.user("bob");
  EXPECT_EQ(outcome([&] { run(w.people.revoke_app_password(w.session_of("bob"), all[0].id, kHere)); }),
            "not_found no_such_app_password");
  run(w.people.revoke_app_password(owner, all[0].id, kHere));
  EXPECT_FALSE(w.basic("alice", revoked)) << "at the next request";
  EXPECT_TRUE(run(w.people.app_passwords(owner))[0].revoked_at);

  const auto kept = app_password(w, owner, dav());
  run(w.people.set_disabled(alice.id, true, {}, kHere));
  EXPECT_FALSE(w.basic("alice", kept));
  run(w.people.set_disabled(alice.id, false, {}, kHere));
  EXPECT_TRUE(w.basic("alice", kept));
  run(w.people.reset_password(alice.id, "another good one", {}, kHere));
  EXPECT_FALSE(w.basic("alice", kept)) << "a reset ends them all";
  EXPECT_EQ(w.audits("app_password.create"), 3);
  EXPECT_EQ(w.audits("app_password.revoke"), 1);
}

TEST(AppPasswords, AreStoredHashedAndCannotMakeOthers) {
  World w;
  w.user("alice");
  const auto secret = app_password(w, w.session_of("alice"), dav(protocols::kAll));
  const auto row = w.text("select row(a.*)::text from app_passwords a");
  EXPECT_EQ(row.find(secret), std::string::npos);
  EXPECT_EQ(row.find(text::hex(as_bytes(secret))), std::string::npos);
  const auto caller = w.basic("alice", secret, protocols::kRest).value();
  const auto refused = "forbidden session_required";
  EXPECT_EQ(outcome([&] { app_password(w, caller, dav()); }), refused);
  EXPECT_EQ(outcome([&] { run(w.people.app_passwords(caller)); }), refused);
  EXPECT_EQ(outcome([&] { run(w.people.sessions(caller)); }), refused);
  EXPECT_EQ(outcome([&] { run(w.people.logout(caller, kHere)); }), refused);
  EXPECT_EQ(outcome([&] { run(w.people.change_password(caller, kSecret, "a better one 77", kHere)); }),
            refused);
}

TEST(AppPasswords, RefuseBadWishes) {
  World w;
  w.user("alice");
  const auto owner = w.session_of("alice");
  auto wanted = dav(0);
  EXPECT_EQ(outcome([&] { app_password(w, owner, wanted); }), "invalid bad_scopes");
  wanted = dav(32);
  EXPECT_EQ(outcome([&] { app_password(w, owner, wanted); }), "invalid bad_scopes");
  wanted = dav();
  wanted.label = "  ";
  EXPECT_EQ(outcome([&] { app_password(w, owner, wanted); }), "invalid bad_label");
  wanted = dav();
  wanted.expires_at = w.clock.now();
  EXPECT_EQ(outcome([&] { app_password(w, owner, wanted); }), "invalid bad_expiry");
  EXPECT_EQ(w.number("select count(*) from app_passwords"), 0);
}

TEST(AppPasswords, LastUseIsWrittenBehind) {
  World w;
  w.user("alice");
  const auto secret = app_password(w, w.session_of("alice"), dav());
  w.basic("alice", secret);
  const std::string used = "select count(*) from app_passwords where last_used_at is not null";
  for (int i = 0; i < 500 && w.number(used) == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(w.number(used), 1);
}

TEST(BasicPasswords, AreHashedOnceAMinute) {
  World w;
  w.user("alice", true, "alice@example.org");
  const auto before = hashes();
  for (int i = 0; i < 20; ++i) {
    const auto caller = w.basic("alice", kSecret, protocols::kCaldav);
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->credential, Credential::account_password);
    EXPECT_FALSE(caller->is_admin);
  }
  EXPECT_EQ(hashes() - before, 1);
  w.clock.advance(60s);
  EXPECT_TRUE(w.basic("alice", kSecret));
  EXPECT_EQ(hashes() - before, 2);
  EXPECT_TRUE(w.basic("alice@example.org", kSecret));
  EXPECT_EQ(w.number("select count(*) from login_failures"), 0);
  EXPECT_FALSE(w.basic("alice", ""));
  EXPECT_FALSE(w.basic("alice", kSecret, protocols::kRest)) << "the API takes app passwords only";
}

TEST(BasicPasswords, AHerdOfConnectionsHashesOnce) {
  World w;
  w.user("alice");
  const auto before = hashes();
  std::vector<Task<std::optional<Caller>>> tasks;
  for (int i = 0; i < 40; ++i)
    tasks.push_back(w.people.by_basic("alice", kSecret, protocols::kWebdav, kHere));
  EXPECT_EQ(at_once(std::move(tasks)), (std::map<std::string, int>{{"ok", 40}}));
  EXPECT_EQ(hashes() - before, 1);
}

TEST(BasicPasswords, TheMemoryDiesWithEveryChange) {
  World w;
  w.user("root-like", true);
  const auto alice = w.user("alice");
  ASSERT_TRUE(w.basic("alice", kSecret));
  run(w.people.set_disabled(alice.id, true, {}, kHere));
  EXPECT_FALSE(w.basic("alice", kSecret));
  run(w.people.set_disabled(alice.id, false, {}, kHere));
  ASSERT_TRUE(w.basic("alice", kSecret));
  run(w.people.reset_password(alice.id, "another good one", {}, kHere));
  EXPECT_FALSE(w.basic("alice", kSecret));
  EXPECT_TRUE(w.basic("alice", "another good one"));
  run(w.people.change_password(run(w.people.by_access_token(w.login("alice", "another good one").access_token,
                                                            Credential::session_bearer))
                                   .value(),
                               "another good one", kSecret, kHere));
  EXPECT_FALSE(w.basic("alice", "another good one"));
  EXPECT_TRUE(w.basic("alice", kSecret)) << "and a wrong one that became right is right at once";
  const auto before = hashes();
  run(w.people.set_admin(alice.id, true, {}, kHere));
  EXPECT_TRUE(w.basic("alice", kSecret));
  EXPECT_EQ(hashes() - before, 1);
  run(w.people.delete_user(alice.id, {}, kHere));
  EXPECT_FALSE(w.basic("alice", kSecret));
  w.user("alice");
  EXPECT_TRUE(w.basic("alice", kSecret)) << "another account of the same name";
}

TEST(BasicPasswords, SecondFactorProviderAndConfigCloseThem) {
  World w;
  w.user("alice");
  w.test.script("update users set second_factor = true, access_gen = access_gen + 1");
  EXPECT_FALSE(w.basic("alice", kSecret));
  w.test.script(
      "update users set second_factor = false, auth_provider = 'corp', access_gen = access_gen + 1");
  EXPECT_FALSE(w.basic("alice", kSecret));
  w.test.script("update users set auth_provider = 'local', access_gen = access_gen + 1");
  EXPECT_TRUE(w.basic("alice", kSecret));
  auto closed = cheap_config();
  closed.dav_account_passwords = false;
  People strict(w.test.db(), closed, w.clock);
  const auto before = hashes();
  EXPECT_FALSE(run(strict.by_basic("alice", kSecret, protocols::kWebdav, kHere)));
  EXPECT_EQ(hashes(), before);
}

TEST(BasicPasswords, GuessesLockAndRepetitionsDoNot) {
  World w;
  w.user("alice");
  const auto before = hashes();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(w.basic("alice", "an old password"));
  EXPECT_EQ(hashes() - before, 1) << "a forgotten client";
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok");
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(w.basic("alice", "guess " + std::to_string(i)));
  EXPECT_EQ(outcome([&] { w.basic("alice", "guess 6"); }), "too_many account_locked");
  EXPECT_EQ(outcome([&] { w.basic("alice", kSecret); }), "too_many account_locked");
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "too_many account_locked") << "one count for all doors";
  EXPECT_EQ(
      w.number("select count(*) from audit where action = 'login_failed' and detail ->> 'via' = 'basic'"), 6);
}

TEST(BasicPasswords, AnAppPasswordWorksWhileTheAccountIsLocked) {
  World w;
  w.user("alice");
  const auto secret = app_password(w, w.session_of("alice"), dav());
  const auto revoked = app_password(w, w.session_of("alice"), dav());
  run(w.people.revoke_app_password(w.session_of("alice"),
                                   run(w.people.app_passwords(w.session_of("alice")))[0].id, kHere));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(w.basic("alice", revoked));
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok")
      << "a revoked app password is no guess at the account's";
  for (int i = 0; i < 5; ++i) outcome([&] { w.login("alice", "guess"); });
  EXPECT_TRUE(w.basic("alice", secret));
}

TEST(BasicPasswords, OneAddressHasSoManyGuesses) {
  auto config = cheap_config();
  config.login_attempts_per_minute = 2;
  World w(config);
  w.user("alice");
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(w.basic("name" + std::to_string(i), "guess"));
  EXPECT_EQ(outcome([&] { w.basic("name6", "guess"); }), "too_many too_many_attempts");
  w.clock.advance(60s);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(w.basic("alice", kSecret)) << "right ones do not count";
    w.clock.advance(61s);
  }
}

}  // namespace
}  // namespace welkin::people
