#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "welkin/core/task.hpp"

namespace welkin {

/// Runs one coroutine to its end on the calling thread, for commands. Exceptions travel.
template <class T>
T run_task(Task<T> task) {
  boost::asio::io_context io(1);
  // The coroutine waits for threads of pools, which the context does not know of.
  auto keep = boost::asio::make_work_guard(io);
  std::exception_ptr failure;
  if constexpr (std::is_void_v<T>) {
    boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr e) {
      failure = std::move(e);
      keep.reset();
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
  } else {
    std::optional<T> out;
    boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr e, T value) {
      failure = std::move(e);
      if (!failure) out.emplace(std::move(value));
      keep.reset();
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
    return std::move(*out);
  }
}

}  // namespace welkin
