// Cutting and CRC-32 of 64 MiB in blocks of 256 KiB, as a sink sees them. BEFORE: byte by byte, zlib. AFTER:
// four lanes, carry-less multiplication. Both arms must find the same cuts and the same sum.
#include <benchmark/benchmark.h>

#include "bench_store.hpp"
#include "blobs/chunker.hpp"
#include "blobs/crc32.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::blobs {
namespace {

constexpr std::size_t kBytes = 64 << 20, kBlock = 256 << 10;

const Bytes& body() {
  static const Bytes bytes = bench_bytes(kBytes, 1);
  return bytes;
}

template <class Next>
std::vector<std::size_t> cuts(Next next) {
  Chunker chunker;
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at < kBytes;) {
    const auto step = next(chunker, ByteView(body()).subspan(at, std::min(kBlock, kBytes - at)));
    at += step.taken;
    if (step.cut) out.push_back(at);
  }
  return out;
}

const auto kPlain = [](Chunker& c, ByteView b) { return c.next_plain(b); };
const auto kLanes = [](Chunker& c, ByteView b) { return c.next(b); };

void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(kBytes));
}

void BM_CutBefore(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cuts(kPlain));
  count_bytes(state);
}
void BM_CutAfter(benchmark::State& state) {
  if (cuts(kPlain) != cuts(kLanes)) arms_differ("four lanes cut elsewhere");
  for (auto _ : state) benchmark::DoNotOptimize(cuts(kLanes));
  count_bytes(state);
}
void BM_Crc32Before(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(crc32_plain(0, body()));
  count_bytes(state);
}
void BM_Crc32After(benchmark::State& state) {
  if (crc32_plain(0, body()) != blobs::crc32(0, body())) arms_differ("another CRC-32");
  for (auto _ : state) benchmark::DoNotOptimize(blobs::crc32(0, body()));
  count_bytes(state);
}
/// For scale: what each chunk pays beside the cutting.
void BM_Sha256(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(crypto::sha256(body()));
  count_bytes(state);
}

BENCHMARK(BM_CutBefore)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_CutAfter)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Crc32Before)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Crc32After)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Sha256)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace welkin::blobs
