// What must not depend on the size of a tree, and what may: moving, trashing, listing a page, copying. Claims
// are the ratios of the rows of one run. Before anything is measured, the copy of a tree must hold what the
// tree holds.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "scene.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::files {
namespace {

NodeId tree_of(std::int64_t files) {
  return Scene::instance().tree("tree " + std::to_string(files), static_cast<int>(files), 1'000);
}

void BM_MoveOfAFolderWith(benchmark::State& state) {
  auto& s = Scene::instance();
  const auto top = tree_of(state.range(0));
  for (auto _ : state) {
    Files::Move to;
    to.parent = run(s.room.files->node(s.alice, top)).parent == s.here ? s.there : s.here;
    run(s.room.files->move(s.alice, top, to));
  }
}
BENCHMARK(BM_MoveOfAFolderWith)
    ->Arg(10)
    ->Arg(100'000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(50)
    ->Repetitions(5);

void BM_TrashAndRestoreOfAFolderWith(benchmark::State& state) {
  auto& s = Scene::instance();
  const auto top = tree_of(state.range(0));
  for (auto _ : state) {
    run(s.room.files->trash(s.alice, top));
    run(s.room.files->trash_bin().restore(s.alice, top));
  }
}
BENCHMARK(BM_TrashAndRestoreOfAFolderWith)
    ->Arg(10)
    ->Arg(100'000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(50)
    ->Repetitions(5);

/// 10,001 nodes: 9,900 files in 100 folders.
NodeId copied() { return Scene::instance().tree("copied", 9'900, 99); }

void count_nodes(benchmark::State& state, std::int64_t nodes) {
  state.counters["us/node"] = benchmark::Counter(static_cast<double>(state.iterations() * nodes) / 1e6,
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_CopyOf10001Nodes_After(benchmark::State& state) {
  auto& s = Scene::instance();
  const auto top = copied();
  for (auto _ : state) {
    Files::Copy to;
    to.parent = s.there;
    to.name = s.fresh("copy");
    run(s.room.files->copy(s.alice, top, to));
  }
  count_nodes(state, 10'001);
}
/// As a client would that walks the tree itself: a folder made, a file copied at a time; a twentieth of it.
void BM_CopyOf500Nodes_Before(benchmark::State& state) {
  auto& s = Scene::instance();
  const auto folder = [&](NodeId parent) {
    return run(s.room.files->list(s.alice, parent, {})).items.front().id;
  };
  const auto source = folder(copied());
  ListQuery query;
  query.limit = 99;
  const auto files = run(s.room.files->list(s.alice, source, query)).items;
  for (auto _ : state) {
    const auto top = s.room.folder(s.alice, s.there, s.fresh("by hand"));
    for (int d = 0; d < 5; ++d) {
      const auto to_folder = s.room.folder(s.alice, top, "d" + std::to_string(d));
      for (const auto& file : files) {
        Files::Copy to;
        to.parent = to_folder;
        to.name = file.name;
        run(s.room.files->copy(s.alice, file.id, to));
      }
    }
  }
  count_nodes(state, 501);
}
BENCHMARK(BM_CopyOf500Nodes_Before)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1)
    ->Repetitions(3);
BENCHMARK(BM_CopyOf10001Nodes_After)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1)
    ->Repetitions(5);

/// Pages of 200 from the middle of a folder with so many files, in the order of the API.
void BM_PageOfAFolderWith(benchmark::State& state) {
  auto& s = Scene::instance();
  const auto files = static_cast<int>(state.range(0));
  const auto top = s.tree("list " + std::to_string(files), files, files);
  const auto folder = run(s.room.files->list(s.alice, top, {})).items.front().id;
  ListQuery query;
  query.limit = 200;
  for (int page = 0; page < files / 400; ++page)
    query.after = run(s.room.files->list(s.alice, folder, query)).next;
  for (auto _ : state) benchmark::DoNotOptimize(run(s.room.files->list(s.alice, folder, query)).items.size());
}
BENCHMARK(BM_PageOfAFolderWith)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(100)
    ->Repetitions(5);

void check_copies() {
  auto& s = Scene::instance();
  const auto top = s.tree("same", 300, 100);
  Files::Copy to;
  to.parent = s.there;
  to.name = "same";
  const auto made = run(s.room.files->copy(s.alice, top, to)).node;
  if (made.size_bytes != run(s.room.files->node(s.alice, top)).size_bytes) arms_differ("a copy differs");
  if (s.room.wrong_folder_sums() != 0 || s.room.miscounted_bytes() != 0)
    arms_differ("the drive is not sound");
}

}  // namespace
}  // namespace welkin::files

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  welkin::files::check_copies();
  benchmark::RunSpecifiedBenchmarks();
}
