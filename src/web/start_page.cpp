#include "web/start_page.hpp"

#include <span>

#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::web {
namespace {

constexpr std::string_view kStandIn = "/welkin-base-path";  // frontend/svelte.config.js
constexpr std::string_view kOpen = "<script>", kClose = "</script>";

std::string with_base(std::string_view built, std::string_view base_path) {
  std::string out;
  for (;;) {
    const auto at = built.find(kStandIn);
    out += built.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += base_path;
    built.remove_prefix(at + kStandIn.size());
  }
}

std::string script_hashes(std::string_view html) {
  std::string out;
  for (auto at = html.find(kOpen); at != std::string_view::npos; at = html.find(kOpen, at)) {
    at += kOpen.size();
    const auto script = html.substr(at, html.find(kClose, at) - at);
    const auto digest = crypto::sha256(script);
    out += " 'sha256-" + text::base64(std::as_bytes(std::span(digest))) + "'";
  }
  return out;
}

}  // namespace

StartPage start_page(std::string_view built, std::string_view base_path) {
  StartPage page;
  page.html = with_base(built, base_path);
  page.content_security_policy =
      "default-src 'none'; script-src 'self'" + script_hashes(page.html) +
      "; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
      "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
      "frame-src 'self' blob:; base-uri 'none'; form-action 'self'; "
      "frame-ancestors 'none'";
  return page;
}

}  // namespace welkin::web
