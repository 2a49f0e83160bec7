// The text of a digest. BEFORE: a heap text of its own for each byte, appended to a growing one: 18
// allocations for MD5, 35 for SHA-256. AFTER: `text::hex`, one string. INTO: appended to what is being
// written anyway, which has room. All must give the same text. Finalize: the end of a running digest and its
// text.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

using namespace welkin;

std::string hex_before(ByteView digest) {
  std::string out;
  for (const std::byte b : digest) {
    const auto two = std::make_unique<char[]>(3);
    std::snprintf(two.get(), 3, "%02x", std::to_integer<unsigned>(b));
    out += two.get();
  }
  return out;
}

template <std::size_t N>
std::array<std::byte, N> digest_of(std::uint64_t seed) {
  std::array<std::byte, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = static_cast<std::byte>(seed * 131 + i * 17);
  return out;
}

void report(benchmark::State& state, std::uint64_t before) {
  state.counters["allocs"] =
      static_cast<double>(allocations.load() - before) / static_cast<double>(state.iterations());
}

template <std::size_t N>
void BM_Hex_Before(benchmark::State& state) {
  const auto digest = digest_of<N>(1);
  const auto start = allocations.load();
  for (auto _ : state) benchmark::DoNotOptimize(hex_before(digest).data());
  report(state, start);
}
template <std::size_t N>
void BM_Hex_After(benchmark::State& state) {
  const auto digest = digest_of<N>(1);
  const auto start = allocations.load();
  for (auto _ : state) benchmark::DoNotOptimize(text::hex(digest).data());
  report(state, start);
}
template <std::size_t N>
void BM_Hex_Into(benchmark::State& state) {
  const auto digest = digest_of<N>(1);
  std::string page;
  page.reserve(4096);
  const auto start = allocations.load();
  for (auto _ : state) {
    page.clear();
    text::append_hex(page, digest);
    benchmark::DoNotOptimize(page.data());
  }
  report(state, start);
}
BENCHMARK(BM_Hex_Before<16>);
BENCHMARK(BM_Hex_After<16>);
BENCHMARK(BM_Hex_Into<16>);
BENCHMARK(BM_Hex_Before<32>);
BENCHMARK(BM_Hex_After<32>);
BENCHMARK(BM_Hex_Into<32>);

/// What a finished upload pays: the digest of its last block and the text of it, into the answer.
void BM_Finalize_After(benchmark::State& state) {
  crypto::Sha256Stream stream;
  const auto block = digest_of<32>(7);
  std::string page;
  page.reserve(4096);
  stream.update(block);
  stream.finish();
  const auto start = allocations.load();
  for (auto _ : state) {
    page.clear();
    stream.update(block);
    const Sha256 digest = stream.finish();
    text::append_hex(page, std::as_bytes(std::span(digest)));
    benchmark::DoNotOptimize(page.data());
  }
  report(state, start);
}
BENCHMARK(BM_Finalize_After);

bool arms_agree() {
  for (unsigned value = 0; value < 256; ++value) {
    auto digest = digest_of<32>(value);
    digest[0] = static_cast<std::byte>(value);
    std::string into = "x";
    text::append_hex(into, digest);
    if (hex_before(digest) != text::hex(digest) || into != "x" + text::hex(digest)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!arms_agree()) {
    std::fputs("the arms differ\n", stderr);
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
