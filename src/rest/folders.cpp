#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/listing.hpp"
#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "rest/upload.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/trash.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::Status;

Task<> send_node(const Services& services, Request& rq, Reply& rp, const files::Node& node,
                 Status status = Status::ok) {
  co_await send_json_text(rp, status, co_await node_json(services, rq.caller(), node));
}

/// POST /api/folders {name, parent_id?} -> 201 | 400 bad_name | 404 parent | 409 exists
Task<> create(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  const std::string name = fields.string("name");
  const auto parent = fields.opt_string("parent_id");
  fields.done();
  const NodeId into = parent ? folder_id(services, *parent) : co_await home_id(services, rq.caller());
  const auto made = co_await services.files.create_folder(rq.caller(), into, name);
  rp.set("Location",
         std::string(rq.base_path()) + "/api/folders/" + services.ids.encode(IdKind::folder, made.id.value));
  co_await send_node(services, rq, rp, made, Status::created);
}

/// GET /api/folders -> [the caller's root]
Task<> roots(const Services& services, Request& rq, Reply& rp) {
  const NodeId home = co_await home_id(services, rq.caller());
  const auto root = co_await services.files.node(rq.caller(), home);
  co_await send_json_text(rp, Status::ok, '[' + co_await node_json(services, rq.caller(), root) + ']');
}

Task<> get(const Services& services, Request& rq, Reply& rp) {
  const auto folder = co_await services.files.node(rq.caller(), folder_id(services, rq.param("id")));
  co_await send_node(services, rq, rp, folder);
}

/// GET /api/folders/{id}/ancestors -> [{id, name, parent_id, drive_id}], from the highest the caller may see
/// down to the folder itself. The first has no parent he could ask for.
Task<> ancestors(const Services& services, Request& rq, Reply& rp) {
  const auto chain = co_await services.files.ancestors(rq.caller(), folder_id(services, rq.param("id")));
  std::string text;
  wire::JsonWriter json(text);
  std::string above;
  json.begin_array();
  for (const auto& node : chain) {
    const std::string id = services.ids.encode(IdKind::folder, node.id.value);
    json.begin_object();
    json.field("id", id);
    json.field("name", shown_name(node, rq.caller()));
    if (above.empty()) {
      json.null_field("parent_id");
    } else {
      json.field("parent_id", above);
    }
    json.field("drive_id", services.ids.encode(IdKind::drive, node.drive.value));
    json.end_object();
    above = id;
  }
  json.end_array();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// PUT /api/folders/{id}/rename {name} -> 200 | 400 | 403 is_root | 404 | 409
Task<> rename(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  files::Files::Move to;
  to.name = fields.string("name");
  to.expect = expectation(rq.headers());
  fields.done();
  const auto node =
      (co_await services.files.move(rq.caller(), folder_id(services, rq.param("id")), std::move(to))).node;
  co_await send_node(services, rq, rp, node);
}

/// PUT /api/folders/{id}/move {parent_id: id|null} -> 200 | 400 into_itself | 403 is_root | 404 | 409
Task<> move(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  if (!fields.has("parent_id"))
    throw Error(Errc::unprocessable, "missing_field", "The field 'parent_id' is missing");
  const auto parent = fields.opt_string("parent_id");
  fields.done();
  const NodeId id = folder_id(services, rq.param("id"));
  files::Files::Move to;
  to.parent = parent ? folder_id(services, *parent) : co_await home_id(services, rq.caller());
  to.expect = expectation(rq.headers());
  const auto node = (co_await services.files.move(rq.caller(), id, std::move(to))).node;
  co_await send_node(services, rq, rp, node);
}

/// DELETE /api/folders/{id} -> 204, to the trash with everything below; with ?permanent=true for good
Task<> trash(const Services& services, Request& rq, Reply& rp) {
  const NodeId id = folder_id(services, rq.param("id"));
  if (permanent(rq))
    co_await services.files.trash_bin().destroy(rq.caller(), id, expectation(rq.headers()));
  else
    co_await services.files.trash(rq.caller(), id, expectation(rq.headers()));
  co_await rp.send(Status::no_content);
}

/// PUT /api/folders/{id}/children/{name} -> 201 made, 200 replaced
Task<> put_child(const Services& services, Request& rq, Reply& rp) {
  files::Target target;
  target.parent = folder_id(services, rq.param("id"));
  target.name = rq.param("name");
  return receive_raw(services, rq, rp, std::move(target));
}

}  // namespace

void mount_folders(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/folders", "folders", "folder");
  const auto children = [](Shape shape) {
    return [shape](const Services& services, Request& rq, Reply& rp) {
      return send_children(services, rq, rp, folder_id(services, rq.param("id")), shape);
    };
  };
  on(Method::post, "", "create", "create", create);
  on(Method::get, "", "roots", "read", roots);
  on(Method::get, "/paginated", "roots_paginated", "read", roots);
  on(Method::get, "/{id}", "get", "read", get);
  on(Method::get, "/{id}/contents", "contents", "read", children(Shape::folders));
  on(Method::get, "/{id}/contents/paginated", "contents_paginated", "read",
     [](const Services& services, Request& rq, Reply& rp) {
       return send_numbered_folders(services, rq, rp, folder_id(services, rq.param("id")));
     });
  on(Method::get, "/{id}/listing", "listing", "read", children(Shape::both));
  on(Method::get, "/{id}/resources", "resources", "read",
     [](const Services& services, Request& rq, Reply& rp) {
       return send_resources(services, rq, rp, folder_id(services, rq.param("id")));
     });
  on(Method::get, "/{id}/ancestors", "ancestors", "read", ancestors);
  on(Method::put, "/{id}/rename", "rename", "update", rename);
  on(Method::put, "/{id}/move", "move", "update", move);
  on(Method::del, "/{id}", "trash", "delete", trash);
  on(Method::put, "/{id}/children/{name}", "put_child", "create", put_child);
}

}  // namespace welkin::rest
