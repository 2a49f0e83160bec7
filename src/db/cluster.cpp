#include "welkin/db/cluster.hpp"

#include <fcntl.h>
#include <libpq-fe.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "db/cluster_files.hpp"
#include "db/connection.hpp"
#include "db/failure.hpp"
#include "db/process.hpp"
#include "welkin/core/log.hpp"

namespace welkin::db {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
constexpr auto kStartLimit = seconds(60);  // crash recovery reads what was written since the last checkpoint
constexpr auto kLockLimit = seconds(30);   // a predecessor that is still shutting down
constexpr auto kStopLimit = seconds(30);
constexpr auto kRetry = milliseconds(100);
constexpr auto kRestartMax = milliseconds(5000);
constexpr auto kTick = milliseconds(5000);

// What PostgreSQL says while a predecessor's processes are not all gone yet.
bool predecessor_still_there(const std::string& said) {
  return said.find("lock file") != std::string::npos ||
         said.find("pre-existing shared memory block") != std::string::npos;
}

Fd lock_or_throw(const ClusterFiles& files) {
  Fd fd(open(files.lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) throw std::runtime_error("cannot open " + files.lock);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    throw std::runtime_error("another Welkin runs the database in " + files.directory);
  }
  return fd;
}

}  // namespace

/// The child belongs to one thread for all its life: PR_SET_PDEATHSIG acts when the starting thread ends.
struct Cluster::Impl {
  enum class State { starting, running, down, failed, stopping };

  explicit Impl(Options options) : files(options), lock(lock_or_throw(files)) { files.prepare(); }

  void keep();
  bool start_once();
  void watch_child();
  void stop_child();
  void collect_child();
  State wait_started();
  void set(State s) {
    const std::lock_guard guard(mutex);
    if (state != State::stopping) state = s;
    changed.notify_all();
  }
  bool stopping() {
    const std::lock_guard guard(mutex);
    return state == State::stopping;
  }

  ClusterFiles files;
  Fd lock;
  std::mutex mutex;
  std::condition_variable changed;
  State state = State::starting;
  pid_t child = 0;
  std::string failure;
  std::thread keeper;
};

// One child from fork to readiness. False: it ended before, `failure` says why.
bool Cluster::Impl::start_once() {
  const auto log_before = files.log_size();
  {
    const std::lock_guard guard(mutex);
    if (state == State::stopping) return false;
    child = start_program(
        {{files.program("postgres"), "-D", files.directory}, files.log, files.options.run_as, SIGINT});
  }
  const auto deadline = Clock::now() + kStartLimit;
  while (Clock::now() < deadline) {
    if (ended_within(child, milliseconds(20))) {
      collect_child();
      failure = files.log_tail(log_before);
      return false;
    }
    const auto postmaster = read_postmaster(files.directory);
    if (postmaster && postmaster->pid == child && postmaster->ready) return true;
  }
  failure = "it did not become ready in time\n" + files.log_tail(log_before);
  stop_child();
  return false;
}

// Collected under the lock: whoever signals `child` under it never hits a stranger with the same number.
void Cluster::Impl::collect_child() {
  const std::lock_guard guard(mutex);
  collect(child);
  child = 0;
}

void Cluster::Impl::stop_child() {
  for (const auto [signal, limit] :
       {std::pair{SIGINT, kStopLimit}, {SIGQUIT, seconds(5)}, {SIGKILL, seconds(5)}}) {
    kill(child, signal);
    if (ended_within(child, limit)) break;
    log::warn("PostgreSQL did not end within {} s after signal {}", limit.count(), signal);
  }
  collect_child();
}

void Cluster::Impl::watch_child() {
  while (!ended_within(child, kTick)) {
    files.trim_log();
    if (stopping()) return stop_child();
  }
  collect_child();
}

// Starts the server, and starts it again when it ends by itself (killed for want of memory, say): a person's
// data should not stay away until somebody looks.
void Cluster::Impl::keep() {
  const auto give_up = Clock::now() + kLockLimit;
  bool ever_ran = false;
  milliseconds pause = kRetry;
  while (!stopping()) {
    bool ok = false;
    try {
      ok = start_once();
    } catch (const std::exception& e) {
      failure = e.what();
    }
    if (ok) {
      set(State::running);
      ever_ran = true;
      pause = kRetry;
      watch_child();
      if (stopping()) return;
      set(State::down);
      log::error("PostgreSQL ended by itself, starting it again; see {}", files.log);
      continue;
    }
    if (!ever_ran && (!predecessor_still_there(failure) || Clock::now() > give_up)) return set(State::failed);
    std::unique_lock guard(mutex);
    changed.wait_for(guard, pause, [&] { return state == State::stopping; });
    if (ever_ran && !predecessor_still_there(failure)) pause = std::min(pause * 2, kRestartMax);
  }
}

Cluster::Impl::State Cluster::Impl::wait_started() {
  std::unique_lock guard(mutex);
  changed.wait(guard, [&] { return state != State::starting; });
  return state;
}

Cluster::Cluster(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {
  impl_->keeper = std::thread([impl = impl_.get()] { impl->keep(); });
  if (impl_->wait_started() == Impl::State::failed) {
    impl_->keeper.join();
    throw std::runtime_error("PostgreSQL does not start, see " + impl_->files.log + "\n" + impl_->failure);
  }
  try {
    make_database();
  } catch (const std::exception& e) {
    stop();
    throw std::runtime_error(std::string("PostgreSQL runs but does not answer, see ") + impl_->files.log +
                             "\n" + e.what());
  }
}

Cluster::~Cluster() { stop(); }

void Cluster::stop() {
  if (!impl_->keeper.joinable()) return;
  {
    const std::lock_guard guard(impl_->mutex);
    impl_->state = Impl::State::stopping;
    // Under the lock, so the child cannot have been reaped and its number given to somebody else.
    if (impl_->child > 0) kill(impl_->child, SIGINT);
  }
  impl_->changed.notify_all();
  impl_->keeper.join();
}

void Cluster::make_database() {
  constexpr Stmt kExists{"cluster.exists", "select from pg_database where datname = 'welkin'"};
  Connection connection(url("postgres"), SessionSettings{});
  connection.queue(kExists, Params());
  if (connection.results()[0].empty()) connection.script("create database welkin");
}

std::string Cluster::url(const std::string& name) const {
  return cluster_url(impl_->files.socket_folder, name);
}

bool Cluster::alive() const {
  const std::lock_guard guard(impl_->mutex);
  return impl_->state == Impl::State::running;
}

int Cluster::pid() const {
  const std::lock_guard guard(impl_->mutex);
  return impl_->state == Impl::State::running ? impl_->child : 0;
}

std::string Cluster::running_url(const std::string& directory) {
  const auto postmaster = read_postmaster(directory);
  if (!postmaster || postmaster->socket_folder.empty()) return "";
  const auto url = cluster_url(postmaster->socket_folder, "welkin");
  const auto deadline = Clock::now() + seconds(5);
  for (;;) {
    switch (PQping(url.c_str())) {
      case PQPING_OK:
        return url;
      case PQPING_REJECT:
        break;  // starting, or stopping
      default:
        return "";
    }
    if (Clock::now() > deadline) return "";
    std::this_thread::sleep_for(kRetry);
  }
}

}  // namespace welkin::db
