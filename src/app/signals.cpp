#include "app/signals.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include "welkin/core/log.hpp"

namespace welkin::app {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, number);
  return set;
}

}  // namespace

Signals::Signals() {
  const auto set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { run(); });
}

Signals::~Signals() {
  ended_ = true;
  ::pthread_kill(thread_.native_handle(), SIGUSR1);  // only wakes it
  thread_.join();
}

void Signals::run() {
  ::pthread_setname_np(::pthread_self(), "signals");
  const auto set = watched();
  while (true) {
    int number = 0;
    if (::sigwait(&set, &number) != 0) continue;
    if (ended_) return;
    if (number == SIGUSR1) continue;
    if (number != SIGHUP && stop_asked_.exchange(true)) {
      log::warn("stopped at once: a second signal came");
      ::_exit(128 + number);
    }
    const std::lock_guard guard(mutex_);
    if (number == SIGHUP) reload_asked_ = true;
    changed_.notify_all();
  }
}

Signals::Event Signals::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return stop_asked_ || reload_asked_; });
  if (stop_asked_) return Event::stop;
  const bool reload = reload_asked_;
  reload_asked_ = false;
  return reload ? Event::reload : Event::none;
}

}  // namespace welkin::app
