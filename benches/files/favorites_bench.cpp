// Whether a user may read the 200 items he marks as favourites. BEFORE, in two arms: the gate asked for one
// item after the other; and for all at once, each by a task of its own over the connections of the pool (a
// fan-out). AFTER: one statement, which asks the gate once for each folder. All must find the same items. In
// one folder, and in 200.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <vector>

#include "files/mark_store.hpp"
#include "files/node_store.hpp"
#include "scene.hpp"

namespace welkin::files {
namespace {

constexpr int kItems = 200;

/// 200 files: all in one folder, or each in a folder of its own.
const std::vector<NodeId>& items(bool spread) {
  static std::vector<NodeId> made[2];
  auto& out = made[spread ? 1 : 0];
  if (!out.empty()) return out;
  auto& s = Scene::instance();
  const NodeId top = run(s.room.files->create_folder(s.alice, s.here, s.fresh("marked"))).id;
  for (int i = 0; i < kItems; ++i) {
    const NodeId folder = spread ? run(s.room.files->create_folder(s.alice, top, std::to_string(i))).id : top;
    out.push_back(s.room.put(s.alice, folder, "file " + std::to_string(i), "x").node.id);
  }
  return out;
}

std::int64_t serial(const std::vector<NodeId>& wanted) {
  auto& s = Scene::instance();
  return s.room.database.db().read_now([&](db::Tx& tx) {
    std::int64_t readable = 0;
    for (const auto id : wanted) readable += store::find(tx, s.alice, id).has_value();
    return readable;
  });
}

Task<> look(db::Db& db, const Caller& caller, NodeId id, std::int64_t& readable, std::size_t& left,
            boost::asio::executor_work_guard<Executor>& keep) {
  const bool found = co_await db.read([&](db::Tx& tx) { return store::find(tx, caller, id).has_value(); });
  readable += found;
  if (--left == 0) keep.reset();
}

std::int64_t fan_out(const std::vector<NodeId>& wanted) {
  auto& s = Scene::instance();
  boost::asio::io_context io(1);
  boost::asio::executor_work_guard<Executor> keep(io.get_executor());
  std::int64_t readable = 0;
  std::size_t left = wanted.size();
  for (const auto id : wanted)
    boost::asio::co_spawn(io, look(s.room.database.db(), s.alice, id, readable, left, keep),
                          boost::asio::detached);
  io.run();
  return readable;
}

std::int64_t one_set(const std::vector<NodeId>& wanted) {
  auto& s = Scene::instance();
  return s.room.database.db().read_now(
      [&](db::Tx& tx) { return store::count_readable(tx, s.alice, wanted); });
}

void ask(benchmark::State& state, std::int64_t (*arm)(const std::vector<NodeId>&)) {
  const auto& wanted = items(state.range(0) != 0);
  if (arm(wanted) != kItems || one_set(wanted) != kItems) arms_differ("what can be read");
  for (auto _ : state) benchmark::DoNotOptimize(arm(wanted));
}
void BM_Favorites200_Before_Serial(benchmark::State& state) { ask(state, serial); }
void BM_Favorites200_Before_FanOut(benchmark::State& state) { ask(state, fan_out); }
void BM_Favorites200_After_OneSet(benchmark::State& state) { ask(state, one_set); }
BENCHMARK(BM_Favorites200_Before_Serial)
    ->ArgName("folders")
    ->Arg(0)
    ->Arg(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Favorites200_Before_FanOut)
    ->ArgName("folders")
    ->Arg(0)
    ->Arg(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Favorites200_After_OneSet)
    ->ArgName("folders")
    ->Arg(0)
    ->Arg(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace welkin::files

BENCHMARK_MAIN();
