#include <chrono>
#include <future>
#include <thread>

#include "people/people_fixture.hpp"

namespace welkin::people {
namespace {

using namespace std::chrono_literals;

TEST(Setup, NeedsTheTokenOfThisStart) {
  World w;
  EXPECT_FALSE(run(w.people.status()).initialized);
  EXPECT_TRUE(w.people.setup_needs_token());
  const auto old = w.people.setup_token_now();
  const auto token = w.people.setup_token_now();
  EXPECT_NE(old, token);
  EXPECT_EQ(token.size(), 43u);
  EXPECT_EQ(w.number("select count(*) from settings where value like '%" + token + "%'"), 0) << "kept hashed";
  const auto attempt = [&](const std::string& with) {
    return outcome([&] { run(w.people.setup("root-like", "", kSecret, with, kHere)); });
  };
  EXPECT_EQ(attempt(""), "forbidden bad_setup_token");
  EXPECT_EQ(attempt("nonsense"), "forbidden bad_setup_token");
  EXPECT_EQ(attempt(old), "forbidden bad_setup_token");
  EXPECT_EQ(attempt(token), "ok");
  EXPECT_EQ(attempt(token), "forbidden already_initialized");
  EXPECT_TRUE(run(w.people.status()).initialized);
  EXPECT_EQ(run(w.people.status()).admin_count, 1);
  EXPECT_EQ(w.people.setup_token_now(), "");
  EXPECT_TRUE(w.session_of("root-like").is_admin);
  EXPECT_EQ(
      w.number("select count(*) from drives where kind = 1 and root_id is not null and trash_id is not null"),
      1);
  EXPECT_EQ(w.audits("setup"), 1);
}

TEST(Setup, WithoutATokenMadeNothingOpens) {
  World w;
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, "", kHere)); }),
            "forbidden bad_setup_token");
}

TEST(Setup, ABadFieldDoesNotUseItUp) {
  World w;
  const auto token = w.people.setup_token_now();
  const auto attempt = [&](const std::string& name, const std::string& email, const std::string& password) {
    return outcome([&] { run(w.people.setup(name, email, password, token, kHere)); });
  };
  EXPECT_EQ(attempt("a b", "", kSecret), "invalid bad_user_name");
  EXPECT_EQ(attempt("alice", "nonsense", kSecret), "invalid bad_email");
  EXPECT_EQ(attempt("alice", "", "short"), "invalid weak_password");
  EXPECT_EQ(attempt("alexandria", "", "Alexandria"), "invalid weak_password");
  EXPECT_EQ(w.number("select count(*) from users"), 0);
  EXPECT_EQ(attempt("Alice", "a@example.org", kSecret), "ok");
}

TEST(Setup, OfFiftyRacersOneWins) {
  World w;
  People other_node(w.test.db(), w.config, w.clock);
  const auto token = w.people.setup_token_now();
  std::vector<Task<User>> tasks;
  for (int i = 0; i < 50; ++i)
    tasks.push_back(
        (i % 2 == 0 ? w.people : other_node).setup("racer" + std::to_string(i), "", kSecret, token, kHere));
  EXPECT_EQ(at_once(std::move(tasks)),
            (std::map<std::string, int>{{"ok", 1}, {"forbidden already_initialized", 49}}));
  EXPECT_EQ(w.number("select count(*) from users"), 1);
  EXPECT_EQ(w.audits("setup"), 1);
}

TEST(Setup, TwoNodesInTheSameMomentMakeOneAdministrator) {
  World w;
  People other_node(w.test.db(), w.config, w.clock);
  const auto token = w.people.setup_token_now();
  // Both have found the door open and wait inside their transactions until the table is let go.
  std::promise<void> held;
  std::thread holder([&] {
    w.test.db().write_now([&](db::Tx& tx) {
      constexpr db::Stmt kWaiting{
          "test.waiting",
          "select count(*) from pg_locks where not granted and "
          "(database = 0 or database = (select oid from pg_database where datname = current_database()))"};
      tx.script("lock table users in share row exclusive mode");
      held.set_value();
      for (int i = 0; i < 400 && tx.one(kWaiting)[0].i64(0) < 2; ++i) std::this_thread::sleep_for(5ms);
    });
  });
  held.get_future().wait();
  std::vector<Task<User>> tasks;
  tasks.push_back(w.people.setup("alice", "", kSecret, token, kHere));
  tasks.push_back(other_node.setup("bob", "", kSecret, token, kHere));
  const auto outcomes = at_once(std::move(tasks));
  holder.join();
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"ok", 1}, {"forbidden already_initialized", 1}}));
  EXPECT_EQ(w.number("select count(*) from users where is_admin"), 1);
}

