#include "dav/put.hpp"

#include <algorithm>
#include <limits>

#include "dav/digests.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/properties.hpp"
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

namespace {

/// Whether a sync client wants the folders above made along (the apps spell it in two ways).
bool wants_parents(const http::Request& rq) {
  const auto asked = [&](std::string_view name) { return text::trim(rq.header(name)) == "1"; };
  return asked("x-nc-webdav-automkcol") || asked("x-nc-webdav-auto-mkcol");
}

Task<> make_parents(Change& change) {
  auto& files = change.services.files;
  const auto& names = change.place.names;
  auto folder = co_await files.home(change.rq.caller());
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::vector<std::string> above(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i));
    auto at = co_await files.locate(change.rq.caller(), above);
    if (!at.node) {
      try {
        at.node = co_await files.create_folder(change.rq.caller(), folder.id, names[i - 1],
                                               change.submitted.tokens);
      } catch (const Error& e) {
        if (e.code() != Errc::conflict) throw;  // made by another upload of the same client
      }
      if (!at.node) at = co_await files.locate(change.rq.caller(), above);
    }
    if (!at.node || !at.node->is_folder())
      throw Error(Errc::conflict, "parent_missing", "The folder that would hold it is not there");
    folder = *at.node;
  }
  change.at = co_await files.locate(change.rq.caller(), names);
}

/// The announced size of the whole file, where a client tells it apart from the body's.
std::optional<std::uint64_t> announced_size(const Change& change) {
  auto size = change.rq.content_length();
  if (!change.services.tree.for_nextcloud) return size;
  if (const auto total = text::number(text::trim(change.rq.header("oc-total-length"))))
    size = std::max(size.value_or(0), *total);
  return size;
}

/// What clients of Nextcloud send with a PUT beside the body.
Task<> obey_sync_client(Change& change) {
  if (change.rq.headers().has("oc-chunked"))
    throw Error(Errc::not_implemented, "oc_chunked", "Uploads in pieces go through the address for uploads");
  if (!change.at.node && !change.at.parent) co_await make_wanted_parents(change);
}

}  // namespace

Task<> make_wanted_parents(Change& change) {
  if (wants_parents(change.rq)) co_await make_parents(change);
}

std::optional<Micros> sync_time(const Change& change, std::string_view header) {
  const auto value = text::trim(change.rq.header(header));
  if (value.empty()) return std::nullopt;
  constexpr std::int64_t kLast = 253'402'300'799;
  const auto seconds = text::signed_number(value.substr(0, value.find('.')));
  if (!seconds || *seconds <= 0 || *seconds > kLast)
    throw Error(Errc::invalid, "bad_mtime", std::string(header) + " must be a time in seconds, after 1970");
  return *seconds * 1'000'000;
}

Task<> set_created_at(Change& change, const files::Node& node, std::optional<Micros> created_at) {
  if (!created_at) co_return;
  files::PropertyPatch patch;
  patch.created_at = created_at;
  patch.lock_tokens = change.submitted.tokens;
  try {
    co_await change.services.files.properties().patch(change.rq.caller(), node.id, std::move(patch));
  } catch (const Error&) {
    co_return;  // the file is there; only the header is not confirmed
  }
  change.rp.set("X-OC-CTime", "accepted");
}

Task<> put(Change& change) {
  auto& rq = change.rq;
  const bool syncs = change.services.tree.for_nextcloud;
  if (syncs) co_await obey_sync_client(change);
  require_file_place(change);
  http::require_plain_body(rq.headers());
  BodyDigests digests(rq.headers());
  files::UploadOptions options;
  options.modified_at = syncs ? sync_time(change, "x-oc-mtime") : http::client_mtime(rq.headers());
  const auto created_at = syncs ? sync_time(change, "x-oc-ctime") : std::nullopt;
  const bool has_mtime = options.modified_at.has_value();
  options.target = target_of(change);
  options.expect = co_await change.require_conditions();
  options.lock_tokens = change.submitted.tokens;
  options.mime_type = rq.header("content-type");
  options.size_hint = announced_size(change);
  options.sha256 = digests.sha256();
  options.sha1 = digests.sha1();
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
  set_written(change, written.node);
  co_await set_created_at(change, written.node, created_at);
  if (has_mtime) change.rp.set("X-OC-MTime", "accepted");
  co_await change.rp.send(written.created ? Status::created : Status::no_content);
}

}  // namespace welkin::dav
