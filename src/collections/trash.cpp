#include "welkin/collections/trash.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "collections/refusals.hpp"
#include "collections/trash_store.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::collections {
namespace {

/// Where a page begins: "c17" among collections, "o17" among objects.
struct Place {
  bool in_objects = false;
  std::int64_t before = INT64_MAX;
};

Place read_place(std::string_view text) {
  if (text.empty() || (text.front() != 'c' && text.front() != 'o')) return {};
  const auto before = text::number(text.substr(1));
  if (!before || *before > static_cast<std::uint64_t>(INT64_MAX)) return {};
  return {text.front() == 'o', static_cast<std::int64_t>(*before)};
}

}  // namespace

Trash Collections::trash() const { return Trash(db_); }

Task<Trash::Page> Trash::list(Caller caller, Kind kind, std::string after, int limit) {
  require_person(caller);
  const auto place = read_place(after);
  limit = std::clamp(limit, 1, 1000);
  co_return co_await db_.snapshot([&](db::Tx& tx) {
    Page page;
    if ((caller.rights_mask & rights::kRead) == 0) return page;
    if (!place.in_objects) page.items = store::trashed_collections(tx, caller, kind, place.before, limit + 1);
    const int had = static_cast<int>(page.items.size());
    if (had <= limit) {
      const auto before = place.in_objects ? place.before : INT64_MAX;
      auto more = store::trashed_objects(tx, caller, kind, before, limit + 1 - had);
      std::move(more.begin(), more.end(), std::back_inserter(page.items));
    }
    if (static_cast<int>(page.items.size()) > limit) {
      // The extra one only tells that something follows, and among what.
      const bool follows_object = !page.items.back().is_collection;
      page.items.pop_back();
      const auto& last = page.items.back();
      page.next = last.is_collection && follows_object
                      ? "o" + std::to_string(INT64_MAX)
                      : (last.is_collection ? "c" : "o") + std::to_string(last.id);
    }
    return page;
  });
}

Task<Trash::Body> Trash::object(Caller caller, Kind kind, std::int64_t id) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::trashed_body(tx, caller, kind, id); });
}

Task<std::string> Trash::restore_object(Caller caller, std::int64_t id, Facts facts, Etag etag) {
  require_person(caller);
  co_return co_await db_.write(
      [&](db::Tx& tx) { return store::restore_object(tx, caller, id, facts, etag); });
}

Task<> Trash::purge_object(Caller caller, Kind kind, std::int64_t id) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::purge_object(tx, caller, kind, id); });
}

Task<> Trash::restore_collection(Caller caller, CollectionId id) {
  require_person(caller);
  std::array<std::byte, 16> other;
  crypto::random_bytes(other);
  co_await db_.write([&](db::Tx& tx) { store::restore_collection(tx, caller, id, text::hex(other)); });
}

Task<> Trash::purge_collection(Caller caller, CollectionId id) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::purge_collection(tx, caller, id); });
}

Task<std::int64_t> Trash::empty(Caller caller, Kind kind) {
  require_person(caller);
  std::int64_t all = 0;
  for (bool done = false; !done;) {
    std::int64_t gone = 0;
    done = co_await db_.write([&](db::Tx& tx) { return store::empty_some(tx, caller, kind, gone); });
    all += gone;
  }
  co_return all;
}

}  // namespace welkin::collections
