// The look-up that every request with a session makes, from 64 requests at once on one io thread. BEFORE: a
// job on the blocking pool for each; AFTER: the pipelined executor; GATHERED: as look-ups, many keys in one
// statement. All must find the same rows.
#include <benchmark/benchmark.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/test_db.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/db/db.hpp"

namespace {

namespace asio = boost::asio;
using namespace welkin;

constexpr int kSessions = 20'000, kTasks = 64, kEach = 20;
constexpr db::Stmt kSession{
    "bench.session",
    "select s.id, s.user_id, u.name, u.is_admin, u.access_gen from sessions s"
    " join users u on u.id = s.user_id"
    " where s.access_hash = $1 and s.access_expires_at > now() and not u.is_disabled"};

constexpr db::Stmt kSessionByKey{
    "bench.session_by_key",
    "select k.n, s.id, s.user_id, u.name, u.is_admin, u.access_gen"
    "  from unnest($1::bytea[]) with ordinality k (hash, n)"
    "  join sessions s on s.access_hash = k.hash join users u on u.id = s.user_id"
    " where s.access_expires_at > now() and not u.is_disabled"};

Sha256 hash_of(std::int64_t i) { return crypto::sha256("token " + std::to_string(i)); }

/// A database with many sessions, a pool, and an io_context with a pipeline.
struct Bench {
  Bench() : db(config(test_db.url())) {
    test_db.script(
        "insert into users (name, login, display_name) select 'u' || i, 'u' || i, 'U' from "
        "generate_series(1, 1000) i;"
        "insert into sessions (user_id, access_hash, access_expires_at, refresh_hash, refresh_expires_at, "
        "ends_at,"
        "                      address, user_agent)"
        " select (select min(id) from users) + i % 1000, sha256(convert_to('token ' || i, 'UTF8')), now() + "
        "'1 day',"
        "        sha256(convert_to('refresh ' || i, 'UTF8')), now() + '1 day', now() + '1 day', '', ''"
        "   from generate_series(1, " +
        std::to_string(kSessions) + ") i; analyze");
    db.attach_pipeline(io);
    io.run_for(std::chrono::milliseconds(300));  // until its connections are open
  }
  ~Bench() { db.close(); }

  static db::PoolConfig config(const std::string& url) {
    db::PoolConfig c;
    c.url = url;
    c.io_threads = 1;
    return c;
  }
  Task<db::Rows> before(std::int64_t i) {
    const auto hash = hash_of(i);
    co_return co_await db.read([&](db::Tx& tx) { return tx.exec(kSession, hash); });
  }
  Task<db::Rows> after(std::int64_t i) { return db.query(kSession, db::Params(hash_of(i))); }

  Task<int> count_before(std::int64_t i) { co_return (co_await before(i)).size(); }
  Task<int> count_after(std::int64_t i) { co_return (co_await after(i)).size(); }
  Task<int> count_gathered(std::int64_t i) {
    co_return co_await db.look_up(kSessionByKey, hash_of(i)) ? 1 : 0;
  }

  tests::TestDb test_db;
  asio::io_context io{1};
  db::Db db;
};

Bench& bench() {
  static Bench b;
  return b;
}

using Arm = Task<int> (Bench::*)(std::int64_t);

Task<> ask(Bench& b, Arm arm, std::int64_t from, int& running, std::int64_t& found) {
  for (std::int64_t i = 0; i < kEach; ++i) {
    found += co_await (b.*arm)(1 + (from + i * 7919) % kSessions);
  }
  if (--running == 0) b.io.stop();
}

void run(benchmark::State& state, Arm arm) {
  Bench& b = bench();
  std::int64_t found = 0, from = 0;
  for (auto _ : state) {
    int running = kTasks;
    for (int t = 0; t < kTasks; ++t)
      asio::co_spawn(b.io, ask(b, arm, from += 101, running, found), asio::detached);
    b.io.restart();
    b.io.run();
  }
  if (found != static_cast<std::int64_t>(state.iterations()) * kTasks * kEach) {
    std::fprintf(stderr, "an arm missed sessions\n");
    std::exit(1);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kTasks * kEach);
}

void BM_SessionLookup_Before(benchmark::State& state) { run(state, &Bench::count_before); }
void BM_SessionLookup_After(benchmark::State& state) { run(state, &Bench::count_after); }
void BM_SessionLookup_Gathered(benchmark::State& state) { run(state, &Bench::count_gathered); }
BENCHMARK(BM_SessionLookup_Before)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SessionLookup_Gathered)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SessionLookup_After)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

