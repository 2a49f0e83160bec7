#pragma once
#include <string>
#include <vector>

#include "media/reading.hpp"
#include "welkin/core/id.hpp"
#include "welkin/db/db.hpp"

namespace welkin::media::store {

/// Those of `contents` that have a row no more.
std::vector<ContentId> gone(db::Tx& tx, const std::vector<ContentId>& contents);

struct Unread {
  ContentId content;
  std::uint64_t size_bytes = 0;
  std::string mime_type;  // of a file that has it
};
/// Notes, at most every ten minutes, what has been seen; @return from where contents have to be looked at
ContentId begin_pass(db::Tx& tx);
/// Contents after `after` that nobody has read yet and whose type is like one of `patterns`, in order.
std::vector<Unread> unread(db::Tx& tx, ContentId after, const std::vector<std::string>& patterns, int limit);
/// What was found; nothing, when the content has gone meanwhile.
void keep(db::Tx& tx, ContentId content, const Facts& facts, const std::string& text);

}  // namespace welkin::media::store
