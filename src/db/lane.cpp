#include "db/lane.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "db/failure.hpp"
#include "welkin/core/log.hpp"

namespace welkin::db {
namespace asio = boost::asio;
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kGroupMax = 32;  // more would make the first of a group wait for the last
constexpr std::size_t kInFlightMax = 256;
constexpr unsigned kStatementMs = 10'000;  // this way is for short statements
constexpr auto kGrace = milliseconds(3000);
constexpr auto kLook = milliseconds(1000);
constexpr auto kReconnectFirst = milliseconds(50), kReconnectMax = milliseconds(1000);

SessionSettings settings_of(const PoolConfig& config) {
  const unsigned own = config.statement_timeout_ms;
  return {own == 0 ? kStatementMs : std::min(own, kStatementMs), config.lock_timeout_ms, true, true};
}

std::string_view sqlstate(const PGresult* r) {
  const char* state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
  return state != nullptr ? state : "";
}

}  // namespace

Params key_params(const Stmt& stmt, const std::vector<Key>& keys) {
  std::vector<std::int64_t> numbers;
  std::vector<Sha256> digests;
  for (const Key& key : keys) {
    if (const auto* number = std::get_if<std::int64_t>(&key))
      numbers.push_back(*number);
    else
      digests.push_back(std::get<Sha256>(key));
  }
  if (!digests.empty() && !numbers.empty())
    throw std::logic_error(std::string("keys of two kinds for ") + stmt.name);
  return digests.empty() ? Params(numbers) : Params(digests);
}

// -- Batch

void Batch::join(LookUp& look_up, Handler handler) {
  const auto known = std::find(keys.begin(), keys.end(), look_up.key);
  look_up.place = static_cast<std::size_t>(known - keys.begin());
  if (known == keys.end()) keys.push_back(look_up.key);
  look_ups.push_back(&look_up);
  resume.push_back(std::move(handler));
}

void Batch::seal() { params = key_params(query.stmt, keys); }

void Batch::deal() {
  std::vector<int> row_of(keys.size(), -1);
  try {
    for (int row = 0; row < query.rows.size(); ++row)
      row_of.at(static_cast<std::size_t>(query.rows[row].i64(0)) - 1) = row;
  } catch (...) {  // a statement that does not say whose its rows are
    query.outcome = Outcome::failed;
    query.failure = std::current_exception();
  }
  for (LookUp* each : look_ups) {
    each->outcome = query.outcome;
    each->failure = query.failure;
    if (const int row = row_of[each->place]; row >= 0) each->found.emplace(query.rows, row);
  }
}

// -- Lane

Lane::Lane(asio::io_context& io, std::shared_ptr<Pool> pool)
    : io_(io),
      pool_(std::move(pool)),
      socket_(io.get_executor()),
      timer_(io.get_executor()),
      pause_(kReconnectFirst) {}

Batch* Lane::open_batch(const Stmt& stmt) const {
  const auto open = [&](const std::shared_ptr<Batch>& batch) {
    return &batch->query.stmt == &stmt && !batch->is_full();
  };
  for (const auto& batch : held_) {
    if (open(batch)) return batch.get();
  }
  for (const auto& waiting : queued_) {
    const auto* batch = std::get_if<std::shared_ptr<Batch>>(&waiting.resume);
    if (batch && open(*batch)) return batch->get();
  }
  return nullptr;
}

bool Lane::is_asking(const Stmt& stmt) const {
  return std::find(asking_.begin(), asking_.end(), &stmt) != asking_.end();
}

/// A batch of `stmt` has come back: the next one may go.
void Lane::release_held(const Stmt& stmt) {
  if (const auto found = std::find(asking_.begin(), asking_.end(), &stmt); found != asking_.end())
    asking_.erase(found);
  const auto next = std::find_if(held_.begin(), held_.end(),
                                 [&](const auto& batch) { return &batch->query.stmt == &stmt; });
  if (next == held_.end()) return;
  auto batch = std::move(*next);
  held_.erase(next);
  enqueue(std::move(batch));
}

void Lane::enqueue(Waiting waiting) {
  queued_.push_back(std::move(waiting));
  flush_soon();
}

void Lane::enqueue(std::shared_ptr<Batch> batch) {
  if (is_asking(batch->query.stmt)) {
    held_.push_back(std::move(batch));
    return;
  }
  asking_.push_back(&batch->query.stmt);
  Query* const query = &batch->query;
  enqueue(Waiting{query, std::move(batch)});
}

