#include "http/connection.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "http/http_metrics.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kSmallBuffer = 2048;  // a GET fits; thousands of idle connections hold one each
constexpr std::uint64_t kRateMin = 1024;    // bytes a second
// How long a file may keep the loop from others before they get a turn.
constexpr std::uint64_t kFileTurnBytes = std::uint64_t{4} << 20;
constexpr std::size_t kFileReadBytes = std::size_t{256} * 1024;
constexpr std::uint64_t kReadAheadBytes = std::uint64_t{8} << 20;
constexpr std::chrono::seconds kLingerTime{2};
constexpr std::uint64_t kLingerBytesMax = std::uint64_t{4} << 20;

Task<> take_turns() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable_t<Executor>());
}

}  // namespace

Connection::Connection(std::unique_ptr<Stream> stream, const Settings& settings)
    : stream_(std::move(stream)), settings_(settings) {}

void Connection::make_room(std::size_t capacity_max) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ < capacity_) return;
  const auto held = end_ - begin_;
  if (begin_ > 0 && held <= capacity_ / 2) {
    std::memmove(storage_.get(), storage_.get() + begin_, held);
  } else {
    capacity_ =
        std::max(kSmallBuffer, std::min(capacity_ * 4, std::max(capacity_max, capacity_ + kSmallBuffer)));
    std::unique_ptr<char[]> larger(new char[capacity_]);
    if (held > 0) std::memcpy(larger.get(), storage_.get() + begin_, held);
    storage_ = std::move(larger);
  }
  begin_ = 0;
  end_ = held;
}

void Connection::reserve(std::size_t bytes) {
  if (begin_ != end_ || capacity_ >= bytes) return;
  storage_.reset(new char[bytes]);
  capacity_ = bytes;
  begin_ = end_ = 0;
}

void Connection::shrink() {
  const auto held = end_ - begin_;
  if (capacity_ <= kSmallBuffer || held > kSmallBuffer) return;
  std::unique_ptr<char[]> smaller(new char[kSmallBuffer]);
  if (held > 0) std::memcpy(smaller.get(), storage_.get() + begin_, held);
  storage_ = std::move(smaller);
  capacity_ = kSmallBuffer;
  begin_ = 0;
  end_ = held;
}

Task<bool> Connection::handshake() {
  wait_ = Wait::handshake;
  const bool done = co_await stream_->handshake();
  wait_ = Wait::nothing;
  co_return done&& cut_ == Cut::none;
}

Task<std::ptrdiff_t> Connection::fill(Wait wait, std::size_t capacity_max) {
  if (cut_ != Cut::none) co_return -1;
  make_room(capacity_max);
  wait_ = wait;
  const auto n = co_await stream_->read_some({storage_.get() + end_, capacity_ - end_});
  wait_ = Wait::nothing;
  if (n > 0) {
    end_ += static_cast<std::size_t>(n);
    bytes_in_ += static_cast<std::uint64_t>(n);
    server_metrics().bytes_in.add(static_cast<std::uint64_t>(n));
  }
  co_return n;
}

bool Connection::send_now(std::span<std::string_view> pieces, bool more) {
  if (cut_ != Cut::none) return false;
  const auto n = stream_->write_now(pieces, more);
  if (n < 0) return false;
  auto left = static_cast<std::size_t>(n);
  bytes_out_ += left;
  server_metrics().bytes_out.add(left);
  for (auto& piece : pieces) {
    const auto taken = std::min(left, piece.size());
    piece.remove_prefix(taken);
    left -= taken;
  }
  return true;
}

