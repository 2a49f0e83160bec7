#pragma once
#include <stdexcept>
#include <string>

#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

struct pg_result;
struct pg_conn;

/// How failures of the server are told apart. Only `SqlError` and `Error` ever leave the module.
namespace welkin::db {

/// The connection is gone, or must not be used again. What ran on it without an answer may or may not have
/// happened.
class ConnectionLost final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// 503 for everything that heals when the database does.
Error database_down(const std::string& detail);
/// 503 for everything that heals when others have finished: full queues, lock waits, lost races.
Error database_busy(const std::string& detail);

/// What libpq says about a connection, its first line; never empty.
std::string connection_error(const pg_conn* connection);

/// Throws what a failed result means: ConnectionLost, Error unavailable (timeouts, resources), Error invalid
/// (text that is no UTF-8) or SqlError. `result` may be null: then the connection tells.
[[noreturn]] void raise_failure(const pg_result* result, const pg_conn* connection);

/// A serialization failure or a deadlock: the transaction may be run again.
inline bool lost_race(const SqlError& e) { return e.sqlstate() == "40001" || e.sqlstate() == "40P01"; }

}  // namespace welkin::db