void Lane::flush_soon() {
  if (flush_posted_) return;
  flush_posted_ = true;
  asio::post(io_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
    self->resume_finished();
  });
}

// The connecting blocks, so a pool thread does it.
void Lane::connect() {
  if (closed_ || connection_) return;
  struct Made {
    std::unique_ptr<Connection> connection;
  };
  const auto made = std::make_shared<Made>();
  const auto work = [made, config = pool_->config()](Worker&) {
    made->connection = std::make_unique<Connection>(config.url, settings_of(config));
  };
  const auto executor = io_.get_executor();
  pool_->submit(work, [made, executor, lane = weak_from_this()](std::exception_ptr failure) {
    asio::post(executor, [made, lane, failed = failure != nullptr] {
      const auto self = lane.lock();
      if (!self || self->closed_) return;
      if (failed) return self->connect_later();
      self->adopt(std::move(made->connection));
    });
  });
}

void Lane::connect_later() {
  timer_.expires_after(pause_);
  pause_ = std::min(pause_ * 2, kReconnectMax);
  timer_.async_wait([lane = weak_from_this()](const boost::system::error_code& error) {
    const auto self = lane.lock();
    if (self && !error) self->connect();
  });
}

void Lane::adopt(std::unique_ptr<Connection> fresh) {
  boost::system::error_code error;
  socket_.assign(PQsocket(fresh->raw()), error);
  if (error) return connect_later();
  connection_ = std::move(fresh);
  pause_ = kReconnectFirst;
  retire_.clear();
  wait_readable();
}

void Lane::drop_connection() {
  if (!connection_) return;
  socket_.release();  // libpq closes it
  connection_.reset();
}

// Everything on the way may have been answered or not; as all are reads, their callers simply ask elsewhere.
void Lane::lose(const std::string& why) {
  if (!connection_) return;
  if (!closed_) log::warn("pipelined connection to the database lost: {}", why);
  drop_connection();
  const auto fail = [&](Waiting& waiting) {
    waiting.query->outcome = Outcome::lost;
    finished_.push_back(std::move(waiting));
  };
  for (auto& group : groups_) {
    for (; group.at < group.members.size(); ++group.at) fail(group.members[group.at]);
  }
  for (auto& waiting : queued_) fail(waiting);
  for (auto& batch : held_) {
    Waiting waiting{&batch->query, batch};
    fail(waiting);
  }
  groups_.clear();
  queued_.clear();
  held_.clear();
  asking_.clear();
  in_flight_ = 0;
  watching_ = writing_ = false;
  if (!closed_) connect_later();
}

void Lane::close() {
  closed_ = true;
  timer_.cancel();
  lose("closing");
  resume_finished();
}

void Lane::flush() {
  if (!connection_) return;
  while (!queued_.empty() && in_flight_ < kInFlightMax) {
    if (!send_group()) return;
  }
  push_out();
  watch();
}

// @return false when the connection was lost
bool Lane::send_group() {
  Group group;
  group.sent = Clock::now();
  while (!queued_.empty() && group.members.size() < kGroupMax) {
    const bool alone = queued_.front().query->alone;
    if (alone && !group.members.empty()) break;
    Waiting waiting = std::move(queued_.front());
    queued_.pop_front();
    try {
      if (const auto* batch = std::get_if<std::shared_ptr<Batch>>(&waiting.resume)) (*batch)->seal();
      waiting.new_name = send_statement(connection_->raw(), connection_->names(), waiting.query->stmt,
                                        waiting.query->params);
    } catch (const ConnectionLost& e) {
      group.members.push_back(std::move(waiting));
      groups_.push_back(std::move(group));
      lose(e.what());
      return false;
    } catch (...) {  // refused before anything was queued
      waiting.query->outcome = Outcome::failed;
      waiting.query->failure = std::current_exception();
      finish(std::move(waiting));
      continue;
    }
    group.members.push_back(std::move(waiting));
    if (alone) break;
  }
  if (group.members.empty()) return true;
  in_flight_ += group.members.size();
  groups_.push_back(std::move(group));
  if (PQpipelineSync(connection_->raw()) == 1) return true;
  lose(connection_error(connection_->raw()));
  return false;
}

void Lane::push_out() {
  const int state = PQflush(connection_->raw());
  if (state < 0) return lose(connection_error(connection_->raw()));
  if (state == 0 || writing_) return;
  writing_ = true;
  socket_.async_wait(Descriptor::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->writing_ = false;
                       if (error || !self->connection_) return;
                       self->push_out();
                       self->resume_finished();
                     });
}

