// tus 1.0.0 (https://tus.io/protocols/resumable-upload): creation, creation-with-upload, checksum,
// termination, expiration. A body that ends early is kept as far as it came, and the client goes on behind
// it.
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "rest/upload_ticket.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr const char* kVersion = "1.0.0";
constexpr const char* kExtensions =
    "creation,creation-with-upload,checksum,termination,expiration,concatenation";
constexpr const char* kPartType = "application/offset+octet-stream";
constexpr auto kChecksumMismatch = static_cast<Status>(460);

Error bad(const char* slug, const std::string& what) { return {Errc::invalid, slug, what}; }

/// Uploads that have become files: a client that has missed the answer asks again. Of one server, the last
/// thousand.
class Finished {
 public:
  void add(const std::string& upload, const std::string& location) {
    constexpr std::size_t kMax = 1'000;
    const std::lock_guard lock(mutex_);
    if (locations_.emplace(upload, location).second) order_.push_back(upload);
    if (order_.size() <= kMax) return;
    locations_.erase(order_.front());
    order_.pop_front();
  }
  std::optional<std::string> find(const std::string& upload) const {
    const std::lock_guard lock(mutex_);
    const auto at = locations_.find(upload);
    return at == locations_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> locations_;
  std::deque<std::string> order_;
};

/// "filename d29ybGQ=,is_secret": keys and values in base64.
std::map<std::string, std::string> metadata_of(const Request& rq) {
  std::map<std::string, std::string> out;
  const auto header = rq.headers().joined("upload-metadata");
  if (header.empty()) return out;
  for (const auto pair : text::split(header, ',')) {
    const auto entry = text::trim(pair);
    const auto blank = entry.find(' ');
    const auto value = blank == std::string_view::npos
                           ? std::optional(Bytes())
                           : text::from_base64(text::trim(entry.substr(blank + 1)));
    if (!value || !text::is_utf8(as_text(*value)) || entry.empty())
      throw bad("bad_upload_metadata", "Upload-Metadata must be a list of keys with values in base64");
    out.emplace(entry.substr(0, blank), as_text(*value));
  }
  return out;
}

std::string first_of(const std::map<std::string, std::string>& all, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const auto at = all.find(key); at != all.end() && !at->second.empty()) return at->second;
  return "";
}

std::uint64_t number_header(const Request& rq, const char* name) {
  const auto n = text::number(rq.header(name));
  if (!n || *n > INT64_MAX / 4) throw bad("bad_upload_header", std::string(name) + " must be a number");
  return *n;
}

struct Checksum {
  crypto::Digest kind;
  Bytes value;
};
std::optional<Checksum> checksum_of(const Request& rq) {
  if (!rq.headers().has("upload-checksum")) return std::nullopt;
  const auto header = text::trim(rq.header("upload-checksum"));
  const auto blank = header.find(' ');
  const auto kind = header.substr(0, blank);
  const auto value = blank == std::string_view::npos
                         ? std::nullopt
                         : text::from_base64(text::trim(header.substr(blank + 1)));
  if (!value) throw bad("bad_checksum", "Upload-Checksum must be an algorithm and a value in base64");
  if (kind == "sha1") return Checksum{crypto::Digest::sha1, *value};
  if (kind == "sha256") return Checksum{crypto::Digest::sha256, *value};
  if (kind == "md5") return Checksum{crypto::Digest::md5, *value};
  throw bad("bad_checksum", "Checksums are taken by sha1, sha256 or md5");
}

void set_common(Reply& rp) {
  rp.set("Tus-Resumable", kVersion);
  rp.set("Cache-Control", "no-store");
}

/// @throws Error precondition_failed: another version of the protocol
void require_version(const Request& rq, Reply& rp) {
  set_common(rp);
  if (rq.header("tus-resumable") == kVersion) return;
  rp.set("Tus-Version", kVersion);
  throw Error(Errc::precondition_failed, "bad_tus_version", "Tus-Resumable must be 1.0.0");
}

/// How far an upload has come: parts are called by where they begin, and what lies behind a gap does not
/// count.
std::uint64_t offset_of(const files::PartUpload& upload) {
  std::uint64_t at = 0;
  for (const auto& part : upload.parts) {
    if (part.name != std::to_string(at)) break;
    at += part.size_bytes;
  }
  return at;
}

/// One request for an upload, with what all of them need.
struct Tus {
  const Services& services;
  const std::shared_ptr<Finished> finished;

  Task<> drop_behind(const Caller& caller, const files::PartUpload& upload, std::uint64_t offset) const {
    std::uint64_t at = 0;
    for (const auto& part : upload.parts) {
      if (at < offset && part.name == std::to_string(at))
        at += part.size_bytes;
      else
        co_await services.files.part_uploads().drop_part(caller, upload.name, part.name);
    }
  }

  void set_offset(Reply& rp, const UploadTicket& ticket, std::uint64_t offset) const {
    rp.set("Upload-Offset", std::to_string(offset));
    if (offset < ticket.total_bytes)
      rp.set("Upload-Expires",
             times::http_date(services.clock.now() + files::PartUploads::kSecondsMax * Micros{1'000'000}));
  }