TEST(Setup, ARestartInBetweenVoidsTheToken) {
  World w;
  const auto token = w.people.setup_token_now();
  People restarted(w.test.db(), w.config, w.clock);
  const auto newer = restarted.setup_token_now();
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, token, kHere)); }),
            "forbidden bad_setup_token");
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, newer, kHere)); }), "ok");
}

TEST(Setup, AnyAdministratorClosesIt) {
  World w;
  const auto token = w.people.setup_token_now();
  w.user("bob");
  EXPECT_NE(w.people.setup_token_now(), "") << "an ordinary user does not";
  const auto newest = w.people.setup_token_now();
  w.user("carol", true);
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, newest, kHere)); }),
            "forbidden already_initialized");
}

TEST(Setup, TheTokenCanBeFixedOrOff) {
  auto fixed = cheap_config();
  fixed.setup_token = "a fixed token of enough letters";
  World w(fixed);
  EXPECT_EQ(w.people.setup_token_now(), fixed.setup_token);
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, "", kHere)); }),
            "forbidden bad_setup_token");
  auto off = cheap_config();
  off.setup_token = "off";
  People open(w.test.db(), off, w.clock);
  EXPECT_FALSE(open.setup_needs_token());
  EXPECT_EQ(open.setup_token_now(), "");
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, fixed.setup_token, kHere)); }), "ok");
  EXPECT_EQ(outcome([&] { run(open.setup("bob", "", kSecret, "", kHere)); }),
            "forbidden already_initialized");
}

TEST(Setup, OffMeansTheFirstToAskIsTheOne) {
  auto off = cheap_config();
  off.setup_token = "off";
  World w(off);
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, "", kHere)); }), "ok");
}

TEST(Setup, IsLimitedByAddress) {
  auto config = cheap_config();
  config.setup_attempts_per_hour = 3;
  World w(config);
  const auto token = w.people.setup_token_now();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, "guess", kHere)); }),
              "forbidden bad_setup_token");
  EXPECT_EQ(outcome([&] { run(w.people.setup("alice", "", kSecret, token, kHere)); }),
            "too_many too_many_attempts");
  EXPECT_EQ(outcome([&] { run(w.people.register_user("alice", "", kSecret, kHere)); }),
            "too_many too_many_attempts");
}

TEST(Registration, IsOffUntilAnAdministratorOpensIt) {
  World w;
  const auto admin = w.user("root-like", true);
  const auto attempt = [&](const std::string& name, const std::string& email) {
    return outcome([&] { run(w.people.register_user(name, email, kSecret, kHere)); });
  };
  EXPECT_FALSE(run(w.people.registration_enabled()));
  EXPECT_EQ(attempt("alice", "a@example.org"), "forbidden registration_disabled");
  run(w.people.set_registration(true, admin.id, kHere));
  EXPECT_TRUE(run(w.people.registration_enabled()));
  EXPECT_EQ(attempt("alice", "a@example.org"), "ok");
  EXPECT_EQ(attempt("Alice", ""), "conflict user_exists");
  EXPECT_EQ(attempt("bob", "A@example.org"), "conflict email_exists");
  EXPECT_FALSE(w.session_of("alice").is_admin);
  run(w.people.set_registration(false, admin.id, kHere));
  EXPECT_EQ(attempt("bob", ""), "forbidden registration_disabled");
  EXPECT_EQ(w.audits("settings.registration"), 2);
  EXPECT_EQ(w.audits("user.register"), 1);
}

}  // namespace
}  // namespace welkin::people
