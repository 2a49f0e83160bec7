#pragma once
#include <atomic>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "http/session.hpp"

namespace welkin::http {

/// Counts connections over all io threads.
class Admission {
 public:
  Admission(const Settings& settings, unsigned connections_max)
      : settings_(settings), max_(connections_max) {}

  enum class Answer : std::uint8_t { welcome, full, too_many_of_address };
  /// Loopback peers have kReserved places of their own, so that health checks and the operator get in when
  /// others fill the house.
  /// @param in_place_of_another  somebody was evicted for this one: the house may be full for a moment longer
  Answer enter(const Address& peer, bool in_place_of_another = false);
  void leave(const Address& peer);
  unsigned open() const { return open_.load(std::memory_order_relaxed); }
  static constexpr unsigned kReserved = 32;

 private:
  bool counts(const Address& peer) const { return !peer.is_loopback() && !contains(settings_.trusted, peer); }

  const Settings& settings_;
  const unsigned max_;
  std::atomic<unsigned> open_{0};
  std::mutex mutex_;
  std::map<Address, unsigned> per_address_;
};

/// Lets `Server::drain` wait for everything that runs on the io threads.
class Tally {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++running_;
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }
  /// @return whether nothing runs any more
  bool wait_until(Ticks deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [this] { return running_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
};

/// What the server runs on one io thread: an acceptor, its sessions and the sweep of their deadlines. After
/// `start` everything happens on that thread; the calls below are posted there.
class Loop {
 public:
  using ContextSource = std::function<std::shared_ptr<TlsContext>()>;  // null: plain

  Loop(boost::asio::io_context& io, const Settings& settings, const Router& router, Admission& admission,
       Tally& tally, ContextSource tls);
  ~Loop();
  /// Takes a bound, listening, non-blocking socket.
  void start(int listening_fd, bool v6);

  void begin_drain();  // stop accepting, close what is idle
  void cut_all();      // cancel what still runs

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor>;
  using Timer =
      boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                        boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
  struct Entry {
    std::unique_ptr<Session> session;
    boost::asio::cancellation_signal cancel;
  };
  using Entries = std::list<Entry>;

  Task<> accept_all();
  /// @return false when the process has run out of descriptors
  bool accept_some();
  void admit(int fd, const Address& peer, std::string local_authority, bool v6);
  void begin_session(std::unique_ptr<Stream> stream, const Address& peer, std::string local_authority,
                     bool tls);
  bool evict_one();
  void drop_one_without_descriptor();
  Task<> sweep_all();

  boost::asio::io_context& io_;
  const Settings& settings_;
  const Router& router_;
  Admission& admission_;
  Tally& tally_;
  ContextSource tls_;
  LoopState state_;
  Acceptor acceptor_;
  Timer sweep_timer_;
  Timer accept_pause_;
  bool stopping_ = false;
  bool v6_ = false;
  int spare_fd_ = -1;  // given up for a moment when there is no other descriptor left to accept with
  Ticks last_complaint_{};
  Entries sessions_;
};

}  // namespace welkin::http
