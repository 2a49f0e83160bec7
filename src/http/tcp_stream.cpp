#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <cerrno>

#include "http/socket.hpp"
#include "http/stream.hpp"

namespace welkin::http {
namespace {

namespace asio = boost::asio;

/// Reads through Asio, which tries at once and then waits without a further system call. Writes go straight
/// to the socket, since they nearly always fit; only a full socket is worth a suspension.
class TcpStream final : public Stream {
 public:
  explicit TcpStream(Socket socket) : socket_(std::move(socket)) {}

  Task<bool> handshake() override { co_return true; }

  Task<std::ptrdiff_t> read_some(std::span<char> into) override {
    const auto [error, n] = co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), kTuple);
    if (!error) co_return static_cast<std::ptrdiff_t>(n);
    co_return error == asio::error::eof ? 0 : -1;
  }

  std::ptrdiff_t write_now(std::span<const std::string_view> pieces, bool more) override {
    std::array<iovec, 8> parts;
    msghdr message{};
    message.msg_iov = parts.data();
    for (const auto piece : pieces) {
      if (piece.empty()) continue;
      parts[message.msg_iovlen++] = {const_cast<char*>(piece.data()), piece.size()};
      if (message.msg_iovlen == parts.size()) break;
    }
    if (message.msg_iovlen == 0) return 0;
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0);
    for (;;) {
      const auto n = message.msg_iovlen == 1 ? ::send(fd(), parts[0].iov_base, parts[0].iov_len, flags)
                                             : ::sendmsg(fd(), &message, flags);
      if (n >= 0) return n;
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    }
  }

  Task<std::ptrdiff_t> write_some(std::string_view bytes) override {
    const auto [error] = co_await socket_.async_wait(Socket::wait_write, kTuple);
    if (error) co_return -1;
    co_return write_now(std::array{bytes}, false);
  }

  std::ptrdiff_t send_file(int file, std::uint64_t offset, std::size_t length) override {
    for (;;) {
      auto at = static_cast<off_t>(offset);
      const auto n = ::sendfile(fd(), file, &at, length);
      if (n >= 0) return n;
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return kWouldBlock;
      if (errno == EINVAL || errno == ENOSYS) return kUnsupported;
      return errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT || errno == ENOTCONN ? -1 : kBadFile;
    }
  }

  Task<> finish_sending() override {
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }

  void cancel() override {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }
  void close() noexcept override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }
  int native_handle() override { return socket_.native_handle(); }

 private:
  int fd() { return socket_.native_handle(); }
  Socket socket_;
};

}  // namespace

std::unique_ptr<Stream> make_tcp_stream(asio::io_context& io, int fd, bool v6) {
  return std::make_unique<TcpStream>(adopt_socket(io, fd, v6));
}

}  // namespace welkin::http
