#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/task.hpp"

namespace welkin {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;
using Sha256 = std::array<std::uint8_t, 32>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Half-open byte range of a body.
struct Slice {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Where a body goes: implemented by http, fed by blobs, so that the two do not know each other.
/// Both calls suspend until the reader has taken the bytes (back-pressure) and throw when the reader is gone.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Task<> write(ByteView bytes) = 0;
  /// `length` bytes of `fd` from `offset` on: sendfile on a plain socket, read and encrypt on TLS. The caller keeps
  /// `fd` open until the call returns. A file that ends early is an error, never padding.
  virtual Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) = 0;
};

/// Where a body comes from. An empty view is the end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The next piece, valid until the next call. @throws Error invalid when the peer ended the body early
  virtual Task<ByteView> read() = 0;
};

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

}  // namespace welkin
