#include "welkin/collections/browse.hpp"

#include <algorithm>

#include "collections/browse_store.hpp"
#include "welkin/core/text.hpp"

namespace welkin::collections {
namespace {

/// "17 the folded name": where a page of names goes on.
struct NamePlace {
  std::string title;
  std::int64_t id = 0;
};

NamePlace read_name_place(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return {};
  const auto id = text::number(text.substr(0, blank));
  if (!id || *id > static_cast<std::uint64_t>(INT64_MAX)) return {};
  return {std::string(text.substr(blank + 1)), static_cast<std::int64_t>(*id)};
}

std::int64_t read_key(std::string_view text) { return text::signed_number(text).value_or(0); }

int limited(int limit) { return std::clamp(limit, 1, 1000); }

}  // namespace

Task<Browse::Page> Browse::contacts(CollectionId book, std::string after, int limit) {
  limit = limited(limit);
  const auto place = read_name_place(after);
  auto found = co_await db_.read(
      [&](db::Tx& tx) { return store::contacts(tx, book, place.title, place.id, limit + 1); });
  Page page;
  if (static_cast<int>(found.size()) > limit) {
    found.pop_back();
    page.next = std::to_string(found.back().object.id) + ' ' + found.back().key;
  }
  for (auto& each : found) page.items.push_back(std::move(each.object));
  co_return page;
}

Task<std::vector<Object>> Browse::contacts_from(CollectionId book, std::int64_t offset, int limit) {
  co_return co_await db_.read([&](db::Tx& tx) {
    return store::contacts_from(tx, book, std::max<std::int64_t>(offset, 0), limited(limit));
  });
}

Task<std::int64_t> Browse::count_contacts(CollectionId book) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::count_contacts(tx, book); });
}

Task<Browse::Page> Browse::groups(CollectionId book, std::string after, int limit) {
  limit = limited(limit);
  Page page;
  page.items =
      co_await db_.read([&](db::Tx& tx) { return store::groups(tx, book, read_key(after), limit + 1); });
  if (static_cast<int>(page.items.size()) > limit) {
    page.items.pop_back();
    page.next = std::to_string(page.items.back().id);
  }
  co_return page;
}

Task<Browse::Page> Browse::objects(Sight calendar, std::int16_t components, std::string after, int limit) {
  limit = limited(limit);
  Page page;
  page.items = co_await db_.read(
      [&](db::Tx& tx) { return store::objects(tx, calendar, mask_, components, after, limit + 1); });
  if (static_cast<int>(page.items.size()) > limit) {
    page.items.pop_back();
    page.next = page.items.back().name;
  }
  co_return page;
}

}  // namespace welkin::collections
