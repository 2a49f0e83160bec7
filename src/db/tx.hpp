#pragma once
#include <cstdint>
#include <exception>
#include <optional>

#include "db/connection.hpp"
#include "welkin/db/db.hpp"

namespace welkin::db {

/// The connection went away while COMMIT was on its way: it may have happened. Never leaves the module.
class CommitUnknown final : public std::exception {
 public:
  CommitUnknown(std::optional<std::int64_t> xid, std::string server_life)
      : xid_(xid), server_life_(std::move(server_life)) {}
  const char* what() const noexcept override { return "connection lost during COMMIT"; }
  /// None: nothing had been written.
  std::optional<std::int64_t> xid() const noexcept { return xid_; }
  const std::string& server_life() const noexcept { return server_life_; }

 private:
  std::optional<std::int64_t> xid_;
  std::string server_life_;
};

/// One run of a job on a connection. BEGIN travels with the first statement, so a job that runs none costs
/// nothing; the number of a writing transaction travels with the statement that made it get one, so that a
/// COMMIT whose answer is lost can be asked for.
class Tx::Impl {
 public:
  Impl(Connection& connection, Db::Mode mode)
      : connection_(connection), mode_(mode), begin_pending_(mode != Db::Mode::read) {}

  Rows exec(const Stmt& stmt, const Params& params);
  void script(std::string_view sql);
  /// @throws CommitUnknown, SqlError (deferred constraints), std::logic_error when an error was swallowed
  void commit();
  /// Ends what is open; a connection on which that fails is no longer usable().
  void rollback() noexcept;

 private:
  const Stmt& begin() const;
  void learn_xid();

  Connection& connection_;
  Db::Mode mode_;
  bool begin_pending_;
  bool scripted_ = false;
  std::optional<std::int64_t> xid_;
};

}  // namespace welkin::db
