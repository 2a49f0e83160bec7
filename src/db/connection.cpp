#include "db/connection.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <boost/container/small_vector.hpp>
#include <cerrno>
#include <climits>
#include <stdexcept>

#include "db/failure.hpp"
#include "db/link.hpp"

namespace welkin::db {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);
constexpr int kText = 0, kBinary = 1;

// The arrays libpq wants; short statements need no heap.
struct Bound {
  boost::container::small_vector<Oid, 16> types;
  boost::container::small_vector<const char*, 16> values;
  boost::container::small_vector<int, 16> lengths, formats;

  explicit Bound(const Params& params) {
    for (const auto& item : params.items()) {
      if (item.length > INT_MAX) throw std::length_error("parameter too long");
      types.push_back(item.oid);
      values.push_back(item.is_null ? nullptr : params.data(item));
      lengths.push_back(static_cast<int>(item.length));
      formats.push_back(item.binary ? kBinary : kText);
    }
  }
  int count() const { return static_cast<int>(types.size()); }
};

bool fits(const std::vector<std::uint32_t>& types, const Params& params) {
  if (types.size() != params.size()) return false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& item = params.items()[i];
    if (!item.is_null && item.oid != types[i]) return false;
  }
  return true;
}

}  // namespace

PreparedNames::Choice PreparedNames::choose(const Stmt& stmt, const Params& params) {
  auto found = entries_.find(std::string_view(stmt.name));
  if (found == entries_.end()) found = entries_.emplace(stmt.name, Entry{stmt.sql, 0, {}}).first;
  Entry& entry = found->second;
  if (entry.sql != stmt.sql) {
    throw std::logic_error(std::string("two statements are called ") + stmt.name);
  }
  for (const auto& variant : entry.variants) {
    if (fits(variant.types, params)) return {&variant.name, false};
  }
  Variant fresh;
  for (const auto& item : params.items()) fresh.types.push_back(item.oid);
  fresh.name = std::string(stmt.name) + "/" + std::to_string(entry.count++);
  entry.variants.push_back(std::move(fresh));
  return {&entry.variants.back().name, true};
}

void PreparedNames::forget(const Stmt& stmt, const std::string& name) {
  const auto found = entries_.find(std::string_view(stmt.name));
  if (found == entries_.end()) return;
  found->second.variants.remove_if([&](const Variant& v) { return v.name == name; });
}

std::string send_statement(pg_conn* raw, PreparedNames& names, const Stmt& stmt, const Params& params) {
  const Bound bound(params);
  const auto choice = names.choose(stmt, params);
  const char* const name = choice.name->c_str();
  if (choice.is_new && PQsendPrepare(raw, name, stmt.sql, bound.count(), bound.types.data()) == 0) {
    throw ConnectionLost(connection_error(raw));
  }
  if (PQsendQueryPrepared(raw, name, bound.count(), bound.values.data(), bound.lengths.data(),
                          bound.formats.data(), kBinary) == 0) {
    throw ConnectionLost(connection_error(raw));
  }
  return choice.is_new ? *choice.name : std::string();
}

Connection::Connection(const std::string& url, const SessionSettings& settings)
    : link_(std::make_unique<Link>(url)),
      raw_(link_->raw()),
      patience_(settings.statement_timeout_ms == 0
                    ? std::chrono::hours(24)
                    : std::chrono::milliseconds(settings.statement_timeout_ms)),
      opened_(Clock::now()) {
  patience_ += kGrace;
  if (PQsetnonblocking(raw_, 1) != 0 || PQenterPipelineMode(raw_) == 0) {
    throw ConnectionLost(connection_error(raw_));
  }
  configure(settings);
}

Connection::~Connection() = default;

void Connection::configure(const SessionSettings& settings) {
  script(
      "set client_encoding = 'UTF8'; set timezone = 'UTC'; set standard_conforming_strings = on; set jit = "
      "off;"
      "set idle_in_transaction_session_timeout = '60s'; set default_transaction_isolation = 'read committed';"
      "set default_transaction_read_only = " +
      std::string(settings.read_only ? "on" : "off") +
      // Planned anew each time, which an array of another length brings about, such a statement would cost
      // more to plan than to run; and a plan made while a table is tiny must not read all of it once it is
      // large.
      std::string(settings.by_key ? "; set plan_cache_mode = force_generic_plan; set enable_seqscan = off; "
                                    "set enable_hashjoin = off; set enable_mergejoin = off"
                                  : "") +
      "; set statement_timeout = " + std::to_string(settings.statement_timeout_ms) +
      "; set lock_timeout = " + std::to_string(settings.lock_timeout_ms));
}

