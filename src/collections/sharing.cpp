#include "welkin/collections/sharing.hpp"

#include "collections/collection_store.hpp"
#include "collections/refusals.hpp"
#include "collections/sharing_store.hpp"
#include "welkin/collections/feeds.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::collections {
namespace {

constexpr std::size_t kTokenBytes = 24;

Collection require_visible(db::Tx& tx, const Caller& caller, CollectionId id) {
  auto found = store::find(tx, caller, id);
  if (!found) throw Error(Errc::not_found, "not_found", "not found");
  return *std::move(found);
}

}  // namespace

Task<std::vector<Share>> Sharing::list(Caller caller, CollectionId id) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) {
    const auto collection = require_visible(tx, caller, id);
    return store::shares(tx, caller, id, collection.owner == caller.user);
  });
}

Task<> Sharing::change(Caller caller, CollectionId id, std::vector<ShareChange> changes) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::change_shares(tx, caller, id, changes); });
}

Task<bool> Sharing::are_related(Caller caller, UserId other) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::are_related(tx, caller, other); });
}

Task<std::string> Feeds::publish(Caller caller, CollectionId id, FeedOptions options) {
  require_person(caller);
  auto token = crypto::random_token(kTokenBytes);
  co_await db_.write([&](db::Tx& tx) { store::publish(tx, caller, id, crypto::sha256(token), options); });
  co_return token;
}

Task<> Feeds::unpublish(Caller caller, CollectionId id) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::publish(tx, caller, id, std::nullopt, {}); });
}

Task<std::optional<Feed>> Feeds::find(Caller caller, CollectionId id) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) {
    if (require_visible(tx, caller, id).owner != caller.user)
      throw Error(Errc::forbidden, "forbidden", "only the owner is told of this");
    return store::feed(tx, id);
  });
}

Task<std::optional<Feeds::Published>> Feeds::open(std::string token) {
  const auto hash = crypto::sha256(token);
  auto found = co_await db_.read([&](db::Tx& tx) { return store::published(tx, hash); });
  if (found) co_await db_.write([&](db::Tx& tx) { store::touch_feed(tx, found->collection.id); });
  co_return found;
}

}  // namespace welkin::collections
