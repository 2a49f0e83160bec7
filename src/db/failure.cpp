#include "db/failure.hpp"

#include <libpq-fe.h>

#include <string_view>

namespace welkin::db {
namespace {

std::string field(const pg_result* r, int code) {
  const char* text = PQresultErrorField(r, code);
  return text != nullptr ? text : "";
}

// Plans go stale when another node migrates the schema; a pooler may forget prepared statements. A fresh
// connection knows better.
bool stale_session(std::string_view state, std::string_view message) {
  return state == "26000" || (state == "0A000" && message == "cached plan must not change result type");
}

}  // namespace

std::string connection_error(const pg_conn* connection) {
  const std::string_view text = PQerrorMessage(connection);
  const auto line = text.substr(0, text.find('\n'));
  return line.empty() ? "connection lost" : std::string(line);
}

Error database_down(const std::string& detail) { return {Errc::unavailable, "database", detail, 2}; }
Error database_busy(const std::string& detail) { return {Errc::unavailable, "busy", detail, 1}; }

void raise_failure(const pg_result* result, const pg_conn* connection) {
  const std::string state = result != nullptr ? field(result, PG_DIAG_SQLSTATE) : "";
  // Without a SQLSTATE libpq itself speaks: the socket is gone, or the protocol broke.
  if (state.empty()) throw ConnectionLost(connection_error(connection));
  const std::string message = field(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  const std::string_view group = std::string_view(state).substr(0, 2);

  if (severity == "FATAL" || severity == "PANIC" || group == "08" || state.starts_with("57P0") ||
      stale_session(state, message)) {
    throw ConnectionLost(message);
  }
  if (state == "57014") throw database_busy("the database took too long");
  if (state == "55P03") throw database_busy("the database waited too long for others");
  if (group == "53" || group == "58") throw database_down("the database is out of resources");
  if (state == "22021" || state == "22P05") {
    throw Error(Errc::invalid, "bad_text", "text is not valid UTF-8 or holds a NUL character");
  }
  throw SqlError(state, message, field(result, PG_DIAG_CONSTRAINT_NAME));
}

}  // namespace welkin::db
