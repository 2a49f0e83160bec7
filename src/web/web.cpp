#include "welkin/web/web.hpp"

#include <memory>
#include <stdexcept>

#include "web/pack.hpp"
#include "web/start_page.hpp"
#include "welkin/http/conditional.hpp"

namespace welkin::web {
namespace {

using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

/// Workers obey the policy of their own script, not that of the page.
constexpr std::string_view kWorkerPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'";

Task<> send_asset(const Asset& asset, Request& rq, Reply& rp) {
  const auto coding = asset.choose(rq.headers().joined("accept-encoding"));
  std::string tag = "\"" + std::string(asset.tag);
  if (coding != Coding::identity) tag += coding == Coding::br ? "-br" : "-gz";
  tag += '"';
  rp.set("ETag", tag);
  rp.set("Vary", "Accept-Encoding");
  rp.set("Cache-Control", asset.is_named_by_content() ? "public, max-age=31536000, immutable" : "no-cache");
  if (asset.type.starts_with("text/javascript")) rp.set("Content-Security-Policy", kWorkerPolicy);
  const auto condition = http::evaluate(rq.method(), rq.headers(), tag, std::nullopt);
  if (condition == http::Precondition::not_modified) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  if (coding != Coding::identity) rp.set("Content-Encoding", coding == Coding::br ? "br" : "gzip");
  const auto form = asset.form(coding);
  co_await rp.begin(Status::ok, asset.type, form.size());
  co_await rp.write(form);
  co_await rp.end();
}

struct App {
  Pack pack;
  std::string_view start;  // as it was built
};

Task<> send_start(const App& app, Request& rq, Reply& rp) {
  auto page = start_page(app.start, rq.base_path());
  rp.set("Content-Security-Policy", page.content_security_policy);
  // Never kept without asking: it names the scripts of one version.
  rp.set("Cache-Control", "no-cache");
  co_await rp.send(Status::ok, "text/html; charset=utf-8", std::move(page.html));
}

/// Below /_app: also what was there in another version.
Task<> send_found(std::shared_ptr<const App> app, Request& rq, Reply& rp) {
  std::string path = "_app";
  for (const auto& segment : rq.rest()) path += "/" + segment;
  if (const auto* asset = app->pack.find(path)) {
    co_await send_asset(*asset, rq, rp);
    co_return;
  }
  rp.set("Cache-Control", "no-store");
  co_await rp.send(Status::not_found, "text/plain; charset=utf-8", "There is nothing at this address\n");
}

}  // namespace

bool is_built() { return !packed_app().empty(); }

void mount(http::Router& router) {
  if (!is_built()) return;
  const auto app = std::make_shared<App>();
  app->pack = read_pack(packed_app());
  const auto* start = app->pack.find("index.html");
  if (start == nullptr) throw std::runtime_error("the web app in this binary has no start page");
  app->start = start->plain;

  auto scope = router.scope({});
  for (const auto& page : app->pack.pages)
    scope.on({Method::get, page, "web.page " + page, Access::open, "-", "-"},
             [app](Request& rq, Reply& rp) { return send_start(*app, rq, rp); });
  scope.on({Method::get, "/_app/{*path}", "web.asset", Access::open, "-", "-"},
           [app](Request& rq, Reply& rp) { return send_found(app, rq, rp); });
  for (const auto& asset : app->pack.assets) {
    if (asset.path.find('/') != std::string_view::npos || asset.path == "index.html") continue;
    scope.on({Method::get, "/" + std::string(asset.path), "web.file " + std::string(asset.path), Access::open,
              "-", "-"},
             [app, &asset](Request& rq, Reply& rp) { return send_asset(asset, rq, rp); });
  }
}

}  // namespace welkin::web