void Lane::watch() {
  if (watching_ || groups_.empty()) return;
  watching_ = true;
  timer_.expires_after(kLook);
  timer_.async_wait([lane = weak_from_this()](const boost::system::error_code& error) {
    const auto self = lane.lock();
    if (!self || error || !self->watching_) return;
    self->watching_ = false;
    const auto limit = milliseconds(settings_of(self->pool_->config()).statement_timeout_ms) + kGrace;
    if (!self->groups_.empty() && Clock::now() - self->groups_.front().sent > limit) {
      self->lose("no answer within the time limit");
      self->resume_finished();
    }
    self->watch();
  });
}

// Waits while idle too, so that the end of the server is seen when it happens.
void Lane::wait_readable() {
  socket_.async_wait(Descriptor::wait_read, [self = shared_from_this(), connection = connection_.get()](
                                                const boost::system::error_code& error) {
    if (error || self->connection_.get() != connection) return;
    self->read();
    if (self->connection_.get() == connection) self->wait_readable();
    self->resume_finished();
  });
}

void Lane::read() {
  PGconn* const raw = connection_->raw();
  const bool readable = PQconsumeInput(raw) == 1;
  while (!groups_.empty() && PQstatus(raw) == CONNECTION_OK && PQisBusy(raw) == 0) {
    if (PGresult* const result = PQgetResult(raw)) take(result);
  }
  if (!connection_) return;
  if (!readable || PQstatus(raw) != CONNECTION_OK) return lose(connection_error(raw));
  if (!retire_.empty()) return lose(std::exchange(retire_, {}));
  if (groups_.empty()) PQisBusy(raw);  // reads notices
  if (!queued_.empty()) flush();
}

// @return true when `result` was the answer to a Prepare
bool Lane::take_prepare(Waiting& waiting, const PGresult* result) {
  if (waiting.new_name.empty() || waiting.prepare_seen) return false;
  waiting.prepare_seen = true;
  if (PQresultStatus(result) == PGRES_COMMAND_OK) return true;
  connection_->names().forget(waiting.query->stmt, waiting.new_name);
  if (PQresultStatus(result) == PGRES_PIPELINE_ABORTED) return true;
  try {
    raise_failure(result, connection_->raw());
  } catch (const ConnectionLost& e) {  // says nothing of the statement: its caller asks elsewhere
    retire_ = e.what();
  } catch (...) {
    waiting.query->failure = std::current_exception();
  }
  return true;
}

void Lane::take(PGresult* owned) {
  Rows rows(owned);
  Group& group = groups_.front();
  if (PQresultStatus(owned) == PGRES_PIPELINE_SYNC) {
    groups_.pop_front();
    return;
  }
  if (group.at >= group.members.size()) return lose("an answer to no question");
  Waiting& waiting = group.members[group.at];
  if (take_prepare(waiting, owned)) return;
  settle(*waiting.query, owned, std::move(rows));
  ++group.at;
  --in_flight_;
  finish(std::move(waiting));
}

void Lane::finish(Waiting waiting) {
  const Stmt* const stmt =
      std::holds_alternative<std::shared_ptr<Batch>>(waiting.resume) ? &waiting.query->stmt : nullptr;
  finished_.push_back(std::move(waiting));
  if (stmt) release_held(*stmt);
}

// A statement is spoilt when it was skipped because of another one's error, or relied on a Prepare that was.
void Lane::settle(Query& query, PGresult* result, Rows rows) {
  const auto status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
    query.rows = std::move(rows);
    query.outcome = Outcome::rows;
    return;
  }
  if (status == PGRES_PIPELINE_ABORTED || sqlstate(result) == "26000") {
    query.outcome = query.failure ? Outcome::failed : Outcome::spoilt;
    return;
  }
  try {
    raise_failure(result, connection_->raw());
  } catch (const ConnectionLost& e) {
    query.outcome = Outcome::lost;
    retire_ = e.what();
  } catch (...) {
    query.outcome = Outcome::failed;
    query.failure = std::current_exception();
  }
}

// Last in every turn: what is resumed may come back at once with its next query.
void Lane::resume_finished() {
  while (!finished_.empty()) {
    auto batch = std::move(finished_);
    finished_.clear();
    for (auto& waiting : batch) {
      if (auto* const one = std::get_if<Handler>(&waiting.resume)) {
        std::move (*one)();
        continue;
      }
      const auto all = std::get<std::shared_ptr<Batch>>(std::move(waiting.resume));
      all->deal();
      for (auto& one : all->resume) std::move(one)();
    }
  }
}

}  // namespace welkin::db
