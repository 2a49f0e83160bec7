#pragma once
#include "welkin/collections/feeds.hpp"
#include "welkin/collections/sharing.hpp"

namespace welkin::collections::store {

std::vector<Share> shares(db::Tx& tx, const Caller& caller, CollectionId id, bool all);
void change_shares(db::Tx& tx, const Caller& caller, CollectionId id,
                   const std::vector<ShareChange>& changes);
bool are_related(db::Tx& tx, const Caller& caller, UserId other);

/// @param token_hash  unset: there shall be none
void publish(db::Tx& tx, const Caller& caller, CollectionId id, const std::optional<Sha256>& token_hash,
             const FeedOptions& options);
std::optional<Feed> feed(db::Tx& tx, CollectionId id);
std::optional<Feeds::Published> published(db::Tx& tx, const Sha256& token_hash);
/// Notes the reading, at most once an hour.
void touch_feed(db::Tx& tx, CollectionId id);

}  // namespace welkin::collections::store
