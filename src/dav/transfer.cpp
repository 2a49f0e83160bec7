#include "dav/transfer.hpp"

#include <algorithm>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/location.hpp"
#include "welkin/files/properties.hpp"
#include "welkin/http/upload_headers.hpp"

namespace welkin::dav {
namespace {

using http::Status;

/// The other end of a COPY or MOVE.
struct Destination {
  Place place;
  files::Located at;
  bool overwrite = true;
  bool is_same = false;  // as the source
};

/// Absent is T for both methods (RFC 4918 §10.6).
bool may_overwrite(const http::Request& rq) {
  const auto value = text::trim(rq.header("overwrite"));
  if (value.empty() || text::iequals(value, "t")) return true;
  if (!text::iequals(value, "f")) throw Error(Errc::invalid, "bad_overwrite", "Overwrite is T or F");
  return false;
}

bool lies_below(const Place& place, const Place& top) {
  return place.names.size() > top.names.size() &&
         std::equal(top.names.begin(), top.names.end(), place.names.begin());
}

[[noreturn]] void refuse_cycle(const char* why) { throw Error(Errc::forbidden, "into_itself", why); }

/// Everything that must be right before anything is touched. `deep`: what is below the source goes along.
Task<Destination> require_destination(Change& change, bool deep) {
  Destination to;
  to.place = destination_of(change.services.tree, change.rq);
  http::client_mtime(change.rq.headers());  // refused before anything is done
  to.overwrite = may_overwrite(change.rq);
  const auto& node = change.require_node();
  if (to.place.names.empty()) throw Error(Errc::forbidden, "is_root", "The root cannot be replaced");
  if (lies_below(change.place, to.place)) refuse_cycle("The destination contains the source");
  if (deep && node.is_folder() && lies_below(to.place, change.place))
    refuse_cycle("The destination lies in the source");
  to.at = co_await change.services.files.locate(change.rq.caller(), to.place.names);
  if (!to.at.parent)
    throw Error(Errc::conflict, "parent_missing", "The folder that would hold the destination is not there");
  to.is_same = to.at.node && to.at.node->id == node.id;
  if (to.at.is_mount)
    throw Error(Errc::forbidden, "is_a_mount", "What is shared with you is not replaced through its mount");
  if (to.place.has_slash && !node.is_folder() && !to.at.node)
    throw Error(Errc::conflict, "is_a_folder_name", "A file's address has no slash at its end");
  co_return to;
}

/// Locks and preconditions of both ends, and what will be touched there.
Task<files::Expect> require_both(Change& change, const Destination& to) {
  auto expect = co_await change.require_conditions();
  if (to.at.node) {
    if (!to.overwrite)
      throw Error(Errc::precondition_failed, "exists", "There is something at the destination already");
    change.touched.push_back({to.place, {.node = to.at.node->id, .deep = true, .membership = true}});
  }
  Place folder = to.place;
  folder.names.pop_back();
  change.touched.push_back({std::move(folder), {.node = to.at.parent->id, .is_new = true}});
  co_return expect;
}

/// The failure of a write whose name was taken meanwhile, in the words of Overwrite: F.
[[noreturn]] void rethrow(const Error& e) {
  if (e.code() == Errc::conflict && std::string_view(e.slug()) == "exists")
    throw Error(Errc::precondition_failed, "exists", e.what());
  if (std::string_view(e.slug()) == "into_itself") refuse_cycle(e.what());
  throw e;
}

/// X-OC-MTime of sync clients. The file is there already, so a failure only means that the header is not
/// confirmed.
Task<> set_mtime(Change& change, files::Node& node) {
  files::PropertyPatch patch;
  patch.modified_at = http::client_mtime(change.rq.headers());
  if (!patch.modified_at) co_return;
  patch.lock_tokens = change.submitted.tokens;
  const auto modified_at = *patch.modified_at;
  try {
    co_await change.services.files.properties().patch(change.rq.caller(), node.id, std::move(patch));
  } catch (const Error&) {
    co_return;
  }
  node.modified_at = modified_at;
  change.rp.set("X-OC-MTime", "accepted");
}

Task<> answer(Change& change, const Destination& to, files::Placed placed) {
  co_await set_mtime(change, placed.node);
  set_written(change, placed.node);
  if (placed.created) change.rp.set("Location", to.place.path(placed.node.is_folder()));
  co_await change.rp.send(placed.created ? Status::created : Status::no_content);
}

}  // namespace

Task<> copy(Change& change) {
  const auto& source = change.require_node();
  const auto depth = depth_of(change.rq);
  if (depth && depth->depth == Depth::one)
    throw Error(Errc::invalid, "bad_depth", "Depth of COPY is 0 or infinity");
  const bool alone = depth && depth->depth == Depth::zero;
  const auto to = co_await require_destination(change, !alone);
  if (to.is_same) refuse_cycle("Source and destination are the same");
  files::Files::Copy how;
  how.parent = to.at.parent->id;
  how.name = to.at.name;
  how.children = !alone;
  how.replace = to.overwrite;
  how.expect = co_await require_both(change, to);
  how.lock_tokens = change.submitted.tokens;
  std::optional<files::Placed> placed;
  try {
    placed = co_await change.services.files.copy(change.rq.caller(), source.id, std::move(how));
  } catch (const Error& e) {
    rethrow(e);
  }
  co_await answer(change, to, *placed);
}

Task<> move(Change& change) {
  const auto& source = change.require_node();
  const auto depth = depth_of(change.rq);
  if (source.is_folder() && depth && depth->depth != Depth::infinity)
    throw Error(Errc::invalid, "bad_depth", "A folder moves with all that is in it: Depth is infinity");
  if (change.is_root()) throw Error(Errc::forbidden, "is_root", "The root cannot be moved");
  if (change.at.is_mount)
    throw Error(Errc::forbidden, "is_a_mount", "What is shared with you is not moved through its mount");
  const auto to = co_await require_destination(change, true);
  if (to.is_same) {
    if (!is_respelled(change.services.tree, change.rq)) refuse_cycle("Source and destination are the same");
    co_await change.require_conditions();
    co_await answer(change, to, files::Placed{source, true});
    co_return;
  }
  files::Files::Move how;
  how.parent = to.at.parent->id;
  how.name = to.at.name;
  how.replace = to.overwrite;
  // What such clients rename keeps its id: they know it by that.
  how.succeed = !change.services.tree.for_nextcloud;
  change.touch_target(true, true);
  how.expect = co_await require_both(change, to);
  how.lock_tokens = change.submitted.tokens;
  std::optional<files::Placed> placed;
  try {
    placed = co_await change.services.files.move(change.rq.caller(), source.id, std::move(how));
  } catch (const Error& e) {
    rethrow(e);
  }
  co_await answer(change, to, *placed);
}

}  // namespace welkin::dav
