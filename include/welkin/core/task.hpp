#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

namespace welkin {

/// A coroutine bound to one io thread. The executor type is concrete, so that no operation pays for type erasure.
/// References given to a coroutine must outlive its co_await; values that may not are taken by value.
using Executor = boost::asio::io_context::executor_type;
template <class T = void>
using Task = boost::asio::awaitable<T, Executor>;

}  // namespace welkin
