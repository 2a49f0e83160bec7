#pragma once
#include <memory>
#include <optional>
#include <string>

#include "app/data_lock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/db/cluster.hpp"

namespace welkin::app {

/// The database as a command finds it: the configured one, the private cluster of a running server, or that
/// cluster started for the command and stopped after it. Commands wait for each other; none uses a cluster
/// that another command is about to stop.
class CommandDatabase {
 public:
  /// @param command shown to whoever has to wait. @throws StartError
  CommandDatabase(const Config& config, const std::string& command);
  const std::string& url() const { return url_; }
  /// Whether a server of this data directory is running.
  bool server_is_running() const { return server_is_running_; }

 private:
  std::optional<DataLock> lock_;  // ends last: the cluster is down before anybody else may start it
  std::unique_ptr<db::Cluster> cluster_;
  std::string url_;
  bool server_is_running_ = false;
};

/// <data>/postgres
std::string cluster_directory(const Config& config);
/// Starts the private cluster, for as long as the result lives. @throws std::runtime_error with what
/// PostgreSQL said
std::unique_ptr<db::Cluster> start_cluster(const Config& config);

}  // namespace welkin::app
