// A form with a file of 64 MiB. BEFORE: the body collected in one string and cut with find. AFTER: the
// streaming reader, which holds no more than the piece in hand. Both must find the same bytes, else the bench
// ends with an error.
#include <benchmark/benchmark.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "welkin/core/crypto.hpp"
#include "welkin/wire/multipart.hpp"

namespace {

using namespace welkin;

constexpr std::size_t kFileBytes = 64 << 20;
constexpr std::size_t kPieceBytes = 256 << 10;
const std::string kBoundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW";

/// Random bytes, so that a CR stands in every 256th place: what pictures and archives look like.
const std::string& form() {
  static const std::string text = [] {
    std::mt19937_64 random(3);
    std::string file(kFileBytes, '\0');
    for (std::size_t i = 0; i < file.size(); i += 8) {
      const auto bits = random();
      file.replace(i, 8, reinterpret_cast<const char*>(&bits), 8);
    }
    return "--" + kBoundary +
           "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n" + file + "\r\n--" +
           kBoundary + "--\r\n";
  }();
  return text;
}

class Pieces final : public ByteSource {
 public:
  Task<ByteView> read() override {
    const auto piece = std::string_view(form()).substr(at_, kPieceBytes);
    at_ += piece.size();
    co_return as_bytes(piece);
  }

 private:
  std::size_t at_ = 0;
};

struct Found {
  std::size_t bytes = 0;
  crypto::Sha256Stream digest;
  bool check = false;
  void take(ByteView piece) {
    bytes += piece.size();
    if (check) digest.update(piece);
    benchmark::DoNotOptimize(piece.data());
  }
};

Task<> collect(Found& found) {
  Pieces source;
  std::string whole;
  while (true) {
    const auto piece = co_await source.read();
    if (piece.empty()) break;
    whole += as_text(piece);
  }
  const auto start = whole.find("\r\n\r\n") + 4;
  const auto end = whole.find("\r\n--" + kBoundary, start);
  found.take(as_bytes(std::string_view(whole).substr(start, end - start)));
}

Task<> stream(Found& found) {
  Pieces source;
  wire::MultipartReader reader(source, "multipart/form-data; boundary=" + kBoundary);
  while (co_await reader.next()) {
    while (true) {
      const auto piece = co_await reader.read();
      if (piece.empty()) break;
      found.take(piece);
    }
  }
}

void once(Found& found, Task<> (*read)(Found&)) {
  boost::asio::io_context io;
  boost::asio::co_spawn(io, read(found), boost::asio::detached);
  io.run();
}

void run(benchmark::State& state, Task<> (*read)(Found&)) {
  form();
  for (auto _ : state) {
    Found found;
    once(found, read);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kFileBytes) * state.iterations());
}
void BM_Form64MiB_Before_Collect(benchmark::State& state) { run(state, collect); }
void BM_Form64MiB_After_Stream(benchmark::State& state) { run(state, stream); }
BENCHMARK(BM_Form64MiB_Before_Collect)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Form64MiB_After_Stream)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  Found before, after;
  before.check = after.check = true;
  once(before, collect);
  once(after, stream);
  if (before.bytes != kFileBytes || after.bytes != kFileBytes ||
      before.digest.finish() != after.digest.finish()) {
    std::fputs("the two readers found different files\n", stderr);
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
