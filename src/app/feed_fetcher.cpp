#include "app/feed_fetcher.hpp"

#include <fmt/core.h>

#include <chrono>

#include "welkin/core/log.hpp"

namespace welkin::app {

using namespace std::chrono_literals;

calendars::FeedAnswer feed_answer(http::Fetched fetched) {
  using Outcome = http::Fetched::Outcome;
  using Kind = calendars::FeedAnswer::Kind;
  calendars::FeedAnswer out;
  out.etag = std::move(fetched.etag);
  out.last_modified = std::move(fetched.last_modified);
  switch (fetched.outcome) {
    case Outcome::fetched:
      out.kind = Kind::body;
      out.body = std::move(fetched.body);
      break;
    case Outcome::not_modified:
      out.kind = Kind::unchanged;
      break;
    case Outcome::refused:
      out.failure = fmt::format("The address answered with status {}", fetched.status);
      break;
    case Outcome::too_large:
      out.failure = "The calendar at this address is too large";
      break;
    case Outcome::failed:
      out.failure = "The address could not be fetched";
      break;
  }
  return out;
}

FeedFetcher::FeedFetcher(db::Db& db, const Config& config, calendars::Subscriptions& subscriptions)
    : jobs_(db) {
  options_.allowed = config.fetch_allowed;
  jobs_.every("calendars.refresh_subscriptions", 30s, [this, &subscriptions] {
    return subscriptions.refresh_turn(
        [this](const std::string& url, const std::string& etag, const std::string& modified) {
          auto fetched = http::fetch(options_, {url, etag, modified}, stopping_);
          if (fetched.outcome == http::Fetched::Outcome::failed)
            log::info("a subscription could not be fetched: {}", fetched.why);
          return feed_answer(std::move(fetched));
        });
  });
}

void FeedFetcher::stop() {
  stopping_ = true;
  jobs_.stop();
}

}  // namespace welkin::app
