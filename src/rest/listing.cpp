#include "rest/listing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "rest/body.hpp"
#include "rest/objects.hpp"
#include "rest/query.hpp"
#include "rest/validators.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {
namespace {

using http::Reply;
using http::Request;
using http::Status;

constexpr int kWalkPage = 500;  // rows a query when a whole folder is sent
constexpr std::size_t kRowBytesGuess = 640;

/// Places the rows of send_children; folders come before files.
class ChildrenJson {
 public:
  ChildrenJson(const PublicIds& ids, const Caller& caller, std::string_view path, Shape shape)
      : shape_(shape), json_(text_), nodes_(ids, caller, json_) {
    nodes_.set_folder_path(path);
    if (shape_ == Shape::both) {
      json_.begin_object();
      json_.key("folders");
    }
    json_.begin_array();
  }
  void add(const std::vector<files::Node>& page) {
    text_.reserve(text_.size() + page.size() * kRowBytesGuess);
    for (const auto& node : page) {
      if (!node.is_folder()) begin_files();
      nodes_.child(node);
    }
  }
  void finish() {
    begin_files();
    json_.end_array();
    if (shape_ == Shape::both) json_.end_object();
  }
  std::string& text() { return text_; }

 private:
  void begin_files() {
    if (shape_ != Shape::both || in_files_) return;
    in_files_ = true;
    json_.end_array();
    json_.key("files");
    json_.begin_array();
  }

  std::string text_;
  Shape shape_;
  bool in_files_ = false;
  wire::JsonWriter json_;
  NodeWriter nodes_;
};

constexpr std::pair<std::string_view, files::OrderBy> kOrders[] = {
    {"name", files::OrderBy::name},
    {"type", files::OrderBy::type},
    {"modified_at", files::OrderBy::modified_at},
    {"created_at", files::OrderBy::created_at},
    {"size", files::OrderBy::size},
};

files::ListQuery read_resources_query(const Request& rq) {
  files::ListQuery out;
  out.order_by = asked_order(rq, kOrders);
  out.reverse = flag_query(rq, "reverse");
  read_kinds(rq, out.folders, out.files);
  out.limit = page_limit(rq);
  out.after = rq.query("cursor").value_or("");  // says itself for which order it was made
  return out;
}

}  // namespace

Task<> send_children(const Services& services, Request& rq, Reply& rp, NodeId folder, Shape shape) {
  files::ListQuery query;
  query.folders = shape != Shape::files;
  query.files = shape != Shape::folders;
  query.limit = kWalkPage;
  query.version_of_all = true;
  auto page = co_await services.files.list(rq.caller(), folder, query);
  const std::string path = co_await services.files.path(rq.caller(), folder);
  const std::string user = std::to_string(rq.caller().user.value);
  const char* const shape_name = shape == Shape::both ? "both" : shape == Shape::files ? "files" : "folders";
  if (not_modified(rq, rp, listing_etag({shape_name, page.version, path, user}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }

  ChildrenJson children(services.ids, rq.caller(), path, shape);
  children.add(page.items);
  if (page.next.empty()) {
    children.finish();
    co_await send_json_text(rp, Status::ok, std::move(children.text()));
    co_return;
  }
  co_await rp.begin(Status::ok, "application/json", std::nullopt, true);
  if (rq.method() == http::Method::head) {  // nothing of the rest would be sent
    co_await rp.end();
    co_return;
  }
  while (!page.next.empty()) {
    co_await rp.write(children.text());
    children.text().clear();
    query.after = page.next;
    page = co_await services.files.list(rq.caller(), folder, query);
    children.add(page.items);
  }
  children.finish();
  co_await rp.write(children.text());
  co_await rp.end();
}

void write_resources(const PublicIds& ids, const Caller& caller, const files::Page& page,
                     std::string_view folder_path, std::string& out) {
  out.reserve(out.size() + page.items.size() * kRowBytesGuess + 64);
  wire::JsonWriter json(out);
  NodeWriter nodes(ids, caller, json);
  nodes.set_folder_path(folder_path);
  json.begin_object();
  json.key("items");
  json.begin_array();
  for (const auto& node : page.items) {
    json.begin_object();
    json.raw(node.is_folder() ? R"("resource_type":"folder")" : R"("resource_type":"file")");
    json.key("resource");
    nodes.child(node);
    json.end_object();
  }
  json.end_array();
  if (!page.next.empty()) json.field("next_cursor", page.next);
  json.end_object();
}

Task<> send_resources(const Services& services, Request& rq, Reply& rp, NodeId folder) {
  const auto query = read_resources_query(rq);
  const auto page = co_await services.files.list(rq.caller(), folder, query);
  const std::string path = co_await services.files.path(rq.caller(), folder);
  const std::string asked = fmt::format("{}{}{}{} {} {}", static_cast<int>(query.order_by), query.reverse,
                                        query.folders, query.files, query.limit, query.after);
  const std::string user = std::to_string(rq.caller().user.value);
  if (not_modified(rq, rp, listing_etag({asked, page.version, page.next, path, user}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  std::string json;
  write_resources(services.ids, rq.caller(), page, path, json);
  co_await send_json_text(rp, Status::ok, std::move(json));
}

Task<> send_numbered_folders(const Services& services, Request& rq, Reply& rp, NodeId folder) {
  const std::uint64_t number = std::min<std::uint64_t>(number_query(rq, "page", 0), 1'000'000'000);
  const std::uint64_t size = std::clamp<std::uint64_t>(number_query(rq, "page_size", 100), 10, 500);
  const std::uint64_t first = number * size;

  files::ListQuery query;
  query.files = false;
  query.limit = kWalkPage;
  std::string json_text;
  wire::JsonWriter json(json_text);
  NodeWriter nodes(services.ids, rq.caller(), json);
  std::uint64_t total = 0;
  json.begin_object();
  json.key("items");
  json.begin_array();
  do {
    const auto page = co_await services.files.list(rq.caller(), folder, query);
    if (total == 0) nodes.set_folder_path(co_await services.files.path(rq.caller(), folder));
    for (const auto& node : page.items) {
      if (total >= first && total < first + size) nodes.child(node);
      ++total;
    }
    query.after = page.next;
  } while (!query.after.empty());
  json.end_array();
  const std::uint64_t pages = (total + size - 1) / size;
  json.key("pagination");
  json.begin_object();
  json.field("page", number);
  json.field("page_size", size);
  json.field("total_items", total);
  json.field("total_pages", pages);
  json.field("has_next", number + 1 < pages);
  json.field("has_prev", number > 0);
  json.end_object();
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(json_text));
}

}  // namespace welkin::rest
