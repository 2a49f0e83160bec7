#include "welkin/dav/deliver.hpp"

#include "dav/put.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/location.hpp"

namespace welkin::dav {
namespace {

Task<> deliver_to(Change& change, const Deliver& deliver) {
  if (change.is_root()) throw Error(Errc::forbidden, "is_root", "The root cannot be written to");
  if (change.at.node && change.at.node->is_folder())
    throw Error(Errc::conflict, "is_a_folder", "There is a folder at the destination");
  if (text::iequals(text::trim(change.rq.header("overwrite")), "f") && change.at.node)
    throw Error(Errc::precondition_failed, "exists", "There is something at the destination already");
  if (!change.at.node) change.require_parent();
  files::UploadOptions options;
  options.modified_at = sync_time(change, "x-oc-mtime");
  const auto created_at = sync_time(change, "x-oc-ctime");
  const bool has_mtime = options.modified_at.has_value();
  options.target = target_of(change);
  options.expect = co_await change.require_conditions();
  options.lock_tokens = change.submitted.tokens;
  options.size_hint = text::number(text::trim(change.rq.header("oc-total-length")));
  change.touch_target(false, false);
  const auto written = co_await deliver(std::move(options));
  set_written(change, written.node);
  co_await set_created_at(change, written.node, created_at);
  if (has_mtime) change.rp.set("X-OC-MTime", "accepted");
  co_await change.rp.send(written.created ? http::Status::created : http::Status::no_content);
}

}  // namespace

Task<> put_at_destination(const TreeServices& services, http::Request& rq, http::Reply& rp, Deliver deliver) {
  Change change{services, rq, rp, destination_of(services.tree, rq), {}, read_if(rq), {}};
  change.at = co_await services.files.locate(rq.caller(), change.place.names);
  if (!change.at.node && !change.at.parent) co_await make_wanted_parents(change);
  co_await run_naming_locks(change, [&](Change& at) { return deliver_to(at, deliver); });
}

}  // namespace welkin::dav
