// One body of 1 GiB (WELKIN_BENCH_MIB) from the page cache: hashed, cut, durable, recorded.
//   peer    sha256sum of the file, then a durable copy of it (dd conv=fsync)
//   BEFORE  the same chunk code on one thread, one flush after another
//   AFTER   the store's sink: receiving, hashing, cutting and flushing at the same time
// The arms must agree on the hash of the whole and of every chunk. `cpu` is seconds of this process (or the
// peer's).
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "bench_store.hpp"
#include "blobs/chunk_writer.hpp"
#include "blobs/pg_chunk_rows.hpp"
#include "blobs/posix_vfs.hpp"
#include "blobs/record.hpp"
#include "support/run.hpp"
#include "welkin/core/text.hpp"

namespace welkin::blobs {
namespace {

std::size_t body_bytes() {
  const char* wanted = std::getenv("WELKIN_BENCH_MIB");
  return (wanted ? std::strtoull(wanted, nullptr, 10) : 1024) << 20;
}

/// The store, and the body as a mapped file beside it.
struct Scene {
  Scene() : file(store.path() / "body") {
    const Bytes block = bench_bytes(64 << 20, 7);
    std::ofstream out(file, std::ios::binary);
    // Each round begins elsewhere in the same random bytes, so that whole chunks come twice but nothing is
    // regular.
    for (std::size_t at = 0, round = 0; at < body_bytes(); ++round) {
      const std::size_t from = round * 1'234'567 % (32 << 20);
      const std::size_t n = std::min(body_bytes() - at, block.size() - from);
      out.write(reinterpret_cast<const char*>(block.data()) + from, static_cast<std::streamsize>(n));
      at += n;
    }
    out.close();
    const Fd fd(::open(file.c_str(), O_RDONLY));
    if (::fsync(fd.get()) != 0) arms_differ("the body cannot be written");
    void* mapped = ::mmap(nullptr, body_bytes(), PROT_READ, MAP_SHARED | MAP_POPULATE, fd.get(), 0);
    if (mapped == MAP_FAILED) arms_differ("the body cannot be mapped");
    body = {static_cast<const std::byte*>(mapped), body_bytes()};
  }
  BenchStore store;
  std::filesystem::path file;
  ByteView body;
};

Scene& scene() {
  static Scene all;
  return all;
}

double cpu_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Outcome {
  Sha256 sha256;
  std::vector<Sha256> chunks;
  bool operator==(const Outcome&) const = default;
};

/// All arms must come to the same.
void compare(const Outcome& outcome) {
  static std::optional<Outcome> first;
  if (!first) first = outcome;
  if (*first != outcome) arms_differ("the arms stored different chunks");
}

std::string shell_words(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[256];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe)) out += buffer;
  if (!pipe || ::pclose(pipe) != 0) arms_differ(command + " failed");
  return out;
}

void BM_StorePeer(benchmark::State& state) {
  const std::string file = scene().file.string(), copy = file + ".copy";
  const double cpu = cpu_seconds(RUSAGE_CHILDREN);
  for (auto _ : state) {
    const std::string sum = shell_words("sha256sum " + file);
    shell_words("dd if=" + file + " of=" + copy + " bs=1M conv=fsync status=none");
    state.PauseTiming();
    std::filesystem::remove(copy);
    const Sha256 expected = crypto::sha256(scene().body);
    if (!sum.starts_with(text::hex(std::as_bytes(std::span(expected)))))
      arms_differ("sha256sum sees another body");
    scene().store.clear();
    state.ResumeTiming();
  }
  state.counters["cpu"] =
      benchmark::Counter(cpu_seconds(RUSAGE_CHILDREN) - cpu, benchmark::Counter::kAvgIterations);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * body_bytes()));
}

