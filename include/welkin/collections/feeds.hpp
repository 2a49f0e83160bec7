#pragma once
#include "welkin/collections/collections.hpp"

namespace welkin::collections {

struct FeedOptions {
  bool with_alarms = false;
  bool with_attendees = false;
  std::optional<Micros> expires_at;
};

struct Feed {
  FeedOptions options;
  Micros created_at = 0;
  std::optional<Micros> last_read_at;  // kept to the hour
};

/// Calendars that anybody may read who knows an address. The address holds a token of 192 random bits, of
/// which only the hash is kept: it is told once.
class Feeds {
 public:
  explicit Feeds(db::Db& db) : db_(db) {}

  /// Ends the address before. @return the token, base64url
  /// @throws Error not_found, forbidden, invalid `not_a_calendar`
  Task<std::string> publish(Caller caller, CollectionId id, FeedOptions options);
  /// There need not be one. @throws Error not_found, forbidden
  Task<> unpublish(Caller caller, CollectionId id);
  /// The owner's. @throws Error not_found, forbidden
  Task<std::optional<Feed>> find(Caller caller, CollectionId id);

  struct Published {
    Collection collection;  // for reading, with nobody's eyes
    Caller owner;           // whose properties it shows; may nothing
    FeedOptions options;
  };
  /// nullopt: unknown, ended, or its owner is nobody any more; which of them is not told.
  Task<std::optional<Published>> open(std::string token);

 private:
  db::Db& db_;
};

}  // namespace welkin::collections
