#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "welkin/core/task.hpp"
#include "welkin/db/params.hpp"
#include "welkin/db/rows.hpp"

namespace welkin::db {

/// Failures of statements as stores see them. SQLSTATE class 23505 etc. are translated by the store that
/// knows what the constraint means; nobody above a store catches this. Connection failures never appear as
/// this: they become Error unavailable `database` with Retry-After.
class SqlError : public std::exception {
 public:
  SqlError(std::string sqlstate, std::string message, std::string constraint)
      : sqlstate_(std::move(sqlstate)), message_(std::move(message)), constraint_(std::move(constraint)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& sqlstate() const noexcept { return sqlstate_; }
  /// MESSAGE_PRIMARY: for our own codes (WN404 ...) the slug raised by the function.
  const std::string& message() const noexcept { return message_; }
  const std::string& constraint() const noexcept { return constraint_; }
  bool unique_violation() const noexcept { return sqlstate_ == "23505"; }

 private:
  std::string sqlstate_, message_, constraint_;
};

/// A connection with, perhaps, an open transaction on it. Synchronous: used on database threads only.
class Tx {
 public:
  /// Runs a prepared statement. Results are binary.
  /// @throws SqlError
  Rows exec(const Stmt& stmt, const Params& params = Params());
  template <class... T>
  Rows exec(const Stmt& stmt, const T&... values) {
    return exec(stmt, Params(values...));
  }
  /// Exactly one row. @throws std::logic_error otherwise; the Rows keeps the row alive
  Rows one(const Stmt& stmt, const Params& params);
  template <class... T>
  Rows one(const Stmt& stmt, const T&... values) {
    return one(stmt, Params(values...));
  }
  /// Unprepared text, several statements allowed, no results: migrations, SET, tests.
  void script(std::string_view sql);

  class Impl;
  explicit Tx(Impl& impl) : impl_(impl) {}
  Tx(const Tx&) = delete;
  Tx& operator=(const Tx&) = delete;

 private:
  Impl& impl_;
};

/// What a look-up asks for.
using Key = std::variant<std::int64_t, Sha256>;

struct PoolConfig {
  std::string url;           // libpq connection string or URI
  unsigned connections = 4;  // threads of the pool, one connection each
  unsigned queue_max = 1024;
  unsigned io_threads = 0;  // pipelined executors to make; 0: none (CLI, tests of stores)
  unsigned cursor_connections = 8;
  unsigned statement_timeout_ms = 30'000;
  unsigned lock_timeout_ms = 5'000;
};

/// The database. Two ways behind one door:
///  - `read`/`write`: one use case as one job on a small pool of threads, synchronous code on a Tx.
///  - `query`: one statement through the calling io thread's pipelined connection: for the hottest single
///  reads.
/// A lost connection is opened again; statements that could not have run are tried again by `read`.
class Db {
 public:
  explicit Db(PoolConfig config);
  ~Db();
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  /// Runs `f(Tx&)` with each statement in its own implicit transaction: for one statement, or several that
  /// need no common snapshot. May be run again when the connection was lost.
  template <class F>
  Task<std::invoke_result_t<F&, Tx&>> read(F f) {
    return run<F>(Mode::read, std::move(f));
  }
  /// Runs `f(Tx&)` in one REPEATABLE READ, READ ONLY transaction: one snapshot.
  template <class F>
  Task<std::invoke_result_t<F&, Tx&>> snapshot(F f) {
    return run<F>(Mode::snapshot, std::move(f));
  }
  /// Runs `f(Tx&)` in one READ COMMITTED transaction and commits it. 40001 and 40P01 run it again (at most 3
  /// times, with jitter), so `f` must have no effect but through the Tx. A connection lost during COMMIT is
  /// decided by pg_xact_status on a new one (committed: success; aborted: run again; unknown: Error
  /// unavailable `unknown_commit`).
  template <class F>
  Task<std::invoke_result_t<F&, Tx&>> write(F f) {
    return run<F>(Mode::write, std::move(f));
  }

  /// The same three, for callers that are not coroutines (CLI, start-up, jobs, tests): blocks the calling
  /// thread.
  template <class F>
  std::invoke_result_t<F&, Tx&> read_now(F f) {
    return run_now<F>(Mode::read, f);
  }
  template <class F>
  std::invoke_result_t<F&, Tx&> write_now(F f) {
    return run_now<F>(Mode::write, f);
  }

  /// One read-only statement on the pipelined connection of the calling io thread; several in flight share
  /// round trips. Not for statements that write or take long (they would hold up the pipeline). Falls back to
  /// `read` on threads without a pipeline.
  /// @throws SqlError, Error unavailable
  Task<Rows> query(const Stmt& stmt, Params params);

  /// One row by its key, for what every request asks. All that is looked up with one statement in the same
  /// turn of the calling io thread's loop travels as one statement, so that a busy server asks far less often
  /// than it is asked. Nothing is remembered: each answer was read after its question was put.
  /// @param stmt  $1 is an array of keys (int8[] or bytea[]); a row's first column is the place of its key in
  ///              it, from 1, as `unnest($1) with ordinality` counts; at most one row a key
  /// @throws SqlError, Error unavailable
  Task<std::optional<Found>> look_up(const Stmt& stmt, Key key);

  /// True when a connection can be made and answers, within a second. Never throws.
  Task<bool> healthy();

  /// Ends all threads and connections after the jobs in hand. Idempotent. Call before io_contexts are
  /// destroyed.
  void close();

  /// Makes the pipeline of an io thread's context; call once for each context at start, from any thread.
  /// Calls beyond PoolConfig::io_threads are ignored.
  void attach_pipeline(boost::asio::io_context& io);

  enum class Mode { read, snapshot, write };
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  template <class F>
  Task<std::invoke_result_t<F&, Tx&>> run(Mode mode, F f) {
    using R = std::invoke_result_t<F&, Tx&>;
    if constexpr (std::is_void_v<R>) {
      std::function<void(Tx&)> job = [&f](Tx& tx) { f(tx); };
      co_await run_erased(mode, std::move(job));
    } else {
      std::optional<R> out;
      std::function<void(Tx&)> job = [&f, &out](Tx& tx) { out.emplace(f(tx)); };
      co_await run_erased(mode, std::move(job));
      co_return std::move(*out);
    }
  }
  template <class F>
  std::invoke_result_t<F&, Tx&> run_now(Mode mode, F& f) {
    using R = std::invoke_result_t<F&, Tx&>;
    if constexpr (std::is_void_v<R>) {
      run_now_erased(mode, [&f](Tx& tx) { f(tx); });
    } else {
      std::optional<R> out;
      run_now_erased(mode, [&f, &out](Tx& tx) { out.emplace(f(tx)); });
      return std::move(*out);
    }
  }
  Task<> run_erased(Mode mode, std::function<void(Tx&)> job);
  void run_now_erased(Mode mode, const std::function<void(Tx&)>& job);

  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::db
