// The older uploads in numbered chunks, which may come in any order. New clients take tus.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "rest/body.hpp"
#include "rest/objects.hpp"
#include "rest/query.hpp"
#include "rest/routes.hpp"
#include "rest/upload_ticket.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::uint64_t kChunkBytes = 5 << 20, kChunkBytesMin = 1 << 20, kChunkBytesMax = 1ull << 30;

std::uint64_t chunks_of(const UploadTicket& t) {
  return t.total_bytes == 0 ? 0 : (t.total_bytes + t.chunk_bytes - 1) / t.chunk_bytes;
}

std::uint64_t bytes_of_chunk(const UploadTicket& t, std::uint64_t index) {
  return std::min(t.chunk_bytes, t.total_bytes - index * t.chunk_bytes);
}

UploadTicket asked_ticket(const Request& rq) {
  auto ticket = read_ticket(rq.param("upload"));
  if (ticket.chunk_bytes == 0) throw Error(Errc::not_found, "not_found", "not found");  // one of tus
  return ticket;
}

void set_progress(Reply& rp, const UploadTicket& ticket, std::uint64_t stored) {
  const double percent = ticket.total_bytes == 0
                             ? 100
                             : static_cast<double>(stored) * 100 / static_cast<double>(ticket.total_bytes);
  char text[16];
  const int length = std::snprintf(text, sizeof text, "%.2f", percent);
  rp.set("Upload-Offset", std::to_string(stored));
  rp.set("Upload-Progress", std::string_view(text, static_cast<std::size_t>(length)));
}

/// POST /api/uploads {filename, total_size, folder_id?, content_type?, chunk_size?}
/// -> 201 {upload_id, chunk_size, total_chunks, expires_at}
Task<> create(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  UploadTicket ticket;
  ticket.upload = new_upload_name("chunks");
  ticket.filename = files::require_name(fields.string("filename"), files::Kind::file);
  const auto total = fields.integer("total_size");
  const auto folder = fields.opt_string("folder_id");
  ticket.mime_type = fields.opt_string("content_type").value_or("");
  const auto chunk = fields.opt_integer("chunk_size").value_or(kChunkBytes);
  fields.done();
  if (total < 0 || total > INT64_MAX / 4)
    throw Error(Errc::invalid, "bad_size", "The field 'total_size' must be a number of bytes");
  if (ticket.mime_type.size() > 255 || ticket.mime_type.find_first_of("\x1f\r\n") != std::string::npos)
    throw Error(Errc::invalid, "bad_type", "The field 'content_type' must be a media type");
  ticket.total_bytes = static_cast<std::uint64_t>(total);
  // As many parts as one upload may have, at most.
  const auto least = std::max(kChunkBytesMin, ticket.total_bytes / (files::PartUploads::kPartsMax - 1) + 1);
  ticket.chunk_bytes = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max<std::int64_t>(chunk, 0)),
                                                 least, std::max(least, kChunkBytesMax));
  ticket.folder = folder ? folder_id(services, *folder) : co_await home_id(services, rq.caller());
  co_await check_ticket(services, rq.caller(), ticket);
  co_await services.files.part_uploads().begin(rq.caller(), ticket.upload, ticket.total_bytes);
  co_await send_json(rp, Status::created,
                     {{"upload_id", write_ticket(ticket)},
                      {"chunk_size", ticket.chunk_bytes},
                      {"total_chunks", chunks_of(ticket)},
                      {"expires_at", files::PartUploads::kSecondsMax}});
}

/// The MD5 that the client says its chunk has, in hex.
std::optional<Bytes> declared_md5(const Request& rq) {
  std::string value(rq.header("content-md5"));
  if (const auto query = rq.query("checksum")) value = *query;
  if (value.empty()) return std::nullopt;
  const auto bytes = text::from_hex(text::lower(value));
  if (!bytes || bytes->size() != 16)
    throw Error(Errc::invalid, "bad_checksum", "The checksum must be an MD5 in hex");
  return bytes;
}

