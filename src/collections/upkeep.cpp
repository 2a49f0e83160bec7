#include "welkin/collections/upkeep.hpp"

namespace welkin::collections {
namespace {

constexpr std::int32_t kStep = 2000;

constexpr db::Stmt kEnd{"collections.end_trash", "select end_collection_trash($1, $2)"};

}  // namespace

bool purge_trash(db::Db& db) {
  return db.write_now([](db::Tx& tx) { return tx.one(kEnd, std::int32_t{kTrashDays}, kStep)[0].boolean(0); });
}

}  // namespace welkin::collections
