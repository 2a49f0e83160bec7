#include "welkin/db/migrate.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <regex>
#include <stdexcept>
#include <thread>

#include "db/connection.hpp"
#include "db/failure.hpp"
#include "db/server_life.hpp"
#include "welkin/core/log.hpp"

namespace welkin::db {
namespace {

constexpr int kServerVersionMin = 150000;
constexpr unsigned kLockTimeoutMs = 30'000;
constexpr auto kLockPoll = std::chrono::milliseconds(200);
constexpr std::string_view kNoTransaction = "-- welkin: no-transaction";

constexpr const char* kOwnTables[] = {
    "create table if not exists schema_migrations ("
    "  id text collate \"C\" primary key,"
    "  step integer not null default 0,"  // statements finished, for those that run without a transaction
    "  finished_at timestamptz)",
    "create table if not exists schema_functions (id text collate \"C\" primary key, sql text not null)",
    kServerLifeTable,
};

constexpr Stmt kEncoding{"migrate.encoding", "select current_setting('server_encoding')"};
// An advisory lock of the session. Polled, never waited for in a statement: a statement that waits holds a
// snapshot, and CREATE INDEX CONCURRENTLY of the migrator that has the lock would wait for that snapshot in
// turn.
constexpr Stmt kTryLock{"migrate.lock", "select pg_try_advisory_lock(2004318059)"};
constexpr Stmt kKnown{"migrate.known",
                      "select id, step, finished_at is not null from schema_migrations order by id"};
constexpr Stmt kFinish{
    "migrate.finish",
    "insert into schema_migrations (id, step, finished_at) values ($1, $2, now())"
    " on conflict (id) do update set step = excluded.step, finished_at = excluded.finished_at"};
constexpr Stmt kStep{"migrate.step",
                     "insert into schema_migrations (id, step) values ($1, $2)"
                     " on conflict (id) do update set step = excluded.step"};
constexpr Stmt kSameFunctions{"migrate.same_functions",
                              "select from schema_functions where id = $1 and sql = $2"};
constexpr Stmt kNoteFunctions{"migrate.note_functions",
                              "insert into schema_functions (id, sql) values ($1, $2)"
                              " on conflict (id) do update set sql = excluded.sql"};
constexpr Stmt kIndexValid{"migrate.index",
                           "select indisvalid from pg_index where indexrelid = to_regclass($1)"};

/// One session that works through what is missing. An exception ends the session, and with it its transaction
/// and lock.
class Migrator {
 public:
  explicit Migrator(const std::string& url)
      : connection_(url, {.statement_timeout_ms = 0, .lock_timeout_ms = kLockTimeoutMs}) {}

  void require_fit() {
    const int version = PQserverVersion(connection_.raw());
    if (version < kServerVersionMin) {
      throw std::runtime_error("PostgreSQL 15 or newer is needed, the server is version " +
                               std::to_string(version / 10000));
    }
    const auto encoding = run(kEncoding)[0].str(0);
    if (encoding != "UTF8")
      throw std::runtime_error("the database has encoding " + encoding + ", UTF8 is needed");
  }

  void lock() {
    for (bool told = false; !run(kTryLock)[0].boolean(0); told = true) {
      if (!told) log::info("another server is bringing the database up to date, waiting");
      std::this_thread::sleep_for(kLockPoll);
    }
    for (const char* table : kOwnTables) connection_.script(table);
  }

  void read_state(const std::vector<Migration>& known) {
    for (const auto row : run(kKnown)) {
      const auto id = row.str(0);
      if (std::none_of(known.begin(), known.end(), [&](const Migration& m) { return m.id == id; })) {
        throw std::runtime_error("the database was written by a newer Welkin (it has " + id +
                                 ", which this version does not know)");
      }
      state_[id] = {row.i32(1), row.boolean(2)};
    }
  }

