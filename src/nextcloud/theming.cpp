#include "nextcloud/pages.hpp"
#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"

// The mark, where the capabilities say it is; and where links to files lead.
namespace welkin::nextcloud {
namespace {

Task<> logo(http::Request& /*rq*/, http::Reply& rp) {
  rp.set("Cache-Control", "public, max-age=86400");
  rp.set("Cross-Origin-Resource-Policy", "cross-origin");
  co_await rp.send(http::Status::ok, "image/svg+xml", std::string(mark()));
}

/// GET /f/{id}: what people send each other; the web app shows the file where it is.
Task<> file_link(http::Request& rq, http::Reply& rp) {
  const auto& id = rq.param("id");
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos || id.size() > 18)
    throw Error(Errc::not_found, "not_found", "There is no such file");
  rp.set("Location", std::string(rq.base_path()) + "/?fileid=" + id);
  co_await rp.send(http::Status::see_other);
}

}  // namespace

void mount_theming(WebScopes& s) {
  for (const char* what : {"favicon", "image/logo"})
    at_both(std::string("/apps/theming/") + what, [&](const std::string& path, const std::string& suffix) {
      s.open.on({http::Method::get, path, std::string("nextcloud.theming.") + what + suffix,
                 http::Access::open, "-", "-"},
                logo);
    });
}

void mount_file_links(WebScopes& s) {
  at_both("/f/{id}", [&](const std::string& path, const std::string& suffix) {
    s.open.on({http::Method::get, path, "nextcloud.file_link" + suffix, http::Access::open, "-", "-"},
              file_link);
  });
}

}  // namespace welkin::nextcloud
