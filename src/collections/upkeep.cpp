#include "welkin/collections/upkeep.hpp"

namespace welkin::collections {
namespace {

constexpr std::int32_t kStep = 2000;

constexpr db::Stmt kPurgeObjects{"collections.purge_objects", R"(
  delete from collection_trash where id in (
    select t.id from collection_trash t where t.deleted_at < now() - make_interval(days => $1)
     order by t.deleted_at limit $2 for update skip locked))"};
// Members first, in steps: a collection may hold very many.
constexpr db::Stmt kPurgeMembers{"collections.purge_members", R"(
  delete from collection_objects where id in (
    select o.id from collections c join collection_objects o on o.collection_id = c.id
     where c.deleted_at < now() - make_interval(days => $1) limit $2))"};
constexpr db::Stmt kPurgeCollections{"collections.purge_collections", R"(
  delete from collections c where c.deleted_at < now() - make_interval(days => $1)
     and not exists (select from collection_objects o where o.collection_id = c.id))"};

}  // namespace

bool purge_trash(db::Db& db) {
  return db.write_now([](db::Tx& tx) {
    const auto objects = tx.exec(kPurgeObjects, std::int32_t{kTrashDays}, kStep).affected();
    const auto members = tx.exec(kPurgeMembers, std::int32_t{kTrashDays}, kStep).affected();
    tx.exec(kPurgeCollections, std::int32_t{kTrashDays});
    return objects >= kStep || members >= kStep;
  });
}

}  // namespace welkin::collections
