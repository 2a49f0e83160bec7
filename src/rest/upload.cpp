#include "rest/upload.hpp"

#include <algorithm>

#include "rest/body.hpp"
#include "rest/objects.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/http/upload_headers.hpp"
#include "welkin/wire/multipart.hpp"

namespace welkin::rest {
namespace {

using http::Reply;
using http::Request;
using http::Status;

constexpr std::size_t kIdTextMax = 64;

std::vector<std::string> bare_tags(const http::EtagList& list, bool strong_only) {
  std::vector<std::string> out;
  for (std::string_view tag : list.tags) {
    if (tag.starts_with("W/")) {
      if (strong_only) continue;  // a weak tag never matches strongly, so it can be forgotten
      tag.remove_prefix(2);
    }
    if (tag.size() >= 2) out.emplace_back(tag.substr(1, tag.size() - 2));
  }
  return out;
}

http::EtagList require_etags(const http::Fields& headers, const char* name) {
  auto list = http::parse_etags(headers.joined(name));
  if (!list)
    throw Error(Errc::invalid, "bad_precondition", std::string(name) + " is not a list of entity tags");
  return std::move(*list);
}

/// If-Unmodified-Since has no place in files::Expect; read here and turned into "still what I saw", so that
/// the check under the lock covers it. Ignored beside If-Match and for what does not exist (RFC 9110
/// §13.1.4).
Task<> add_unmodified_since(const Services& services, const Request& rq, files::UploadOptions& options) {
  if (options.expect.kind != files::Expect::Kind::anything) co_return;
  const auto since = times::from_http_date(rq.header("if-unmodified-since"));
  if (!since) co_return;
  std::optional<files::Node> present;
  if (options.target.file) {
    present = co_await services.files.node(rq.caller(), options.target.file);
  } else {
    auto name = files::require_name(options.target.name, files::Kind::file);
    present = co_await services.files.child(rq.caller(), options.target.parent, std::move(name));
  }
  if (!present) co_return;
  if (times::seconds(present->modified_at) > times::seconds(*since)) {
    throw Error(Errc::precondition_failed, "precondition_failed", "The file has changed since then");
  }
  options.expect = {files::Expect::Kind::etag_is, {present->etag}};
}

Task<> answer_written(const Services& services, Request& rq, Reply& rp, const files::Written& written) {
  const std::string json = co_await node_json(services, rq.caller(), written.node);
  rp.set("ETag", quoted_etag(written.node));
  rp.set("Last-Modified", times::http_date(written.node.modified_at));
  if (written.created) {
    const std::string id = services.ids.encode(IdKind::file, written.node.id.value);
    rp.set("Location", std::string(rq.base_path()) + "/api/files/" + id);
  }
  co_await send_json_text(rp, written.created ? Status::created : Status::ok, json);
}

Task<> copy(ByteSource& from, files::Upload& to) {
  while (true) {
    const auto piece = co_await from.read();
    if (piece.empty()) co_return;
    co_await to.write(piece);
  }
}

}  // namespace

files::Expect expectation(const http::Fields& headers) {
  using Kind = files::Expect::Kind;
  const bool match = headers.has("if-match");
  const bool none_match = headers.has("if-none-match");
  if (match && none_match) {
    throw Error(Errc::invalid, "bad_precondition", "If-Match and If-None-Match together make no sense here");
  }
  if (match) {
    const auto list = require_etags(headers, "if-match");
    if (list.any) return {Kind::must_exist, {}};
    return {Kind::etag_is, bare_tags(list, true)};
  }
  if (none_match) {
    const auto list = require_etags(headers, "if-none-match");
    if (list.any) return {Kind::must_be_new, {}};
    return {Kind::etag_is_not, bare_tags(list, false)};
  }
  return {};
}

std::optional<Sha256> declared_digest(const http::Fields& headers) {
  std::optional<Sha256> found;
  for (const auto& declared : http::declared_digests(headers)) {
    if (declared.algorithm != "sha-256") continue;
    Sha256 value;
    std::transform(declared.value.begin(), declared.value.end(), value.begin(),
                   [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
    if (found && *found != value)
      throw Error(Errc::invalid, "digest_mismatch", "Repr-Digest and Content-Digest differ");
    found = value;
  }
  return found;
}

Task<> receive_raw(const Services& services, Request& rq, Reply& rp, files::Target target) {
  http::require_plain_body(rq.headers());
  if (text::lower(rq.header("content-type")).starts_with("multipart/form-data")) {
    throw Error(Errc::unsupported_media_type, "form_body", "Send the file itself as the body, not a form");
  }
  files::UploadOptions options;
  options.target = std::move(target);
  options.size_hint = rq.content_length();
  options.mime_type = rq.header("content-type");
  options.modified_at = http::client_mtime(rq.headers());
  options.expect = expectation(rq.headers());
  options.sha256 = declared_digest(rq.headers());
  const bool has_mtime = options.modified_at.has_value();
  co_await add_unmodified_since(services, rq, options);

  allow_upload(rq, services.config);
  auto upload = co_await services.files.begin_upload(rq.caller(), std::move(options));
  co_await copy(rq, *upload);
  const auto written = co_await upload->finish();
  if (has_mtime) rp.set("X-OC-MTime", "accepted");
  co_await answer_written(services, rq, rp, written);
}

Task<> receive_form(const Services& services, Request& rq, Reply& rp) {
  http::require_plain_body(rq.headers());
  allow_upload(rq, services.config);
  wire::MultipartReader form(rq, rq.headers().joined("content-type"));
  NodeId folder;
  std::unique_ptr<files::Upload> upload;
  while (auto part = co_await form.next()) {
    if (part->name == "folder_id") {
      if (upload)
        throw Error(Errc::invalid, "bad_multipart", "The part 'folder_id' must come before the file");
      const std::string id = co_await form.text(kIdTextMax);
      folder = id.empty() ? NodeId{} : folder_id(services, id);
    } else if (part->name == "file" && !upload) {
      if (!folder) folder = co_await home_id(services, rq.caller());
      files::UploadOptions options;
      options.target.parent = folder;
      options.target.name = part->filename.value_or("");
      options.mime_type = part->content_type;
      options.overwrite = false;
      upload = co_await services.files.begin_upload(rq.caller(), std::move(options));
      co_await copy(form, *upload);
    }
  }
  if (!upload) throw Error(Errc::invalid, "no_file", "No file provided");
  // Only now is it known that the body did not end early.
  const auto written = co_await upload->finish();
  co_await answer_written(services, rq, rp, written);
}

}  // namespace welkin::rest
