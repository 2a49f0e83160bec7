#include "dav/put.hpp"

#include <limits>

#include "dav/digests.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/upload_headers.hpp"

namespace welkin::dav {
namespace {

using http::Status;

/// macOS says here what it will send in chunks.
std::optional<std::uint64_t> expected_length(const http::Request& rq) {
  if (rq.content_length()) return rq.content_length();
  return text::number(text::trim(rq.header("x-expected-entity-length")));
}

void require_file_place(Change& change) {
  if (change.at.node && change.at.node->is_folder()) {
    if (change.is_root()) throw Error(Errc::forbidden, "is_root", "The root cannot be written to");
    refuse_folder_content(change);
  }
  if (change.place.has_slash && change.at.node) change.require_node();
  if (change.place.has_slash)
    throw Error(Errc::conflict, "is_a_folder_name", "A file's address has no slash at its end");
  if (!change.at.node) change.require_parent();
}

}  // namespace

void allow_upload(Change& change) {
  const auto most = change.services.config.upload_bytes_max;
  change.rq.limit_body(most == 0 ? std::numeric_limits<std::uint64_t>::max() : most);
}

void refuse_folder_content(Change& change) {
  change.rp.set("Allow", allowed_methods(change.at));
  throw Error(Errc::method_not_allowed, "is_a_folder", "A folder has no content to write");
}

files::Target target_of(const Change& change) {
  files::Target target;
  // By name, so that the commit decides what has it then; what is mounted has another name where it lies.
  if (change.at.node && (change.at.is_mount || change.is_root())) {
    target.file = change.at.node->id;
  } else {
    target.parent = change.require_parent().id;
    target.name = change.at.name;
  }
  return target;
}

Task<> put(Change& change) {
  auto& rq = change.rq;
  require_file_place(change);
  http::require_plain_body(rq.headers());
  BodyDigests digests(rq.headers());
  files::UploadOptions options;
  options.modified_at = http::client_mtime(rq.headers());
  const bool has_mtime = options.modified_at.has_value();
  options.target = target_of(change);
  options.expect = co_await change.require_conditions();
  options.lock_tokens = change.submitted.tokens;
  options.mime_type = rq.header("content-type");
  options.size_hint = rq.content_length();
  options.sha256 = digests.sha256();
  change.touch_target(false, false);
  allow_upload(change);
  const auto expected = expected_length(rq);
  auto upload = co_await change.services.files.begin_upload(rq.caller(), std::move(options));
  bool any = false;
  while (true) {
    const auto piece = co_await rq.read();
    if (piece.empty()) break;
    any = true;
    digests.update(piece);
    co_await upload->write(piece);
  }
  if (!any && !rq.content_length() && expected.value_or(0) > 0)
    throw Error(Errc::invalid, "empty_body", "The body is empty although a longer one was announced");
  digests.require_match();
  // The body may have been long on its way: what If said of locks has to be true still.
  if (change.submitted.present && any)
    co_await require_if(change.services, rq, change.submitted, change.place,
                        co_await change.services.files.locate(rq.caller(), change.place.names));
  const auto written = co_await upload->finish();
  set_validators(change.rp, written.node);
  if (has_mtime) change.rp.set("X-OC-MTime", "accepted");
  co_await change.rp.send(written.created ? Status::created : Status::no_content);
}

}  // namespace welkin::dav