/// PATCH /api/uploads/{upload}?chunk_index -> 200 {chunk_index, bytes_received, progress, is_complete}
Task<> put_chunk(const Services& services, Request& rq, Reply& rp) {
  const auto ticket = asked_ticket(rq);
  constexpr std::uint64_t kNone = UINT64_MAX;
  const auto index = number_query(rq, "chunk_index", kNone);
  if (index >= chunks_of(ticket))
    bad_query("chunk_index",
              "a number from 0 to " + std::to_string(chunks_of(ticket)) + ", without the last");
  const auto md5 = declared_md5(rq);
  const auto size = bytes_of_chunk(ticket, index);
  auto sink = co_await services.files.part_uploads().put(rq.caller(), ticket.upload, std::to_string(index),
                                                         size, ticket.total_bytes);
  const auto got =
      co_await receive_part(rq, *sink, size, md5 ? std::optional(crypto::Digest::md5) : std::nullopt);
  if (got.broken) std::rethrow_exception(got.broken);
  if (got.bytes != size)
    throw Error(Errc::invalid, "bad_chunk_size", "This chunk must have " + std::to_string(size) + " bytes");
  if (md5 && got.digest != *md5)
    throw Error(Errc::invalid, "digest_mismatch", "The chunk does not have that checksum");
  co_await sink->finish();
  const auto upload = co_await services.files.part_uploads().get(rq.caller(), ticket.upload);
  const bool complete = upload.stored_bytes == ticket.total_bytes;
  set_progress(rp, ticket, upload.stored_bytes);
  if (complete) rp.set("Upload-Complete", "true");
  const double progress = static_cast<double>(upload.stored_bytes) / static_cast<double>(ticket.total_bytes);
  co_await send_json(rp, Status::ok,
                     {{"chunk_index", index},
                      {"bytes_received", upload.stored_bytes},
                      {"progress", progress},
                      {"is_complete", complete}});
}

/// HEAD /api/uploads/{upload} -> 200 with how far it is
Task<> look(const Services& services, Request& rq, Reply& rp) {
  const auto ticket = asked_ticket(rq);
  const auto upload = co_await services.files.part_uploads().get(rq.caller(), ticket.upload);
  set_progress(rp, ticket, upload.stored_bytes);
  rp.set("Upload-Length", std::to_string(ticket.total_bytes));
  rp.set("Upload-Chunks-Total", std::to_string(chunks_of(ticket)));
  rp.set("Upload-Chunks-Complete", std::to_string(upload.parts.size()));
  rp.set("Cache-Control", "no-store");
  co_await rp.send(Status::ok);
}

/// POST /api/uploads/{upload}/complete -> 201 {file_id, filename, size, path} | 409 chunks are missing, the
/// name is taken
Task<> complete(const Services& services, Request& rq, Reply& rp) {
  const auto ticket = asked_ticket(rq);
  const auto upload = co_await services.files.part_uploads().get(rq.caller(), ticket.upload);
  if (upload.stored_bytes != ticket.total_bytes || upload.parts.size() != chunks_of(ticket))
    throw Error(Errc::conflict, "incomplete",
                "Chunks are missing: " + std::to_string(upload.parts.size()) + " of " +
                    std::to_string(chunks_of(ticket)) + " have come");
  const auto written = co_await finish_ticket(services, rq.caller(), ticket);
  const auto path = co_await services.files.path(rq.caller(), written.node.id);
  co_await send_json(rp, Status::created,
                     {{"file_id", services.ids.encode(IdKind::file, written.node.id.value)},
                      {"filename", written.node.name},
                      {"size", written.node.size_bytes},
                      {"path", path}});
}

/// DELETE /api/uploads/{upload} -> 204
Task<> end(const Services& services, Request& rq, Reply& rp) {
  const auto ticket = asked_ticket(rq);
  co_await services.files.part_uploads().drop(rq.caller(), ticket.upload);
  co_await rp.send(Status::no_content);
}

}  // namespace

void mount_chunked_uploads(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/uploads", "uploads", "upload");
  on(Method::post, "", "create", "create", create);
  on(Method::patch, "/{upload}", "put_chunk", "create", put_chunk);
  on(Method::head, "/{upload}", "look", "read", look);
  on(Method::post, "/{upload}/complete", "complete", "create", complete);
  on(Method::del, "/{upload}", "end", "delete", end);
}

}  // namespace welkin::rest
