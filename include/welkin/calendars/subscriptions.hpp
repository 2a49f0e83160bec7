#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/collections/collections.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::calendars {

/// What an address answered.
struct FeedAnswer {
  enum class Kind : std::uint8_t { body, unchanged, failed };
  Kind kind = Kind::failed;
  std::string body, etag, last_modified;
  std::string failure;  // as its subscriber is told
};
using FetchFeed =
    std::function<FeedAnswer(const std::string& url, const std::string& etag, const std::string& modified)>;

/// How a subscription stands.
struct Subscription {
  std::string source;
  std::int32_t refresh_seconds = 0;
  Micros next_at = 0;
  std::optional<Micros> fetched_at;  // the last time an answer could be used
  std::int32_t failures = 0;         // in a row
  std::string failure;               // of the last time; "" it went well
};

/// The objects of a feed, each as it is kept: what cannot be stored is left out. Pure.
/// @return nullopt when the text is no calendar
struct FeedObject {
  std::string uid, data;
  /// Of all that means something: the same when only the UID or when it was written has changed.
  std::string content;
};
std::optional<std::vector<FeedObject>> read_feed(std::string_view text);

/// Calendars that are kept like an address that somebody else writes. When each is asked next is a row, so
/// it survives restarts and holds for all nodes.
class Subscriptions {
 public:
  static constexpr std::int32_t kRefreshMin = 900, kRefreshDefault = 4 * 3600, kRefreshMax = 30 * 86'400;
  static constexpr std::size_t kObjectsMax = 20'000;  // of one feed; the rest is left out

  explicit Subscriptions(db::Db& db) : db_(db) {}

  /// Makes the calendar, to be filled soon. @throws Error as Collections::create
  Task<collections::CollectionId> create(Caller caller, collections::NewCollection wanted, std::string source,
                                         std::int32_t refresh_seconds);
  /// Where and how often; the owner's. Asked again soon. @throws Error not_found, forbidden
  Task<> change(Caller caller, collections::CollectionId id, std::optional<std::string> source,
                std::optional<std::int32_t> refresh_seconds);
  /// The owner's. @throws Error not_found
  Task<Subscription> find(Caller caller, collections::CollectionId id);

  /// Asks one address that is due, and writes what has changed: what is the same is not written again, what
  /// is gone goes. An answer that is broken or empty changes nothing but when it is asked next: later, the
  /// more often it fails. For the scheduler. @return true: another may be due
  bool refresh_turn(const FetchFeed& fetch);

 private:
  db::Db& db_;
};

}  // namespace welkin::calendars
