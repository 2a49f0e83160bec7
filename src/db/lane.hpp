#pragma once
#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "db/connection.hpp"
#include "db/pool.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

struct pg_result;

namespace welkin::db {

using Awaitable = boost::asio::use_awaitable_t<Executor>;
using Handler = boost::asio::async_result<Awaitable, void()>::handler_type;

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

/// The keys as the array that a look-up's statement takes. @throws std::logic_error for keys of two kinds
Params key_params(const Stmt& stmt, const std::vector<Key>& keys);

/// One key that somebody looks up, in his coroutine's frame.
struct LookUp {
  const Key& key;
  std::size_t place = 0;  // of the key in its batch
  Outcome outcome = Outcome::pending;
  std::optional<Found> found;
  std::exception_ptr failure;
};

/// Keys of one statement that were asked for in the same turn of the loop, and who waits for them.
struct Batch {
  static constexpr std::size_t kKeysMax = 64, kLookUpsMax = 512;

  explicit Batch(const Stmt& stmt) : query{.stmt = stmt, .params = params, .rows = {}, .failure = {}} {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  bool is_full() const { return keys.size() >= kKeysMax || look_ups.size() >= kLookUpsMax; }
  /// A key that somebody waits for already is not asked twice.
  void join(LookUp& look_up, Handler handler);
  /// Packs the keys: from now on nobody may join.
  void seal();
  /// Gives everybody his row.
  void deal();

  std::vector<Key> keys;
  std::vector<LookUp*> look_ups;
  std::vector<Handler> resume;  // of the look-ups, in their order
  Params params;
  Query query;
};

/// ... and the part that the lane holds while it waits. A handler owns its frame, so it may not live in it.
struct Waiting {
  Query* query;
  std::variant<Handler, std::shared_ptr<Batch>> resume;
  std::string new_name{};  // being prepared by this one
  bool prepare_seen = false;
};

struct Group {
  std::vector<Waiting> members;
  std::size_t at = 0;  // whose result comes next
  std::chrono::steady_clock::time_point sent;
};

/// One connection and what is on its way on it. Belongs to one io thread.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(boost::asio::io_context& io, std::shared_ptr<Pool> pool);
  ~Lane() { drop_connection(); }

  bool open() const { return connection_ != nullptr; }
  std::size_t load() const { return queued_.size() + held_.size() + in_flight_; }
  void enqueue(Waiting waiting);
  void enqueue(std::shared_ptr<Batch> batch);
  /// The batch of `stmt` that was not sent yet; null when there is none, or it is full.
  Batch* open_batch(const Stmt& stmt) const;
  void connect();
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  using Descriptor = boost::asio::posix::basic_stream_descriptor<Executor>;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor>;

  void adopt(std::unique_ptr<Connection> fresh);
  void connect_later();
  void drop_connection();
  void lose(const std::string& why);

  bool is_asking(const Stmt& stmt) const;
  void release_held(const Stmt& stmt);
  void flush_soon();
  void flush();
  bool send_group();
  void push_out();
  void wait_readable();
  void watch();
  void read();
  void take(pg_result* result);
  bool take_prepare(Waiting& waiting, const pg_result* result);
  void settle(Query& query, pg_result* result, Rows rows);
  void finish(Waiting waiting);
  void resume_finished();

  boost::asio::io_context& io_;
  std::shared_ptr<Pool> pool_;
  Descriptor socket_;
  Timer timer_;  // watches the oldest group while one is in flight, else the pause before the next connect
  std::unique_ptr<Connection> connection_;
  std::deque<Waiting> queued_;
  // Batches whose statement is on its way already: what is asked meanwhile gathers in them. So a quiet server
  // answers at once and a busy one asks for many keys at a time.
  std::deque<std::shared_ptr<Batch>> held_;
  std::vector<const Stmt*> asking_;  // the statements of the batches in queued_ or on their way
  std::deque<Group> groups_;
  std::vector<Waiting> finished_;
  std::size_t in_flight_ = 0;
  bool flush_posted_ = false, watching_ = false, writing_ = false, closed_ = false;
  std::string retire_;  // why this connection is not good enough any more
  std::chrono::milliseconds pause_;
};

}  // namespace welkin::db
