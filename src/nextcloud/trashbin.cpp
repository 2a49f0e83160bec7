#include "nextcloud/trashbin.hpp"

#include <fmt/core.h>

#include "nextcloud/answers.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/authenticate.hpp"
#include "welkin/dav/errors.hpp"
#include "welkin/dav/location.hpp"
#include "welkin/dav/tree.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::nextcloud {
namespace {

using http::Method;
using http::Status;

struct Room {
  Services services;
  std::string instance_id;
};

void require_own(const http::Request& rq) {
  if (rq.param("user") != rq.caller().name)
    throw Error(Errc::not_found, "not_found", "There is nothing at this address");
}

std::string href_of(const http::Request& rq, std::string_view below) {
  const std::vector<std::string> names{rq.caller().name, std::string(below)};
  return wire::href_prefix(std::string(rq.base_path()) + "/remote.php/dav/trashbin", names);
}

/// Its name, its number, and when it was deleted: the number makes it the only one.
std::string name_of(const files::Trashed& item) {
  return fmt::format("{}.{}.d{}", item.name, item.id.value, times::seconds(item.trashed_at));
}

NodeId id_of(std::string_view name) {
  const auto time = name.rfind(".d");
  const auto dot = time == std::string_view::npos ? time : name.rfind('.', time - 1);
  const auto id = dot == std::string_view::npos || time == 0
                      ? std::nullopt
                      : text::signed_number(name.substr(dot + 1, time - dot - 1));
  if (!id || *id <= 0) throw Error(Errc::not_found, "not_found", "There is no such item in the trash");
  return NodeId{*id};
}

std::vector<Answers::Property> facts_of(const files::Trashed& item, const std::string& instance_id) {
  const bool is_folder = item.kind == files::Kind::folder;
  auto location = item.original_path.empty() ? item.name : item.original_path.substr(1);
  std::vector<Answers::Property> out{
      resourcetype(is_folder),
      {kDav, "displayname", element("d:displayname", item.name)},
      last_modified(item.modified_at),
      etag(fmt::format("{}{}", item.id.value, item.trashed_at)),
      {kOwncloud, "id", element("oc:id", fmt::format("{:08}{}", item.id.value, instance_id))},
      {kOwncloud, "fileid", element("oc:fileid", static_cast<std::uint64_t>(item.id.value))},
      {kOwncloud, "size", element("oc:size", item.size_bytes)},
      {kOwncloud, "permissions", element("oc:permissions", "GD")},
      {kNextcloud, "trashbin-filename", element("nc:trashbin-filename", item.name)},
      {kNextcloud, "trashbin-title", element("nc:trashbin-title", item.name)},
      {kNextcloud, "trashbin-original-location", element("nc:trashbin-original-location", location)},
      {kNextcloud, "trashbin-deletion-time",
       element("nc:trashbin-deletion-time", static_cast<std::uint64_t>(times::seconds(item.trashed_at)))},
      {kNextcloud, "has-preview", element("nc:has-preview", "false")},
  };
  if (!is_folder) {
    out.push_back(content_length(item.size_bytes));
    out.push_back({kDav, "getcontenttype", element("d:getcontenttype", item.mime_type)});
  }
  return out;
}

/// The trash of all drives the caller sees one of, as one list.
Task<> add_items(const Room& room, http::Request& rq, const std::string& above, Answers& answers) {
  constexpr int kPageItems = 500;
  files::TrashPage page;
  do {
    page = co_await room.services.files.trash_bin().list(rq.caller(), {}, page.next, kPageItems);
    for (const auto& item : page.items) {
      auto href = above;
      wire::append_href_segment(href, name_of(item));
      if (item.kind == files::Kind::folder) href += '/';
      answers.add(href, facts_of(item, room.instance_id));
    }
  } while (!page.next.empty());
}

Task<> list(const Room& room, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  const auto depth = dav::depth_of(rq).value_or(dav::DepthHeader{dav::Depth::one});
  const auto asked = read_asked(co_await dav::read_xml(rq));
  const auto above = href_of(rq, "trash");
  Answers answers(asked);
  answers.add(above, {resourcetype(true)});
  if (depth.depth != dav::Depth::zero) co_await add_items(room, rq, above, answers);
  co_await answers.send(rp);
}

Task<> show(const Room& room, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  const auto asked = read_asked(co_await dav::read_xml(rq));
  const auto item = co_await room.services.files.trash_bin().item(rq.caller(), id_of(rq.param("item")));
  auto href = href_of(rq, "trash");
  wire::append_href_segment(href, name_of(item));
  if (item.kind == files::Kind::folder) href += '/';
  Answers answers(asked);
  answers.add(href, facts_of(item, room.instance_id));
  co_await answers.send(rp);
}

Task<> restore(const Room& room, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  const auto id = id_of(rq.param("item"));
  std::vector<std::string> names;
  bool has_slash = false;
  const bool is_back =
      dav::read_own_uri(rq, rq.header("destination"), names, has_slash, true) == dav::UriReading::ok &&
      names.size() >= 2 && names[names.size() - 2] == "restore";
  if (!is_back)
    throw Error(Errc::forbidden, "forbidden", "What is in the trash goes back by way of restore/");
  const auto node = co_await room.services.files.trash_bin().restore(rq.caller(), id);
  rp.set("OC-FileId", fmt::format("{:08}{}", node.id.value, room.instance_id));
  co_await rp.send(Status::created);
}

Task<> purge(const Room& room, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  co_await room.services.files.trash_bin().purge(rq.caller(), id_of(rq.param("item")));
  co_await rp.send(Status::no_content);
}

Task<> empty(const Room& room, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  co_await room.services.files.trash_bin().empty(rq.caller());
  co_await rp.send(Status::no_content);
}

struct Route {
  Method method;
  const char* pattern;
  const char* name;
  const char* action;
  Task<> (*verb)(const Room&, http::Request&, http::Reply&);
};
constexpr Route kRoutes[] = {
    {Method::propfind, "/trash", "list", "read", list},
    {Method::del, "/trash", "empty", "delete", empty},
    {Method::propfind, "/trash/{item}", "show", "read", show},
    {Method::move, "/trash/{item}", "restore", "update", restore},
    {Method::del, "/trash/{item}", "purge", "delete", purge},
};

}  // namespace

void mount_trashbin(http::Router& router, const Services& services) {
  const Room room{services, dav::instance_id(services.people)};
  const auto known = dav_services(services);
  const auto errors = dav::answer_errors(dav::nextcloud_error);
  const auto authenticate = dav::authenticate_dav(known, kFileProtocols);
  auto scope = router.scope({errors, authenticate});
  const std::string above = "/remote.php/dav/trashbin";
  for (const auto& route : kRoutes) {
    scope.on({route.method, above + "/{user}" + route.pattern, std::string("nextcloud.trash_") + route.name,
              http::Access::dav, "trash", route.action},
             [room, verb = route.verb](http::Request& rq, http::Reply& rp) { return verb(room, rq, rp); });
  }
  router.set_fallback(above, refusing_methods(errors, authenticate));
}

}  // namespace welkin::nextcloud