Outcome recorded(const Sha256& whole) {
  static constexpr db::Stmt kChunks{"bench.chunks", R"(
    select c.sha256 from content_chunks p join chunks c on c.id = p.chunk_id
     where content_id = (select max(id) from contents) order by off)"};
  Outcome out{whole, {}};
  scene().store.db().read_now([&](db::Tx& tx) {
    for (const auto row : tx.exec(kChunks)) {
      Sha256 hash;
      std::copy_n(reinterpret_cast<const std::uint8_t*>(row.bytes(0).data()), hash.size(), hash.begin());
      out.chunks.push_back(hash);
    }
  });
  return out;
}

Sealed store_serially(Ground& ground) {
  ChunkIds ids(ground.rows);
  ChunkWriter writer(ground, ids, ChunkWriter::Cuts::by_content);
  crypto::Sha256Stream whole;
  Sealed sealed;
  std::vector<PlacedChunk> placed;
  const auto flush = [&] {
    const auto batch = make_durable(ground, writer.take_batch());
    placed.insert(placed.end(), batch.begin(), batch.end());
  };
  for (ByteView rest = scene().body; !rest.empty();) {
    const ByteView block = rest.first(std::min<std::size_t>(rest.size(), 256 << 10));
    const std::size_t taken = writer.write(block);
    whole.update(block.first(taken));
    rest = rest.subspan(taken);
    if (taken < block.size()) flush();
  }
  writer.end();
  flush();
  sealed.body = placed;
  sealed.size_bytes = scene().body.size();
  sealed.crc32 = writer.crc32();
  sealed.sha256 = whole.finish();
  sealed.outcome = std::make_shared<Sealed::Outcome>();
  return sealed;
}

void BM_StoreBefore(benchmark::State& state) {
  auto& store = scene().store;
  PosixVfs vfs((store.path() / "data").string());
  PgChunkRows rows(store.db());
  Health health;
  LivingSpool living;
  Ground ground{vfs,
                rows,
                health,
                living,
                [](std::size_t n, const std::function<void(std::size_t)>& f) {
                  for (std::size_t i = 0; i < n; ++i) f(i);
                },
                [](const std::string&) {}};
  double cpu = 0;
  for (auto _ : state) {
    const double before = cpu_seconds(RUSAGE_SELF);
    const Sealed sealed = store_serially(ground);
    store.db().write_now([&](db::Tx& tx) { store.store().record(tx, {&sealed}); });
    cpu += cpu_seconds(RUSAGE_SELF) - before;
    state.PauseTiming();
    compare(recorded(sealed.sha256));
    store.store().committed(sealed);
    store.clear();
    state.ResumeTiming();
  }
  state.counters["cpu"] = benchmark::Counter(cpu, benchmark::Counter::kAvgIterations);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * body_bytes()));
}

Task<Sealed> pour(BenchStore& store, ByteView body) {
  const auto sink = store.store().sink(
      {.size_hint = body.size(), .upload = [&store]() -> Task<UploadId> { co_return store.new_upload(); }});
  while (!body.empty()) {
    const ByteView piece = body.first(std::min<std::size_t>(body.size(), 64 << 10));
    body = body.subspan(piece.size());
    co_await sink->write(piece);
  }
  co_return co_await sink->seal();
}

void BM_StoreAfter(benchmark::State& state) {
  auto& store = scene().store;
  double cpu = 0;
  for (auto _ : state) {
    const double before = cpu_seconds(RUSAGE_SELF);
    const Sealed sealed = tests::run(pour(store, scene().body));
    store.db().write_now([&](db::Tx& tx) { store.store().record(tx, {&sealed}); });
    cpu += cpu_seconds(RUSAGE_SELF) - before;
    state.PauseTiming();
    compare(recorded(sealed.sha256));
    store.store().committed(sealed);
    store.clear();
    state.ResumeTiming();
  }
  state.counters["cpu"] = benchmark::Counter(cpu, benchmark::Counter::kAvgIterations);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * body_bytes()));
}

BENCHMARK(BM_StorePeer)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);
BENCHMARK(BM_StoreBefore)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);
BENCHMARK(BM_StoreAfter)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

}  // namespace
}  // namespace welkin::blobs
