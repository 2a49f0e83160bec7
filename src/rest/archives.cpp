#include "rest/archives.hpp"

#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/archives.hpp"
#include "welkin/http/body.hpp"
#include "welkin/wire/json.hpp"
#include "welkin/wire/zip.hpp"

namespace welkin::rest {
namespace {

using files::Archive;
using files::Archives;
using http::Access;
using http::Method;
using http::Reply;
using http::Request;

wire::ZipEntry zip_entry(const Archive& archive, std::size_t i) {
  const auto& e = archive[i];
  wire::ZipEntry out;
  out.name = archive.name(i);
  out.parent = e.parent == Archive::kTop ? wire::kZipTop : e.parent;
  out.is_folder = e.kind == files::Kind::folder;
  out.size_bytes = e.size_bytes;
  out.crc32 = e.crc32;
  out.modified_at = times::seconds(e.modified_at);
  return out;
}

Task<> feed(const wire::ZipLayout& layout, Archives::Reader& bodies, Slice slice, ByteSink& out) {
  auto walk = layout.walk(slice);
  while (const auto piece = walk.next()) {
    if (piece->is_body) {
      co_await bodies.send(piece->entry, piece->body, out);
    } else {
      co_await out.write(as_bytes(piece->bytes));
    }
  }
}

Task<> send_archive(const Services& services, Request& rq, Reply& rp, std::shared_ptr<const Archive> archive,
                    std::string name) {
  if (const auto version = rq.query("v"); version && *version != archive->version())
    throw Error(Errc::precondition_failed, "archive_changed", "what was to be downloaded has changed since");
  const wire::ZipLayout layout(archive->size(), [&](std::size_t i) { return zip_entry(*archive, i); });
  Archives::Reader bodies(services.files.archives(), rq.caller(), archive);
  http::UserBody body;
  body.name = std::move(name);
  body.mime_type = "application/zip";
  body.etag = '"' + archive->version() + '"';
  body.size_bytes = layout.size_bytes();
  body.feed = [&](Slice slice, ByteSink& out) { return feed(layout, bodies, slice, out); };
  co_await http::serve_body(rq, rp, body);
}

std::vector<std::string> strings_of(wire::JsonObject& fields, const char* name) {
  if (!fields.has(name)) return {};
  return fields.strings(name);
}

/// POST /api/batch/download {file_ids?, folder_ids?} -> 200 application/zip
Task<> post_selection(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  auto files = strings_of(fields, "file_ids");
  auto folders = strings_of(fields, "folder_ids");
  fields.done();
  co_await send_selection_archive(services, rq, rp, std::move(files), std::move(folders));
}

std::vector<std::string> listed(const Request& rq, const char* name) {
  std::vector<std::string> out;
  const auto value = rq.query(name).value_or("");
  for (const auto id : text::split(value, ','))
    if (!id.empty()) out.emplace_back(id);
  return out;
}

/// GET /api/batch/download?file_ids=a,b&folder_ids=c -> 200, 206: for links and for resuming
Task<> get_selection(const Services& services, Request& rq, Reply& rp) {
  return send_selection_archive(services, rq, rp, listed(rq, "file_ids"), listed(rq, "folder_ids"));
}

}  // namespace

Task<> send_folder_archive(const Services& services, Request& rq, Reply& rp) {
  const NodeId id = folder_id(services, rq.param("id"));
  const auto node = co_await services.files.node(rq.caller(), id);
  const auto name = shown_name(node, rq.caller());
  auto archive = co_await services.files.archives().folder(rq.caller(), id, name);
  co_await send_archive(services, rq, rp, std::move(archive), name + ".zip");
}

Task<> send_selection_archive(const Services& services, Request& rq, Reply& rp,
                              std::vector<std::string> files, std::vector<std::string> folders) {
  const auto count = files.size() + folders.size();
  if (count == 0) throw Error(Errc::invalid, "no_items", "No files or folders provided");
  if (count > Archives::kSelectionMax)
    throw Error(Errc::invalid, "batch_too_large",
                "Batch size " + std::to_string(count) + " exceeds maximum of " +
                    std::to_string(Archives::kSelectionMax));
  std::vector<NodeId> nodes;
  const auto add = [&](IdKind kind, const std::vector<std::string>& ids) {
    for (const auto& text : ids)
      if (const auto key = services.ids.decode(kind, text)) nodes.push_back(NodeId{*key});
  };
  add(IdKind::file, files);
  add(IdKind::folder, folders);
  auto archive = co_await services.files.archives().selection(rq.caller(), std::move(nodes));
  const auto now = std::to_string(times::seconds(services.clock.now()));
  co_await send_archive(services, rq, rp, std::move(archive), "welkin-download-" + now + ".zip");
}

void mount_archives(Scopes& s, const Services& services) {
  const auto on = [&](Method method, const char* path, const char* name, auto handler) {
    s.user.on({method, path, name, Access::user, "node", "read"},
              [&services, handler](Request& rq, Reply& rp) { return handler(services, rq, rp); });
  };
  on(Method::get, "/api/folders/{id}/download", "folders.download", send_folder_archive);
  on(Method::get, "/api/batch/download", "batch.get_download", get_selection);
  on(Method::post, "/api/batch/download", "batch.download", post_selection);
}

}  // namespace welkin::rest
