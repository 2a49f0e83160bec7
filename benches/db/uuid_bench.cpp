// A page of 500 rows with two ids each. TEXT: UUID columns cast to text by the server. BINARY: sent as 16
// bytes and written as text here. KEYS: what our tables have, a bigint, whose public id (one AES block) is
// written at the edge. TEXT and BINARY must give the same text for every row; KEYS must be read back.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/test_db.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/text.hpp"
#include "welkin/db/db.hpp"

namespace {

using namespace welkin;

constexpr db::Stmt kText{
    "bench.uuid_text",
    "select id::text, folder::text, name from bench_rows where at > $1 order by at limit 500"};
constexpr db::Stmt kBinary{"bench.uuid_binary",
                           "select id, folder, name from bench_rows where at > $1 order by at limit 500"};
constexpr db::Stmt kKeys{"bench.uuid_keys",
                         "select at, parent, name from bench_rows where at > $1 order by at limit 500"};
constexpr std::int64_t kRows = 50'000;

struct Bench {
  Bench() {
    test_db.script(
        "create table bench_rows (at bigint primary key, parent bigint not null, id uuid not null, folder "
        "uuid not "
        "null, name text collate \"C\" not null);"
        "insert into bench_rows select i, i / 100 + 1, gen_random_uuid(), gen_random_uuid(), 'IMG_' || i || "
        "'.jpg' "
        "from generate_series(1, 50000) i; analyze bench_rows");
  }
  tests::TestDb test_db;
  PublicIds ids{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
};
Bench& bench() {
  static Bench b;
  return b;
}

void append_uuid(std::string& out, const db::Uuid& id) {
  const auto bytes = std::as_bytes(std::span(id));
  std::size_t at = 0;
  for (const std::size_t group : {4, 2, 2, 2, 6}) {
    if (at != 0) out += '-';
    text::append_hex(out, bytes.subspan(at, group));
    at += group;
  }
}

/// One line a row, into one text, as a page is written.
using Arm = void (*)(const db::Rows&, std::string&);
void write_text(const db::Rows& rows, std::string& out) {
  for (const auto row : rows) {
    // A row of this arm is a string for each id, as decoding text into an object gives it.
    const std::string id = row.str(0), folder = row.str(1);
    out.append(id).append(folder).append(row.text(2)) += '\n';
  }
}
void write_binary(const db::Rows& rows, std::string& out) {
  for (const auto row : rows) {
    append_uuid(out, row.uuid(0));
    append_uuid(out, row.uuid(1));
    out.append(row.text(2)) += '\n';
  }
}
void write_keys(const db::Rows& rows, std::string& out) {
  for (const auto row : rows) {
    out += bench().ids.encode(IdKind::file, row.i64(0));
    out += bench().ids.encode(IdKind::folder, row.i64(1));
    out.append(row.text(2)) += '\n';
  }
}

std::string page(const db::Stmt& stmt, Arm write, std::int64_t after) {
  return bench().test_db.db().read_now([&](db::Tx& tx) {
    std::string out;
    out.reserve(64 << 10);
    write(tx.exec(stmt, after), out);
    return out;
  });
}

void run(benchmark::State& state, const db::Stmt& stmt, Arm write) {
  std::int64_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(page(stmt, write, at).data());
    at = (at + 500) % (kRows - 500);
  }
}
void BM_Page500_Before_Text(benchmark::State& state) { run(state, kText, write_text); }
void BM_Page500_After_Binary(benchmark::State& state) { run(state, kBinary, write_binary); }
void BM_Page500_Ours_Keys(benchmark::State& state) { run(state, kKeys, write_keys); }
BENCHMARK(BM_Page500_Before_Text)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(200)
    ->Repetitions(7);
BENCHMARK(BM_Page500_After_Binary)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(200)
    ->Repetitions(7);
BENCHMARK(BM_Page500_Ours_Keys)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(200)
    ->Repetitions(7);

bool arms_agree() {
  const auto text = page(kText, write_text, 1000);
  if (text.empty() || text != page(kBinary, write_binary, 1000)) return false;
  const auto keys = page(kKeys, write_keys, 1000);
  return bench().ids.decode(IdKind::file, keys.substr(0, 36)) == 1001 &&
         bench().ids.decode(IdKind::folder, keys.substr(36, 36)) == 11;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (!arms_agree()) {
    std::fputs("the arms differ\n", stderr);
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
}
