#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Actors of the simulation: plain synchronous code on fibers of one thread. Each call into the simulated
/// file system or database is a point where another actor may go on, and where the power may fail.
namespace welkin::blobs::sim {

/// Small, fast, and the same on every machine (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// Thrown into every actor when the machine stops. Deliberately no std::exception: nothing may handle it.
struct PowerCut {};
/// Thrown into one of several actors that wait for each other.
struct Deadlock {};

class Fibers {
 public:
  explicit Fibers(std::uint64_t seed);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  void spawn(std::string name, std::function<void()> body);
  /// Runs until all actors have ended; the machine stops before call number `stop_before` (0: never).
  /// @return true when it stopped early
  bool run(std::uint64_t stop_before);

  /// A call is about to happen. Outside of `run` it does nothing. @throws PowerCut
  void step(const char* call);
  /// The same for calls made by destructors: does not throw. @return false when the machine has stopped
  bool step_quietly(const char* call);
  /// Waits until `ready`. @throws PowerCut, Deadlock
  void wait(const char* call, std::function<bool()> ready);

  bool running() const;
  std::uint64_t calls() const { return calls_; }
  Random& random() { return random_; }
  /// Notes every call from now on, for people to read.
  void trace() { tracing_ = true; }
  void note(const std::string& text) {
    if (tracing_) trace_.push_back(text);
  }
  const std::vector<std::string>& noted() const { return trace_; }

 private:
  struct Fiber;
  Fiber* choose();
  bool can_go_on(const Fiber& fiber) const;
  void switch_to(Fiber& to);
  void start(Fiber& fiber);
  void yield();
  bool stop_now(const char* call);
  static void enter(unsigned high, unsigned low);

  Random random_;
  std::unique_ptr<Fiber> main_;  // who called `run`
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_;
  std::uint64_t calls_ = 0, stop_before_ = 0;
  bool stopped_ = false, tracing_ = false;
  // Scheduling, drawn for each run: either another actor at every n-th call or so, or fixed priorities that
  // change at a few calls, which meets orders that need one actor to sleep for long.
  bool by_priority_ = false;
  std::uint64_t stay_ = 1;
  std::vector<std::uint64_t> changes_;
  std::vector<std::string> trace_;
};

}  // namespace welkin::blobs::sim
