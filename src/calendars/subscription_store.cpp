#include "calendars/subscription_store.hpp"

namespace welkin::calendars::store {
namespace {

constexpr db::Stmt kOrigin{"calendars.mark_subscription", "update collections set origin = 2 where id = $1"};
constexpr db::Stmt kInsert{"calendars.insert_subscription", R"(
  insert into calendar_subscriptions (collection_id, source, refresh_seconds) values ($1, $2, $3))"};
// Another address has other tags, and what it says is compared anew.
constexpr db::Stmt kUpdate{"calendars.update_subscription", R"(
  update calendar_subscriptions set source = coalesce($2::text, source),
         refresh_seconds = coalesce($3::integer, refresh_seconds), next_at = now(), failures = 0, failure = '',
         etag = case when $2::text is null or $2::text = source then etag else '' end,
         last_modified = case when $2::text is null or $2::text = source then last_modified else '' end,
         body_hash = case when $2::text is null or $2::text = source then body_hash end
   where collection_id = $1)"};
constexpr db::Stmt kFind{"calendars.subscription", R"(
  select source, refresh_seconds, next_at, fetched_at, failures, failure from calendar_subscriptions
   where collection_id = $1)"};
constexpr db::Stmt kTake{"calendars.take_due", R"(
  update calendar_subscriptions set next_at = now() + make_interval(secs => $1)
   where collection_id = (
     select s.collection_id from calendar_subscriptions s join collections c on c.id = s.collection_id
       join users u on u.id = c.owner_id
      where s.next_at <= now() and c.deleted_at is null and not u.is_disabled and u.deleting_since is null
      order by s.next_at limit 1 for update of s skip locked)
  returning collection_id, source, etag, last_modified, body_hash, refresh_seconds, failures)"};
constexpr db::Stmt kKept{"calendars.kept_objects", R"(
  select o.name, o.uid, o.data from collection_objects o
   where o.collection_id = $1 and not o.deleted and o.name > $2 order by o.name limit $3)"};
constexpr db::Stmt kSuccess{"calendars.note_success", R"(
  update calendar_subscriptions set next_at = now() + make_interval(secs => $2), fetched_at = now(), failures = 0,
         failure = '', etag = case when $6 then $3 else etag end,
         last_modified = case when $6 then $4 else last_modified end, body_hash = coalesce($5, body_hash)
   where collection_id = $1 and source = $7)"};
constexpr db::Stmt kFailure{"calendars.note_failure", R"(
  update calendar_subscriptions set next_at = now() + make_interval(secs => $2), failures = failures + 1, failure = $3
   where collection_id = $1 and source = $4)"};

}  // namespace

void insert_subscription(db::Tx& tx, collections::CollectionId calendar, const std::string& source,
                         std::int32_t refresh_seconds) {
  tx.exec(kOrigin, calendar);
  tx.exec(kInsert, calendar, source, refresh_seconds);
}

void update_subscription(db::Tx& tx, collections::CollectionId calendar,
                         const std::optional<std::string>& source,
                         const std::optional<std::int32_t>& refresh_seconds) {
  tx.exec(kUpdate, calendar, source, refresh_seconds);
}

std::optional<Subscription> subscription(db::Tx& tx, collections::CollectionId calendar) {
  const auto rows = tx.exec(kFind, calendar);
  if (rows.empty()) return std::nullopt;
  const auto row = rows[0];
  return Subscription{row.str(0), row.i32(1), row.timestamp(2), row.opt_timestamp(3), row.i32(4), row.str(5)};
}

std::optional<Due> take_due(db::Tx& tx, std::int32_t lease_seconds) {
  const auto rows = tx.exec(kTake, lease_seconds);
  if (rows.empty()) return std::nullopt;
  const auto row = rows[0];
  Due due;
  due.calendar = row.id<collections::CollectionId>(0);
  due.source = row.str(1);
  due.etag = row.str(2);
  due.last_modified = row.str(3);
  if (!row.is_null(4)) {
    const auto hash = row.bytes(4);
    due.body_hash.emplace(hash.begin(), hash.end());
  }
  due.refresh_seconds = row.i32(5);
  due.failures = row.i32(6);
  return due;
}

std::vector<Kept> kept_objects(db::Tx& tx, collections::CollectionId calendar, const std::string& after,
                               std::int32_t limit) {
  std::vector<Kept> out;
  for (const auto row : tx.exec(kKept, calendar, after, limit))
    out.push_back({row.str(0), row.str(1), std::string(as_text(row.bytes(2)))});
  return out;
}

void note_success(db::Tx& tx, const Due& due, const FeedAnswer& answer,
                  const std::optional<Sha256>& body_hash, std::int32_t next_seconds) {
  tx.exec(kSuccess, due.calendar, next_seconds, answer.etag, answer.last_modified, body_hash,
          body_hash.has_value(), due.source);
}

void note_failure(db::Tx& tx, const Due& due, const std::string& failure, std::int32_t next_seconds) {
  tx.exec(kFailure, due.calendar, next_seconds, failure, due.source);
}

}  // namespace welkin::calendars::store
