#include <chrono>
#include <thread>

#include "people/people_fixture.hpp"
#include "people/session_store.hpp"

namespace welkin::people {
namespace {

using namespace std::chrono_literals;

TEST(SignIn, GivesTokensForNameAndAddressInAnyCase) {
  World w;
  w.user("alice", false, "alice@example.org");
  for (const char* typed : {"alice", "ALICE", " Alice ", "alice@example.org", "Alice@Example.org"}) {
    const auto tokens = w.login(typed);
    EXPECT_EQ(tokens.user.name, "alice");
    EXPECT_EQ(tokens.access_token.size(), 43u);
    EXPECT_EQ(tokens.refresh_token.size(), 43u);
    EXPECT_NE(tokens.access_token, tokens.refresh_token);
    EXPECT_EQ(tokens.access_seconds, 3600u);
    EXPECT_EQ(tokens.refresh_seconds, 604'800u);
    ASSERT_TRUE(tokens.user.last_login_at);
    EXPECT_EQ(*tokens.user.last_login_at, w.clock.now());
    const auto caller = w.bearer(tokens.access_token);
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->user, tokens.user.id);
    EXPECT_EQ(caller->name, "alice");
    EXPECT_EQ(caller->session, tokens.session);
    EXPECT_EQ(caller->subjects, std::vector<std::int64_t>{tokens.user.id.value});
  }
  EXPECT_EQ(w.audits("login"), 5);
}

TEST(SignIn, CallersCarryTheirGroups) {
  World w;
  const auto alice = w.user("alice");
  w.test.script(
      "insert into groups (id, name, display_name) values (7001, 'staff', 'Staff'), (7002, 'x', 'X')");
  const auto caller = w.session_of("alice");
  w.test.script("insert into group_members values (" + std::to_string(alice.id.value) + ", 7001)");
  const auto token = w.login("alice").access_token;
  EXPECT_EQ(w.bearer(token)->subjects, (std::vector<std::int64_t>{alice.id.value, 7001}));
  w.test.script("delete from group_members");
  EXPECT_EQ(w.bearer(token)->subjects, std::vector<std::int64_t>{alice.id.value})
      << "counts at the next request";
}

TEST(SignIn, StoresNothingThatOpensADoor) {
  World w;
  w.user("alice");
  const auto tokens = w.login("alice");
  const auto dump = w.text(
      "select string_agg(t::text, ' ') from (select row(s.*)::text t from sessions s union all select "
      "row(u.*)::text from "
      "users u union all select row(a.*)::text from audit a) x");
  EXPECT_EQ(dump.find(tokens.access_token), std::string::npos);
  EXPECT_EQ(dump.find(tokens.refresh_token), std::string::npos);
  EXPECT_EQ(dump.find(kSecret), std::string::npos);
  EXPECT_EQ(dump.find(text::hex(as_bytes(tokens.access_token))), std::string::npos);
  EXPECT_NE(dump.find("$argon2id$"), std::string::npos);
}

TEST(SignIn, UnknownWrongAndDisabledAreOneAnswer) {
  World w;
  w.user("alice");
  const auto bob = w.user("bob");
  run(w.people.set_disabled(bob.id, true, {}, kHere));
  const auto told = [&](const std::string& name, const std::string& password) -> std::string {
    const auto before = hashes();
    try {
      w.login(name, password);
    } catch (const Error& e) {
      EXPECT_EQ(hashes() - before, 1) << name << ": the same work";
      return std::string(e.slug()) + "|" + e.what() + "|" + std::to_string(e.retry_after_seconds());
    }
    return "signed in";
  };
  const auto wrong = told("alice", "wrong password");
  EXPECT_EQ(wrong.substr(0, 15), "bad_credentials");
  EXPECT_EQ(told("nobody", kSecret), wrong);
  EXPECT_EQ(told("bob", kSecret), wrong);
  EXPECT_EQ(told("bob", "wrong password"), wrong);
  EXPECT_EQ(told("alice", ""), wrong);
  EXPECT_EQ(told("", kSecret), wrong);
  EXPECT_EQ(told("\xff\xfe", kSecret), wrong);
  EXPECT_EQ(told("alice", std::string(1'000'000, 'x')), wrong);
  EXPECT_EQ(told("alice'; drop table users; --", kSecret), wrong);
  EXPECT_EQ(w.audits("login_failed"), 9);
  EXPECT_EQ(w.number("select count(*) from sessions"), 0);
}

TEST(SignIn, AccessTokensEnd) {
  World w;
  w.user("alice");
  const auto tokens = w.login("alice");
  w.clock.advance(3599s);
  EXPECT_TRUE(w.bearer(tokens.access_token));
  w.clock.advance(1s);
  EXPECT_FALSE(w.bearer(tokens.access_token));
  EXPECT_FALSE(w.bearer(tokens.refresh_token));
  EXPECT_FALSE(w.bearer(""));
  EXPECT_FALSE(w.bearer(std::string(43, 'A')));
  EXPECT_FALSE(w.bearer(std::string(100'000, 'A')));
}

TEST(Refresh, RotatesBothTokens) {
  World w;
  w.user("alice");
  const auto first = w.login("alice");
  const auto second = run(w.people.refresh(first.refresh_token, kHere));
  EXPECT_EQ(second.session, first.session);
  EXPECT_NE(second.access_token, first.access_token);
  EXPECT_NE(second.refresh_token, first.refresh_token);
  EXPECT_FALSE(w.bearer(first.access_token));
  EXPECT_TRUE(w.bearer(second.access_token));
  w.clock.advance(6 * 24h);
  const auto third = run(w.people.refresh(second.refresh_token, kHere));
  w.clock.advance(6 * 24h);
  EXPECT_EQ(outcome([&] { run(w.people.refresh(third.refresh_token, kHere)); }), "ok")
      << "each turn gives a new week";
}

TEST(Refresh, ASpentTokenEndsTheSession) {
  World w;
  w.user("alice");
  const auto other = w.login("alice");
  const auto first = w.login("alice");
  const auto second = run(w.people.refresh(first.refresh_token, kHere));
  EXPECT_EQ(outcome([&] { run(w.people.refresh(first.refresh_token, kHere)); }),
            "forbidden refresh_token_reused");
  EXPECT_FALSE(w.bearer(second.access_token));
  EXPECT_EQ(outcome([&] { run(w.people.refresh(second.refresh_token, kHere)); }),
            "not_found unknown_refresh_token");
  EXPECT_TRUE(w.bearer(other.access_token)) << "only this session";
  EXPECT_EQ(w.audits("refresh_token_reused"), 1);
}

TEST(Refresh, OfTwoAtOnceOneWinsAndBothAreOut) {
  World w;
  w.user("alice");
  const auto tokens = w.login("alice");
  std::vector<Task<Tokens>> tasks;
  for (int i = 0; i < 2; ++i) tasks.push_back(w.people.refresh(tokens.refresh_token, kHere));
  const auto outcomes = at_once(std::move(tasks));
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"ok", 1}, {"forbidden refresh_token_reused", 1}}));
  EXPECT_EQ(w.number("select count(*) from sessions"), 0);
}

TEST(Refresh, SaysWhatIsWrong) {
  World w;
  const auto alice = w.user("alice");
  EXPECT_EQ(outcome([&] { run(w.people.refresh("", kHere)); }), "unauthenticated no_refresh_token");
  EXPECT_EQ(outcome([&] { run(w.people.refresh("nonsense", kHere)); }), "not_found unknown_refresh_token");
  auto tokens = w.login("alice");
  EXPECT_EQ(outcome([&] { run(w.people.refresh(tokens.access_token, kHere)); }),
            "not_found unknown_refresh_token");
  w.clock.advance(7 * 24h);
  EXPECT_EQ(outcome([&] { run(w.people.refresh(tokens.refresh_token, kHere)); }),
            "forbidden refresh_token_expired");
  tokens = w.login("alice");
  run(w.people.set_disabled(alice.id, true, {}, kHere));
  EXPECT_EQ(outcome([&] { run(w.people.refresh(tokens.refresh_token, kHere)); }),
            "not_found unknown_refresh_token");
}

TEST(Refresh, NoSessionOutlivesNinetyDays) {
  World w;
  w.user("alice");
  auto tokens = w.login("alice");
  for (int day = 6; day < 90; day += 6) {
    w.clock.advance(6 * 24h);
    tokens = run(w.people.refresh(tokens.refresh_token, kHere));
  }
  EXPECT_EQ(tokens.refresh_seconds, 6u * 86'400) << "84 days are gone";
  w.clock.advance(6 * 24h - 10s);
  tokens = run(w.people.refresh(tokens.refresh_token, kHere));
  EXPECT_EQ(tokens.access_seconds, 10u);
  EXPECT_TRUE(w.bearer(tokens.access_token));
  w.clock.advance(10s);
  EXPECT_FALSE(w.bearer(tokens.access_token));
  EXPECT_EQ(outcome([&] { run(w.people.refresh(tokens.refresh_token, kHere)); }),
            "forbidden refresh_token_expired");
}

TEST(Logout, EndsThisSessionOnly) {
  World w;
  w.user("alice");
  const auto here = w.login("alice"), there = w.login("alice");
  run(w.people.logout(w.bearer(here.access_token).value(), kHere));
  EXPECT_FALSE(w.bearer(here.access_token));
  EXPECT_TRUE(w.bearer(there.access_token));
  EXPECT_EQ(outcome([&] { run(w.people.refresh(here.refresh_token, kHere)); }),
            "not_found unknown_refresh_token");
  EXPECT_EQ(w.audits("logout"), 1);
}

TEST(Logout, TakesNobodyElsesToken) {
  World w;
  w.user("alice");
  w.user("bob");
  const auto alice = w.login("alice"), bob = w.login("bob"), alice_too = w.login("alice");
  const auto caller = w.bearer(alice.access_token).value();
  EXPECT_EQ(outcome([&] { run(w.people.logout(caller, bob.refresh_token, kHere)); }),
            "forbidden not_your_token");
  EXPECT_TRUE(w.bearer(alice.access_token)) << "nothing happened";
  EXPECT_TRUE(w.bearer(bob.access_token));
  EXPECT_EQ(w.audits("logout"), 0);
  run(w.people.logout(caller, alice_too.refresh_token, kHere));
  EXPECT_FALSE(w.bearer(alice.access_token));
  EXPECT_FALSE(w.bearer(alice_too.access_token));
  EXPECT_EQ(outcome([&] { run(w.people.logout(w.bearer(bob.access_token).value(), "nonsense", kHere)); }),
            "ok");
}

TEST(ChangePassword, NeedsTheOldOneAndEndsSessions) {
  World w;
  w.user("alice");
  const auto here = w.login("alice"), there = w.login("alice");
  const auto caller = w.bearer(here.access_token).value();
  const std::string next = "a better one 77";
  EXPECT_EQ(outcome([&] { run(w.people.change_password(caller, "wrong one", next, kHere)); }),
            "forbidden bad_credentials");
  EXPECT_EQ(outcome([&] { run(w.people.change_password(caller, kSecret, "short", kHere)); }),
            "invalid weak_password");
  EXPECT_EQ(outcome([&] { run(w.people.change_password(caller, kSecret, "password1", kHere)); }),
            "invalid weak_password");
  EXPECT_TRUE(w.bearer(here.access_token));
  run(w.people.change_password(caller, kSecret, next, kHere));
  EXPECT_FALSE(w.bearer(here.access_token));
  EXPECT_FALSE(w.bearer(there.access_token));
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "forbidden bad_credentials");
  EXPECT_EQ(outcome([&] { w.login("alice", next); }), "ok");
  EXPECT_EQ(w.audits("password.change"), 1);
}

TEST(ChangePassword, AStolenSessionCannotGuessTheOldOne) {
  World w;
  w.user("alice");
  const auto caller = w.session_of("alice");
  const auto guess = [&](int i) {
    return outcome([&] {
      run(w.people.change_password(caller, "guess " + std::to_string(i), "a better one 77", kHere));
    });
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(guess(i), "forbidden bad_credentials");
  EXPECT_EQ(guess(5), "too_many account_locked");
}

TEST(Sessions, AreListedAndRevoked) {
  World w;
  w.user("alice");
  w.user("bob");
  auto origin = kHere;
  origin.user_agent = "phone\r\nX: \xff" + std::string(1000, 'u');
  const auto phone = run(w.people.login("alice", kSecret, origin));
  w.clock.advance(1s);
  const auto here = w.login("alice");
  const auto bob = w.session_of("bob");
  const auto caller = w.bearer(here.access_token).value();
  const auto all = run(w.people.sessions(caller));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, here.session) << "last used first";
  EXPECT_EQ(all[1].id, phone.session);
  EXPECT_EQ(all[1].address, "192.0.2.7");
  EXPECT_LE(all[1].user_agent.size(), 300u);
  EXPECT_EQ(all[1].user_agent.find('\n'), std::string::npos);
  EXPECT_EQ(outcome([&] { run(w.people.revoke_session(bob, phone.session, kHere)); }),
            "not_found no_such_session");
  EXPECT_TRUE(w.bearer(phone.access_token));
  run(w.people.revoke_session(caller, phone.session, kHere));
  EXPECT_FALSE(w.bearer(phone.access_token)) << "at the next request";
  EXPECT_EQ(outcome([&] { run(w.people.revoke_session(caller, phone.session, kHere)); }),
            "not_found no_such_session");
  EXPECT_EQ(w.audits("session.revoke"), 1);
}

TEST(Sessions, OfOneUserAreBounded) {
  World w;
  const auto alice = w.user("alice");
  const auto oldest = w.login("alice");
  w.test.script(
      "insert into sessions (user_id, access_hash, access_expires_at, refresh_hash, refresh_expires_at, "
      "ends_at, "
      "last_used_at, address, user_agent) select " +
      std::to_string(alice.id.value) +
      ", sha256(('a' || i)::bytea), '2099-1-1', sha256(('r' || i)::bytea), '2099-1-1', '2099-1-1', "
      "'2098-1-1', '', '' "
      "from generate_series(1, 300) i");
  const auto newest = w.login("alice");
  EXPECT_EQ(w.number("select count(*) from sessions"), store::kSessionsMax);
  EXPECT_FALSE(w.bearer(oldest.access_token));
}

TEST(Sessions, ADisabledUserIsCutAtTheNextRequest) {
  World w;
  const auto alice = w.user("alice");
  const auto token = w.login("alice").access_token;
  ASSERT_TRUE(w.bearer(token));
  // Whatever ends sessions may have failed to: the flag alone is enough.
  w.test.script("update users set is_disabled = true where name = 'alice'");
  EXPECT_FALSE(w.bearer(token));
  w.test.script("update users set is_disabled = false where name = 'alice'");
  EXPECT_TRUE(w.bearer(token));
  run(w.people.set_disabled(alice.id, true, {}, kHere));
  EXPECT_FALSE(w.bearer(token));
  run(w.people.set_disabled(alice.id, false, {}, kHere));
  EXPECT_FALSE(w.bearer(token)) << "the session is gone for good";
}

TEST(Sessions, ARoleCountsAtTheNextRequest) {
  World w;
  w.user("root-like", true);
  const auto alice = w.user("alice", true);
  const auto token = w.login("alice").access_token;
  EXPECT_TRUE(w.bearer(token)->is_admin);
  w.test.script("update users set is_admin = false where name = 'alice'");
  EXPECT_FALSE(w.bearer(token)->is_admin);
  run(w.people.set_admin(alice.id, true, {}, kHere));
  EXPECT_FALSE(w.bearer(token)) << "nobody keeps a session across a change of role";
}

TEST(Sessions, LastUseIsWrittenBehindAndToTheMinute) {
  World w;
  w.user("alice");
  const auto tokens = w.login("alice");
  const std::string used = "select (extract(epoch from last_used_at) * 1e6)::bigint from sessions";
  const auto at_login = w.number(used);
  w.clock.advance(59s);
  w.bearer(tokens.access_token);
  w.clock.advance(1s);
  w.bearer(tokens.access_token);
  for (int i = 0; i < 500 && w.number(used) == at_login; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(w.number(used), at_login + 60'000'000) << "the look within the minute left no mark";
}

TEST(SignIn, HashesAgainWhenTheCostHasChanged) {
  World w;
  w.user("alice");
  auto dearer = cheap_config();
  dearer.argon2_iterations = 2;
  People tomorrow(w.test.db(), dearer, w.clock);
  EXPECT_EQ(outcome([&] { run(tomorrow.login("alice", "wrong", kHere)); }), "forbidden bad_credentials");
  EXPECT_NE(w.text("select password_hash from users").find("t=1"), std::string::npos);
  EXPECT_EQ(outcome([&] { run(tomorrow.login("alice", kSecret, kHere)); }), "ok");
  EXPECT_NE(w.text("select password_hash from users").find("t=2"), std::string::npos);
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "ok") << "both ways";
}

TEST(SignIn, AccountsOfAnotherProviderHaveNoPassword) {
  World w;
  w.user("alice");
  w.test.script("update users set auth_provider = 'corp'");
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "forbidden bad_credentials");
  w.test.script("update users set auth_provider = 'local', password_hash = null");
  EXPECT_EQ(outcome([&] { w.login("alice"); }), "forbidden bad_credentials");
}

