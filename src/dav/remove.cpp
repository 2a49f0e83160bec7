#include "dav/remove.hpp"

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::dav {

Task<> remove(Change& change) {
  if (change.is_root()) throw Error(Errc::forbidden, "is_root", "The root cannot be deleted");
  const auto& node = change.require_node();
  const auto depth = depth_of(change.rq);
  if (node.is_folder() && depth && depth->depth != Depth::infinity)
    throw Error(Errc::invalid, "bad_depth", "A folder is deleted with all that is in it: Depth is infinity");
  if (change.at.is_mount)
    throw Error(Errc::forbidden, "is_a_mount", "What is shared with you is not deleted through its mount");
  auto expect = co_await change.require_conditions();
  change.touch_target(true, true);
  auto& files = change.services.files;
  const bool for_good = change.services.tree.for_nextcloud &&
                        text::iequals(text::trim(change.rq.header("x-nc-skip-trashbin")), "true");
  if (for_good) {
    co_await files.trash_bin().destroy(change.rq.caller(), node.id, std::move(expect),
                                       change.submitted.tokens);
  } else {
    co_await files.trash(change.rq.caller(), node.id, std::move(expect), change.submitted.tokens);
  }
  co_await change.rp.send(http::Status::no_content);
}

}  // namespace welkin::dav
