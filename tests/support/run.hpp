#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "welkin/core/task.hpp"

namespace welkin::tests {

/// An io_context for one run, given back afterwards and never destroyed: threads of pools may still be inside
/// the call that woke it when it has nothing more to do.
class LentContext {
 public:
  LentContext() {
    const std::lock_guard lock(shelf().mutex);
    if (shelf().free.empty()) shelf().free.push_back(std::make_unique<boost::asio::io_context>(1));
    io_ = std::move(shelf().free.back());
    shelf().free.pop_back();
  }
  ~LentContext() {
    io_->restart();
    const std::lock_guard lock(shelf().mutex);
    shelf().free.push_back(std::move(io_));
  }
  LentContext(const LentContext&) = delete;
  LentContext& operator=(const LentContext&) = delete;
  boost::asio::io_context& operator*() { return *io_; }

 private:
  struct Shelf {
    std::mutex mutex;
    std::vector<std::unique_ptr<boost::asio::io_context>> free;
  };
  static Shelf& shelf() {
    static auto* all = new Shelf;
    return *all;
  }
  std::unique_ptr<boost::asio::io_context> io_;
};

/// Runs a coroutine to its end and gives its result or throws its exception.
template <class T>
T run(Task<T> task) {
  LentContext io;
  std::exception_ptr failure;
  if constexpr (std::is_void_v<T>) {
    boost::asio::co_spawn(*io, std::move(task), [&](std::exception_ptr e) { failure = e; });
    (*io).run();
    if (failure) std::rethrow_exception(failure);
  } else {
    std::optional<T> result;
    boost::asio::co_spawn(*io, std::move(task), [&](std::exception_ptr e, T value) {
      failure = e;
      if (!e) result.emplace(std::move(value));
    });
    (*io).run();
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }
}

}  // namespace welkin::tests
