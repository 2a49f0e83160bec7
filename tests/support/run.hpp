#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>

#include "welkin/core/task.hpp"

namespace welkin::tests {

/// Runs a coroutine to its end on an io_context of its own and gives its result or throws its exception.
template <class T>
T run(Task<T> task) {
  // Threads of pools may still be inside the call that woke the context when it has nothing more to do, so it
  // is ended one turn later.
  thread_local std::unique_ptr<boost::asio::io_context> last;
  auto io = std::make_unique<boost::asio::io_context>(1);
  std::exception_ptr failure;
  if constexpr (std::is_void_v<T>) {
    boost::asio::co_spawn(*io, std::move(task), [&](std::exception_ptr e) { failure = e; });
    io->run();
    last = std::move(io);
    if (failure) std::rethrow_exception(failure);
  } else {
    std::optional<T> result;
    boost::asio::co_spawn(*io, std::move(task), [&](std::exception_ptr e, T value) {
      failure = e;
      if (!e) result.emplace(std::move(value));
    });
    io->run();
    last = std::move(io);
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }
}

}  // namespace welkin::tests
