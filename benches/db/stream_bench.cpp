// A listing of 10,000 rows in index order: by key (each page a statement of its own, on the pipeline) against
// a cursor (one snapshot on a leased connection). Time to the first page and to the last; both must give the
// same bytes.
#include <benchmark/benchmark.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/test_db.hpp"
#include "welkin/db/page_stream.hpp"

namespace {

namespace asio = boost::asio;
using namespace welkin;
using Clock = std::chrono::steady_clock;

constexpr int kRows = 10'000;
constexpr db::Stmt kPage{
    "bench.page",
    "select name, id, size, mtime from bench where parent = $1 and name > $2 order by name limit $3"};
constexpr db::Stmt kAll{"bench.all",
                        "select name, id, size, mtime from bench where parent = $1 order by name"};

struct Bench {
  Bench() : db(config(test_db.url())) {
    test_db.script(
        "create table bench (id bigint generated always as identity primary key, parent bigint not null,"
        "  size bigint not null, mtime bigint not null, name text collate \"C\" not null);"
        "insert into bench (parent, size, mtime, name)"
        " select p, i * 17, i::bigint * 1000003, md5(i::text || p) || '.txt' from generate_series(1, 5) p,"
        " generate_series(1, " +
        std::to_string(kRows) + ") i; create unique index on bench (parent, name); analyze bench");
    db.attach_pipeline(io);
    io.run_for(std::chrono::milliseconds(300));
  }
  ~Bench() { db.close(); }
  static db::PoolConfig config(const std::string& url) {
    db::PoolConfig c;
    c.url = url;
    c.io_threads = 1;
    return c;
  }
  tests::TestDb test_db{false};
  asio::io_context io{1};
  db::Db db;
};

Bench& bench() {
  static Bench b;
  return b;
}

struct Result {
  std::string text;
  Clock::duration first{}, total{};
};

// What a listing does with a page: renders it straight from the binary rows.
void render(const db::Rows& rows, std::string& out) {
  for (const auto row : rows) {
    out += row.text(0);
    for (int column = 1; column < 4; ++column) (out += ' ') += std::to_string(row.i64(column));
    out += '\n';
  }
}

template <class Stream>
Task<> drain(Stream stream, Result& result, Clock::time_point begun) {
  while (auto rows = co_await stream.next()) {
    render(*rows, result.text);
    if (result.first == Clock::duration::zero()) result.first = Clock::now() - begun;
  }
  result.total = Clock::now() - begun;
  bench().io.stop();
}

db::PageStream by_key() {
  return {bench().db, kPage, [](const db::Row* last) {
            return db::Params(std::int64_t{3}, last != nullptr ? last->text(0) : std::string_view());
          }};
}
db::CursorStream by_cursor() { return {bench().db, kAll, db::Params(std::int64_t{3})}; }

template <class Stream>
Result once(Stream stream) {
  Result result;
  asio::co_spawn(bench().io, drain(std::move(stream), result, Clock::now()), asio::detached);
  bench().io.restart();
  bench().io.run();
  return result;
}

template <class Make>
void run(benchmark::State& state, Make make) {
  std::vector<double> first;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto result = once(make());
    first.push_back(std::chrono::duration<double, std::micro>(result.first).count());
    bytes = result.text.size();
  }
  std::sort(first.begin(), first.end());
  state.counters["first_us_p50"] = first[first.size() / 2];
  state.counters["bytes"] = static_cast<double>(bytes);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kRows);
}

void BM_Listing_Cursor(benchmark::State& state) { run(state, by_cursor); }
void BM_Listing_Keyset(benchmark::State& state) { run(state, by_key); }
BENCHMARK(BM_Listing_Cursor)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Listing_Keyset)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const auto keyset = once(by_key()).text, cursor = once(by_cursor()).text;
  if (keyset != cursor || std::count(keyset.begin(), keyset.end(), '\n') != kRows) {
    std::fprintf(stderr, "the arms differ: %zu and %zu bytes\n", keyset.size(), cursor.size());
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
