#include "welkin/files/photos.hpp"

#include <algorithm>
#include <utility>

#include "files/photo_store.hpp"

namespace welkin::files {

constexpr int kPageMax = 1000;

Task<PhotoPage> Photos::list(Caller caller, PhotoQuery query) {
  query.limit = std::clamp(query.limit, 1, kPageMax);
  co_return co_await db_.snapshot([&](db::Tx& tx) { return store::photos(tx, caller, query); });
}

Task<std::vector<PhotoMonth>> Photos::months(Caller caller) {
  co_return co_await db_.snapshot([&](db::Tx& tx) { return store::photo_months(tx, caller); });
}

Task<std::optional<PhotoFacts>> Photos::facts(Caller caller, NodeId id) {
  co_return co_await db_.read([&](db::Tx& tx) -> std::optional<PhotoFacts> {
    const auto found = store::require(tx, caller, id);
    if (found.node.is_folder()) return std::nullopt;
    return store::photo_facts(tx, found.node.content);
  });
}

}  // namespace welkin::files
