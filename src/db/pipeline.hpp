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

  /// @return nullopt when no connection is open, or the one used was lost: nothing is known then, ask the
  /// pool
  /// @throws SqlError, Error
  Task<std::optional<Rows>> query(const Stmt& stmt, const Params& params);
  /// Fails what is in flight and closes the connections, on the io thread when it still runs.
  void close();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace welkin::db
