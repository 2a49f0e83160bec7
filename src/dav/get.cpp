#include "dav/get.hpp"

#include "dav/resource.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/body.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {
namespace {

using http::Reply;
using http::Request;
using http::Status;

constexpr int kPageRows = 500;

Task<> send_file(const Services& services, Request& rq, Reply& rp, NodeId id) {
  const auto opened = co_await services.files.open(rq.caller(), id);
  http::UserBody body;
  body.name = opened.node.name;
  body.mime_type = opened.node.mime_type;
  body.etag = '"' + opened.node.etag + '"';
  body.last_modified = opened.node.modified_at;
  body.size_bytes = opened.node.size_bytes;
  body.feed = [&](Slice slice, ByteSink& out) { return services.files.send(opened, slice, out); };
  co_await http::serve_body(rq, rp, body);
}

/// A folder for people who look with a browser. No script, no form, nothing from elsewhere.
class FolderPage {
 public:
  FolderPage(std::string_view base_path, const std::vector<std::string>& names) : href_(base_path) {
    href_ += "/webdav/";
    title_ = "/";
    for (const auto& name : names) {
      (href_ += text::percent_encode(name)) += '/';
      (title_ += name) += '/';
    }
    has_parent_ = !names.empty();
  }
  void begin(std::string& out) const {
    out +=
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>";
    wire::append_escaped(out, title_);
    out +=
        "</title><style>body{font:16px/1.6 system-ui,sans-serif;margin:2em}ul{list-style:none;padding:0}"
        "small{color:#666}</style></head><body><h1>";
    wire::append_escaped(out, title_);
    out += "</h1><ul>\n";
    if (!has_parent_) return;
    out += "<li><a href=\"";
    wire::append_escaped(out, href_.substr(0, href_.rfind('/', href_.size() - 2) + 1));
    out += "\">..</a></li>\n";
  }
  void row(std::string& out, const files::Node& node) const {
    const char* const slash = node.is_folder() ? "/" : "";
    out += "<li><a href=\"";
    wire::append_escaped(out, href_);
    (out += text::percent_encode(node.name)) += slash;
    out += "\">";
    wire::append_escaped(out, node.name);
    out += slash;
    out += "</a> <small>";
    if (!node.is_folder()) (out += std::to_string(node.size_bytes)) += " bytes, ";
    (out += times::rfc3339(node.modified_at)) += "</small></li>\n";
  }
  static void end(std::string& out) { out += "</ul></body></html>\n"; }

 private:
  std::string href_, title_;
  bool has_parent_ = false;
};

Task<> send_folder(const Services& services, Request& rq, Reply& rp, NodeId id) {
  const bool html = rq.headers().joined("accept").find("text/html") != std::string::npos;
  rp.set("Vary", "Accept, Authorization");
  if (html) {
    rp.set("Content-Security-Policy",
           "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'");
  }
  const char* const type = html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  files::ListQuery query;
  query.limit = kPageRows;
  auto page = co_await services.files.list(rq.caller(), id, query);
  co_await rp.begin(Status::ok, type, std::nullopt, true);
  if (rq.method() == http::Method::head) {
    co_await rp.end();
    co_return;
  }
  const FolderPage look(rq.base_path(), rq.rest());
  std::string text;
  if (html) look.begin(text);
  while (true) {
    for (const auto& node : page.items) {
      if (html) {
        look.row(text, node);
      } else {
        (text += node.name) += node.is_folder() ? "/\n" : "\n";
      }
    }
    if (page.next.empty()) break;
    co_await rp.write(text);
    text.clear();
    query.after = page.next;
    page = co_await services.files.list(rq.caller(), id, query);
  }
  if (html) FolderPage::end(text);
  co_await rp.write(text);
  co_await rp.end();
}

}  // namespace

Task<> get(const Services& services, Request& rq, Reply& rp) {
  const auto place = place_of(rq);
  const auto node = co_await require_node(services, rq, place);
  if (node.is_folder()) {
    co_await send_folder(services, rq, rp, node.id);
    co_return;
  }
  co_await send_file(services, rq, rp, node.id);
}

}  // namespace welkin::dav
