#include "db/pipeline.hpp"

#include <libpq-fe.h>

#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <string_view>
#include <vector>

#include "db/failure.hpp"
#include "welkin/core/log.hpp"

namespace welkin::db {
namespace asio = boost::asio;
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
using Awaitable = asio::use_awaitable_t<Executor>;
using Handler = asio::async_result<Awaitable, void()>::handler_type;

constexpr std::size_t kGroupMax = 32;  // more would make the first of a group wait for the last
constexpr std::size_t kInFlightMax = 256;
constexpr unsigned kStatementMs = 10'000;  // this way is for short statements
constexpr auto kGrace = milliseconds(3000);
constexpr auto kLook = milliseconds(1000);
constexpr auto kReconnectFirst = milliseconds(50), kReconnectMax = milliseconds(1000);

enum class Outcome { pending, rows, failed, spoilt, lost };

/// One query: the part that lives in the coroutine's frame ...
struct Query {
  const Stmt& stmt;
  const Params& params;
  bool alone = false;  // to be sent as a group of its own
  Outcome outcome = Outcome::pending;
  Rows rows;
  std::exception_ptr failure;
};

/// ... and the part that the lane holds while it waits. The handler owns the frame, so it may not live in it.
struct Waiting {
  Query* query;
  Handler resume;
  std::string new_name;  // being prepared by this one
  bool prepare_seen = false;
};

struct Group {
  std::vector<Waiting> members;
  std::size_t at = 0;  // whose result comes next
  Clock::time_point sent;
};

SessionSettings settings_of(const PoolConfig& config) {
  const unsigned own = config.statement_timeout_ms;
  return {own == 0 ? kStatementMs : std::min(own, kStatementMs), config.lock_timeout_ms, true};
}

std::string_view sqlstate(const PGresult* r) {
  const char* state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
  return state != nullptr ? state : "";
}

/// One connection and what is on its way on it.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(asio::io_context& io, std::shared_ptr<Pool> pool)
      : io_(io), pool_(std::move(pool)), socket_(io.get_executor()), timer_(io.get_executor()) {}
  ~Lane() { drop_connection(); }

  bool open() const { return connection_ != nullptr; }
  std::size_t load() const { return queued_.size() + in_flight_; }
  void enqueue(Waiting waiting);
  void connect();
  void close();

 private:
  void adopt(std::unique_ptr<Connection> fresh);
  void connect_later();
  void drop_connection();
  void lose(const std::string& why);

  void flush_soon();
  void flush();
  bool send_group();
  void push_out();
  void wait_readable();
  void watch();
  void read();
  void take(PGresult* result);
  bool take_prepare(Waiting& waiting, const PGresult* result);
  void settle(Query& query, PGresult* result, Rows rows);
  void resume_finished();

  asio::io_context& io_;
  std::shared_ptr<Pool> pool_;
  Descriptor socket_;
  Timer timer_;  // watches the oldest group while one is in flight, else the pause before the next connect
  std::unique_ptr<Connection> connection_;
  std::deque<Waiting> queued_;
  std::deque<Group> groups_;
  std::vector<Waiting> finished_;
  std::size_t in_flight_ = 0;
  bool flush_posted_ = false, watching_ = false, writing_ = false, closed_ = false;
  std::string retire_;  // why this connection is not good enough any more
  milliseconds pause_{kReconnectFirst};
};

void Lane::enqueue(Waiting waiting) {
  queued_.push_back(std::move(waiting));
  flush_soon();
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
  groups_.clear();
  queued_.clear();
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
      finished_.push_back(std::move(waiting));
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
  finished_.push_back(std::move(waiting));
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
    for (auto& waiting : batch) std::move(waiting.resume)();
  }
}

}  // namespace

struct Pipeline::State {
  State(asio::io_context& io_context, const std::shared_ptr<Pool>& pool)
      : io(io_context), queue_max(pool->config().queue_max) {
    for (auto& lane : lanes) lane = std::make_shared<Lane>(io, pool);
  }
  /// The open lane with the least to do, or null. @throws Error unavailable `busy`
  static std::shared_ptr<Lane> pick(const Handle& handle) {
    const auto state = handle.lock();
    if (!state) return nullptr;
    std::shared_ptr<Lane> best;
    for (const auto& lane : state->lanes) {
      if (lane->open() && (!best || lane->load() < best->load())) best = lane;
    }
    if (best && best->load() >= state->queue_max)
      throw database_busy("too many requests wait for the database");
    return best;
  }

  asio::io_context& io;
  std::size_t queue_max;
  std::array<std::shared_ptr<Lane>, 2> lanes;
};

Pipeline::Pipeline(asio::io_context& io, std::shared_ptr<Pool> pool)
    : state_(std::make_shared<State>(io, pool)) {
  asio::post(io, [state = state_] {
    for (const auto& lane : state->lanes) lane->connect();
  });
}

Pipeline::~Pipeline() = default;

void Pipeline::close() {
  asio::post(state_->io, [state = state_] {
    for (const auto& lane : state->lanes) lane->close();
  });
}

Task<std::optional<Rows>> Pipeline::query(Handle handle, const Stmt& stmt, const Params& params) {
  Query query{.stmt = stmt, .params = params, .rows = {}, .failure = {}};
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto lane = State::pick(handle);
    if (!lane) break;
    auto start = [lane = std::move(lane), &query](Handler handler) mutable {
      std::exchange(lane, nullptr)->enqueue({&query, std::move(handler), {}});
    };
    co_await asio::async_initiate<const Awaitable, void()>(std::move(start), Awaitable());
    if (query.outcome == Outcome::rows) co_return std::move(query.rows);
    if (query.outcome == Outcome::failed) std::rethrow_exception(query.failure);
    if (query.outcome == Outcome::lost) break;
    query.alone = true;
  }
  co_return std::nullopt;
}

}  // namespace welkin::db