// A write of two statements. BEFORE: BEGIN, the transaction's number and COMMIT are round trips of their own;
// AFTER: BEGIN and the number travel with the first statement. Both leave the same row behind.
constexpr db::Stmt kTouch{"bench.touch", "update sessions set user_agent = $2 where id = $1"};
constexpr db::Stmt kGen{"bench.gen", "select access_gen from users where id = (select min(id) from users)"};
constexpr db::Stmt kBegin{"bench.begin", "begin"}, kCommit{"bench.commit", "commit"};
constexpr db::Stmt kXid{"bench.xid", "select pg_current_xact_id_if_assigned()"};

void write_before(db::Db& db, std::int64_t id, const std::string& agent) {
  db.read_now([&](db::Tx& tx) {
    tx.exec(kBegin);
    tx.exec(kTouch, id, agent);
    tx.exec(kGen);
    tx.exec(kXid);
    tx.exec(kCommit);
  });
}
void write_after(db::Db& db, std::int64_t id, const std::string& agent) {
  db.write_now([&](db::Tx& tx) {
    tx.exec(kTouch, id, agent);
    tx.exec(kGen);
  });
}

void write(benchmark::State& state, void (*arm)(db::Db&, std::int64_t, const std::string&)) {
  Bench& b = bench();
  std::int64_t i = 0;
  for (auto _ : state) {
    ++i;
    arm(b.db, 1 + i % kSessions, "agent " + std::to_string(i));
  }
  constexpr db::Stmt kAgent{"bench.agent", "select user_agent from sessions where id = $1"};
  const auto left = b.db.read_now([&](db::Tx& tx) { return tx.one(kAgent, 1 + i % kSessions)[0].str(0); });
  if (left == "agent " + std::to_string(i)) return;
  std::fprintf(stderr, "the write was lost\n");
  std::exit(1);
}
void BM_WriteOfTwo_Before(benchmark::State& state) { write(state, write_before); }
void BM_WriteOfTwo_After(benchmark::State& state) { write(state, write_after); }
BENCHMARK(BM_WriteOfTwo_Before)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_WriteOfTwo_After)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMicrosecond);

void require_equal() {
  Bench& b = bench();
  asio::co_spawn(
      b.io,
      [&b]() -> Task<> {
        for (std::int64_t i = 0; i <= kSessions; i += 37) {
          const auto one = co_await b.before(i), two = co_await b.after(i);
          bool same = one.size() == two.size();
          for (int r = 0; same && r < one.size(); ++r) {
            same = one[r].i64(0) == two[r].i64(0) && one[r].i64(1) == two[r].i64(1) &&
                   one[r].text(2) == two[r].text(2) && one[r].boolean(3) == two[r].boolean(3) &&
                   one[r].i64(4) == two[r].i64(4);
          }
          const auto three = co_await b.db.look_up(kSessionByKey, hash_of(i));
          same = same && one.empty() == !three;
          if (same && three) {
            const db::Row row = **three;
            same = one[0].i64(0) == row.i64(1) && one[0].i64(1) == row.i64(2) &&
                   one[0].text(2) == row.text(3) && one[0].boolean(3) == row.boolean(4) &&
                   one[0].i64(4) == row.i64(5);
          }
          if (same && (i == 0) == one.empty()) continue;
          std::fprintf(stderr, "the arms differ at session %lld\n", static_cast<long long>(i));
          std::exit(1);
        }
        b.io.stop();
      },
      asio::detached);
  b.io.restart();
  b.io.run();
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  require_equal();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
