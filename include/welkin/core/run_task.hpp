#pragma once
#include <optional>
#include <type_traits>
#include <utility>

#include "welkin/core/task.hpp"

namespace welkin {

void run_task_to_end(Task<> task);

template <class T>
Task<> keep_result(Task<T> task, std::optional<T>& out) {
  out.emplace(co_await std::move(task));
}

/// Runs one coroutine to its end on the calling thread, which is none of the server's: for commands and for
/// threads of pools. Exceptions travel.
template <class T>
T run_task(Task<T> task) {
  if constexpr (std::is_void_v<T>) {
    run_task_to_end(std::move(task));
  } else {
    std::optional<T> out;
    run_task_to_end(keep_result(std::move(task), out));
    return std::move(*out);
  }
}

}  // namespace welkin
