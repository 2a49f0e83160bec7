#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "welkin/db/db.hpp"

namespace welkin::jobs {

/// Work that recurs: collecting bytes, expiring uploads and sessions, catching up digests. Each job runs on
/// one node at a time (an advisory lock by name); a job that throws is logged, counted and tried again at its
/// next turn.
class Scheduler {
 public:
  explicit Scheduler(db::Db& db);
  ~Scheduler();

  /// @param name  unique, stable; @param every  pause between the end of one turn and the next, with 10 %
  /// jitter
  /// @param turn  one bounded piece of work, on the scheduler's thread; true: more is waiting, come back at
  /// once
  void every(std::string name, std::chrono::seconds every, std::function<bool()> turn);
  void start();
  /// Waits for the turn in hand.
  void stop();
  /// Runs one turn of `name` now, on the calling thread (CLI, tests).
  bool run_once(const std::string& name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::jobs
