#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "welkin/db/params.hpp"
#include "welkin/db/rows.hpp"

struct pg_conn;
struct pg_result;

namespace welkin::db {

/// What each session is set to when it opens.
struct SessionSettings {
  unsigned statement_timeout_ms = 30'000;
  unsigned lock_timeout_ms = 5'000;
  bool read_only = false;
  // Only short reads by key: planned once for any parameters, always by an index.
  bool by_key = false;
};

/// Names of the statements that one connection has prepared.
///
/// A statement is prepared once for each list of parameter types it is bound with. A null has no type of its
/// own and fits every variant, so optional parameters do not multiply them.
class PreparedNames {
 public:
  struct Choice {
    const std::string* name;  // on the server; valid until `forget`
    bool is_new;              // to be prepared before it is run
  };
  /// @throws std::logic_error when the same name was used for another text
  Choice choose(const Stmt& stmt, const Params& params);
  void forget(const Stmt& stmt, const std::string& name);

 private:
  struct Variant {
    std::vector<std::uint32_t> types;
    std::string name;
  };
  struct Entry {
    std::string sql;
    unsigned count = 0;
    std::list<Variant> variants;  // a list: names stay where they are
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
  };
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
};

/// Puts Prepare (when needed) and Execute of `stmt` into libpq's pipeline. Nothing is sent before a sync or a
/// flush.
/// @return the name given to it now, when it was not prepared before: then two results will come. @throws
/// ConnectionLost
std::string send_statement(pg_conn* raw, PreparedNames& names, const Stmt& stmt, const Params& params);

/// One session with the server. A libpqxx connection owns the PGconn; statements run on the PGconn itself, in
/// binary and in pipeline mode, because libpqxx 6 knows neither. Belongs to one thread at a time.
///
/// Every wait has a limit of its own a little above the server's statement timeout, so that a server that
/// stopped answering (a frozen machine, a network that swallows packets) cannot keep a thread.
class Connection {
 public:
  /// Connects within about a second. @throws ConnectionLost
  Connection(const std::string& url, const SessionSettings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Queues a statement; nothing is sent before `results`.
  void queue(const Stmt& stmt, const Params& params);
  /// Asks the server to send what it has so far, without ending the batch.
  void queue_flush();
  /// Sends the batch and reads its results, in order. The statements of a batch share one implicit
  /// transaction unless an explicit one is open. The first failure is thrown after the whole batch has been
  /// read.
  /// @throws ConnectionLost, SqlError, Error
  std::vector<Rows> results();

  /// Text of several statements, without parameters and results. @throws as `results`
  void script(std::string_view sql);

  /// False once a wait or a send failed; such a connection is only good for being destroyed.
  bool usable() const;
  void give_up() noexcept { broken_ = true; }
  pg_conn* raw() const { return raw_; }
  PreparedNames& names() { return names_; }
  std::chrono::steady_clock::time_point opened() const { return opened_; }
  /// Names this run of the server: another value, or none, after a crash or a failover (see server_life.hpp).
  const std::string& server_life() const { return server_life_; }
  void set_server_life(std::string life) { server_life_ = std::move(life); }

 private:
  struct Expected {
    Stmt stmt;
    std::string new_name;  // empty: was prepared before
  };

  void send();
  void wait(short events);
  pg_result* next();
  Rows read_one(const Expected& expected);
  bool take(pg_result* result, int wanted_status, Rows* into);
  void configure(const SessionSettings& settings);

  std::unique_ptr<class Link> link_;
  pg_conn* raw_ = nullptr;
  PreparedNames names_;
  std::deque<Expected> expected_;
  std::shared_ptr<pg_result> failure_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::steady_clock::time_point opened_;
  std::string server_life_;
  bool broken_ = false;
};

}  // namespace welkin::db
