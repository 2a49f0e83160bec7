#include "welkin/collections/objects.hpp"

#include <algorithm>

#include "collections/object_store.hpp"
#include "collections/refusals.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"
#include "welkin/db/page_stream.hpp"

namespace welkin::collections {

Etag etag_of(std::string_view data) {
  const auto digest = crypto::sha256(data);
  Etag etag;
  std::copy_n(digest.begin(), etag.size(), etag.begin());
  return etag;
}

std::string etag_text(const Etag& etag) { return text::hex(std::as_bytes(std::span(etag))); }

std::optional<Etag> parse_etag(std::string_view digits) {
  Etag etag;
  const auto bytes = text::from_hex(digits);
  if (!bytes || bytes->size() != etag.size()) return std::nullopt;
  std::transform(bytes->begin(), bytes->end(), etag.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return etag;
}

ObjectRow row_of(const Object& object) {
  return {object.name, object.etag,       object.seq,         object.component, object.size_bytes,
          false,       object.created_at, object.modified_at, object.data,      object.schedule_tag};
}

struct ObjectList::Impl {
  Impl(db::Db& db, CollectionId collection, Range range, ObjectWants wants)
      : full(wants.times || wants.data),
        // Bodies are long, so there are fewer on a page.
        pages(db, full ? store::kList : store::kListBrief,
              [=, this](const db::Row* last) {
                db::Params params(collection, last == nullptr ? range.after : last->i64(2),
                                  range.until.value_or(INT64_MAX), range.tombstones, range.components);
                if (full) params.add(wants.data);
                return params;
              },
              {.first_rows = 32, .page_rows = wants.data ? 64 : 500}) {}

  bool full;
  db::PageStream pages;
  std::optional<db::Rows> page;
  std::vector<ObjectRow> rows;
};

ObjectList::ObjectList(db::Db& db, CollectionId collection, Range range, ObjectWants wants)
    : impl_(std::make_unique<Impl>(db, collection, range, wants)) {}
ObjectList::~ObjectList() = default;
ObjectList::ObjectList(ObjectList&&) noexcept = default;

Task<std::span<const ObjectRow>> ObjectList::next() {
  auto& s = *impl_;
  s.rows.clear();
  s.page = co_await s.pages.next();
  if (s.page) {
    s.rows.reserve(static_cast<std::size_t>(s.page->size()));
    for (const auto row : *s.page) s.rows.push_back(store::list_row(row, s.full));
  }
  co_return std::span<const ObjectRow>(s.rows);
}

Task<std::optional<Object>> Objects::find(CollectionId collection, std::string name) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::find_object(tx, collection, name); });
}

Task<std::vector<Object>> Objects::named(CollectionId collection, std::vector<std::string> names) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::named_objects(tx, collection, names); });
}

Task<std::vector<std::int64_t>> Objects::within(CollectionId collection, std::int16_t components,
                                                std::int64_t from, std::int64_t to) {
  co_return co_await db_.read(
      [&](db::Tx& tx) { return store::objects_within(tx, collection, components, from, to); });
}

Task<std::vector<Object>> Objects::by_keys(CollectionId collection, std::vector<std::int64_t> keys) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::objects_by_keys(tx, collection, keys); });
}

Task<Objects::Written> Objects::put(Caller caller, CollectionId collection, NewObject object) {
  require_person(caller);
  const auto etag = etag_of(object.data);
  co_return co_await db_.write(
      [&](db::Tx& tx) { return store::put_object(tx, caller, collection, object, etag); });
}

Task<std::vector<Objects::Written>> Objects::put_all(Caller caller, CollectionId collection,
                                                     std::vector<NewObject> objects) {
  require_person(caller);
  std::vector<Etag> etags;
  etags.reserve(objects.size());
  for (const auto& object : objects) etags.push_back(etag_of(object.data));
  co_return co_await db_.write([&](db::Tx& tx) {
    std::vector<Written> out;
    out.reserve(objects.size());
    for (std::size_t i = 0; i < objects.size(); ++i)
      out.push_back(store::put_object(tx, caller, collection, objects[i], etags[i]));
    return out;
  });
}

Task<std::vector<Objects::Held>> Objects::by_uids(CollectionId collection, std::vector<std::string> uids) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::objects_by_uids(tx, collection, uids); });
}

Task<> Objects::remove(Caller caller, CollectionId collection, std::string name, Expect expect) {
  require_person(caller);
  co_await db_.write([&](db::Tx& tx) { store::remove_object(tx, caller, collection, name, expect); });
}

Task<Objects::Written> Objects::transfer(Caller caller, Transfer what) {
  require_person(caller);
  co_return co_await db_.write([&](db::Tx& tx) { return store::transfer_object(tx, caller, what); });
}

}  // namespace welkin::collections
