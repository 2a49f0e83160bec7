#pragma once
#include <memory>
#include <string>

namespace welkin::db {

/// A PostgreSQL cluster of our own inside the data directory: unix socket only, made on first use, ended with us.
///
/// Runs as the current user; PostgreSQL refuses root, so the server drops to an ordinary user before (app/privileges).
/// The child is started through `setpriv --pdeathsig`, so it dies with its parent even after kill -9; a stale
/// postmaster.pid of such a death is waited for and retried, never deleted while its process lives.
class Cluster {
 public:
  struct Options {
    std::string directory;        // <data>/postgres
    bool durable = true;          // false: fsync off, for test suites only
    unsigned max_connections = 60;
    unsigned shared_buffers_mb = 128;
  };
  /// Makes the cluster when the directory is empty, starts it and waits until it answers.
  /// @throws std::runtime_error with what PostgreSQL said
  explicit Cluster(Options options);
  /// Fast shutdown (SIGINT), waits up to 30 s.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Connection string for database `name` ("welkin" exists from the start).
  std::string url(const std::string& name = "welkin") const;
  /// The connection string of a cluster that another process runs on this directory; empty when none does.
  static std::string running_url(const std::string& directory);
  /// False once the child has ended by itself.
  bool alive() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::db
