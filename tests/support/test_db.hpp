#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "welkin/db/db.hpp"

namespace welkin::tests {

/// A migrated database of its own for one test, dropped at the end.
///
/// It is cloned from a template that the first test of a run makes; the template's name holds a hash of all
/// migrations, so it is never stale. The cluster is the one of WELKIN_TEST_DATABASE_URL (a database
/// `postgres` with the right to create others); without the variable the process starts one for itself,
/// without fsync, and ends it at its exit.
class TestDb {
 public:
  /// @param migrated  false: an empty database
  explicit TestDb(bool migrated = true);
  ~TestDb();
  TestDb(const TestDb&) = delete;
  TestDb& operator=(const TestDb&) = delete;

  /// Opened at the first call, with 4 connections. Safe from several threads.
  db::Db& db();
  /// For servers and pools of the test's own.
  const std::string& url() const { return url_; }
  /// Statements without results, on a connection of their own.
  void script(std::string_view sql);
  /// Ends every other session on this database, as a restart of the server would.
  void cut_sessions();

 private:
  std::string name_, url_;
  std::once_flag opened_;
  std::unique_ptr<db::Db> db_;
};

/// The cluster's administrative database; starts the private cluster when need be.
const std::string& cluster_admin_url();
/// `url` with another database name.
std::string with_database(const std::string& url, const std::string& name);

}  // namespace welkin::tests
