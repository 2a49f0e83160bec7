// Small bodies (4 KiB) into PostgreSQL, 64 of them. BEFORE: each in a transaction of its own. AFTER: recorded
// together, in groups of 8 and of 64, as the gatherer hands them over. Both arms must leave the same bodies.
#include <benchmark/benchmark.h>

#include "bench_store.hpp"
#include "support/run.hpp"

namespace welkin::blobs {
namespace {

constexpr std::size_t kBodies = 64;

Task<Sealed> seal(Store& store, Bytes body) {
  const auto sink = store.sink({.size_hint = body.size(), .upload = {}});
  co_await sink->write(body);
  co_return co_await sink->seal();
}

std::vector<Sealed> sealed_bodies(Store& store) {
  std::vector<Sealed> out;
  for (std::size_t i = 0; i < kBodies; ++i) out.push_back(tests::run(seal(store, bench_bytes(4096, i))));
  return out;
}

void check_bodies(BenchStore& store) {
  static constexpr db::Stmt kSound{"bench.sound", R"(
    select count(distinct c.sha256) from contents c join inline_bodies b on b.content_id = c.id
     where sha256(b.body) = c.sha256 and length(b.body) = c.size)"};
  const auto n = store.db().read_now([](db::Tx& tx) { return tx.one(kSound)[0].i64(0); });
  if (n != static_cast<std::int64_t>(kBodies)) arms_differ("bodies are missing or wrong");
}

void BM_RecordInline(benchmark::State& state) {
  static BenchStore store;
  const auto group = static_cast<std::size_t>(state.range(0));
  const auto bodies = sealed_bodies(store.store());
  for (auto _ : state) {
    for (std::size_t at = 0; at < bodies.size(); at += group) {
      std::vector<const Sealed*> together;
      for (std::size_t i = at; i < at + group; ++i) together.push_back(&bodies[i]);
      store.db().write_now([&](db::Tx& tx) { store.store().record(tx, together); });
    }
  }
  check_bodies(store);
  store.db().write_now([](db::Tx& tx) { tx.script("delete from contents"); });
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kBodies));
}

BENCHMARK(BM_RecordInline)
    ->ArgName("group")
    ->Arg(1)
    ->Arg(8)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace welkin::blobs
