#include "media/media_store.hpp"

namespace welkin::media::store {
namespace {

constexpr db::Stmt kGone{"media.gone",
                         "select a.id from unnest($1::bigint[]) a (id) where not exists (select from "
                         "contents c where c.id = a.id)"};

}  // namespace

std::vector<ContentId> gone(db::Tx& tx, const std::vector<ContentId>& contents) {
  std::vector<std::int64_t> keys;
  for (const auto content : contents) keys.push_back(content.value);
  std::vector<ContentId> out;
  for (const auto row : tx.exec(kGone, keys)) out.push_back(row.id<ContentId>(0));
  return out;
}

}  // namespace welkin::media::store
