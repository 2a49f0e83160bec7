#include "collections/browse_store.hpp"

#include "collections/object_store.hpp"

#define WELKIN_MEMBER                                                                                   \
  "select o.name, o.etag, o.seq, o.component, o.size, o.created_at, o.modified_at, null::bytea, o.id, " \
  "o.schedule_tag"
// What the index of names is made of, word for word.
#define WELKIN_TITLE "left(fold_name(coalesce(o.title, '')), 100)"
#define WELKIN_CONTACTS                                                                              \
  " from collection_objects o where o.collection_id = $1 and not o.deleted and o.component = 0 and " \
  "o.flags & 1 = 0"

namespace welkin::collections::store {
namespace {

constexpr db::Stmt kContacts{"collections.contacts",
                             WELKIN_MEMBER ", " WELKIN_TITLE WELKIN_CONTACTS " and (" WELKIN_TITLE
                                           ", o.id) > ($2, $3) order by " WELKIN_TITLE ", o.id limit $4"};
constexpr db::Stmt kContactsFrom{"collections.contacts_from", WELKIN_MEMBER WELKIN_CONTACTS
                                 " order by " WELKIN_TITLE ", o.id offset $2 limit $3"};
constexpr db::Stmt kCountContacts{"collections.count_contacts", "select count(*)" WELKIN_CONTACTS};
constexpr db::Stmt kGroups{"collections.groups", WELKIN_MEMBER
                           " from collection_objects o where o.collection_id = $1 and not o.deleted and "
                           "o.component = 0 and o.flags & 1 = 1 and o.id > $2 order by o.id limit $3"};
constexpr db::Stmt kObjects{
    "collections.objects_by_name", WELKIN_MEMBER
    " from collection_objects o where o.collection_id = $1 and o.name > $3 and not "
    "o.deleted and o.flags & $5 = 0 and ($2 = 0 or o.component & $2 <> 0) order by o.name limit $4"};

std::vector<Object> read(const db::Rows& rows) {
  std::vector<Object> out;
  out.reserve(static_cast<std::size_t>(rows.size()));
  for (const auto row : rows) out.push_back(object(row));
  return out;
}

}  // namespace

std::vector<Placed> contacts(db::Tx& tx, CollectionId book, const std::string& after_title,
                             std::int64_t after_id, int limit) {
  std::vector<Placed> out;
  for (const auto row : tx.exec(kContacts, book, after_title, after_id, limit))
    out.push_back({object(row), row.str(10)});
  return out;
}

std::vector<Object> contacts_from(db::Tx& tx, CollectionId book, std::int64_t offset, int limit) {
  return read(tx.exec(kContactsFrom, book, offset, std::int64_t{limit}));
}

std::int64_t count_contacts(db::Tx& tx, CollectionId book) { return tx.one(kCountContacts, book)[0].i64(0); }

std::vector<Object> groups(db::Tx& tx, CollectionId book, std::int64_t after_id, int limit) {
  return read(tx.exec(kGroups, book, after_id, limit));
}

std::vector<Object> objects(db::Tx& tx, Sight calendar, Mask mask, std::int16_t components,
                            const std::string& after_name, int limit) {
  return read(
      tx.exec(kObjects, calendar.collection, components, after_name, limit, hidden_flags(calendar, mask)));
}

}  // namespace welkin::collections::store
