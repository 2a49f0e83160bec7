// What must not depend on the size of a tree, and what may: moving, copying and listing, and small uploads
// gathered into one commit against one commit each. Claims are the ratios of the rows of one run. Before
// anything is measured, the copy of a tree must hold what the tree holds.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "files/gatherer.hpp"
#include "files/room.hpp"

namespace {

using namespace welkin;
using namespace welkin::files;

struct Bench {
  Bench() {
    alice = room.user("alice");
    root = room.root(alice);
    here = room.folder(alice, root, "here");
    there = room.folder(alice, root, "there");
    room.put(alice, root, "seed", "12345");
  }
  /// A folder with `files` files, `each` in every folder of it. Rows are put in by the set, sums and all.
  NodeId grow(const std::string& name, int files, int each) {
    const auto top = room.folder(alice, here, name);
    room.sql(
        "with c as (select id, size from contents limit 1), "
        "d as (insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name) "
        "select " +
        std::to_string(top.value) + ", 1, 1, 1, 1, 1, 2, 'd' || i from generate_series(1, " +
        std::to_string((files + each - 1) / each) +
        ") i returning id), "
        "f as (insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, "
        "etag_drive, "
        "kind, name) select d.id, c.id, c.size, 1, 1, 1, 1, 1, 1, 'file ' || i || '.txt' from d, c, "
        "generate_series(1, " +
        std::to_string(each) + ") i) insert into folders select d.id, 1, 1, " + std::to_string(each) +
        " * c.size from d, c");
    room.sql(
        "update folders set bytes_below = (select sum(f.bytes_below) from nodes n join folders f on "
        "f.node_id = n.id "
        "where n.parent_id = " +
        std::to_string(top.value) + ") where node_id = " + std::to_string(top.value));
    room.sql("analyze nodes; analyze folders");
    return top;
  }
  Room room;
  Caller alice;
  NodeId root, here, there;
  int made = 0;
};

Bench& bench() {
  static auto* b = new Bench;
  return *b;
}

void BM_MoveOfAFolderWith(benchmark::State& state) {
  auto& b = bench();
  const auto top = b.grow("move " + std::to_string(state.range(0)), static_cast<int>(state.range(0)), 1000);
  bool away = false;
  for (auto _ : state) {
    Files::Move to;
    to.parent = (away = !away) ? b.there : b.here;
    run(b.room.files->move(b.alice, top, to));
  }
}
BENCHMARK(BM_MoveOfAFolderWith)->Arg(10)->Arg(100'000)->Unit(benchmark::kMicrosecond)->Iterations(200);

void BM_CopyOfNodes(benchmark::State& state) {
  auto& b = bench();
  const auto nodes = static_cast<int>(state.range(0));
  const auto top = b.grow("copy " + std::to_string(nodes), nodes, 100);
  for (auto _ : state) {
    Files::Copy to;
    to.parent = b.there;
    to.name = "copy " + std::to_string(++b.made);
    run(b.room.files->copy(b.alice, top, to));
  }
  state.counters["us/node"] = benchmark::Counter(static_cast<double>(state.iterations()) * nodes / 1e6,
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_CopyOfNodes)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond)->Iterations(5);

/// Pages of 200 from the middle of a folder, in the order of the API.
void BM_PageOfAFolderWith(benchmark::State& state) {
  auto& b = bench();
  const auto files = static_cast<int>(state.range(0));
  const auto top = b.grow("list " + std::to_string(files), files, files);
  const auto folder = run(b.room.files->by_path(b.alice, {"here", "list " + std::to_string(files), "d1"})).id;
  (void)top;
  ListQuery query;
  query.limit = 200;
  query.after = run(b.room.files->list(b.alice, folder, {OrderBy::name, false, true, true, 1000, ""})).next;
  for (auto _ : state) benchmark::DoNotOptimize(run(b.room.files->list(b.alice, folder, query)).items.size());
}
BENCHMARK(BM_PageOfAFolderWith)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond)->Iterations(200);

Task<> store_one(Room& room, Gatherer& gatherer, const Caller& caller, DriveId drive, NodeId folder,
                 std::string name) {
  const auto sink = room.store->sink({});
  co_await sink->write(as_bytes(std::string(2000, 'x')));
  const auto body = co_await sink->seal();
  Commit item;
  item.caller = &caller;
  item.drive = drive;
  item.parent = folder;
  item.name = std::move(name);
  item.body = &body;
  co_await gatherer.commit(item);
}

/// 8 writers store 50 files each; Arg: how many may share a commit.
void BM_SmallUploads(benchmark::State& state) {
  auto& b = bench();
  Gatherer gatherer(b.room.database.db(), *b.room.store);
  gatherer.set_group_items_max(static_cast<std::size_t>(state.range(0)));
  const auto drive = run(b.room.files->node(b.alice, b.root)).drive;
  for (auto _ : state) {
    const auto folder = b.room.folder(b.alice, b.there, "uploads " + std::to_string(++b.made));
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int w = 0; w < 8; ++w)
      threads.emplace_back([&, w] {
        for (int i = 0; i < 50; ++i)
          run(store_one(b.room, gatherer, b.alice, drive, folder,
                        std::to_string(w) + "-" + std::to_string(i)));
      });
    for (auto& t : threads) t.join();
  }
  state.SetItemsProcessed(state.iterations() * 400);
}
BENCHMARK(BM_SmallUploads)->Arg(1)->Arg(64)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

bool copies_hold_what_they_copy() {
  auto& b = bench();
  const auto top = b.grow("same", 300, 100);
  Files::Copy to;
  to.parent = b.there;
  to.name = "same";
  const auto made = run(b.room.files->copy(b.alice, top, to)).node;
  return made.size_bytes == run(b.room.files->node(b.alice, top)).size_bytes &&
         b.room.wrong_folder_sums() == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!copies_hold_what_they_copy()) {
    std::fputs("a copy differs from its source\n", stderr);
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
