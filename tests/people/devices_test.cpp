#include "welkin/people/devices.hpp"

#include <thread>

#include "people/people_fixture.hpp"
#include "welkin/people/directory.hpp"
#include "welkin/people/presence.hpp"

namespace welkin::people {
namespace {

using namespace std::chrono_literals;

std::optional<Devices::Admitted> poll(World& w, const std::string& token) {
  return run(w.people.devices().poll(token, kHere));
}
void grant(World& w, const Caller& caller, const std::string& token, const std::string& login = "") {
  run(w.people.devices().grant(caller, token, login, kHere));
}

TEST(Devices, ComeInOnceTheirOwnerHasAgreed) {
  World w;
  w.user("alice", false, "alice@example.org");
  const auto owner = w.session_of("alice");
  Origin phone = kHere;
  phone.user_agent = "  Phone of Alice\n(app)  ";
  const auto begun = run(w.people.devices().begin(phone));
  EXPECT_EQ(begun.poll_token.size(), 128u);
  EXPECT_EQ(begun.page_token.size(), 128u);
  const auto waiting = run(w.people.devices().waiting(begun.page_token));
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->device.find('\n'), std::string::npos);
  EXPECT_EQ(waiting->address, kHere.address);
  EXPECT_FALSE(waiting->is_granted);
  EXPECT_FALSE(run(w.people.devices().waiting(begun.poll_token)))
      << "the two tokens do not stand for each other";
  EXPECT_FALSE(poll(w, begun.poll_token));

  grant(w, owner, begun.page_token, "alice@example.org");
  EXPECT_TRUE(run(w.people.devices().waiting(begun.page_token))->is_granted);
  EXPECT_EQ(outcome([&] { grant(w, owner, begun.page_token); }), "conflict already_granted");
  EXPECT_FALSE(poll(w, begun.page_token));
  EXPECT_EQ(w.number("select count(*) from app_passwords"), 0) << "made when it is fetched";
  const auto admitted = poll(w, begun.poll_token);
  ASSERT_TRUE(admitted);
  EXPECT_EQ(admitted->login, "alice@example.org");
  EXPECT_FALSE(poll(w, begun.poll_token)) << "once";
  EXPECT_TRUE(w.basic("alice", admitted->app_password, protocols::kNextcloud));
  EXPECT_TRUE(w.basic("alice@example.org", admitted->app_password, protocols::kCaldav));
  EXPECT_FALSE(w.basic("alice", admitted->app_password, protocols::kRest));
  EXPECT_EQ(run(w.people.app_passwords(owner)).at(0).label, waiting->device);
  EXPECT_EQ(w.audits("device.grant"), 1);
  EXPECT_EQ(w.audits("app_password.create"), 1);
}

TEST(Devices, WaitForTwentyMinutes) {
  World w;
  w.user("alice");
  const auto early = run(w.people.devices().begin(kHere)), late = run(w.people.devices().begin(kHere));
  grant(w, w.session_of("alice"), early.page_token);
  w.clock.advance(1200s);
  EXPECT_FALSE(poll(w, early.poll_token)) << "agreed, and not fetched in time";
  EXPECT_FALSE(run(w.people.devices().waiting(late.page_token)));
  EXPECT_EQ(outcome([&] { grant(w, w.session_of("alice"), late.page_token); }), "not_found no_such_login");
  w.people.prune();
  EXPECT_EQ(w.number("select count(*) from device_logins"), 0);
}

TEST(Devices, OfManyThatAskAtOnceOneGetsThePassword) {
  World w;
  w.user("alice");
  const auto begun = run(w.people.devices().begin(kHere));
  grant(w, w.session_of("alice"), begun.page_token);
  std::atomic<int> got{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { got += poll(w, begun.poll_token) ? 1 : 0; });
  for (auto& t : threads) t.join();
  EXPECT_EQ(got, 1);
  EXPECT_EQ(w.number("select count(*) from app_passwords"), 1);
}

TEST(Devices, AreLetInByASessionOnlyAndNotForWhoIsDisabled) {
  World w;
  const auto alice = w.user("alice");
  w.user("root", true);
  const auto by_password = w.basic("alice", kSecret).value();
  const auto begun = run(w.people.devices().begin(kHere));
  EXPECT_EQ(outcome([&] { grant(w, by_password, begun.page_token); }), "forbidden session_required");
  grant(w, w.session_of("alice"), begun.page_token);
  run(w.people.set_disabled(alice.id, true, {}, kHere));
  EXPECT_FALSE(poll(w, begun.poll_token));
}

TEST(Devices, TheirPasswordsAreMadeByPasswordsAndEndThemselves) {
  World w;
  w.user("alice");
  auto devices = w.people.devices();
  const auto secret = run(devices.app_password(w.basic("alice", kSecret).value(), "tablet", kHere));
  const auto caller = w.basic("alice", secret, protocols::kNextcloud).value();
  EXPECT_EQ(outcome([&] { run(devices.app_password(caller, "another", kHere)); }),
            "forbidden password_required");
  EXPECT_EQ(outcome([&] { run(devices.revoke_own(w.session_of("alice"), kHere)); }),
            "forbidden not_an_app_password");
  run(devices.revoke_own(caller, kHere));
  EXPECT_FALSE(w.basic("alice", secret, protocols::kNextcloud));
}

TEST(Standings, EndWithWhatTheyRestOn) {
  World w;
  const auto alice = w.user("alice");
  auto devices = w.people.devices();
  const auto owner = w.session_of("alice");
  const auto secret = run(devices.app_password(owner, "phone", kHere));
  const auto app = w.basic("alice", secret, protocols::kNextcloud).value();
  const auto account = w.basic("alice", kSecret).value();
  const auto renewed = [&](const Caller& c) { return run(devices.renew(standing_of(c))); };
  for (const auto* caller : {&owner, &app, &account}) {
    const auto now = renewed(*caller);
    ASSERT_TRUE(now);
    EXPECT_EQ(now->name, "alice");
    EXPECT_EQ(now->protocol_mask, caller->protocol_mask);
    EXPECT_EQ(now->subjects, caller->subjects);
  }
  run(devices.revoke_own(app, kHere));
  EXPECT_FALSE(renewed(app));
  EXPECT_TRUE(renewed(account));
  run(w.people.change_password(owner, kSecret, "another good password", kHere));
  EXPECT_FALSE(renewed(account));
  EXPECT_FALSE(renewed(owner));
  const auto next = run(w.people.login("alice", "another good password", kHere));
  const auto again = w.bearer(next.access_token).value();
  EXPECT_TRUE(renewed(again));
  w.user("root", true);
  run(w.people.set_disabled(alice.id, true, {}, kHere));
  EXPECT_FALSE(renewed(again));
}

TEST(Tickets, AreGoodOnceForOneThingAndNotForLong) {
  World w;
  w.user("alice");
  auto devices = w.people.devices();
  const auto caller = w.session_of("alice");
  const auto token = run(devices.issue(caller, Purpose::edit_page, NodeId{17}, 10));
  EXPECT_FALSE(run(devices.redeem(token, Purpose::push)));
  const auto seen = run(devices.look(token, Purpose::edit_page));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->node, NodeId{17});
  EXPECT_EQ(seen->caller.user, caller.user);
  EXPECT_TRUE(run(devices.redeem(token, Purpose::edit_page)));
  EXPECT_FALSE(run(devices.redeem(token, Purpose::edit_page)));
  const auto brief = run(devices.issue(caller, Purpose::push, {}, 10));
  w.clock.advance(10s);
  EXPECT_FALSE(run(devices.redeem(brief, Purpose::push)));
  const auto orphan = run(devices.issue(caller, Purpose::push, {}, 10));
  run(w.people.logout(caller, kHere));
  EXPECT_FALSE(run(devices.redeem(orphan, Purpose::push)));
  w.clock.advance(10s);
  w.people.prune();
  EXPECT_EQ(w.number("select count(*) from one_time_tokens"), 0);
}

