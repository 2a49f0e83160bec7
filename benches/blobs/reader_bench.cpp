// A content of 256 MiB from memory into a socket, by sendfile, as a download goes.
//   BEFORE       its chunks were written as the pieces came, and are opened on a pool thread, four at a time
//   LargePages   written at aligned offsets, so that the kernel has them in large pages
//   AFTER        that, and opened on the loop itself, since they are in memory and known to be sound
// And a content of one chunk, of 200 KiB: BEFORE by a pool thread, AFTER on the loop. All must send the same
// bytes.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <thread>

#include "bench_store.hpp"
#include "blobs/faulty_vfs.hpp"
#include "support/run.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::blobs {
namespace {

constexpr std::size_t kBodyBytes = std::size_t{256} << 20;
constexpr std::size_t kPieceBytes = 200'123;  // as pieces of a body come: no multiple of anything

struct Ways {
  std::atomic<bool> in_pieces{false}, on_the_loop{false};
};

class SwitchedVfs final : public FaultyVfs {
 public:
  SwitchedVfs(std::unique_ptr<Vfs> inner, std::shared_ptr<Ways> ways)
      : FaultyVfs(std::move(inner), std::make_shared<VfsFaults>()), ways_(std::move(ways)) {}
  std::optional<Cached> open_cached(Area area, const std::string& name, Slice piece) override {
    return ways_->on_the_loop ? inner().open_cached(area, name, piece) : std::nullopt;
  }
  void write(VfsFile& file, std::uint64_t at, ByteView bytes) override {
    const std::size_t most = ways_->in_pieces ? kPieceBytes : bytes.size();
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(most, bytes.size()))) {
      const auto piece = bytes.first(std::min(most, bytes.size()));
      FaultyVfs::write(file, at, piece);
      at += piece.size();
    }
  }

 private:
  std::shared_ptr<Ways> ways_;
};

/// A socket whose other end takes what comes and, when asked, hashes it.
class Socket final : public ByteSink {
 public:
  Socket() {
    const Fd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    near_ = Fd(::socket(AF_INET, SOCK_STREAM, 0));
    if (::bind(listener.get(), generic, size) != 0 || ::listen(listener.get(), 1) != 0 ||
        ::getsockname(listener.get(), generic, &size) != 0 || ::connect(near_.get(), generic, size) != 0)
      arms_differ("no socket to measure with");
    far_ = Fd(::accept(listener.get(), nullptr, nullptr));
    ::fcntl(near_.get(), F_SETFL, O_NONBLOCK);
    reader_ = std::thread([this] { take(); });
  }
  ~Socket() override {
    near_.reset();
    reader_.join();
  }
  Task<> write(ByteView) override { arms_differ("a chunk did not come as a file"); }
  /// As the server does it: what does not fit at once is waited for on the loop.
  Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override {
    constexpr boost::asio::use_awaitable_t<Executor> kAwait;
    boost::asio::posix::basic_stream_descriptor<Executor> waits(co_await boost::asio::this_coro::executor,
                                                                near_.get());
    auto at = static_cast<off_t>(offset);
    while (length > 0) {
      const auto n = ::sendfile(near_.get(), fd, &at, length);
      if (n > 0) {
        length -= static_cast<std::uint64_t>(n);
      } else if (n < 0 && errno == EAGAIN) {
        co_await waits.async_wait(boost::asio::posix::descriptor_base::wait_write, kAwait);
      } else {
        arms_differ("sendfile failed");
      }
    }
    waits.release();
  }
  /// Waits until everything has arrived.
  void drain(std::uint64_t bytes) const {
    while (taken_.load() < bytes) std::this_thread::yield();
  }
  std::atomic<bool> hashes{false};
  Sha256 hash() { return sha256_.finish(); }

 private:
  void take() {
    std::vector<std::byte> buffer(256 << 10);
    for (;;) {
      const auto n = ::recv(far_.get(), buffer.data(), buffer.size(), 0);
      if (n <= 0) return;
      if (hashes) sha256_.update(ByteView(buffer).first(static_cast<std::size_t>(n)));
      taken_ += static_cast<std::uint64_t>(n);
    }
  }
  Fd near_, far_;
  std::thread reader_;
  crypto::Sha256Stream sha256_;
  std::atomic<std::uint64_t> taken_{0};
};

struct Scene {
  Scene() {
    body = bench_bytes(kBodyBytes, 11);
    ways->in_pieces = true;
    small_pages = stored(body);
    ways->in_pieces = false;
    body[0] ^= std::byte{1};  // other chunks, so that none of the first are found again
    for (std::size_t at = 0; at < body.size(); at += 64 << 10) body[at] ^= std::byte{1};
    large_pages = stored(body);
    one_chunk = stored(Bytes(body.begin(), body.begin() + (200 << 10)));
  }
  ContentView stored(const Bytes& bytes) {
    return tests::run([](BenchStore& store, const Bytes& from) -> Task<ContentView> {
      const auto upload = store.new_upload();
      const auto sink = store.store().sink(
          {.size_hint = from.size(), .upload = [upload]() -> Task<UploadId> { co_return upload; }});
      for (ByteView rest = from; !rest.empty();) {
        const auto block = rest.first(std::min<std::size_t>(rest.size(), 256 << 10));
        co_await sink->write(block);
        rest = rest.subspan(block.size());
      }
      const Sealed sealed = co_await sink->seal();
      ContentView view;
      co_await store.db().write(
          [&](db::Tx& tx) { view = store.store().view(tx, store.store().record(tx, {&sealed}).front()); });
      store.store().committed(sealed);
      view.sha256 = crypto::sha256(from);
      co_return view;
    }(store, bytes));
  }
  std::shared_ptr<Ways> ways = std::make_shared<Ways>();
  BenchStore store{
      [this](std::unique_ptr<Vfs> real) { return std::make_unique<SwitchedVfs>(std::move(real), ways); }};
  Bytes body;
  ContentView small_pages, large_pages, one_chunk;
};

Scene& scene() {
  static Scene all;
  return all;
}

void send(const ContentView& content, Socket& socket) {
  tests::run(scene().store.store().send(content, {0, content.size_bytes}, socket));
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void measure(benchmark::State& state, const ContentView& content, bool on_the_loop) {
  scene().ways->on_the_loop = on_the_loop;
  {
    Socket socket;  // hashed once, which also makes the chunks known to be sound
    socket.hashes = true;
    send(content, socket);
    socket.drain(content.size_bytes);
    if (socket.hash() != content.sha256) arms_differ("other bytes were sent than stored");
  }
  Socket socket;
  std::uint64_t sent = 0;
  const double before = cpu_seconds();
  for (auto _ : state) {
    send(content, socket);
    socket.drain(sent += content.size_bytes);
  }
  state.counters["cpu"] = benchmark::Counter(cpu_seconds() - before, benchmark::Counter::kAvgIterations);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * content.size_bytes));
}

void BM_ReadBefore(benchmark::State& state) { measure(state, scene().small_pages, false); }
void BM_ReadLargePages(benchmark::State& state) { measure(state, scene().large_pages, false); }
void BM_ReadAfter(benchmark::State& state) { measure(state, scene().large_pages, true); }

void BM_ReadOneChunkBefore(benchmark::State& state) { measure(state, scene().one_chunk, false); }
void BM_ReadOneChunkAfter(benchmark::State& state) { measure(state, scene().one_chunk, true); }

BENCHMARK(BM_ReadOneChunkBefore)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ReadOneChunkAfter)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ReadBefore)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadLargePages)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadAfter)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace welkin::blobs
