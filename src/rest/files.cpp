#include <algorithm>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/listing.hpp"
#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "rest/upload.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/trash.hpp"
#include "welkin/http/body.hpp"
#include "welkin/http/range.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

Task<> send_file(const Services& services, Request& rq, Reply& rp, const files::Node& node) {
  rp.set("ETag", quoted_etag(node));
  co_await send_json_text(rp, Status::ok, co_await node_json(services, rq.caller(), node));
}

/// From the first to the last byte that the Range header asks for; nullopt: the whole file, or nothing that
/// can be had.
std::optional<Slice> asked_slice(const Request& rq, const files::Node& node) {
  if (!http::if_range_holds(rq.headers(), quoted_etag(node), node.modified_at)) return std::nullopt;
  std::vector<Slice> slices;
  try {
    slices = http::parse_range(rq.headers().joined("range"), node.size_bytes);
  } catch (const Error&) {
    return std::nullopt;  // 416, unless a precondition is answered first: decided where bodies are served
  }
  if (slices.empty()) return std::nullopt;
  std::uint64_t begin = node.size_bytes, end = 0;
  for (const auto& slice : slices) {
    begin = std::min(begin, slice.offset);
    end = std::max(end, slice.offset + slice.length);
  }
  return Slice{begin, end - begin};
}

/// Opens what the request needs of a file. The chunk list of a huge file is long, so a player that seeks
/// should not have it read each time. The range depends on the size, which is learnt first; if the file
/// changed between the two looks, it is opened whole.
Task<files::Opened> open_asked(const Services& services, const Request& rq, NodeId id) {
  if (rq.method() == Method::get && rq.headers().has("range")) {
    const auto node = co_await services.files.node(rq.caller(), id);
    if (const auto slice = asked_slice(rq, node)) {
      auto opened = co_await services.files.open(rq.caller(), id, slice);
      if (opened.node.etag == node.etag) co_return opened;
    }
  }
  co_return co_await services.files.open(rq.caller(), id);
}

/// GET /api/files/{id}: the bytes, or with ?metadata=true the File.
Task<> get(const Services& services, Request& rq, Reply& rp) {
  const NodeId id = file_id(services, rq.param("id"));
  if (const auto metadata = rq.query("metadata"); metadata == "true" || metadata == "1") {
    co_await send_file(services, rq, rp, co_await services.files.node(rq.caller(), id));
    co_return;
  }
  const auto opened = co_await open_asked(services, rq, id);
  http::UserBody body;
  body.name = opened.node.name;
  body.mime_type = opened.node.mime_type;
  body.etag = quoted_etag(opened.node);
  body.last_modified = opened.node.modified_at;
  body.size_bytes = opened.node.size_bytes;
  body.inline_asked = rq.query("inline").has_value();
  body.feed = [&](Slice slice, ByteSink& out) { return services.files.send(opened, slice, out); };
  co_await http::serve_body(rq, rp, body);
}

/// GET /api/files?folder_id -> [File]. Without a folder: the home's.
Task<> list(const Services& services, Request& rq, Reply& rp) {
  const auto folder = rq.query("folder_id");
  const NodeId id =
      folder && !folder->empty() ? folder_id(services, *folder) : co_await home_id(services, rq.caller());
  co_await send_children(services, rq, rp, id, Shape::files);
}

/// PUT /api/files/{id}/rename {name} -> 200 | 400 | 404 | 409
Task<> rename(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  files::Files::Move to;
  to.name = text::trim(fields.opt_string("name").value_or(""));
  to.expect = expectation(rq.headers());
  fields.done();
  if (to.name->empty()) throw Error(Errc::invalid, "bad_name", "Missing or empty 'name' field");
  const auto node =
      (co_await services.files.move(rq.caller(), file_id(services, rq.param("id")), std::move(to))).node;
  co_await send_file(services, rq, rp, node);
}

/// PUT /api/files/{id}/move {folder_id: id|null} -> 200 | 404 | 409
Task<> move(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  if (!fields.has("folder_id"))
    throw Error(Errc::unprocessable, "missing_field", "The field 'folder_id' is missing");
  const auto folder = fields.opt_string("folder_id");
  fields.done();
  const NodeId id = file_id(services, rq.param("id"));
  files::Files::Move to;
  to.parent = folder ? folder_id(services, *folder) : co_await home_id(services, rq.caller());
  to.expect = expectation(rq.headers());
  const auto node = (co_await services.files.move(rq.caller(), id, std::move(to))).node;
  co_await send_file(services, rq, rp, node);
}

/// DELETE /api/files/{id} -> 204, to the trash; with ?permanent=true for good
Task<> trash(const Services& services, Request& rq, Reply& rp) {
  const NodeId id = file_id(services, rq.param("id"));
  if (permanent(rq))
    co_await services.files.trash_bin().destroy(rq.caller(), id, expectation(rq.headers()));
  else
    co_await services.files.trash(rq.caller(), id, expectation(rq.headers()));
  co_await rp.send(Status::no_content);
}

/// PUT /api/files/{id}/content -> 200
Task<> put_content(const Services& services, Request& rq, Reply& rp) {
  files::Target target;
  target.file = file_id(services, rq.param("id"));
  return receive_raw(services, rq, rp, std::move(target));
}

}  // namespace

void mount_files(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/files", "files", "file");
  on(Method::get, "", "list", "read", list);
  on(Method::post, "/upload", "upload", "create", receive_form);
  on(Method::get, "/{id}", "get", "read", get);
  on(Method::put, "/{id}/content", "put_content", "update", put_content);
  on(Method::put, "/{id}/rename", "rename", "update", rename);
  on(Method::put, "/{id}/move", "move", "update", move);
  on(Method::del, "/{id}", "trash", "delete", trash);
}

}  // namespace welkin::rest
