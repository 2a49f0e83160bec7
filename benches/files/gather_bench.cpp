// Small files (2 KB each, durable) into one drive by 8 writers, each of which waits for its answer before it
// sends the next. BEFORE: every file commits alone. AFTER: whatever waits while a commit runs is the next
// commit. The whole use case is measured: early checks, body, commit. Five rounds of 2,000 files an arm.
//
// Finish: the last call of a long upload, which moves rows and no bytes.
#include <benchmark/benchmark.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "files/upload.hpp"
#include "scene.hpp"

namespace welkin::files {
namespace {

constexpr int kWriters = 8, kEach = 250;

Task<> store_one(std::shared_ptr<UploadRoom> uploads, NodeId folder, std::string name) {
  UploadOptions options;
  options.target = {folder, std::move(name), {}};
  const std::string body = fmt::format("{:<2000}", options.target.name);
  options.size_hint = body.size();
  const auto upload = co_await open_upload(uploads, Scene::instance().alice, options);
  co_await upload->write(as_bytes(body));
  co_await upload->finish();
}

Task<> store_many(std::shared_ptr<UploadRoom> uploads, NodeId folder, int writer) {
  for (int i = 0; i < kEach; ++i)
    co_await store_one(uploads, folder, std::to_string(writer) + "-" + std::to_string(i));
}

void check_folder(NodeId folder) {
  auto& s = Scene::instance();
  const auto files =
      s.room.number(fmt::format("select count(distinct c.sha256) from nodes n join contents c on c.id = "
                                "n.content_id where n.parent_id = {}",
                                folder.value));
  const auto node = run(s.room.files->node(s.alice, folder));
  if (files != kWriters * kEach || node.size_bytes != 2000ull * kWriters * kEach)
    arms_differ("files are missing or wrong");
}

void small_uploads(benchmark::State& state, std::size_t group_items_max) {
  auto& s = Scene::instance();
  SystemClock clock;
  const auto uploads = std::make_shared<UploadRoom>(s.room.database.db(), *s.room.store, clock, false);
  uploads->gatherer.set_group_items_max(group_items_max);
  NodeId folder;
  for (auto _ : state) {
    state.PauseTiming();
    folder = s.room.folder(s.alice, s.there, s.fresh("uploads"));
    boost::asio::io_context io{1};
    std::exception_ptr failure;
    for (int w = 0; w < kWriters; ++w) {
      boost::asio::co_spawn(io, store_many(uploads, folder, w), [&](const std::exception_ptr& e) {
        if (e) failure = e;
      });
    }
    state.ResumeTiming();
    io.run();
    state.PauseTiming();
    if (failure) arms_differ("an upload was refused");
    check_folder(folder);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kWriters * kEach);
}
void BM_SmallFiles_Before_Alone(benchmark::State& state) { small_uploads(state, 1); }
void BM_SmallFiles_After_Gathered(benchmark::State& state) { small_uploads(state, Gatherer::kGroupItemsMax); }
BENCHMARK(BM_SmallFiles_Before_Alone)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1)
    ->Repetitions(5);
BENCHMARK(BM_SmallFiles_After_Gathered)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1)
    ->Repetitions(5);

// An upload whose chunks are all recorded, as it stands before its last call. The rows are put in by the set.
constexpr db::Stmt kMadeUpload{
    "bench.made_upload",
    "insert into uploads (user_id, drive_id, parent_id, expires_at, name) values ($1, "
    "$2, $3, now() + interval '1 day', $4) returning id"};
constexpr db::Stmt kMadeChunks{"bench.made_chunks", R"(
  with b as (select coalesce(max(id), 0) + 1 base from chunks),
  c as (insert into chunks (id, sha256, size, crc32, stored_size)
    select b.base + i, sha256(int8send(b.base + i)), 1048576, 0, 1048576 from b, generate_series(0, $2::bigint - 1) i
    returning id),
  n as (select c.id, row_number() over (order by c.id) - 1 place from c)
  insert into upload_chunks (upload_id, part, off, chunk_id) select $1, 0, n.place * 1048576, n.id from n)"};

void BM_FinishOfAnUploadOfChunks(benchmark::State& state) {
  auto& s = Scene::instance();
  Gatherer gatherer(s.room.database.db(), *s.room.store);
  const std::int64_t chunks = state.range(0);
  const DriveId drive = s.drive();
  for (auto _ : state) {
    state.PauseTiming();
    const std::string name = s.fresh("finished");
    const auto upload = s.room.database.db().write_now([&](db::Tx& tx) {
      const auto id =
          tx.one(kMadeUpload, s.alice.user, static_cast<std::int32_t>(drive.value), s.there, name)[0]
              .id<UploadId>(0);
      tx.exec(kMadeChunks, id, chunks);
      return id;
    });
    blobs::Sealed sealed;
    sealed.body = std::vector<blobs::PlacedChunk>();
    sealed.upload = upload;
    sealed.size_bytes = static_cast<std::uint64_t>(chunks) << 20;
    sealed.sha256.fill(1);
    sealed.outcome = std::make_shared<blobs::Sealed::Outcome>();
    Commit commit;
    commit.caller = &s.alice;
    commit.drive = drive;
    commit.parent = s.there;
    commit.name = name;
    commit.body = &sealed;
    commit.upload = upload;
    state.ResumeTiming();
    const auto done = run(gatherer.commit(commit));
    state.PauseTiming();
    const auto joined = s.room.number(
        fmt::format("select count(*) from content_chunks where content_id = {}", done.content.value));
    if (joined != chunks) arms_differ("chunks were lost");
    state.ResumeTiming();
  }
  state.counters["us/chunk"] = benchmark::Counter(static_cast<double>(state.iterations() * chunks) / 1e6,
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_FinishOfAnUploadOfChunks)
    ->Arg(64)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(2)
    ->Repetitions(5);

}  // namespace
}  // namespace welkin::files

BENCHMARK_MAIN();