  /// All bytes are there: they become the file.
  Task<> finish(const Request& rq, Reply& rp, const UploadTicket& ticket) const {
    const auto written = co_await finish_ticket(services, rq.caller(), ticket);
    const auto location = std::string(rq.base_path()) + "/api/files/" +
                          services.ids.encode(IdKind::file, written.node.id.value);
    finished->add(ticket.upload, location);
    rp.set("Content-Location", location);
    rp.set("ETag", quoted_etag(written.node));
  }

  /// Takes the body as what comes at `offset`. @return the new offset; nullopt: its checksum is wrong
  Task<std::optional<std::uint64_t>> take(Request& rq, const UploadTicket& ticket,
                                          std::uint64_t offset) const {
    const auto wanted = checksum_of(rq);
    const auto left = ticket.total_bytes - offset;
    if (rq.content_length().value_or(0) > left)
      throw Error(Errc::too_large, "body_too_large", "That is more than what Upload-Length announced");
    if (left == 0) co_return offset;
    auto sink = co_await services.files.part_uploads().put(rq.caller(), ticket.upload, std::to_string(offset),
                                                           rq.content_length(), ticket.total_bytes);
    const auto got =
        co_await receive_part(rq, *sink, left, wanted ? std::optional(wanted->kind) : std::nullopt);
    if (wanted && !got.broken && got.digest != wanted->value) co_return std::nullopt;
    // A part whose checksum is to be proved counts whole or not at all.
    if (got.bytes > 0 && !(wanted && got.broken)) co_await sink->finish();
    if (got.broken) std::rethrow_exception(got.broken);
    co_return offset + got.bytes;
  }
};

/// OPTIONS: what this server can
Task<> options(const Services& services, Request&, Reply& rp) {
  set_common(rp);
  rp.set("Tus-Version", kVersion);
  rp.set("Tus-Extension", kExtensions);
  rp.set("Tus-Checksum-Algorithm", "sha1,sha256,md5");
  if (services.config.upload_bytes_max != 0)
    rp.set("Tus-Max-Size", std::to_string(services.config.upload_bytes_max));
  co_await rp.send(Status::no_content);
}

/// A part of a file that will be put together: it has no name and no place.
bool is_partial(const UploadTicket& ticket) { return !ticket.folder; }

/// Where the file goes, by the metadata; checked.
Task<UploadTicket> placed_ticket(const Tus& tus, const Request& rq, std::uint64_t total_bytes) {
  const auto metadata = metadata_of(rq);
  UploadTicket ticket;
  ticket.upload = new_upload_name("tus");
  ticket.total_bytes = total_bytes;
  ticket.filename = files::require_name(first_of(metadata, {"filename", "name"}), files::Kind::file);
  ticket.mime_type = first_of(metadata, {"filetype", "type"});
  ticket.overwrite = first_of(metadata, {"overwrite"}) == "true";
  if (ticket.mime_type.size() > 255 || ticket.mime_type.find_first_of("\x1f\r\n") != std::string::npos ||
      ticket.mime_type.find('\0') != std::string::npos)
    throw bad("bad_upload_metadata", "The type of the file is no media type");
  const auto folder = first_of(metadata, {"folder_id"});
  ticket.folder =
      folder.empty() ? co_await home_id(tus.services, rq.caller()) : folder_id(tus.services, folder);
  co_await check_ticket(tus.services, rq.caller(), ticket);
  co_return ticket;
}

void set_location(const Request& rq, Reply& rp, const UploadTicket& ticket) {
  rp.set("Location", std::string(rq.base_path()) + "/api/uploads/tus/" + write_ticket(ticket));
}

/// POST with Upload-Concat: final;URL URL -> 201: parts that are all there become one file
Task<> concatenate(const Tus& tus, Request& rq, Reply& rp, std::string_view urls) {
  auto& uploads = tus.services.files.part_uploads();
  std::vector<std::string> names;
  std::uint64_t total = 0;
  for (const auto url : text::split(urls, ' ')) {
    if (url.empty()) continue;
    const auto part = read_ticket(url.substr(url.rfind('/') + 1));
    if (!is_partial(part)) throw bad("not_partial", "Only partial uploads can be put together");
    if (offset_of(co_await uploads.get(rq.caller(), part.upload)) != part.total_bytes)
      throw Error(Errc::conflict, "incomplete", "A partial upload is not complete");
    names.push_back(part.upload);
    total += part.total_bytes;
  }
  if (names.empty()) throw bad("bad_upload_header", "Upload-Concat names no uploads");
  const auto ticket = co_await placed_ticket(tus, rq, total);
  co_await uploads.begin(rq.caller(), ticket.upload, std::nullopt);
  co_await uploads.join(rq.caller(), ticket.upload, names);
  set_location(rq, rp, ticket);
  co_await tus.finish(rq, rp, ticket);
  tus.set_offset(rp, ticket, total);
  co_await rp.send(Status::created);
}

