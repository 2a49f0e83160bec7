#include "welkin/collections/check.hpp"

namespace welkin::collections {
namespace {

constexpr std::int32_t kPage = 500;

constexpr db::Stmt kPageOf{"check.collections", R"(
  select c.id, s.object_count, s.bytes, x.many, x.bytes
    from collections c join collection_state s on s.collection_id = c.id
   cross join lateral (
     select count(*) many, coalesce(sum(o.size), 0)::bigint bytes from collection_objects o
      where o.collection_id = c.id and not o.deleted) x
   where c.id > $1 order by c.id limit $2)"};
constexpr db::Stmt kRecount{"check.recount_collection", "select recount_collection($1)"};

}  // namespace

void check_collections(blobs::Inspection& inspection) {
  auto& db = inspection.db();
  for (std::int64_t after = 0;;) {
    const auto rows = db.read_now([&](db::Tx& tx) { return tx.exec(kPageOf, after, kPage); });
    for (const auto row : rows) {
      after = row.i64(0);
      ++inspection.looked_at["collections"];
      if (row.i64(1) == row.i64(3) && row.i64(2) == row.i64(4)) continue;
      inspection.report(
          blobs::Finding::Weight::fault, "collection.count", "collection " + std::to_string(after),
          "counts " + std::to_string(row.i64(1)) + " objects of " + std::to_string(row.i64(2)) +
              " bytes, there are " + std::to_string(row.i64(3)) + " of " + std::to_string(row.i64(4)),
          [&] {
            db.write_now([&](db::Tx& tx) { tx.exec(kRecount, after); });
            return blobs::Inspection::Mended{true, "counted anew"};
          });
    }
    if (rows.size() < kPage) return;
  }
}

}  // namespace welkin::collections
