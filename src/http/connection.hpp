#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "http/settings.hpp"
#include "http/stream.hpp"

namespace welkin::http {

/// What a connection is waiting for; the sweep of its io thread judges each by its own rule.
enum class Wait : std::uint8_t {
  nothing,    // a handler works: its own deadlines hold
  handshake,  // header_seconds from the accept on
  idle,       // for a request to begin
  head,       // header_seconds from its first byte (or the accept) on
  body,       // at least 1 KiB/s over body_stall_seconds
  write,      // at least 1 KiB/s taken by the peer over write_stall_seconds
  web_socket, // for a message: until the deadline, and nobody evicts it
  linger,     // dropping what still comes before the close
};

/// Why a connection's operations were cut short.
enum class Cut : std::uint8_t { none, timeout, evicted, drained };

using Ticks = std::chrono::steady_clock::time_point;

/// One connection: its stream, what was received and not yet used, and its deadlines. Everything that can be
/// slow because of the peer goes through here, so that nothing can wait without a limit.
class Connection {
 public:
  Connection(std::unique_ptr<Stream> stream, const Settings& settings);

  // Receiving. The buffer grows as needed up to what `fill` is told.
  std::string_view received() const { return {storage_.get() + begin_, end_ - begin_}; }
  std::span<char> received_bytes() { return {storage_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Receives more behind what is there. @return bytes; 0: the peer has ended its side; -1: broken or cut
  Task<std::ptrdiff_t> fill(Wait wait, std::size_t capacity_max);
  /// Makes the next `fill` receive up to so much at once, when nothing is held.
  void reserve(std::size_t bytes);
  /// Gives back memory that a large body took. Keeps what was received.
  void shrink();

  // Sending.
  /// Sends what fits at once. Pieces are advanced past what was taken. @return false: the peer is gone
  bool send_now(std::span<std::string_view> pieces, bool more);
  /// Sends everything. @return false: the peer is gone, too slow, or the connection was cut
  Task<bool> send(std::span<std::string_view> pieces, bool more);
  enum class FileResult : std::uint8_t { sent, gone, ended_early };
  Task<FileResult> send_file(int fd, std::uint64_t offset, std::uint64_t length);

  /// FIN after everything sent, then drops what the client still sends, so that it reads the answer instead
  /// of a reset.
  Task<> linger();
  void close() noexcept { stream_->close(); }
  Stream& stream() { return *stream_; }

  // Deadlines.
  void set_deadline(Ticks deadline) { deadline_ = deadline; }
  /// A new request: rates are judged anew.
  void begin_request() { window_ticks_ = 0; }
  Task<bool> handshake();
  Wait waiting() const { return wait_; }
  Cut cut() const { return cut_; }
  /// Ends the running operation and all later ones, for this reason.
  void cut(Cut why);
  /// After a timeout was understood: an answer may still be sent.
  void forgive() { cut_ = Cut::none; }
  /// Called every half second by the io thread.
  void sweep(Ticks now);

  std::uint64_t bytes_in() const { return bytes_in_; }
  std::uint64_t bytes_out() const { return bytes_out_; }

 private:
  Task<FileResult> send_file_copied(int fd, std::uint64_t offset, std::uint64_t length);
  void make_room(std::size_t capacity_max);
  void sweep_rate(unsigned seconds, std::uint64_t progress);

  std::unique_ptr<Stream> stream_;
  const Settings& settings_;
  std::unique_ptr<char[]> storage_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;

  Wait wait_ = Wait::nothing;
  Cut cut_ = Cut::none;
  Ticks deadline_{};
  // The window over which a rate is judged; counts only half seconds that found the connection waiting.
  unsigned window_ticks_ = 0;
  std::uint64_t window_begin_ = 0;
  Wait window_of_ = Wait::nothing;
};

inline constexpr std::chrono::milliseconds kSweepInterval{500};

}  // namespace welkin::http
