// Who a request is from, on every request. BEFORE: the same statement as one job on the blocking pool. AFTER:
// through the io thread's pipelined connection. 64 requests in flight on one io thread, 1,000 sessions.
// Basic: BEFORE runs Argon2 for every request at the default cost, AFTER remembers for a minute.
#include <benchmark/benchmark.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/people/people.hpp"

namespace welkin {
namespace {

constexpr int kSessions = 1000;
constexpr int kInFlight = 64;
constexpr int kRequests = 4096;

/// As in src/people/authenticate.cpp, for the arm that does not use it.
constexpr db::Stmt kByAccessToken{"bench.by_access_token", R"(
  select s.id, s.last_used_at, u.id, u.name, u.is_admin,
         array(select m.group_id from group_members m where m.user_id = u.id)
    from sessions s join users u on u.id = s.user_id
   where s.access_hash = $1 and s.access_expires_at > to_timestamp($2 / 1e6) and s.ends_at > to_timestamp($2 / 1e6)
     and not u.is_disabled)"};

/// One io thread with its pipeline, a database with people in it.
struct Bench {
  Bench() : config(bench_config()), db(pool(test.url())), people(db, config, clock) {
    db.attach_pipeline(io);
    tests::run(people.create_user(
        {.name = "alice", .password = kPassword, .email = "", .display_name = "", .quota_bytes = {}}, {},
        {}));
    std::string rows;
    for (int i = 0; i < kSessions; ++i) {
      tokens.push_back(crypto::random_token(32));
      const Sha256 hash = crypto::sha256(tokens.back());
      rows += (i ? ",('" : "('") + text(hash) + "')";
    }
    test.script(
        "insert into sessions (user_id, access_hash, access_expires_at, refresh_hash, refresh_expires_at, "
        "ends_at, "
        "address, user_agent) select (select id from users), decode(h, 'hex'), '2099-1-1', decode('00' || h, "
        "'hex'), "
        "'2099-1-1', '2099-1-1', '', '' from (values " +
        rows + ") x (h); analyze");
  }
  ~Bench() {
    people.close();
    db.close();
  }

  static Config bench_config() {
    Config config;
    config.login_attempts_per_minute = 1'000'000;
    return config;
  }
  static db::PoolConfig pool(const std::string& url) {
    db::PoolConfig config;
    config.url = url;
    config.io_threads = 1;
    return config;
  }
  static std::string text(const Sha256& hash) {
    std::string out;
    char two[3];
    for (const auto byte : hash) {
      std::snprintf(two, sizeof two, "%02x", byte);
      out += two;
    }
    return out;
  }

  /// Runs `kRequests` of them, kInFlight at a time. @return how many callers were found
  template <class Request>
  int flood(Request request) {
    int next = 0, found = 0, running = kInFlight;
    for (int i = 0; i < kInFlight; ++i)
      boost::asio::co_spawn(io, worker(request, next, found), [&](const std::exception_ptr&) { --running; });
    while (running > 0) io.run_one();  // the pipeline always waits for its socket, so `run` would not end
    return found;
  }
  template <class Request>
  static Task<> worker(Request request, int& next, int& found) {
    while (next < kRequests) {
      const auto i = static_cast<std::size_t>(next++);
      if (co_await request(i)) ++found;
    }
  }
  bool once(Task<bool> task) {
    std::optional<bool> out;
    boost::asio::co_spawn(io, std::move(task),
                          [&](const std::exception_ptr& e, bool value) { out = !e && value; });
    while (!out) io.run_one();
    return *out;
  }

  const std::string kPassword = "correct horse battery";
  tests::TestDb test;
  Config config;
  SystemClock clock;
  boost::asio::io_context io{1};
  db::Db db;
  people::People people;
  std::vector<std::string> tokens;
};

Bench& bench() {
  static Bench instance;
  return instance;
}

Task<bool> through_pipeline(std::string token) {
  co_return (co_await bench().people.by_access_token(token, Credential::session_bearer)).has_value();
}

Task<bool> through_pool(std::string token) {
  const Sha256 hash = crypto::sha256(token);
  const Micros now = bench().clock.now();
  const auto rows = co_await bench().db.read([&](db::Tx& tx) { return tx.exec(kByAccessToken, hash, now); });
  if (rows.empty()) co_return false;
  Caller caller;
  caller.session = rows[0].id<SessionId>(0);
  caller.user = rows[0].id<UserId>(2);
  caller.name = rows[0].str(3);
  caller.is_admin = rows[0].boolean(4);
  caller.subjects = rows[0].i64_array(5);
  benchmark::DoNotOptimize(caller);
  co_return true;
}

void check(int found) {
  if (found == kRequests) return;
  std::fprintf(stderr, "the arms are not equivalent: %d of %d callers found\n", found, kRequests);
  std::exit(1);
}

void BM_AccessToken_Before_Pool(benchmark::State& state) {
  auto& b = bench();
  for (auto _ : state) check(b.flood([&](std::size_t i) { return through_pool(b.tokens[i % kSessions]); }));
  state.SetItemsProcessed(state.iterations() * kRequests);
}
BENCHMARK(BM_AccessToken_Before_Pool)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_AccessToken_After_Pipeline(benchmark::State& state) {
  auto& b = bench();
  for (auto _ : state)
    check(b.flood([&](std::size_t i) { return through_pipeline(b.tokens[i % kSessions]); }));
  state.SetItemsProcessed(state.iterations() * kRequests);
}
BENCHMARK(BM_AccessToken_After_Pipeline)->Unit(benchmark::kMillisecond)->UseRealTime();

Task<bool> basic_once(people::People& people, std::string password) {
  co_return (co_await people.by_basic("alice", password, protocols::kWebdav, {})).has_value();
}

void BM_Basic_Before_Argon2(benchmark::State& state) {
  auto& b = bench();
  for (auto _ : state) {
    state.PauseTiming();
    people::People forgetful(b.db, b.config, b.clock);  // remembers nothing yet
    state.ResumeTiming();
    if (!b.once(basic_once(forgetful, b.kPassword))) state.SkipWithError("not signed in");
  }
}
BENCHMARK(BM_Basic_Before_Argon2)->Unit(benchmark::kMicrosecond)->UseRealTime()->Iterations(10);

void BM_Basic_After_Remembered(benchmark::State& state) {
  auto& b = bench();
  if (!b.once(basic_once(b.people, b.kPassword))) state.SkipWithError("not signed in");
  for (auto _ : state)
    if (!b.once(basic_once(b.people, b.kPassword))) state.SkipWithError("not signed in");
}
BENCHMARK(BM_Basic_After_Remembered)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace welkin

BENCHMARK_MAIN();
