#pragma once
#include <optional>
#include <string>

#include "welkin/core/bytes.hpp"
#include "welkin/db/cluster.hpp"

namespace welkin::db {

/// Where a cluster keeps things. Beside `<directory>` itself: `.lock` (held while somebody runs it), `.log`
/// (what PostgreSQL says), `.run` (the socket's folder, or a link to a shorter one), `.new` (an unfinished
/// initdb).
struct ClusterFiles {
  explicit ClusterFiles(const Cluster::Options& options);

  /// Makes the cluster if there is none, and writes its settings. An initdb that was cut off is begun again.
  /// @throws std::runtime_error
  void prepare() const;
  /// Absolute path of one of PostgreSQL's programs, of the version that made the directory.
  std::string program(const std::string& name) const;
  /// The last lines PostgreSQL wrote behind `offset`.
  std::string log_tail(std::uint64_t offset) const;
  std::uint64_t log_size() const;
  /// Keeps the log from growing without end: above 8 MiB it moves to `.log.1`. Safe while PostgreSQL writes.
  void trim_log() const;

  Cluster::Options options;
  std::string directory, lock, log, socket_folder;

 private:
  void make_cluster() const;
  void write_settings() const;
  void write(const std::string& name, const std::string& text) const;
  void make_folder(const std::string& path) const;
  std::string choose_socket_folder() const;
  bool ours(const std::string& folder) const;
};

/// What postmaster.pid says about a running server.
struct Postmaster {
  int pid = 0;
  std::string socket_folder;
  bool ready = false;
};
std::optional<Postmaster> read_postmaster(const std::string& directory);

std::string cluster_url(const std::string& socket_folder, const std::string& database);

}  // namespace welkin::db
