#include "db/server_life.hpp"

#include "db/connection.hpp"
#include "db/failure.hpp"

namespace welkin::db {
namespace {

constexpr Stmt kBegin{"db.life_begin", "insert into server_life default values on conflict do nothing"};
constexpr Stmt kRead{"db.life", "select id::text from server_life"};
// xid8 has no binary input from int8, hence the text.
constexpr Stmt kStatus{"db.xact_status", "select coalesce(pg_xact_status($1::text::xid8), 'forgotten')"};

std::string run(Connection& connection, const Stmt& stmt, const Params& params) {
  connection.queue(stmt, params);
  const auto rows = connection.results()[0];
  return rows.empty() ? "" : rows[0].str(0);
}

}  // namespace

std::string read_server_life(Connection& connection) {
  try {
    auto life = run(connection, kRead, Params());
    if (life.empty()) {
      run(connection, kBegin, Params());
      life = run(connection, kRead, Params());
    }
    return life;
  } catch (const SqlError&) {
    return "";
  } catch (const Error&) {
    return "";
  }
}

Outcome outcome_of(Connection& connection, std::int64_t xid, const std::string& server_life) {
  std::string status;
  try {
    status = run(connection, kStatus, Params(std::to_string(xid)));
  } catch (const SqlError& e) {
    // "in the future": a crash took the number back and it has not been handed out again.
    if (e.sqlstate() == "22023") return Outcome::aborted;
    throw;
  }
  if (status == "aborted")
    return Outcome::aborted;  // had it committed, its number would never be handed out again
  if (status == "in progress") return Outcome::running;
  const bool same_life = !server_life.empty() && server_life == read_server_life(connection);
  return status == "committed" && same_life ? Outcome::committed : Outcome::undecidable;
}

}  // namespace welkin::db
