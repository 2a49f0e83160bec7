#include "welkin/db/named_lock.hpp"

#include "db/connection.hpp"
#include "db/failure.hpp"
#include "db/impl.hpp"

namespace welkin::db {
namespace {
// The first number keeps these apart from the locks of drives, which use (1, drive).
constexpr Stmt kTry{"db.named_lock", "select pg_try_advisory_lock(2, hashtext($1))"};
}  // namespace

NamedLock::NamedLock(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
NamedLock::~NamedLock() = default;
NamedLock::NamedLock(NamedLock&&) noexcept = default;
NamedLock& NamedLock::operator=(NamedLock&&) noexcept = default;

std::optional<NamedLock> NamedLock::try_take(Db& db, const std::string& name) {
  auto connection = db.impl().leases->open();
  try {
    connection->queue(kTry, Params(name));
    if (!connection->results()[0][0].boolean(0)) return std::nullopt;
  } catch (const ConnectionLost&) {
    throw database_down("the connection to the database was lost");
  }
  return NamedLock(std::move(connection));
}

}  // namespace welkin::db
