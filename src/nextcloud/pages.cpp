#include "nextcloud/pages.hpp"

#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::nextcloud {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --sky: linear-gradient(#c9d8f6, #e4e8f7 42%, #f7ece6 78%, #fbf3ea); --raised: #fff;
  --well: #f7f8fa; --ink: #161a23; --ink-2: #4b5362; --line: #e6e9ef; --control-line: #858e9d; --accent: #3b62d8;
  --accent-hover: #3054c4; --accent-ink: #2f53c0; --focus: #3b62d8; --bad: #c02b3a; --bad-soft: #fdeaec;
  --shadow: 0 0 0 1px rgb(22 30 50 / .07), 0 24px 64px -12px rgb(22 30 50 / .3); }
@media (prefers-color-scheme: dark) {
  :root { --sky: linear-gradient(#070a16, #0e1630 45%, #1d2750 78%, #3a3a68); --raised: #1b1f28; --well: #14171e;
    --ink: #eceef3; --ink-2: #b0b7c5; --line: #222731; --control-line: #6d7788; --accent: #4568de;
    --accent-hover: #4a6de1; --accent-ink: #9fb6ff; --focus: #8aa6ff; --bad: #ff8a90; --bad-soft: #351a1f;
    --shadow: 0 0 0 1px #2f3643, 0 24px 64px -12px rgb(0 0 0 / .8); }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; color: var(--ink);
  background: var(--sky) fixed; font: .875rem/1.45 "Inter Variable", Inter, system-ui, -apple-system, "Segoe UI", Roboto,
  "Noto Sans", sans-serif; }
main { width: 100%; max-width: 25rem; background: var(--raised); border-radius: 22px; box-shadow: var(--shadow);
  padding: 36px 36px 28px; }
body.wide { place-items: stretch; background: var(--raised); padding: 0; }
body.wide main { max-width: none; border-radius: 0; box-shadow: none; padding: 12px; display: flex;
  flex-direction: column; min-height: 100vh; }
h1 { font-size: 1.625rem; font-weight: 650; letter-spacing: -.022em; line-height: 1.2; margin: 1rem 0 0; }
p { margin: .5rem 0 0; color: var(--ink-2); overflow-wrap: anywhere; }
dl { margin: 1rem 0 0; padding: .75rem 1rem; background: var(--well); border-radius: 12px; }
dt { font-size: .75rem; color: var(--ink-2); }
dd { margin: 0 0 .5rem; overflow-wrap: anywhere; font-weight: 600; }
dd:last-child { margin-bottom: 0; }
label { display: block; font-size: .8125rem; font-weight: 600; margin-top: 1rem; }
input, textarea { width: 100%; font: inherit; font-size: 1rem; color: inherit; background: var(--raised);
  border: 1px solid var(--control-line); border-radius: 8px; padding: .55rem .75rem; margin-top: .25rem; }
textarea { flex: 1; min-height: 60vh; font: .9375rem/1.5 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace;
  resize: none; }
input:focus-visible, textarea:focus-visible, button:focus-visible, a:focus-visible {
  outline: 2px solid var(--focus); outline-offset: 2px; }
button { width: 100%; min-height: 44px; margin-top: 1.25rem; font: inherit; font-weight: 600; color: #fff;
  background: var(--accent); border: 0; border-radius: 8px; padding: .6rem 1rem; cursor: pointer; }
button:hover { background: var(--accent-hover); }
button:disabled { opacity: .6; cursor: default; }
a { color: var(--accent-ink); }
.bar { display: flex; gap: 12px; align-items: center; margin-bottom: 8px; }
.bar h1 { flex: 1; margin: 0; font-size: 1rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bar button { width: auto; margin: 0; }
.error { margin-top: 1rem; padding: .75rem; border-radius: 8px; background: var(--bad-soft); color: var(--bad); }
.error[hidden] { display: none; }
@media (max-width: 639px) { main { padding: 28px 24px; } }
)css";

constexpr std::string_view kMark =
    R"svg(<svg xmlns="http://www.w3.org/2000/svg" width="44" height="44" viewBox="0 0 32 32" aria-hidden="true"><defs><linearGradient id="wk" x1="0" y1="0")svg"
    R"svg( x2=".35" y2="1"><stop offset="0" stop-color="#7d9cf7"/><stop offset=".55" stop-color="#4468df"/><stop offset="1")svg"
    R"svg( stop-color="#2a3f9e"/></linearGradient></defs><path d="M2.5 15.5a13.5 13.5 0 0 1 27 0V24a5.5 5.5 0 0 1-5.5)svg"
    R"svg( 5.5H8A5.5 5.5 0 0 1 2.5 24Z" fill="url(#wk)"/><path d="M7.6 12.6 11 20.4 15.6 14.6 20.6 19.6 24.2 10.8")svg"
    R"svg( fill="none" stroke="#fff" stroke-opacity=".62" stroke-width="1.3" stroke-linejoin="round"/><g fill="#fff"><circle)svg"
    R"svg( cx="7.6" cy="12.6" r="1.7"/><circle cx="11" cy="20.4" r="2.1"/><circle cx="15.6" cy="14.6" r="2.35"/><circle)svg"
    R"svg( cx="20.6" cy="19.6" r="1.8"/><circle cx="24.2" cy="10.8" r="2.1"/></g></svg>)svg";

std::string source(std::string_view text) {
  const Sha256 digest = crypto::sha256(text);
  return "'sha256-" + text::base64(std::as_bytes(std::span(digest))) + "'";
}

}  // namespace

std::string_view mark() { return kMark; }

std::string escaped(std::string_view text) {
  std::string out;
  wire::append_escaped(out, text);
  return out;
}

std::string heading(std::string_view title, std::string_view below) {
  std::string out(kMark);
  out += "<h1>" + escaped(title) + "</h1>";
  if (!below.empty()) out += "<p>" + escaped(below) + "</p>";
  return out;
}

std::string complaint(std::string_view text) {
  if (text.empty()) return {};
  return "<p class=\"error\" role=\"alert\">" + escaped(text) + "</p>";
}

Task<> send_page(http::Reply& rp, http::Status status, Page page) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(page.title) + "</title>\n<style>";
  html.append(kStyle)
      .append("</style>\n</head>\n<body")
      .append(page.script.empty() ? ">" : " class=\"wide\">");
  html.append("<main>").append(page.body).append("</main>");
  if (!page.script.empty()) html.append("<script>").append(page.script).append("</script>");
  html += "</body>\n</html>\n";
  std::string policy = "default-src 'none'; style-src " + source(kStyle);
  if (!page.script.empty()) policy += "; script-src " + source(page.script) + "; connect-src 'self'";
  policy += "; form-action " + page.form_action + "; base-uri 'none'; frame-ancestors 'none'";
  rp.set("Content-Security-Policy", policy);
  rp.set("Referrer-Policy",
         "same-origin");  // without it a browser hides where a form comes from, from us too
  co_await rp.send(status, "text/html; charset=utf-8", std::move(html));
}

}  // namespace welkin::nextcloud
