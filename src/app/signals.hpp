#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace welkin::app {

/// SIGTERM and SIGINT ask for an orderly end; a second one ends the process at once. SIGHUP asks to reload.
/// Must be made before any other thread: the signals are blocked everywhere and taken by one thread here.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool stop_asked() const { return stop_asked_.load(); }
  enum class Event { none, stop, reload };
  /// What has happened, at the latest after `patience`.
  Event wait(std::chrono::milliseconds patience);

 private:
  void run();
  std::atomic<bool> stop_asked_{false}, ended_{false};
  bool reload_asked_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace welkin::app
