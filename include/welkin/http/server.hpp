#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "welkin/core/config.hpp"
#include "welkin/core/task.hpp"
#include "welkin/http/router.hpp"

namespace welkin::http {

/// N io threads, each with its own io_context and acceptor (SO_REUSEPORT). Owns them, nothing else.
class IoThreads {
 public:
  explicit IoThreads(unsigned threads);
  ~IoThreads();
  std::size_t size() const;
  boost::asio::io_context& at(std::size_t i);
  /// Starts the threads.
  void start();
  bool running() const;
  /// Lets the contexts run out of work and joins. Call after everything that posts to them has stopped.
  void stop_and_join();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Listens and runs sessions. HTTP/1.1 (and 1.0) with keep-alive and pipelining, TLS 1.2+ when the config
/// names a certificate. Sessions are counted, cancelled and awaited by `drain`.
class Server {
 public:
  /// @throws std::runtime_error with a clear text when an address or certificate cannot be used
  Server(IoThreads& io, const Config& config, const Router& router);
  ~Server();

  /// Begins to accept (once `io` is started). Call once. @return the bound port (config.listen may say 0)
  std::uint16_t listen();
  /// Reads certificate and key again; on failure keeps the old ones and logs why. Called on SIGHUP.
  void reload_tls();
  /// Stops accepting, lets requests in flight finish within `limit`, then cuts the rest. Blocks.
  void drain(std::chrono::seconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::http
