#include "welkin/jobs/scheduler.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"
#include "welkin/db/named_lock.hpp"

namespace welkin::jobs {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kFirstWithin = std::chrono::seconds(5);
constexpr auto kOtherNodeLimit = std::chrono::seconds(10);

metrics::Counter turns("welkin_jobs_turns_total", "Turns of recurring jobs");
metrics::Counter failures("welkin_jobs_failures_total", "Turns of recurring jobs that ended in an error");

struct Job {
  std::string name;
  std::chrono::seconds every;
  std::function<bool()> turn;
  Clock::time_point due;
};

}  // namespace

struct Scheduler::Impl {
  explicit Impl(db::Db& d) : db(d) {}

  void run();
  Job* next_due();
  void serve(Job& job);
  bool take_turn(const Job& job, bool& more);
  Clock::duration with_jitter(Clock::duration time);

  db::Db& db;
  std::deque<Job> jobs;  // fixed once the thread runs
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  std::thread thread;
  std::minstd_rand random{std::random_device{}()};
};

// Nodes that started together must not stay together.
Clock::duration Scheduler::Impl::with_jitter(Clock::duration time) {
  return std::chrono::duration_cast<Clock::duration>(time *
                                                     std::uniform_real_distribution<>(0.9, 1.1)(random));
}

Job* Scheduler::Impl::next_due() {
  const auto first =
      std::min_element(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.due < b.due; });
  return first == jobs.end() ? nullptr : &*first;
}

/// @return false when another node is at it
bool Scheduler::Impl::take_turn(const Job& job, bool& more) {
  const auto lock = db::NamedLock::try_take(db, job.name);
  if (!lock) return false;
  turns.add();
  more = job.turn();
  return true;
}

void Scheduler::Impl::serve(Job& job) {
  bool more = false;
  try {
    take_turn(job, more);
  } catch (const std::exception& e) {
    failures.add();
    log::error("job {} failed, to be tried again: {}", job.name, e.what());
  }
  job.due = Clock::now() + (more ? Clock::duration::zero() : with_jitter(job.every));
}

void Scheduler::Impl::run() {
  pthread_setname_np(pthread_self(), "welkin-jobs");
  std::unique_lock lock(mutex);
  while (!stopping) {
    Job* const job = next_due();
    if (job == nullptr) {
      wake.wait(lock);
    } else if (job->due > Clock::now()) {
      wake.wait_until(lock, job->due);
    } else {
      lock.unlock();
      serve(*job);
      lock.lock();
    }
  }
}

Scheduler::Scheduler(db::Db& db) : impl_(std::make_unique<Impl>(db)) {}
Scheduler::~Scheduler() { stop(); }

void Scheduler::every(std::string name, std::chrono::seconds every, std::function<bool()> turn) {
  if (impl_->thread.joinable()) throw std::logic_error("jobs are fixed before start");
  for (const auto& job : impl_->jobs) {
    if (job.name == name) throw std::logic_error("two jobs are called " + name);
  }
  impl_->jobs.push_back({std::move(name), every, std::move(turn), {}});
}

// What is due at long intervals must get its turn although the server is restarted more often, so all begin
// soon.
void Scheduler::start() {
  if (impl_->thread.joinable()) return;
  for (auto& job : impl_->jobs) {
    const Clock::duration most = std::min<Clock::duration>(job.every, kFirstWithin);
    job.due = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 most * std::uniform_real_distribution<>(0, 1)(impl_->random));
  }
  impl_->stopping = false;
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

void Scheduler::stop() {
  if (!impl_->thread.joinable()) return;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  impl_->thread.join();
}

bool Scheduler::run_once(const std::string& name) {
  const auto job =
      std::find_if(impl_->jobs.begin(), impl_->jobs.end(), [&](const Job& j) { return j.name == name; });
  if (job == impl_->jobs.end()) throw std::invalid_argument("there is no job " + name);
  const auto limit = Clock::now() + kOtherNodeLimit;
  bool more = false;
  while (!impl_->take_turn(*job, more)) {
    if (Clock::now() > limit) throw Error(Errc::unavailable, "busy", "the job runs already", 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return more;
}

}  // namespace welkin::jobs
