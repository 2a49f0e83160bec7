#pragma once
#include "welkin/calendars/subscriptions.hpp"

namespace welkin::calendars::store {

void insert_subscription(db::Tx& tx, collections::CollectionId calendar, const std::string& source,
                         std::int32_t refresh_seconds);
void update_subscription(db::Tx& tx, collections::CollectionId calendar,
                         const std::optional<std::string>& source,
                         const std::optional<std::int32_t>& refresh_seconds);
std::optional<Subscription> subscription(db::Tx& tx, collections::CollectionId calendar);

/// One that is due, not to be taken again for `lease_seconds`.
struct Due {
  collections::CollectionId calendar;
  std::string source, etag, last_modified;
  std::optional<Bytes> body_hash;
  std::int32_t refresh_seconds = 0, failures = 0;
};
std::optional<Due> take_due(db::Tx& tx, std::int32_t lease_seconds);

struct Kept {
  std::string name, uid, data;
};
std::vector<Kept> kept_objects(db::Tx& tx, collections::CollectionId calendar, const std::string& after,
                               std::int32_t limit);
/// What the address answered was taken. @param body_hash  unset: as before
void note_success(db::Tx& tx, const Due& due, const FeedAnswer& answer,
                  const std::optional<Sha256>& body_hash, std::int32_t next_seconds);
void note_failure(db::Tx& tx, const Due& due, const std::string& failure, std::int32_t next_seconds);

}  // namespace welkin::calendars::store