bool Connection::usable() const { return !broken_ && PQstatus(raw_) == CONNECTION_OK; }

void Connection::queue(const Stmt& stmt, const Params& params) {
  expected_.push_back({stmt, send_statement(raw_, names_, stmt, params)});
}

void Connection::queue_flush() {
  if (PQsendFlushRequest(raw_) == 0) throw ConnectionLost(connection_error(raw_));
}

void Connection::wait(short events) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    pollfd waiting{PQsocket(raw_), events, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(std::min<long long>(left, INT_MAX))) : 0;
    if (ready > 0) return;
    if (ready < 0 && errno == EINTR) continue;
    broken_ = true;
    throw ConnectionLost("no answer from the database within the time limit");
  }
}

// While there is more to send than the socket takes, answers must be read too, or both sides would wait for
// ever.
void Connection::send() {
  for (;;) {
    const int state = PQflush(raw_);
    if (state == 0) return;
    if (state > 0) wait(POLLIN | POLLOUT);
    if (state < 0 || PQconsumeInput(raw_) == 0) {
      broken_ = true;
      throw ConnectionLost(connection_error(raw_));
    }
  }
}

pg_result* Connection::next() {
  while (PQisBusy(raw_) != 0) {
    wait(POLLIN);
    if (PQconsumeInput(raw_) == 0 && PQisBusy(raw_) != 0) {
      broken_ = true;
      throw ConnectionLost(connection_error(raw_));
    }
  }
  return PQgetResult(raw_);
}

// Keeps the first failure of a batch; what the server skipped because of it is no failure of its own.
bool Connection::take(pg_result* result, int wanted, Rows* into) {
  const auto status = PQresultStatus(result);
  const bool done = status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY;
  if (status == wanted || (wanted == PGRES_TUPLES_OK && done)) {
    Rows rows(result);
    if (into != nullptr) *into = std::move(rows);
    return true;
  }
  const std::shared_ptr<pg_result> failed(result, [](pg_result* r) { PQclear(r); });
  if (!failure_ && status != PGRES_PIPELINE_ABORTED) failure_ = failed;
  if (result == nullptr || PQstatus(raw_) != CONNECTION_OK) {
    broken_ = true;
    raise_failure(failure_.get(), raw_);
  }
  return false;
}

Rows Connection::read_one(const Expected& expected) {
  Rows rows;
  if (!expected.new_name.empty()) {
    if (!take(next(), PGRES_COMMAND_OK, nullptr)) names_.forget(expected.stmt, expected.new_name);
    PQclear(next());  // the null that ends each statement's results
  }
  take(next(), PGRES_TUPLES_OK, &rows);
  PQclear(next());
  return rows;
}

std::vector<Rows> Connection::results() {
  deadline_ = Clock::now() + patience_;
  failure_.reset();
  std::vector<Rows> out;
  if (PQpipelineSync(raw_) == 0) throw ConnectionLost(connection_error(raw_));
  send();
  while (!expected_.empty()) {
    const auto expected = std::move(expected_.front());
    expected_.pop_front();
    out.push_back(read_one(expected));
  }
  take(next(), PGRES_PIPELINE_SYNC, nullptr);
  if (failure_) raise_failure(failure_.get(), raw_);
  return out;
}

void Connection::script(std::string_view sql) {
  deadline_ = Clock::now() + patience_;
  failure_.reset();
  if (PQexitPipelineMode(raw_) == 0 || PQsendQuery(raw_, std::string(sql).c_str()) == 0) {
    broken_ = true;
    throw ConnectionLost(connection_error(raw_));
  }
  send();
  while (pg_result* const result = next()) take(result, PGRES_TUPLES_OK, nullptr);
  if (PQenterPipelineMode(raw_) == 0) broken_ = true;
  if (failure_) raise_failure(failure_.get(), raw_);
}

}  // namespace welkin::db
