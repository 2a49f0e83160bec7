#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "welkin/core/bytes.hpp"

namespace welkin::app {

/// The lock of a data directory, `<data>/welkin.lock`. Whoever holds it owns the private cluster and the
/// store: the server for its life, a command that had to start the cluster for its own. The kernel lets go
/// when the holder dies. The file says who holds it, for the others: role, process and, once it serves,
/// where.
class DataLock {
 public:
  struct Holder {
    std::string role;  // "serve", or the command
    int pid = 0;
    std::string address;  // host:port it serves on; "" before
    bool tls = false;
  };
  /// Takes the lock; nullopt when somebody else holds it. @throws StartError when the file cannot be made
  static std::optional<DataLock> take(const std::string& data_dir, const std::string& role);
  /// The same, waiting for commands (never for a server) up to `patience`.
  /// @throws StartError naming the holder
  static DataLock wait(const std::string& data_dir, const std::string& role, std::chrono::seconds patience);
  /// Who holds it now; nullopt when nobody does.
  static std::optional<Holder> holder(const std::string& data_dir);

  /// Says where the holder serves, for `healthcheck`.
  void announce(const std::string& address, bool tls);

 private:
  DataLock(Fd file, Holder self);
  void write();
  Fd file_;
  Holder self_;
};

}  // namespace welkin::app
