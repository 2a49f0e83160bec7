#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <exception>
#include <memory>

#include "welkin/core/event.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/rows.hpp"

namespace welkin::db {

/// A page asked for ahead of its reader. The coroutine that fetches it holds a share, so a reader that goes
/// away lets it end by itself.
struct Fetch {
  Event ended;
  Rows rows;
  std::exception_ptr failure;
};

/// Runs `fetch` beside the caller. @param fetch  Task<Rows>
inline std::shared_ptr<Fetch> start_fetch(const Executor& executor, Task<Rows> fetch) {
  const auto page = std::make_shared<Fetch>();
  boost::asio::co_spawn(executor, std::move(fetch), [page](std::exception_ptr failure, Rows rows) {
    page->failure = std::move(failure);
    page->rows = std::move(rows);
    page->ended.set();
  });
  return page;
}

}  // namespace welkin::db
