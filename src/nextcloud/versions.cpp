#include <algorithm>

#include "nextcloud/answers.hpp"
#include "nextcloud/trashbin.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/authenticate.hpp"
#include "welkin/dav/errors.hpp"
#include "welkin/dav/location.hpp"
#include "welkin/dav/tree.hpp"
#include "welkin/files/versions.hpp"
#include "welkin/http/body.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::nextcloud {
namespace {

using files::Version;
using http::Method;
using http::Status;

[[noreturn]] void refuse() { throw Error(Errc::not_found, "not_found", "There is nothing at this address"); }

NodeId file_of(const http::Request& rq) {
  const auto id = text::signed_number(rq.param("file"));
  if (rq.param("user") != rq.caller().name || !id || *id <= 0) refuse();
  return NodeId{*id};
}

Task<std::vector<Version>> all_versions(const Services& services, const http::Request& rq) {
  std::vector<Version> out;
  files::VersionPage page;
  do {
    page = co_await services.files.versions().list(rq.caller(), file_of(rq), page.next, 500);
    std::move(page.items.begin(), page.items.end(), std::back_inserter(out));
  } while (page.next);
  co_return out;
}

/// Clients read a time there. Where two are of one second the number tells them apart, so that no name ever
/// means another version.
std::string name_of(const Version& version, const std::vector<Version>& all) {
  const auto second = times::seconds(version.modified_at);
  const auto same = std::count_if(all.begin(), all.end(), [&](const Version& other) {
    return times::seconds(other.modified_at) == second;
  });
  auto name = std::to_string(second);
  return same > 1 ? name + '-' + std::to_string(version.id.value) : name;
}

Task<Version> require_version(const Services& services, const http::Request& rq) {
  const auto all = co_await all_versions(services, rq);
  for (const auto& version : all) {
    if (name_of(version, all) == rq.param("version")) co_return version;
  }
  refuse();
}

std::string href_of(const http::Request& rq) {
  const std::vector<std::string> names{rq.caller().name, "versions", rq.param("file")};
  return wire::href_prefix(std::string(rq.base_path()) + "/remote.php/dav/versions", names);
}

Task<> list(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto depth = dav::depth_of(rq).value_or(dav::DepthHeader{dav::Depth::one});
  const auto asked = read_asked(co_await dav::read_xml(rq));
  const auto all = co_await all_versions(services, rq);
  const auto above = href_of(rq);
  Answers answers(asked);
  answers.add(above, {resourcetype(true)});
  for (const auto& version : all) {
    if (depth.depth == dav::Depth::zero) break;
    auto href = above;
    wire::append_href_segment(href, name_of(version, all));
    answers.add(href, {resourcetype(false),
                       content_length(version.size_bytes),
                       {kDav, "getcontenttype", element("d:getcontenttype", version.mime_type)},
                       last_modified(version.modified_at),
                       creation_date(version.modified_at),
                       etag(std::to_string(version.id.value)),
                       {kOwncloud, "size", element("oc:size", version.size_bytes)},
                       {kNextcloud, "version-label", element("nc:version-label", version.label)},
                       {kNextcloud, "version-author", element("nc:version-author", version.author_name)}});
  }
  co_await answers.send(rp);
}

Task<> read(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto version = co_await require_version(services, rq);
  const auto opened = co_await services.files.versions().open(rq.caller(), file_of(rq), version.id);
  http::UserBody body;
  body.name = opened.node.name;
  body.mime_type = opened.version.mime_type;
  body.etag = "\"v" + std::to_string(version.id.value) + '"';
  body.last_modified = opened.version.modified_at;
  body.size_bytes = opened.version.size_bytes;
  body.feed = [&](Slice slice, ByteSink& out) { return services.files.versions().send(opened, slice, out); };
  co_await http::serve_body(rq, rp, body);
}

Task<> restore(const Services& services, http::Request& rq, http::Reply& rp) {
  std::vector<std::string> names;
  bool has_slash = false;
  const bool is_back =
      dav::read_own_uri(rq, rq.header("destination"), names, has_slash, true) == dav::UriReading::ok &&
      names.size() >= 2 && names[names.size() - 2] == "restore";
  if (!is_back) throw Error(Errc::forbidden, "forbidden", "Versions go back by way of restore/");
  const auto version = co_await require_version(services, rq);
  const auto node = co_await services.files.versions().restore(rq.caller(), file_of(rq), version.id);
  rp.set("OC-ETag", '"' + node.etag + '"');
  co_await rp.send(Status::created);
}

Task<> remove(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto version = co_await require_version(services, rq);
  co_await services.files.versions().remove(rq.caller(), file_of(rq), version.id);
  co_await rp.send(Status::no_content);
}

Task<> label(const Services& services, http::Request& rq, http::Reply& rp) {
  const auto body = co_await dav::read_xml(rq);
  const auto* set = body ? body->child(kDav, "set") : nullptr;
  const auto* prop = set == nullptr ? nullptr : set->child(kDav, "prop");
  const auto* wanted = prop == nullptr ? nullptr : prop->child(kNextcloud, "version-label");
  if (wanted == nullptr)
    throw Error(Errc::invalid, "bad_propertyupdate", "Of a version only its label is set");
  const auto version = co_await require_version(services, rq);
  co_await services.files.versions().label(rq.caller(), file_of(rq), version.id,
                                           std::string(wanted->trimmed()));
  Asked asked;
  asked.names.emplace_back(kNextcloud, "version-label");
  auto href = href_of(rq);
  wire::append_href_segment(href, rq.param("version"));
  Answers answers(asked);
  answers.add(href, {{kNextcloud, "version-label", "<nc:version-label/>"}});
  co_await answers.send(rp);
}

struct Route {
  Method method;
  const char* pattern;
  const char* name;
  const char* action;
  Task<> (*verb)(const Services&, http::Request&, http::Reply&);
};
constexpr Route kRoutes[] = {
    {Method::propfind, "", "list", "read", list},
    {Method::get, "/{version}", "read", "read", read},
    {Method::move, "/{version}", "restore", "update", restore},
    {Method::del, "/{version}", "delete", "delete", remove},
    {Method::proppatch, "/{version}", "label", "update", label},
};

}  // namespace

void mount_versions(http::Router& router, const Services& services) {
  const auto errors = dav::answer_errors(dav::nextcloud_error);
  const auto known = dav_services(services);
  const auto authenticate = dav::authenticate_dav(known, kFileProtocols);
  auto scope = router.scope({errors, authenticate});
  const std::string above = "/remote.php/dav/versions";
  for (const auto& route : kRoutes) {
    scope.on(
        {route.method, above + "/{user}/versions/{file}" + route.pattern,
         std::string("nextcloud.versions_") + route.name, http::Access::dav, "version", route.action},
        [services, verb = route.verb](http::Request& rq, http::Reply& rp) { return verb(services, rq, rp); });
  }
  router.set_fallback(above, refusing_methods(errors, authenticate));
}

}  // namespace welkin::nextcloud
