#include "rest/upload_ticket.hpp"

#include <utility>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::rest {
namespace {

constexpr char kSeparator = '\x1f';  // in no name and no type
constexpr std::size_t kTicketBytesMax = 2'000;

Error no_such_upload() { return {Errc::not_found, "not_found", "not found"}; }

}  // namespace

std::string new_upload_name(std::string_view protocol) {
  return std::string(protocol) + "-" + crypto::random_token(16);
}

std::string write_ticket(const UploadTicket& t) {
  std::string plain = t.upload;
  for (const auto& part :
       {std::to_string(t.folder.value), std::to_string(t.total_bytes), std::to_string(t.chunk_bytes),
        std::string(t.overwrite ? "1" : "0"), t.mime_type, t.filename})
    (plain += kSeparator) += part;
  return text::base64url(as_bytes(plain));
}

UploadTicket read_ticket(std::string_view text) {
  const auto plain = text.size() <= kTicketBytesMax ? text::from_base64url(text) : std::nullopt;
  if (!plain || !text::is_utf8(as_text(*plain)) || as_text(*plain).find('\0') != std::string_view::npos)
    throw no_such_upload();
  const auto parts = text::split(as_text(*plain), kSeparator);
  if (parts.size() != 7) throw no_such_upload();
  const auto folder = text::signed_number(parts[1]);
  const auto total = text::number(parts[2]), chunk = text::number(parts[3]);
  if (!folder || !total || !chunk) throw no_such_upload();
  UploadTicket out;
  out.upload = parts[0];
  out.folder = NodeId{*folder};
  out.total_bytes = *total;
  out.chunk_bytes = *chunk;
  out.overwrite = parts[4] == "1";
  out.mime_type = parts[5];
  out.filename = parts[6];
  return out;
}

Task<> check_ticket(const Services& services, const Caller& caller, const UploadTicket& ticket) {
  const auto most = services.config.upload_bytes_max;
  if (most != 0 && ticket.total_bytes > most)
    throw Error(Errc::too_large, "body_too_large", "The file is larger than this server takes");
  const auto folder = co_await services.files.node(caller, ticket.folder);
  if (!folder.is_folder()) throw Error(Errc::invalid, "not_a_folder", "this is not a folder");
  auto name = files::require_name(ticket.filename, files::Kind::file);
  const auto old = co_await services.files.child(caller, ticket.folder, name);
  if (old && !ticket.overwrite) throw Error(Errc::conflict, "exists", "already exists: " + name);
  const auto needed = old ? rights::kUpdate : rights::kCreate;
  if (((old ? old->rights : folder.rights) & needed) == 0)
    throw Error(Errc::forbidden, "forbidden", "you may not write here");
}

Task<files::Written> finish_ticket(const Services& services, const Caller& caller,
                                   const UploadTicket& ticket) {
  files::UploadOptions options;
  options.target.parent = ticket.folder;
  options.target.name = ticket.filename;
  options.size_hint = ticket.total_bytes;
  options.mime_type = ticket.mime_type;
  options.overwrite = ticket.overwrite;
  co_return co_await services.files.part_uploads().finish(caller, ticket.upload, std::move(options));
}

Task<ReceivedPart> receive_part(http::Request& rq, files::PartSink& sink, std::uint64_t bytes_max,
                                std::optional<crypto::Digest> digest) {
  ReceivedPart out;
  std::optional<crypto::DigestStream> stream;
  if (digest) stream.emplace(*digest);
  rq.limit_body(bytes_max);
  for (;;) {
    ByteView piece;
    try {
      piece = co_await rq.read();
    } catch (...) {
      out.broken = std::current_exception();
    }
    if (piece.empty()) break;
    if (stream) stream->update(piece);
    co_await sink.write(piece);
    out.bytes += piece.size();
  }
  if (stream && !out.broken) out.digest = stream->finish();
  co_return out;
}

}  // namespace welkin::rest
