#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <list>
#include <pqxx/nontransaction.hxx>
#include <pqxx/notification.hxx>
#include <thread>
#include <vector>

#include "db/failure.hpp"
#include "db/link.hpp"
#include "welkin/core/bytes.hpp"
#include "welkin/core/log.hpp"
#include "welkin/db/notify.hpp"

namespace welkin::db {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kRetryFirst{100}, kRetryMax{2000};

void call(const Listener::Callback& callback, const std::string& payload) {
  try {
    callback(payload);
  } catch (const std::exception& e) {
    log::error("a listener of database events failed: {}", e.what());
  }
}

/// LISTENs on a channel for as long as it lives.
class Receiver final : public pqxx::notification_receiver {
 public:
  Receiver(Link& link, const std::string& channel, const Listener::Callback& callback)
      : notification_receiver(link, channel), callback_(callback) {}
  void operator()(const std::string& payload, int) override { call(callback_, payload); }

 private:
  const Listener::Callback& callback_;
};

}  // namespace

struct Listener::Impl {
  struct Subscription {
    std::string channel;
    Callback callback;
  };

  void run();
  void listen();
  bool wait(int socket, milliseconds limit);
  void tell_all() {
    for (const auto& s : subscriptions) call(s.callback, "");
  }

  std::string url;
  std::vector<Subscription> subscriptions;
  Fd stop_event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> stopping{false};
  milliseconds pause{kRetryFirst};
  std::thread thread;
};

// False: time to stop. A socket of -1 is not looked at.
bool Listener::Impl::wait(int socket, milliseconds limit) {
  pollfd waiting[] = {{stop_event.get(), POLLIN, 0}, {socket, POLLIN, 0}};
  poll(waiting, 2, static_cast<int>(limit.count()));
  return !stopping;
}

// One connection's life.
void Listener::Impl::listen() {
  Link link(url);
  pqxx::nontransaction(link).exec("set idle_session_timeout = 0");
  std::list<Receiver> receivers;  // they cannot move
  for (const auto& s : subscriptions) receivers.emplace_back(link, s.channel, s.callback);
  pause = kRetryFirst;
  tell_all();  // whatever happened before we listened was not heard
  do {
    link.get_notifs();
  } while (wait(link.sock(), milliseconds(-1)));
}

void Listener::Impl::run() {
  pthread_setname_np(pthread_self(), "welkin-listen");
  while (!stopping) {
    try {
      listen();
    } catch (const std::exception& e) {
      const std::string what = e.what();
      log::warn("not listening to database events: {}", what.substr(0, what.find('\n')));
    }
    if (!wait(-1, pause)) return;
    pause = std::min(pause * 2, kRetryMax);
  }
}

Listener::Listener(std::string url) : impl_(std::make_unique<Impl>()) { impl_->url = std::move(url); }
Listener::~Listener() { stop(); }

void Listener::on(const std::string& channel, Callback callback) {
  if (impl_->thread.joinable()) throw std::logic_error("channels are fixed before start");
  impl_->subscriptions.push_back({channel, std::move(callback)});
}

void Listener::start() {
  if (!impl_->thread.joinable()) impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

void Listener::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->stopping = true;
  eventfd_write(impl_->stop_event.get(), 1);
  impl_->thread.join();
}

}  // namespace welkin::db
