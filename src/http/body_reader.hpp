#pragma once
#include <cstdint>

#include "http/chunked.hpp"
#include "http/connection.hpp"
#include "http/head.hpp"
#include "welkin/core/bytes.hpp"

namespace welkin::http {

// What is read and dropped after an answer so that the connection can go on.
inline constexpr std::uint64_t kDrainBytesMax = std::uint64_t{64} * 1024;

/// Takes the body of one request off its connection, by length or by chunks. Pulled: back-pressure is TCP's.
class BodyReader {
 public:
  explicit BodyReader(Connection& connection) : connection_(connection) {}

  void start(const Head& head, std::uint64_t bytes_max);
  /// 0: no limit.
  void limit(std::uint64_t bytes_max) { bytes_max_ = bytes_max; }
  /// The next piece, valid until the next call; empty at the end.
  Task<ByteView> read();

  bool finished() const { return finished_; }
  /// Whether the connection will probably be of use after the answer: what is left can be dropped cheaply.
  bool can_drain() const;
  /// Drops what the handler has not read. @return true when the next request follows
  Task<bool> drain();

 private:
  Task<> ask_to_continue();
  Task<> receive(Wait wait);
  void count(std::uint64_t bytes);

  Connection& connection_;
  ChunkDecoder chunks_;
  bool chunked_ = false;
  bool expect_ = false;  // 100 Continue is due before the first byte is waited for
  bool finished_ = true;
  bool lost_ = false;         // nobody knows any more where the next request begins
  std::uint64_t left_ = 0;    // by Content-Length
  std::uint64_t length_ = 0;  // announced; 0 when chunked
  std::uint64_t bytes_max_ = 0;
  std::uint64_t received_ = 0;
  std::size_t given_ = 0;  // received bytes that the last piece stands on
};

}  // namespace welkin::http