  /// @return true when it was not finished before
  bool apply(const Migration& migration) {
    const State state = state_[migration.id];
    if (state.finished) return false;
    const auto statements = split_statements(migration.sql);
    if (migration.sql.starts_with(kNoTransaction)) {
      apply_stepwise(migration.id, statements, state.step);
    } else {
      connection_.script("begin");
      for (int i = 0; i < static_cast<int>(statements.size()); ++i) execute(migration.id, statements, i);
      run(kFinish, migration.id, static_cast<std::int32_t>(statements.size()));
      connection_.script("commit");
    }
    return true;
  }

  void apply_functions(const std::vector<Migration>& functions) {
    connection_.script("begin");
    for (const auto& file : functions) {
      if (!run(kSameFunctions, file.id, file.sql).empty()) continue;
      const auto statements = split_statements(file.sql);
      for (int i = 0; i < static_cast<int>(statements.size()); ++i) execute(file.id, statements, i);
      run(kNoteFunctions, file.id, file.sql);
    }
    connection_.script("commit");
  }

 private:
  struct State {
    int step = 0;
    bool finished = false;
  };

  template <class... T>
  Rows run(const Stmt& stmt, const T&... values) {
    connection_.queue(stmt, Params(values...));
    return connection_.results()[0];
  }

  void execute(const std::string& id, const std::vector<std::string>& statements, int at) {
    try {
      connection_.script(statements[static_cast<std::size_t>(at)]);
    } catch (const SqlError& e) {
      throw std::runtime_error("migration " + id + ", statement " + std::to_string(at + 1) + ": " + e.what() +
                               " (" + e.sqlstate() + ")");
    }
  }

  void apply_stepwise(const std::string& id, const std::vector<std::string>& statements, int from) {
    for (int i = from; i < static_cast<int>(statements.size()); ++i) {
      if (!index_is_there(statements[static_cast<std::size_t>(i)])) execute(id, statements, i);
      run(kStep, id, i + 1);
    }
    run(kFinish, id, static_cast<std::int32_t>(statements.size()));
  }

  // A kill during CREATE INDEX CONCURRENTLY leaves an invalid index behind, one just after it a good one that
  // was not noted: the first is dropped, the second taken.
  bool index_is_there(const std::string& statement) {
    static const std::regex form(
        R"re(^create\s+(unique\s+)?index\s+concurrently\s+(if\s+not\s+exists\s+)?("?\w+"?))re",
        std::regex::icase);
    std::smatch match;
    if (!std::regex_search(statement, match, form)) return false;
    const auto name = match[3].str();
    const auto rows = run(kIndexValid, name);
    if (rows.empty()) return false;
    if (rows[0].boolean(0)) return true;
    connection_.script("drop index concurrently " + name);
    return false;
  }

  Connection connection_;
  std::map<std::string, State> state_;
};

std::vector<std::string> run_migrator(const std::string& url, const std::vector<Migration>& ordered,
                                      const std::vector<Migration>& functions) {
  std::vector<std::string> applied;
  Migrator migrator(url);
  migrator.require_fit();
  migrator.lock();
  migrator.read_state(ordered);
  for (const auto& migration : ordered) {
    if (!migrator.apply(migration)) continue;
    log::info("migration {} applied", migration.id);
    applied.push_back(migration.id);
  }
  migrator.apply_functions(functions);
  return applied;
}

}  // namespace

std::vector<std::string> migrate(const std::string& url, const std::vector<Migration>& migrations,
                                 const std::vector<Migration>& functions) {
  auto ordered = migrations;
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  try {
    return run_migrator(url, ordered, functions);
  } catch (const ConnectionLost& e) {
    log::warn("connection to the database lost while migrating: {}", e.what());
    throw database_down("the database does not answer");
  } catch (const SqlError& e) {
    throw std::runtime_error(std::string("migrating the database: ") + e.what() + " (" + e.sqlstate() + ")");
  }
}

}  // namespace welkin::db
