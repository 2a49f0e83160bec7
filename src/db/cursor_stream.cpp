#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <string>

#include "db/failure.hpp"
#include "db/fetch.hpp"
#include "db/impl.hpp"
#include "welkin/db/page_stream.hpp"

namespace welkin::db {
namespace asio = boost::asio;
namespace {

using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
constexpr Stmt kBegin{"db.cursor_begin", "begin isolation level repeatable read, read only"};
constexpr Stmt kCommit{"db.cursor_commit", "commit"};

/// A statement whose text is made at run time.
struct MadeStmt {
  std::string name, sql;
  Stmt stmt() const { return {name.c_str(), sql.c_str()}; }
};

Error expired_error() { return {Errc::unavailable, "cursor_expired", "the listing was read too slowly", 1}; }

MadeStmt fetch_stmt(int rows) {
  const auto count = std::to_string(rows);
  return {"db.fetch_" + count, "fetch " + count + " from welkin_cursor"};
}

}  // namespace

/// Shared by the stream, the page on its way and the stall timer. The connection is touched by a database
/// thread while a page is on its way, by the io thread otherwise.
struct CursorStream::Impl : std::enable_shared_from_this<Impl> {
  enum class State { fresh, open, ended, expired };

  Impl(Db& d, const Stmt& select, Params p, int first, int page, int stall)
      : leases(d.impl().leases),
        pool(d.impl().pool),
        declare{std::string("db.declare_") + select.name,
                std::string("declare welkin_cursor no scroll cursor for ") + select.sql},
        params(std::move(p)),
        first_rows(first),
        page_rows(page),
        stall_ms(stall) {}

  void ask(const Executor& executor);
  static Task<Rows> fetch(std::shared_ptr<Impl> self, int rows);
  Rows fetch_now(int rows);
  Rows first_batch(int rows);
  void page_ready(const Executor& executor);
  void let_go(bool reusable);

  std::shared_ptr<Leases> leases;
  std::shared_ptr<Pool> pool;
  MadeStmt declare;
  Params params;
  int first_rows, page_rows, stall_ms;
  State state = State::fresh;
  bool leased = false;     // holds a right to a connection
  bool fetching = false;   // a database thread has the connection
  bool abandoned = false;  // the stream is gone
  std::unique_ptr<Connection> connection;
  std::shared_ptr<Fetch> ahead;
  std::exception_ptr failure;  // stays: what failed once must not look like the end
  std::shared_ptr<Timer> stall;
};

// BEGIN, DECLARE and the first rows in one round trip. A connection that had been idle may be dead: nothing
// was handed out yet, so another one starts afresh.
Rows CursorStream::Impl::first_batch(int rows) {
  const auto fetch = fetch_stmt(rows);
  for (bool fresh = connection == nullptr;; fresh = true) {
    if (fresh) connection = leases->open();
    try {
      connection->queue(kBegin, Params());
      connection->queue(declare.stmt(), params);
      connection->queue(fetch.stmt(), Params());
      return connection->results()[2];
    } catch (const ConnectionLost&) {
      if (fresh) throw;
    }
  }
}

Rows CursorStream::Impl::fetch_now(int rows) {
  try {
    Rows page;
    if (state == State::fresh) {
      page = first_batch(rows);
    } else {
      const auto fetch = fetch_stmt(rows);
      connection->queue(fetch.stmt(), Params());
      page = connection->results()[0];
    }
    state = State::open;
    if (page.size() < rows) {
      connection->queue(kCommit, Params());
      connection->results();
      state = State::ended;
    }
    return page;
  } catch (const ConnectionLost& e) {
    throw database_down("the connection to the database was lost");
  }
}

void CursorStream::Impl::let_go(bool reusable) {
  if (stall) stall->cancel();
  if (!leased) return;
  leased = false;
  auto last = std::move(connection);
  leases->release(reusable ? std::move(last) : nullptr);
}

// A page lies ready; whoever lets it lie too long must not keep the connection.
void CursorStream::Impl::page_ready(const Executor& executor) {
  if (abandoned || state != State::open) return let_go(state == State::ended);
  stall = std::make_shared<Timer>(executor);
  stall->expires_after(std::chrono::milliseconds(stall_ms));
  stall->async_wait([self = shared_from_this(), timer = stall](const boost::system::error_code& error) {
    if (error || self->stall != timer) return;
    self->state = State::expired;
    self->let_go(false);
  });
}

Task<Rows> CursorStream::Impl::fetch(std::shared_ptr<Impl> self, int rows) {
  const Executor executor = co_await asio::this_coro::executor;
  Rows page;
  std::exception_ptr failure;
  try {
    co_await self->pool->run([&](Worker&) { page = self->fetch_now(rows); });
  } catch (...) {
    failure = std::current_exception();
  }
  self->fetching = false;
  if (failure) {
    self->let_go(false);
    std::rethrow_exception(failure);
  }
  self->page_ready(executor);
  co_return page;
}

void CursorStream::Impl::ask(const Executor& executor) {
  if (!leased) {
    connection = leases->acquire();
    leased = true;
  }
  fetching = true;
  ahead = start_fetch(executor, fetch(shared_from_this(), state == State::fresh ? first_rows : page_rows));
}

CursorStream::CursorStream(Db& db, const Stmt& select, Params params, int first_rows, int page_rows,
                           int stall_ms)
    : impl_(std::make_shared<Impl>(db, select, std::move(params), first_rows, page_rows, stall_ms)) {}
CursorStream::CursorStream(CursorStream&&) noexcept = default;

CursorStream::~CursorStream() {
  if (!impl_) return;
  impl_->abandoned = true;
  if (!impl_->fetching) impl_->let_go(false);
}

Task<std::optional<Rows>> CursorStream::next() {
  using State = Impl::State;
  const auto impl = impl_;
  const Executor executor = co_await asio::this_coro::executor;
  if (impl->failure) std::rethrow_exception(impl->failure);
  // While a page is being fetched, the state is the database thread's.
  if (!impl->ahead && impl->state == State::fresh) impl->ask(executor);
  if (!impl->ahead) co_return std::nullopt;
  const auto page = std::move(impl->ahead);
  co_await page->ended.wait();
  if (impl->stall) impl->stall->cancel();
  impl->stall.reset();
  impl->failure = page->failure;
  if (impl->state == State::expired) impl->failure = std::make_exception_ptr(expired_error());
  if (impl->failure) std::rethrow_exception(impl->failure);
  if (impl->state == State::open) impl->ask(executor);
  if (page->rows.empty()) co_return std::nullopt;
  co_return page->rows;
}

}  // namespace welkin::db
