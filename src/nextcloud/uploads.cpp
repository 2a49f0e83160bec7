#include "nextcloud/uploads.hpp"

#include <limits>

#include "nextcloud/answers.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/authenticate.hpp"
#include "welkin/dav/deliver.hpp"
#include "welkin/dav/errors.hpp"
#include "welkin/dav/resource.hpp"
#include "welkin/files/part_uploads.hpp"
#include "welkin/http/upload_headers.hpp"

/// Three dialects of one thing. Names of parts are numbers from 0, numbers from 1, or ranges of bytes; the
/// target is told at the end, at the beginning, or with each part. Only what the end says counts.
namespace welkin::nextcloud {
namespace {

using dav::TreeServices;
using http::Method;
using http::Status;

constexpr std::string_view kFinal = ".file";

/// Other people's uploads are not there.
void require_own(const http::Request& rq) {
  if (rq.param("user") != rq.caller().name)
    throw Error(Errc::not_found, "not_found", "There is nothing at this address");
}

std::optional<std::uint64_t> announced_total(const http::Request& rq) {
  return text::number(text::trim(rq.header("oc-total-length")));
}

std::string href_of(const http::Request& rq, const std::vector<std::string>& names) {
  std::string base(rq.base_path());
  base += "/remote.php/dav/uploads";
  std::vector<std::string> all{rq.caller().name};
  all.insert(all.end(), names.begin(), names.end());
  return wire::href_prefix(base, all);
}

Task<> make(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  if (rq.has_body() && !(co_await rq.read()).empty())
    throw Error(Errc::unsupported_media_type, "mkcol_body", "MKCOL takes no body here");
  if (!co_await services.files.part_uploads().begin(rq.caller(), rq.param("upload"), announced_total(rq)))
    throw Error(Errc::method_not_allowed, "resource_must_be_null", "There is an upload of that name already");
  co_await rp.send(Status::created);
}

std::vector<Answers::Property> facts_of(const files::UploadPart& part, const files::PartUpload& upload) {
  std::string tag = std::to_string(upload.id.value) + std::to_string(part.stored_at);
  return {resourcetype(false), content_length(part.size_bytes), last_modified(part.stored_at), etag(tag)};
}

std::vector<Answers::Property> facts_of(const files::PartUpload& upload) {
  return {resourcetype(true),
          last_modified(upload.touched_at),
          {kOwncloud, "size", element("oc:size", upload.stored_bytes)},
          etag(std::to_string(upload.id.value) + std::to_string(upload.touched_at))};
}

Task<> propfind_home(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  const auto depth = dav::depth_of(rq).value_or(dav::DepthHeader{dav::Depth::one});
  const auto asked = read_asked(co_await dav::read_xml(rq));
  Answers answers(asked);
  answers.add(href_of(rq, {}), {resourcetype(true), last_modified(services.clock.now())});
  if (depth.depth != dav::Depth::zero) {
    for (const auto& upload : co_await services.files.part_uploads().list(rq.caller()))
      answers.add(href_of(rq, {upload.name}), facts_of(upload));
  }
  co_await answers.send(rp);
}

Task<> propfind_upload(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  const auto depth = dav::depth_of(rq).value_or(dav::DepthHeader{dav::Depth::one});
  const auto asked = read_asked(co_await dav::read_xml(rq));
  const auto upload = co_await services.files.part_uploads().get(rq.caller(), rq.param("upload"));
  const auto href = href_of(rq, {upload.name});
  Answers answers(asked);
  answers.add(href, facts_of(upload));
  if (depth.depth != dav::Depth::zero) {
    for (const auto& part : upload.parts) {
      auto name = href;
      wire::append_href_segment(name, part.name);
      answers.add(name, facts_of(part, upload));
    }
  }
  co_await answers.send(rp);
}

Task<> propfind_part(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  const auto asked = read_asked(co_await dav::read_xml(rq));
  const auto upload = co_await services.files.part_uploads().get(rq.caller(), rq.param("upload"));
  auto href = href_of(rq, {upload.name});
  wire::append_href_segment(href, rq.param("part"));
  Answers answers(asked);
  bool found = false;
  for (const auto& part : upload.parts) {
    if (part.name != rq.param("part")) continue;
    answers.add(href, facts_of(part, upload));
    found = true;
  }
  if (!found && rq.param("part") == kFinal) {
    answers.add(href,
                {resourcetype(false), content_length(upload.stored_bytes), last_modified(upload.touched_at)});
    found = true;
  }
  if (!found) throw Error(Errc::not_found, "not_found", "There is no such part");
  co_await answers.send(rp);
}

Task<> put_part(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  if (rq.param("part") == kFinal)
    throw Error(Errc::forbidden, "forbidden", "A part has another name than the whole");
  http::require_plain_body(rq.headers());
  const auto most = services.config.upload_bytes_max;
  rq.limit_body(most == 0 ? std::numeric_limits<std::uint64_t>::max() : most);
  auto part = co_await services.files.part_uploads().put(rq.caller(), rq.param("upload"), rq.param("part"),
                                                         rq.content_length(), announced_total(rq));
  while (true) {
    const auto piece = co_await rq.read();
    if (piece.empty()) break;
    co_await part->write(piece);
  }
  const bool is_new = co_await part->finish();
  co_await rp.send(is_new ? Status::created : Status::no_content);
}

Task<> remove_upload(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  co_await services.files.part_uploads().drop(rq.caller(), rq.param("upload"));
  co_await rp.send(Status::no_content);
}

Task<> remove_part(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  co_await services.files.part_uploads().drop_part(rq.caller(), rq.param("upload"), rq.param("part"));
  co_await rp.send(Status::no_content);
}

Task<> refuse_move(const TreeServices&, http::Request& rq, http::Reply&) {
  require_own(rq);
  throw Error(Errc::forbidden, "forbidden", "An upload is finished by moving its .file");
}

Task<> finish(const TreeServices& services, http::Request& rq, http::Reply& rp) {
  require_own(rq);
  if (rq.param("part") != kFinal) throw Error(Errc::forbidden, "forbidden", "Parts of uploads are not moved");
  auto& uploads = services.files.part_uploads();
  const auto upload = co_await uploads.get(rq.caller(), rq.param("upload"));
  co_await dav::put_at_destination(services, rq, rp,
                                   [&](files::UploadOptions options) -> Task<files::Written> {
                                     if (!options.size_hint) options.size_hint = upload.total_bytes;
                                     return uploads.finish(rq.caller(), upload.name, std::move(options));
                                   });
}

struct Route {
  Method method;
  const char* pattern;  // below /remote.php/dav/uploads
  const char* name;
  const char* action;
  Task<> (*verb)(const TreeServices&, http::Request&, http::Reply&);
};
constexpr Route kRoutes[] = {
    {Method::propfind, "/{user}", "propfind_home", "read", propfind_home},
    {Method::mkcol, "/{user}/{upload}", "mkcol", "create", make},
    {Method::propfind, "/{user}/{upload}", "propfind", "read", propfind_upload},
    {Method::del, "/{user}/{upload}", "delete", "delete", remove_upload},
    {Method::move, "/{user}/{upload}", "move_upload", "update", refuse_move},
    {Method::propfind, "/{user}/{upload}/{part}", "propfind_part", "read", propfind_part},
    {Method::put, "/{user}/{upload}/{part}", "put_part", "create", put_part},
    {Method::del, "/{user}/{upload}/{part}", "delete_part", "delete", remove_part},
    {Method::move, "/{user}/{upload}/{part}", "move", "create", finish},
};

}  // namespace

void mount_uploads(http::Router& router, const Services& base, const dav::Tree& files) {
  const TreeServices services{dav_services(base), files};
  const auto errors = dav::answer_errors(dav::nextcloud_error);
  const auto authenticate = dav::authenticate_dav(services, kFileProtocols);
  auto scope = router.scope({errors, authenticate});
  const std::string above = "/remote.php/dav/uploads";
  for (const auto& route : kRoutes) {
    scope.on(
        {route.method, above + route.pattern, std::string("nextcloud.uploads_") + route.name,
         http::Access::dav, "upload", route.action},
        [services, verb = route.verb](http::Request& rq, http::Reply& rp) { return verb(services, rq, rp); });
  }
  router.set_fallback(above, refusing_methods(errors, authenticate));
}

}  // namespace welkin::nextcloud
