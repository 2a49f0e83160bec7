#include "app/command_database.hpp"

#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "app/privileges.hpp"

namespace welkin::app {

using namespace std::chrono_literals;

std::string cluster_directory(const Config& config) { return config.data_dir + "/postgres"; }

std::unique_ptr<db::Cluster> start_cluster(const Config& config) {
  db::Cluster::Options options;
  options.directory = cluster_directory(config);
  return std::make_unique<db::Cluster>(options);
}

CommandDatabase::CommandDatabase(const Config& config, const std::string& command) {
  if (!config.database_url.empty()) {
    const auto holder = DataLock::holder(config.data_dir);
    server_is_running_ = holder && holder->role == "serve";
    url_ = config.database_url;
    return;
  }
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (true) {
    lock_ = DataLock::take(config.data_dir, command);
    if (lock_) {
      cluster_ = start_cluster(config);
      url_ = cluster_->url();
      return;
    }
    const auto holder = DataLock::holder(config.data_dir);
    if (holder && holder->role == "serve") {
      url_ = db::Cluster::running_url(cluster_directory(config));
      server_is_running_ = true;
      if (!url_.empty()) return;  // else it is just starting its cluster
    }
    if (std::chrono::steady_clock::now() > until) {
      throw StartError(
          fmt::format("{} is in use by `welkin {}` with process id {}, and its database does not answer",
                      config.data_dir, holder ? holder->role : "?", holder ? holder->pid : 0));
    }
    std::this_thread::sleep_for(100ms);
  }
}

}  // namespace welkin::app
