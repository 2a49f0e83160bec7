#pragma once
#include <memory>
#include <string>

namespace welkin::db {

/// A PostgreSQL cluster of our own inside the data directory: unix socket only, made on first use, ended with
/// us.
///
/// Runs as the current user; PostgreSQL refuses root, so the server drops to an ordinary user before
/// (app/privileges). The child asks the kernel for SIGINT at its parent's death, so it ends with us even
/// after kill -9; a stale postmaster.pid of such a death is waited for and retried, never deleted while its
/// process lives. A server that ends by itself is started again, with a growing pause; meanwhile `alive` is
/// false.
///
/// The settings are ours and written anew at each start; an operator's own go into `<directory>/local.conf`.
/// Beside `<directory>`: `.log`, `.lock` (held while a Cluster lives), `.run` (the socket's folder, or a link
/// to a shorter one).
class Cluster {
 public:
  struct Options {
    std::string directory;  // <data>/postgres
    bool durable = true;    // false: fsync off, for test suites only
    unsigned max_connections = 60;
    unsigned shared_buffers_mb = 128;
    std::string run_as;  // user to run it as when we are root (test suites); its folder must be reachable
  };
  /// Makes the cluster when the directory is empty, starts it and waits until it answers.
  /// @throws std::runtime_error with what PostgreSQL said and where its log is; another Cluster on this
  /// directory
  explicit Cluster(Options options);
  /// Fast shutdown (SIGINT), waits up to 30 s.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Connection string for database `name` ("welkin" exists from the start).
  std::string url(const std::string& name = "welkin") const;
  /// The connection string of a cluster that another process runs on this directory; empty when none does.
  static std::string running_url(const std::string& directory);
  /// False while the server is down, having ended by itself.
  bool alive() const;
  /// Process id of the postmaster; 0 while it is down.
  int pid() const;

 private:
  void make_database();
  void stop();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::db
