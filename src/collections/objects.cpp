#include "welkin/collections/objects.hpp"

#include <algorithm>
#include <deque>

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
  ObjectRow row;
  row.name = object.name;
  row.etag = object.etag;
  row.seq = object.seq;
  row.component = object.component;
  row.size_bytes = object.size_bytes;
  row.masked = object.masked;
  row.created_at = object.created_at;
  row.modified_at = object.modified_at;
  row.data = object.data;
  row.schedule_tag = object.schedule_tag;
  return row;
}

struct ObjectList::Impl {
  Impl(db::Db& db, Sight sight, Mask m, Range range, ObjectWants wants)
      : mask(m),
        is_owner(sight.is_owner),
        with_data(wants.data),
        full(wants.times || wants.data || !sight.is_owner),
        // Bodies are long, so there are fewer on a page.
        pages(db, full ? store::kList : store::kListBrief,
              [=, this](const db::Row* last) {
                db::Params params(sight.collection, last == nullptr ? range.after : last->i64(2),
                                  range.until.value_or(INT64_MAX), range.tombstones, range.components);
                if (full) {
                  params.add(wants.data);
                  params.add(store::hidden_flags(sight, m));
                  params.add(sight.is_owner ? std::int16_t{0} : object_flags::kConfidential);
                }
                return params;
              },
              {.first_rows = 32, .page_rows = wants.data ? 64 : 500}) {}

  ObjectRow row(const db::Row& from);

  Mask mask;
  bool is_owner, with_data, full;
  db::PageStream pages;
  std::optional<db::Rows> page;
  std::vector<ObjectRow> rows;
  std::deque<std::string> masked;  // what rows of the page refer to
};

ObjectRow ObjectList::Impl::row(const db::Row& from) {
  auto out = store::list_row(from, full);
  if (!is_owner && !out.deleted && store::is_masked(from)) {
    masked.push_back(mask(out.data));
    out.data = masked.back();
    out.masked = true;
    out.etag = etag_of(out.data);
    out.size_bytes = static_cast<std::int32_t>(out.data.size());
  }
  if (!with_data) out.data = {};
  return out;
}

ObjectList::ObjectList(db::Db& db, Sight sight, Mask mask, Range range, ObjectWants wants)
    : impl_(std::make_unique<Impl>(db, sight, mask, range, wants)) {}
ObjectList::~ObjectList() = default;
ObjectList::ObjectList(ObjectList&&) noexcept = default;

Task<std::span<const ObjectRow>> ObjectList::next() {
  auto& s = *impl_;
  s.rows.clear();
  s.masked.clear();
  s.page = co_await s.pages.next();
  if (s.page) {
    s.rows.reserve(static_cast<std::size_t>(s.page->size()));
    for (const auto row : *s.page) s.rows.push_back(s.row(row));
  }
  co_return std::span<const ObjectRow>(s.rows);
}

Task<std::optional<Object>> Objects::find(Sight sight, std::string name) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::find_object(tx, sight, mask_, name); });
}

Task<std::vector<Object>> Objects::named(Sight sight, std::vector<std::string> names) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::named_objects(tx, sight, mask_, names); });
}

Task<std::vector<std::int64_t>> Objects::within(Sight sight, std::int16_t components, std::int64_t from,
                                                std::int64_t to) {
  co_return co_await db_.read(
      [&](db::Tx& tx) { return store::objects_within(tx, sight, mask_, components, from, to); });
}

Task<std::vector<Object>> Objects::by_keys(Sight sight, std::vector<std::int64_t> keys) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::objects_by_keys(tx, sight, mask_, keys); });
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

Task<std::vector<Objects::Held>> Objects::by_uids(Sight sight, std::vector<std::string> uids) {
  co_return co_await db_.read([&](db::Tx& tx) { return store::objects_by_uids(tx, sight, mask_, uids); });
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
