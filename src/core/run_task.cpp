#include "welkin/core/run_task.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <exception>

namespace welkin {

void run_task_to_end(Task<> task) {
  boost::asio::io_context io(1);
  // The coroutine waits for threads of pools, which the context does not know of.
  auto keep = boost::asio::make_work_guard(io);
  std::exception_ptr failure;
  boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr e) {
    failure = std::move(e);
    keep.reset();
  });
  io.run();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace welkin
