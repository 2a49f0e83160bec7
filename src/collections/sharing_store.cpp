#include "collections/sharing_store.hpp"

#include <map>

#include "collections/collection_store.hpp"
#include "collections/refusals.hpp"

namespace welkin::collections::store {
namespace {

constexpr db::Stmt kShares{"collections.shares", R"(
  select s.subject_id, s.group_id is not null, coalesce(u.name, g.name), coalesce(u.display_name, g.display_name),
         coalesce(u.email, ''), s.access, s.created_at
    from collection_shares s left join users u on u.id = s.user_id left join groups g on g.id = s.group_id
   where s.collection_id = $1 and ($2 or s.subject_id = any ($3)) and u.deleting_since is null
   order by s.group_id is not null, coalesce(u.name, g.name))"};
constexpr db::Stmt kChange{"collections.share", "select share_collection($1, $2, $3, $4, $5, $6, $7, $8)"};
constexpr db::Stmt kRelated{"collections.are_related", R"(
  select exists (select from collection_shares s join collections c on c.id = s.collection_id
                  where c.deleted_at is null and c.owner_id = $2 and s.subject_id = any ($3))
      or exists (select from collection_shares s join collections c on c.id = s.collection_id
                  where c.deleted_at is null and c.owner_id = $1 and s.user_id = $2))"};

constexpr db::Stmt kPublish{
    "collections.publish",
    "select publish_collection($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::bigint / 1e6))"};
constexpr db::Stmt kFeed{"collections.feed", R"(
  select with_alarms, with_attendees, expires_at, created_at, last_read_at from collection_feeds
   where collection_id = $1 and (expires_at is null or expires_at > now()))"};
constexpr db::Stmt kPublished{"collections.published", R"(
  select c.id, c.owner_id, u.name, f.with_alarms, f.with_attendees
    from collection_feeds f join collections c on c.id = f.collection_id join users u on u.id = c.owner_id
   where f.token_hash = $1 and (f.expires_at is null or f.expires_at > now()) and c.deleted_at is null
     and not u.is_disabled and u.deleting_since is null)"};
constexpr db::Stmt kTouch{"collections.touch_feed", R"(
  update collection_feeds set last_read_at = now() where collection_id = $1
     and (last_read_at is null or last_read_at < now() - interval '1 hour'))"};

}  // namespace

std::vector<Share> shares(db::Tx& tx, const Caller& caller, CollectionId id, bool all) {
  std::vector<Share> out;
  for (const auto row : tx.exec(kShares, id, all, caller.subjects)) {
    Share share;
    share.subject = row.i64(0);
    share.is_group = row.boolean(1);
    share.name = row.str(2);
    share.display_name = row.str(3);
    share.email = row.str(4);
    share.access = static_cast<Access>(row.i16(5));
    share.created_at = row.timestamp(6);
    out.push_back(std::move(share));
  }
  return out;
}

void change_shares(db::Tx& tx, const Caller& caller, CollectionId id,
                   const std::vector<ShareChange>& changes) {
  std::map<std::int64_t, std::optional<Access>> last;
  for (const auto& change : changes) last[change.subject] = change.access;
  std::vector<std::int64_t> set, gone;
  std::vector<std::int16_t> access;
  for (const auto& [subject, given] : last) {
    (given ? set : gone).push_back(subject);
    if (given) access.push_back(*given == Access::write ? std::int16_t{2} : std::int16_t{1});
  }
  try {
    tx.exec(kChange, id, caller.user, caller.subjects, caller.rights_mask, set, access, gone,
            Sharing::kSharesMax);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

bool are_related(db::Tx& tx, const Caller& caller, UserId other) {
  return tx.one(kRelated, caller.user, other, caller.subjects)[0].boolean(0);
}

void publish(db::Tx& tx, const Caller& caller, CollectionId id, const std::optional<Sha256>& token_hash,
             const FeedOptions& options) {
  try {
    tx.exec(kPublish, id, caller.user, caller.subjects, caller.rights_mask, token_hash, options.with_alarms,
            options.with_attendees, options.expires_at);
  } catch (const db::SqlError& e) {
    rethrow(e);
  }
}

std::optional<Feed> feed(db::Tx& tx, CollectionId id) {
  const auto rows = tx.exec(kFeed, id);
  if (rows.empty()) return std::nullopt;
  const auto row = rows[0];
  return Feed{{row.boolean(0), row.boolean(1), row.opt_timestamp(2)}, row.timestamp(3), row.opt_timestamp(4)};
}

std::optional<Feeds::Published> published(db::Tx& tx, const Sha256& token_hash) {
  const auto rows = tx.exec(kPublished, token_hash);
  if (rows.empty()) return std::nullopt;
  const auto row = rows[0];
  Feeds::Published out;
  out.owner.user = row.id<UserId>(1);
  out.owner.name = row.str(2);
  out.owner.subjects = {out.owner.user.value};
  out.owner.rights_mask = rights::kRead;
  out.options = {row.boolean(3), row.boolean(4), {}};
  auto found = find(tx, out.owner, row.id<CollectionId>(0));
  if (!found) return std::nullopt;
  out.collection = *std::move(found);
  out.collection.access = Access::read;
  out.collection.is_own = false;  // whoever comes here is not the owner
  return out;
}

void touch_feed(db::Tx& tx, CollectionId id) { tx.exec(kTouch, id); }

}  // namespace welkin::collections::store
