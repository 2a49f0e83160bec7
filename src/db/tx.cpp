#include "db/tx.hpp"

#include <libpq-fe.h>

#include <stdexcept>
#include <string>

#include "db/failure.hpp"

namespace welkin::db {
namespace {

constexpr Stmt kBeginWrite{"db.begin_write", "begin isolation level read committed, read write"};
constexpr Stmt kBeginSnapshot{"db.begin_snapshot", "begin isolation level repeatable read, read only"};
constexpr Stmt kCommit{"db.commit", "commit"};
constexpr Stmt kRollback{"db.rollback", "rollback"};
constexpr Stmt kXid{"db.xid", "select pg_current_xact_id_if_assigned()"};

std::optional<std::int64_t> xid_of(const Rows& rows) {
  return rows.empty() ? std::nullopt : rows[0].opt_i64(0);
}

}  // namespace

Rows Tx::exec(const Stmt& stmt, const Params& params) { return impl_.exec(stmt, params); }

Rows Tx::one(const Stmt& stmt, const Params& params) {
  Rows rows = impl_.exec(stmt, params);
  if (rows.size() != 1) {
    throw std::logic_error(std::string(stmt.name) + " gave " + std::to_string(rows.size()) +
                           " rows, not one");
  }
  return rows;
}

void Tx::script(std::string_view sql) { impl_.script(sql); }

const Stmt& Tx::Impl::begin() const { return mode_ == Db::Mode::write ? kBeginWrite : kBeginSnapshot; }

Rows Tx::Impl::exec(const Stmt& stmt, const Params& params) {
  const std::size_t at = begin_pending_ ? 1 : 0;
  const bool ask_xid = mode_ == Db::Mode::write && !xid_;
  if (begin_pending_) connection_.queue(begin(), Params());
  connection_.queue(stmt, params);
  if (ask_xid) connection_.queue(kXid, Params());
  begin_pending_ = false;
  auto results = connection_.results();
  if (ask_xid) xid_ = xid_of(results[at + 1]);
  return std::move(results[at]);
}

void Tx::Impl::script(std::string_view sql) {
  if (begin_pending_) {
    begin_pending_ = false;
    connection_.queue(begin(), Params());
    connection_.results();
  }
  scripted_ = true;
  connection_.script(sql);
}

// Only after a script is the number of the transaction not known yet.
void Tx::Impl::learn_xid() {
  if (!scripted_ || xid_ || mode_ != Db::Mode::write) return;
  connection_.queue(kXid, Params());
  xid_ = xid_of(connection_.results()[0]);
}

void Tx::Impl::commit() {
  if (!connection_.usable()) throw ConnectionLost("connection lost inside a transaction");
  const auto state = PQtransactionStatus(connection_.raw());
  if (state == PQTRANS_IDLE) return;
  if (state == PQTRANS_INERROR) {
    throw std::logic_error("a statement of this transaction failed and its error was swallowed");
  }
  learn_xid();
  try {
    connection_.queue(kCommit, Params());
    connection_.results();
  } catch (const ConnectionLost&) {
    if (mode_ != Db::Mode::write) throw;
    throw CommitUnknown(xid_, connection_.server_life());
  }
}

void Tx::Impl::rollback() noexcept {
  try {
    if (!connection_.usable() || PQtransactionStatus(connection_.raw()) == PQTRANS_IDLE) return;
    connection_.queue(kRollback, Params());
    connection_.results();
  } catch (const std::exception&) {
    connection_.give_up();
  }
}

}  // namespace welkin::db