TEST(Presences, CountWhatWasChosenAndElseWhatWasHeard) {
  World w;
  const auto alice = w.user("alice");
  auto presences = w.people.presences();
  EXPECT_FALSE(run(presences.of(alice.id)));
  run(presences.heard(alice.id, "online"));
  EXPECT_EQ(run(presences.of(alice.id))->state, "online");
  w.clock.advance(11min);
  EXPECT_EQ(run(presences.of(alice.id))->state, "offline");
  run(presences.choose(alice.id, "dnd"));
  run(presences.heard(alice.id, "away"));
  w.clock.advance(24h);
  EXPECT_EQ(run(presences.of(alice.id))->state, "dnd");
  EXPECT_TRUE(run(presences.of(alice.id))->is_chosen);
  EXPECT_EQ(outcome([&] { run(presences.choose(alice.id, "asleep")); }), "invalid bad_state");
  EXPECT_EQ(outcome([&] { run(presences.heard(alice.id, "dnd")); }), "invalid bad_state");
}

TEST(Presences, MessagesAreShortAndRunOut) {
  World w;
  const auto alice = w.user("alice");
  auto presences = w.people.presences();
  run(presences.say(alice.id, "", "🌴", std::string(80, 'x'), w.clock.now() + 60'000'000));
  EXPECT_EQ(run(presences.of(alice.id))->icon, "🌴");
  w.clock.advance(60s);
  EXPECT_EQ(run(presences.of(alice.id))->message, "");
  const auto refused = [&](const std::string& icon, const std::string& message,
                           std::optional<Micros> at = {}) {
    return outcome([&] { run(presences.say(alice.id, "", icon, message, at)); });
  };
  EXPECT_EQ(refused("", std::string(81, 'x')), "invalid bad_message");
  EXPECT_EQ(refused("", "a\nb"), "invalid bad_message");
  EXPECT_EQ(refused("word", ""), "invalid bad_icon");
  EXPECT_EQ(refused("", "", w.clock.now()), "invalid bad_time");
  EXPECT_EQ(refused("1\xEF\xB8\x8F\xE2\x83\xA3", "ü" + std::string(79, 'x')), "ok");
}

}  // namespace
}  // namespace welkin::people
