#include "calendars/derived_store.hpp"

#include "welkin/calendars/stored.hpp"

// Books that have something to read. A book that is shared with somebody is its owner's alone.
#define WELKIN_CHANGED_BOOKS                                                                            \
  "from collections b join collection_state s on s.collection_id = b.id left join birthday_sources x "  \
  "on x.book_id = b.id where b.kind = 2 and (b.deleted_at is null and s.seq > coalesce(x.seq, 0) or "   \
  "b.deleted_at is not null and x.book_id is not null) and not exists (select from birthday_calendars " \
  "c where c.user_id = b.owner_id and not c.is_enabled) "

namespace welkin::calendars::store {
namespace {

constexpr db::Stmt kPut{"calendars.put_derived",
                        "select put_derived_object($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"};
constexpr db::Stmt kDrop{"calendars.drop_derived", "select drop_derived_object($1, $2)"};

constexpr db::Stmt kChangedBooks{
    "calendars.changed_books",
    "select b.id, b.uid::text, coalesce(x.seq, 0), s.seq, b.deleted_at is not null " WELKIN_CHANGED_BOOKS
    "and b.owner_id = $1 order by b.id limit 16"};
constexpr db::Stmt kUserWithChanges{"calendars.user_with_changed_books",
                                    "select b.owner_id " WELKIN_CHANGED_BOOKS "limit 1"};
constexpr db::Stmt kChangedCards{"calendars.changed_cards", R"(
  select o.name, o.seq, o.deleted, o.data from collection_objects o
   where o.collection_id = $1 and o.seq > $2 order by o.seq limit $3)"};
constexpr db::Stmt kCardNames{"calendars.card_names",
                              "select o.name from collection_objects o where o.collection_id = $1"};
constexpr db::Stmt kSetReadTo{"calendars.set_read_to", R"(
  insert into birthday_sources (book_id, seq) values ($1, $2) on conflict (book_id) do update set seq = excluded.seq)"};
constexpr db::Stmt kForget{"calendars.forget_book", "delete from birthday_sources where book_id = $1"};

constexpr db::Stmt kOpen{"calendars.open_birthdays", "select open_birthdays($1, $2)"};
constexpr db::Stmt kEnabled{"calendars.birthdays_enabled", R"(
  select coalesce((select is_enabled from birthday_calendars where user_id = $1), true))"};
constexpr db::Stmt kSwitch{"calendars.switch_birthdays", "select switch_birthdays($1, $2)"};

}  // namespace

bool put_derived(db::Tx& tx, collections::CollectionId calendar, const std::string& name,
                 const std::string& data) {
  const auto facts = facts_of(data, collections::component::kAll);
  return tx
      .one(kPut, calendar, name, collections::etag_of(data), facts.uid, collections::etag_of(facts.uid),
           facts.component, facts.flags, facts.first, facts.last, facts.title, facts.search,
           as_bytes(data))[0]
      .boolean(0);
}

bool drop_derived(db::Tx& tx, collections::CollectionId calendar, const std::string& name) {
  return tx.one(kDrop, calendar, name)[0].boolean(0);
}

std::vector<Source> changed_books(db::Tx& tx, UserId user) {
  std::vector<Source> out;
  for (const auto row : tx.exec(kChangedBooks, user))
    out.push_back({row.id<collections::CollectionId>(0), row.str(1), row.i64(2), row.i64(3), row.boolean(4)});
  return out;
}

UserId user_with_changed_books(db::Tx& tx) {
  const auto rows = tx.exec(kUserWithChanges);
  return rows.empty() ? UserId{} : rows[0].id<UserId>(0);
}

std::vector<Card> changed_cards(db::Tx& tx, const Source& source, std::int32_t limit) {
  std::vector<Card> out;
  for (const auto row : tx.exec(kChangedCards, source.book, source.read_to, limit)) {
    Card card{row.str(0), row.i64(1), row.boolean(2), {}};
    if (!card.is_gone) card.data = as_text(row.bytes(3));
    out.push_back(std::move(card));
  }
  return out;
}

std::vector<std::string> card_names(db::Tx& tx, collections::CollectionId book) {
  std::vector<std::string> out;
  for (const auto row : tx.exec(kCardNames, book)) out.push_back(row.str(0));
  return out;
}

void set_read_to(db::Tx& tx, const Source& source, std::int64_t seq) {
  tx.exec(kSetReadTo, source.book, seq);
}

void forget_book(db::Tx& tx, const Source& source) { tx.exec(kForget, source.book); }

collections::CollectionId open_birthdays(db::Tx& tx, UserId user, bool make) {
  return tx.one(kOpen, user, make)[0].id<collections::CollectionId>(0);
}

bool birthdays_enabled(db::Tx& tx, UserId user) { return tx.one(kEnabled, user)[0].boolean(0); }

void switch_birthdays(db::Tx& tx, UserId user, bool enabled) { tx.exec(kSwitch, user, enabled); }

}  // namespace welkin::calendars::store