Task<bool> Connection::send(std::span<std::string_view> pieces, bool more) {
  if (!send_now(pieces, more)) co_return false;
  for (auto& piece : pieces) {
    while (!piece.empty()) {
      const auto beside = std::exchange(wait_, Wait::write);  // of a WebSocket, somebody may be receiving
      const auto n = co_await stream_->write_some(piece);
      wait_ = beside;
      if (n < 0 || cut_ != Cut::none) co_return false;
      bytes_out_ += static_cast<std::uint64_t>(n);
      server_metrics().bytes_out.add(static_cast<std::uint64_t>(n));
      piece.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  co_return true;
}

Task<Connection::FileResult> Connection::send_file(int fd, std::uint64_t offset, std::uint64_t length) {
  std::uint64_t turn = 0;
  const auto end = offset + length;
  // A short piece is of a file whose opener has asked the disk for it.
  const bool is_long = length > kFileTurnBytes;
  std::uint64_t asked_ahead = is_long ? offset : end;
  if (is_long)
    ::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(length), POSIX_FADV_SEQUENTIAL);
  while (offset < end) {
    if (cut_ != Cut::none) co_return FileResult::gone;
    // The disk is asked for what comes next while this part is on its way, so that sendfile seldom waits for
    // it.
    if (asked_ahead < end && asked_ahead < offset + kReadAheadBytes / 2) {
      ::posix_fadvise(fd, static_cast<off_t>(asked_ahead), kReadAheadBytes, POSIX_FADV_WILLNEED);
      asked_ahead += kReadAheadBytes;
    }
    const auto n =
        stream_->send_file(fd, offset, static_cast<std::size_t>(std::min(end - offset, kFileTurnBytes)));
    if (n == Stream::kUnsupported) co_return co_await send_file_copied(fd, offset, end - offset);
    if (n == Stream::kBadFile || n == 0) co_return FileResult::ended_early;
    if (n == -1) co_return FileResult::gone;
    if (n == Stream::kWouldBlock) {
      wait_ = Wait::write;
      const auto writable = co_await stream_->write_some({});
      wait_ = Wait::nothing;
      if (writable < 0) co_return FileResult::gone;
      turn = 0;
      continue;
    }
    offset += static_cast<std::uint64_t>(n);
    bytes_out_ += static_cast<std::uint64_t>(n);
    server_metrics().bytes_out.add(static_cast<std::uint64_t>(n));
    turn += static_cast<std::uint64_t>(n);
    if (turn >= kFileTurnBytes) {
      turn = 0;
      co_await take_turns();
    }
  }
  co_return FileResult::sent;
}

Task<Connection::FileResult> Connection::send_file_copied(int fd, std::uint64_t offset,
                                                          std::uint64_t length) {
  const auto capacity = static_cast<std::size_t>(std::min<std::uint64_t>(length, kFileReadBytes));
  const std::unique_ptr<char[]> buffer(new char[capacity]);
  while (length > 0) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(length, capacity));
    ssize_t n;
    do n = ::pread(fd, buffer.get(), want, static_cast<off_t>(offset));
    while (n < 0 && errno == EINTR);
    if (n <= 0) co_return FileResult::ended_early;
    offset += static_cast<std::uint64_t>(n);
    length -= static_cast<std::uint64_t>(n);
    std::array pieces = {std::string_view(buffer.get(), static_cast<std::size_t>(n))};
    if (!co_await send(pieces, length > 0)) co_return FileResult::gone;
  }
  co_return FileResult::sent;
}

Task<> Connection::linger() {
  if (cut_ != Cut::none) co_return;
  wait_ = Wait::linger;
  deadline_ = std::chrono::steady_clock::now() + kLingerTime;
  co_await stream_->finish_sending();
  std::uint64_t dropped = 0;
  std::array<char, 16384> rubbish;
  while (dropped < kLingerBytesMax && std::chrono::steady_clock::now() < deadline_) {
    const auto n = co_await stream_->read_some(rubbish);
    if (n <= 0) break;
    dropped += static_cast<std::uint64_t>(n);
  }
  wait_ = Wait::nothing;
}

void Connection::cut(Cut why) {
  if (cut_ == Cut::none) cut_ = why;
  stream_->cancel();
}

void Connection::sweep_rate(unsigned seconds, std::uint64_t progress) {
  if (seconds == 0) return;
  if (window_of_ != wait_ || window_ticks_ == 0) {
    window_of_ = wait_;
    window_begin_ = progress;
    window_ticks_ = 1;
    return;
  }
  if (++window_ticks_ <= seconds * 2) return;
  if (progress - window_begin_ < kRateMin * seconds) {
    (wait_ == Wait::body ? server_metrics().timeouts_body : server_metrics().timeouts_write).add();
    cut(Cut::timeout);
    return;
  }
  window_begin_ = progress;
  window_ticks_ = 1;
}

void Connection::sweep(Ticks now) {
  // An operation may have been begun in the very moment of the cut.
  if (cut_ != Cut::none && wait_ != Wait::nothing) stream_->cancel();
  switch (wait_) {
    case Wait::nothing:
      break;
    case Wait::handshake:
    case Wait::idle:
    case Wait::head:
    case Wait::web_socket:
    case Wait::linger:
      if (now < deadline_) break;
      if (wait_ == Wait::handshake || wait_ == Wait::head) server_metrics().timeouts_head.add();
      if (wait_ == Wait::linger)
        stream_->cancel();
      else
        cut(Cut::timeout);
      break;
    case Wait::body:
      sweep_rate(settings_.body_stall_seconds, bytes_in_);
      break;
    case Wait::write:
      if (const auto acknowledged = acknowledged_bytes(stream_->native_handle()))
        sweep_rate(settings_.write_stall_seconds, acknowledged);
      else
        sweep_rate(settings_.write_stall_seconds, bytes_out_);
      break;
  }
}

}  // namespace welkin::http
