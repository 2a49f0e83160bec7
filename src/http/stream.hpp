#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "welkin/core/task.hpp"

namespace welkin::http {

/// The bytes of one connection, plain or encrypted. All calls come from the connection's own io thread.
/// Nothing throws for what a peer or a network can do: results say so.
class Stream {
 public:
  Stream() = default;
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The TLS handshake. @return false when it failed; true at once on a plain socket
  virtual Task<bool> handshake() = 0;
  /// @return bytes read; 0 at the end of the stream; -1 when it is broken or was cancelled
  virtual Task<std::ptrdiff_t> read_some(std::span<char> into) = 0;
  /// Takes what fits into the socket at once. @param more  further bytes follow directly: a packet may be
  /// held back for them
  /// @return bytes taken, possibly 0; -1 when the peer is gone
  virtual std::ptrdiff_t write_now(std::span<const std::string_view> pieces, bool more) = 0;
  /// Suspends until `write_now` may take something (plain), or writes some of `bytes` (TLS).
  /// @return bytes taken meanwhile, possibly 0; -1 when the peer is gone or the call was cancelled
  virtual Task<std::ptrdiff_t> write_some(std::string_view bytes) = 0;
  /// At most `length` bytes of a file from `offset` on, by sendfile. @return bytes sent; 0: the file ended;
  /// kWouldBlock: call `write_some("")` and try again; kUnsupported: read and write instead; -1: the peer is
  /// gone
  virtual std::ptrdiff_t send_file(int fd, std::uint64_t offset, std::size_t length) = 0;
  static constexpr std::ptrdiff_t kWouldBlock = -2;
  static constexpr std::ptrdiff_t kUnsupported = -3;
  static constexpr std::ptrdiff_t kBadFile = -4;

  /// Says that nothing more will be sent: FIN, before it close_notify.
  virtual Task<> finish_sending() = 0;
  /// Ends pending operations with -1 or false. The stream stays usable.
  virtual void cancel() = 0;
  virtual void close() noexcept = 0;
  virtual int native_handle() = 0;
};

/// Takes ownership of a connected, non-blocking socket.
std::unique_ptr<Stream> make_tcp_stream(boost::asio::io_context& io, int fd, bool v6);

/// Certificate, key and options of TLS; immutable, shared by the connections made with it.
class TlsContext {
 public:
  /// @throws std::runtime_error with a clear text when the files cannot be used
  TlsContext(const std::string& certificate_file, const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};
std::unique_ptr<Stream> make_tls_stream(boost::asio::io_context& io, int fd, bool v6,
                                        std::shared_ptr<TlsContext> context);

/// Bytes the peer has acknowledged since the connection began: the only progress of a slow reader one can see
/// past a large send buffer. 0 when the kernel does not tell.
std::uint64_t acknowledged_bytes(int fd);
}  // namespace welkin::http
