#pragma once
#include <atomic>

#include "welkin/calendars/subscriptions.hpp"
#include "welkin/core/config.hpp"
#include "welkin/http/fetch.hpp"
#include "welkin/jobs/scheduler.hpp"

namespace welkin::app {

/// What an answer means to whoever has subscribed. Which address did not answer, and how, is for the log:
/// otherwise a subscription would tell what is inside of a network.
calendars::FeedAnswer feed_answer(http::Fetched fetched);

/// Asks the addresses of subscriptions, one after another, on a thread of its own: one that answers slowly
/// must not hold up anything else. Of several nodes one is at it.
class FeedFetcher {
 public:
  FeedFetcher(db::Db& db, const Config& config, calendars::Subscriptions& subscriptions);
  void start() { jobs_.start(); }
  /// Within a tenth of a second, whoever is being asked.
  void stop();

 private:
  http::FetchOptions options_;
  std::atomic<bool> stopping_ = false;
  jobs::Scheduler jobs_;
};

}  // namespace welkin::app
