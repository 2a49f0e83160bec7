#include "welkin/core/error.hpp"
#include "welkin/nextcloud/nextcloud.hpp"

namespace welkin::nextcloud {
namespace {

/// Asked for by clients that want to know whether somebody stands between them and the server.
Task<> answer_204(http::Request& /*rq*/, http::Reply& rp) { co_await rp.send(http::Status::no_content); }

}  // namespace

void mount_web(http::Router& router, const Services& /*services*/) {
  auto open = router.scope({});
  for (const std::string path : {"/index.php/204", "/204"})
    open.on({http::Method::get, path, "nextcloud.no_content" + path.substr(0, path.find("/204")), http::Access::open,
             "-", "-"},
            answer_204);
}

}  // namespace welkin::nextcloud