TEST(SignIn, WithoutAnAuditRowThereIsNoSession) {
  World w;
  w.user("alice");
  const auto before = w.login("alice");
  const auto caller = w.bearer(before.access_token).value();
  w.test.script("alter table audit add constraint closed check (action = 'nothing') not valid");
  EXPECT_THROW(w.login("alice"), std::exception);
  EXPECT_EQ(w.number("select count(*) from sessions"), 1);
  EXPECT_THROW(run(w.people.logout(caller, kHere)), std::exception);
  EXPECT_TRUE(w.bearer(before.access_token));
  EXPECT_THROW(run(w.people.create_app_password(
                   caller, {.label = "x", .protocol_mask = 1, .folder = {}, .expires_at = {}}, kHere)),
               std::exception);
  EXPECT_EQ(w.number("select count(*) from app_passwords"), 0);
  EXPECT_THROW(w.user("bob"), std::exception);
  EXPECT_EQ(w.number("select count(*) from users"), 1);
  EXPECT_EQ(w.number("select count(*) from drives"), 1);
}

TEST(Prune, RemovesWhatHasEnded) {
  World w;
  w.user("alice");
  const auto old = w.login("alice");
  const auto kept = run(w.people.refresh(old.refresh_token, kHere));
  w.clock.advance(6 * 24h);
  const auto newer = w.login("alice");
  outcome([&] { w.login("alice", "wrong"); });
  w.clock.advance(25h);
  EXPECT_FALSE(w.people.prune());
  EXPECT_EQ(w.number("select count(*) from sessions"), 1);
  EXPECT_EQ(w.number("select count(*) from spent_refresh_tokens"), 0);
  EXPECT_EQ(w.number("select count(*) from login_failures"), 0);
  EXPECT_EQ(outcome([&] { run(w.people.refresh(newer.refresh_token, kHere)); }), "ok");
  EXPECT_EQ(outcome([&] { run(w.people.refresh(kept.refresh_token, kHere)); }),
            "not_found unknown_refresh_token");
}

}  // namespace
}  // namespace welkin::people
