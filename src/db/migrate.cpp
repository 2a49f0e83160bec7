#include "welkin/db/migrate.hpp"

#include <algorithm>
#include <chrono>
#include <pqxx/nontransaction.hxx>
#include <pqxx/result.hxx>
#include <pqxx/result_iterator.hxx>
#include <pqxx/transaction.hxx>
#include <regex>
#include <stdexcept>
#include <thread>

#include "db/failure.hpp"
#include "db/link.hpp"
#include "db/server_life.hpp"
#include "welkin/core/log.hpp"

namespace welkin::db {
namespace {

constexpr int kServerVersionMin = 150000;
constexpr auto kLockPoll = std::chrono::milliseconds(200);
constexpr std::string_view kNoTransaction = "-- welkin: no-transaction";

constexpr const char* kSession =
    "set client_encoding = 'UTF8'; set client_min_messages = warning; set statement_timeout = 0;"
    "set lock_timeout = '30s'; set default_transaction_isolation = 'read committed'";

constexpr const char* kOwnTables[] = {
    "create table if not exists schema_migrations ("
    "  id text collate \"C\" primary key,"
    "  step integer not null default 0,"  // statements finished, for those that run without a transaction
    "  finished_at timestamptz)",
    "create table if not exists schema_functions (id text collate \"C\" primary key, sql text not null)",
    kServerLifeTable,
};

// An advisory lock of the session. Polled, never waited for in a statement: a statement that waits holds a
// snapshot, and CREATE INDEX CONCURRENTLY of the migrator that has the lock would wait for that snapshot in
// turn.
constexpr const char* kTryLock = "select pg_try_advisory_lock(2004318059)";

class Migrator {
 public:
  explicit Migrator(const std::string& url) : link_(url) { exec(kSession); }

  void require_fit() {
    if (link_.server_version() < kServerVersionMin) {
      throw std::runtime_error("PostgreSQL 15 or newer is needed, the server is version " +
                               std::to_string(link_.server_version() / 10000));
    }
    const auto encoding = exec("show server_encoding")[0][0].as<std::string>();
    if (encoding != "UTF8") {
      throw std::runtime_error("the database has encoding " + encoding + ", UTF8 is needed");
    }
  }

  void lock() {
    for (bool told = false; !exec(kTryLock)[0][0].as<bool>(); told = true) {
      if (!told) log::info("another server is bringing the database up to date, waiting");
      std::this_thread::sleep_for(kLockPoll);
    }
    for (const char* table : kOwnTables) exec(table);
  }

  void refuse_newer(const std::vector<Migration>& known) {
    for (const auto& row : exec("select id from schema_migrations order by id")) {
      const auto id = row[0].as<std::string>();
      if (std::any_of(known.begin(), known.end(), [&](const Migration& m) { return m.id == id; })) continue;
      throw std::runtime_error("the database was written by a newer Welkin (it has " + id +
                               ", which this version does not know)");
    }
  }

  /// @return true when it was not finished before
  bool apply(const Migration& migration) {
    const auto rows =
        exec_with("select step, finished_at is not null from schema_migrations where id = $1", migration.id);
    if (!rows.empty() && rows[0][1].as<bool>()) return false;
    const auto statements = split_statements(migration.sql);
    if (migration.sql.starts_with(kNoTransaction)) {
      apply_stepwise(migration.id, statements, rows.empty() ? 0 : rows[0][0].as<std::size_t>());
    } else {
      apply_whole(migration.id, statements);
    }
    return true;
  }

  void apply_functions(const std::vector<Migration>& functions) {
    pqxx::work work(link_);
    for (const auto& file : functions) {
      if (!work.exec_params("select 1 from schema_functions where id = $1 and sql = $2", file.id, file.sql)
               .empty()) {
        continue;
      }
      run(work, file.id, split_statements(file.sql), 0);
      work.exec_params(
          "insert into schema_functions (id, sql) values ($1, $2)"
          " on conflict (id) do update set sql = excluded.sql",
          file.id, file.sql);
    }
    work.commit();
  }

 private:
  pqxx::result exec(const std::string& sql) { return pqxx::nontransaction(link_).exec(sql); }
  template <class... T>
  pqxx::result exec_with(const std::string& sql, const T&... values) {
    return pqxx::nontransaction(link_).exec_params(sql, values...);
  }

  void run(pqxx::transaction_base& on, const std::string& id, const std::vector<std::string>& statements,
           std::size_t from) {
    for (std::size_t i = from; i < statements.size(); ++i) {
      try {
        on.exec(statements[i]);
      } catch (const pqxx::sql_error& e) {
        throw std::runtime_error("migration " + id + ", statement " + std::to_string(i + 1) + ": " +
                                 e.what());
      }
    }
  }

  void apply_whole(const std::string& id, const std::vector<std::string>& statements) {
    pqxx::work work(link_);
    run(work, id, statements, 0);
    work.exec_params("insert into schema_migrations (id, step, finished_at) values ($1, $2, now())", id,
                     statements.size());
    work.commit();
  }

  void apply_stepwise(const std::string& id, const std::vector<std::string>& statements, std::size_t from) {
    exec_with("insert into schema_migrations (id) values ($1) on conflict do nothing", id);
    for (std::size_t i = from; i < statements.size(); ++i) {
      if (!index_is_there(statements[i])) {
        pqxx::nontransaction alone(link_);
        run(alone, id, {statements.begin(), statements.begin() + static_cast<std::ptrdiff_t>(i) + 1}, i);
      }
      exec_with("update schema_migrations set step = $2 where id = $1", id, i + 1);
    }
    exec_with("update schema_migrations set finished_at = now() where id = $1", id);
  }

  // A kill during CREATE INDEX CONCURRENTLY leaves an invalid index behind, one just after it a good one that
  // was not noted: the first is dropped, the second taken.
  bool index_is_there(const std::string& statement) {
    static const std::regex form(
        R"re(^create\s+(unique\s+)?index\s+concurrently\s+(if\s+not\s+exists\s+)?"?(\w+)"?)re",
        std::regex::icase);
    std::smatch match;
    if (!std::regex_search(statement, match, form)) return false;
    const auto name = match[3].str();
    const auto rows = exec_with("select indisvalid from pg_index where indexrelid = to_regclass($1)", name);
    if (rows.empty()) return false;
    if (rows[0][0].as<bool>()) return true;
    exec("drop index concurrently " + link_.quote_name(name));
    return false;
  }

  Link link_;
};

}  // namespace

std::vector<std::string> migrate(const std::string& url, const std::vector<Migration>& migrations,
                                 const std::vector<Migration>& functions) {
  auto ordered = migrations;
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::vector<std::string> applied;
  try {
    Migrator migrator(url);
    migrator.require_fit();
    migrator.lock();
    migrator.refuse_newer(ordered);
    for (const auto& migration : ordered) {
      if (!migrator.apply(migration)) continue;
      log::info("migration {} applied", migration.id);
      applied.push_back(migration.id);
    }
    migrator.apply_functions(functions);
  } catch (const ConnectionLost& e) {
    log::warn("no connection to the database: {}", e.what());
    throw database_down("the database does not answer");
  } catch (const pqxx::broken_connection& e) {
    log::warn("connection to the database lost while migrating: {}", e.what());
    throw database_down("the connection to the database was lost");
  } catch (const pqxx::in_doubt_error& e) {
    log::warn("connection to the database lost while migrating: {}", e.what());
    throw database_down("the connection to the database was lost");
  }
  return applied;
}

}  // namespace welkin::db
