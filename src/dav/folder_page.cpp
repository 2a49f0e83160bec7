#include "dav/folder_page.hpp"

#include <fmt/core.h>

#include "welkin/files/browse.hpp"
#include "welkin/wire/multistatus.hpp"

namespace welkin::dav {
namespace {

constexpr std::string_view kOpening = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>)";
constexpr std::string_view kStyle = R"(</title><style>
:root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}
table{border-collapse:collapse;width:100%}th{text-align:left}th,td{padding:.2em .6em;border-bottom:1px solid #8884}
td:nth-child(n+2),th:nth-child(n+2){text-align:right;white-space:nowrap}td:first-child{overflow-wrap:anywhere}
</style></head><body><h1>)";
constexpr std::string_view kTable = R"(</h1>
<table><thead><tr><th>Name</th><th>Size</th><th>Changed</th></tr></thead><tbody>
)";

std::string readable_size(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

/// No script, no form, nothing from elsewhere.
class Page {
 public:
  explicit Page(const Place& place) : href_(place.href(true)) {
    title_ = "/";
    for (const auto& name : place.names) (title_ += name) += '/';
    if (!place.names.empty()) up_ = href_.substr(0, href_.rfind('/', href_.size() - 2) + 1);
  }
  void begin(std::string& out) const {
    out += kOpening;
    wire::append_escaped(out, title_);
    out += kStyle;
    wire::append_escaped(out, title_);
    out += kTable;
    if (!up_.empty()) ((out += "<tr><td><a href=\"") += up_) += "\">..</a></td><td></td><td></td></tr>\n";
  }
  void row(std::string& out, const files::BrowseRow& row) const {
    const char* const slash = row.is_folder() ? "/" : "";
    (out += "<tr><td><a href=\"") += href_;
    wire::append_href_segment(out, row.name);
    (out += slash) += "\">";
    wire::append_escaped(out, row.name);
    ((out += slash) += "</a></td><td>") += readable_size(row.size_bytes);
    out += "</td><td>";
    wire::append_rfc3339(out, row.modified_at);
    out += "</td></tr>\n";
  }
  static void end(std::string& out) { out += "</tbody></table></body></html>\n"; }

 private:
  std::string href_, title_, up_;
};

}  // namespace

Task<> send_folder(const TreeServices& services, http::Request& rq, http::Reply& rp,
                   const files::Node& folder, const Place& place) {
  const bool html = rq.headers().joined("accept").find("text/html") != std::string::npos;
  rp.set("Vary", "Accept, Authorization");
  if (html) {
    rp.set("Content-Security-Policy",
           "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'");
  }
  const char* const type = html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  auto browse = services.files.browse(rq.caller(), folder.id, folder.rights, {});
  auto rows = co_await browse.next();
  co_await rp.begin(http::Status::ok, type, std::nullopt, true);
  if (rq.method() == http::Method::head) {
    co_await rp.end();
    co_return;
  }
  const Page page(place);
  std::string text;
  if (html) page.begin(text);
  for (; !rows.empty(); rows = co_await browse.next()) {
    for (const auto& row : rows) {
      if (html) {
        page.row(text, row);
      } else {
        (text += row.name) += row.is_folder() ? "/\n" : "\n";
      }
    }
    co_await rp.write(text);
    text.clear();
  }
  if (html) Page::end(text);
  co_await rp.write(text);
  co_await rp.end();
}

}  // namespace welkin::dav
