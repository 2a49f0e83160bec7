#pragma once
#include <memory>
#include <optional>

#include "db/pool.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {

/// Single reads of one io thread, many in flight on two connections in libpq's pipeline mode.
///
/// What arrives in one turn of the loop travels as one group with one sync: one system call here, one flush
/// there. An error spoils the rest of its group; the spoilt ones are sent again, each with a sync of its own.
/// Connections are opened on the pool's threads and come back with a growing pause; while none is open,
/// `query` says so and the caller takes the pool.
///
/// All members but the constructor and `close` belong to the io thread.
class Pipeline {
 public:
  Pipeline(boost::asio::io_context& io, std::shared_ptr<Pool> pool);
  ~Pipeline();

  struct State;
  using Handle = std::weak_ptr<State>;
  Handle handle() const { return state_; }

  /// @param handle  weak, because a query that is never resumed (its loop was stopped) would else own itself
  /// @return nullopt when no connection is open, or the one used was lost: nothing is known then, ask the
  /// pool
  /// @throws SqlError, Error
  static Task<std::optional<Rows>> query(Handle handle, const Stmt& stmt, const Params& params);
  /// Joins the look-ups of this turn of the loop.
  /// @return false when nothing is known, as above
  static Task<bool> look_up(Handle handle, const Stmt& stmt, const Key& key, std::optional<Found>& found);
  /// Fails what is in flight and closes the connections, on the io thread when it still runs.
  void close();

 private:
  std::shared_ptr<State> state_;
};

}  // namespace welkin::db