/// POST -> 201 with Location
Task<> create(const Tus& tus, Request& rq, Reply& rp) {
  require_version(rq, rp);
  const auto concat = rq.header("upload-concat");
  if (concat.starts_with("final;")) {
    co_await concatenate(tus, rq, rp, concat.substr(6));
    co_return;
  }
  if (!concat.empty() && concat != "partial")
    throw bad("bad_upload_header", "Upload-Concat must be partial or final");
  const auto length = number_header(rq, "upload-length");
  UploadTicket ticket;
  if (concat.empty()) {
    ticket = co_await placed_ticket(tus, rq, length);
  } else {
    ticket.upload = new_upload_name("tus");
    ticket.total_bytes = length;
  }
  co_await tus.services.files.part_uploads().begin(rq.caller(), ticket.upload, ticket.total_bytes);
  set_location(rq, rp, ticket);
  std::optional<std::uint64_t> offset = 0;
  if (rq.header("content-type") == kPartType) offset = co_await tus.take(rq, ticket, 0);
  if (!offset) {
    co_await tus.services.files.part_uploads().drop(rq.caller(), ticket.upload);
    rp.headers().remove("Location");
    co_await rp.send(kChecksumMismatch);
    co_return;
  }
  tus.set_offset(rp, ticket, *offset);
  if (*offset == ticket.total_bytes && !is_partial(ticket)) co_await tus.finish(rq, rp, ticket);
  co_await rp.send(Status::created);
}

/// HEAD -> 200 with Upload-Offset
Task<> look(const Tus& tus, Request& rq, Reply& rp) {
  require_version(rq, rp);
  const auto ticket = read_ticket(rq.param("upload"));
  rp.set("Upload-Length", std::to_string(ticket.total_bytes));
  if (is_partial(ticket)) rp.set("Upload-Concat", "partial");
  if (const auto location = tus.finished->find(ticket.upload)) {
    rp.set("Content-Location", *location);
    tus.set_offset(rp, ticket, ticket.total_bytes);
  } else {
    const auto offset = offset_of(co_await tus.services.files.part_uploads().get(rq.caller(), ticket.upload));
    // All came, and making the file failed: the client must not take it for done.
    if (offset == ticket.total_bytes && !is_partial(ticket)) co_await tus.finish(rq, rp, ticket);
    tus.set_offset(rp, ticket, offset);
  }
  co_await rp.send(Status::ok);
}

/// PATCH -> 204 | 409 the offset is another | 415 | 460 the checksum is wrong
Task<> append(const Tus& tus, Request& rq, Reply& rp) {
  require_version(rq, rp);
  if (rq.header("content-type") != kPartType)
    throw Error(Errc::unsupported_media_type, "not_a_part", std::string("The body must be ") + kPartType);
  const auto ticket = read_ticket(rq.param("upload"));
  const auto at = number_header(rq, "upload-offset");
  const auto upload = co_await tus.services.files.part_uploads().get(rq.caller(), ticket.upload);
  const auto offset = offset_of(upload);
  if (at != offset)
    throw Error(Errc::conflict, "wrong_offset", "The upload goes on at " + std::to_string(offset));
  co_await tus.drop_behind(rq.caller(), upload, offset);
  const auto now = co_await tus.take(rq, ticket, offset);
  if (!now) {
    co_await rp.send(kChecksumMismatch);
    co_return;
  }
  tus.set_offset(rp, ticket, *now);
  if (*now == ticket.total_bytes && !is_partial(ticket)) co_await tus.finish(rq, rp, ticket);
  co_await rp.send(Status::no_content);
}

/// DELETE -> 204
Task<> end(const Tus& tus, Request& rq, Reply& rp) {
  require_version(rq, rp);
  const auto ticket = read_ticket(rq.param("upload"));
  co_await tus.services.files.part_uploads().drop(rq.caller(), ticket.upload);
  co_await rp.send(Status::no_content);
}

}  // namespace

void mount_tus(Scopes& s, const Services& services) {
  const auto tus = std::make_shared<const Tus>(services, std::make_shared<Finished>());
  const auto on = [&](Method method, const char* path, const char* name, auto handler) {
    s.user.on({method, path, name, http::Access::user, "upload", "create"},
              [tus, handler](Request& rq, Reply& rp) { return handler(*tus, rq, rp); });
  };
  s.open.on({Method::options, "/api/uploads/tus", "tus.options", http::Access::open, "-", "-"},
            [tus](Request& rq, Reply& rp) { return options(tus->services, rq, rp); });
  on(Method::post, "/api/uploads/tus", "tus.create", create);
  on(Method::head, "/api/uploads/tus/{upload}", "tus.look", look);
  on(Method::patch, "/api/uploads/tus/{upload}", "tus.append", append);
  on(Method::del, "/api/uploads/tus/{upload}", "tus.end", end);
}

}  // namespace welkin::rest
