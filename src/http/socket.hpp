#pragma once
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "welkin/core/task.hpp"

namespace welkin::http {

/// Bound to its io thread without type erasure.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
/// Operations return their error_code instead of throwing it.
constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable_t<Executor>());

/// Takes ownership of `fd`, also when it throws.
inline Socket adopt_socket(boost::asio::io_context& io, int fd, bool v6) {
  Socket socket(io.get_executor());
  boost::system::error_code error;
  socket.assign(v6 ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4(), fd, error);
  if (error) {
    ::close(fd);
    throw boost::system::system_error(error, "assign");
  }
  return socket;
}

}  // namespace welkin::http
