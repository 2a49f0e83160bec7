#include "rest/search.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "rest/body.hpp"
#include "rest/icons.hpp"
#include "rest/objects.hpp"
#include "rest/query.hpp"
#include "rest/routes.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/json.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {
namespace {

using files::SearchOrder;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::size_t kListMax = 100;       // extensions or types of one search
constexpr std::int64_t kOffsetMax = 1'000;  // further on by the cursor only

struct SortName {
  std::string_view name;
  SearchOrder order;
  bool reverse;
};
constexpr SortName kSorts[] = {
    {"relevance", SearchOrder::relevance, false},  {"name", SearchOrder::name, false},
    {"name_desc", SearchOrder::name, true},        {"date", SearchOrder::modified_at, false},
    {"date_desc", SearchOrder::modified_at, true}, {"size", SearchOrder::size, false},
    {"size_desc", SearchOrder::size, true},
};
constexpr std::pair<std::string_view, SearchOrder> kOrders[] = {
    {"relevance", SearchOrder::relevance},
    {"name", SearchOrder::name},
    {"type", SearchOrder::type},
    {"modified_at", SearchOrder::modified_at},
    {"created_at", SearchOrder::created_at},
    {"size", SearchOrder::size},
};

/// What the older routes ask for, which count instead of going on after a cursor.
struct Asked {
  files::SearchQuery query;
  std::string sort_by = "relevance";
  std::int64_t limit = 100, offset = 0;
};

class Clocked {
 public:
  std::int64_t ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds as clients say them; the whole second counts.
std::optional<Micros> start_of(std::optional<std::int64_t> seconds) {
  constexpr std::int64_t kFar = 253'402'300'799;  // the year 9999
  if (!seconds) return std::nullopt;
  return std::clamp(*seconds, -kFar, kFar) * 1'000'000;
}
std::optional<Micros> end_of(std::optional<std::int64_t> seconds) {
  auto at = start_of(seconds);
  if (at) *at += 999'999;
  return at;
}

void add_types(files::SearchQuery& query, std::string_view type) {
  if (query.extensions.size() + query.mime_types.size() >= kListMax)
    throw Error(Errc::invalid, "bad_search",
                "At most " + std::to_string(kListMax) + " types can be asked for");
  type = text::trim(type);
  if (type.find('\0') != std::string_view::npos || !text::is_utf8(type))
    throw Error(Errc::invalid, "bad_search", "A type must be text");
  if (type.find('/') != std::string_view::npos)
    query.mime_types.push_back(text::lower(type));
  else if (type.starts_with('.'))
    add_types(query, type.substr(1));
  else if (!type.empty())
    query.extensions.push_back(text::lower(type));
}

void set_sort(Asked& asked, const std::string& name) {
  const auto* found =
      std::find_if(std::begin(kSorts), std::end(kSorts), [&](const auto& sort) { return sort.name == name; });
  if (found == std::end(kSorts))
    bad_query("sort_by", "one of relevance, name, name_desc, date, date_desc, size, size_desc");
  asked.sort_by = name;
  asked.query.order_by = found->order;
  asked.query.reverse = found->reverse;
}

/// What all routes read from the query.
files::SearchQuery read_filters(const Services& services, const Request& rq) {
  files::SearchQuery query;
  query.text = rq.query("query").value_or("");
  if (const auto types = rq.query("type"))
    for (const auto type : text::split(*types, ',')) add_types(query, type);
  query.created_after = start_of(signed_query(rq, "created_after"));
  query.created_before = end_of(signed_query(rq, "created_before"));
  query.modified_after = start_of(signed_query(rq, "modified_after"));
  query.modified_before = end_of(signed_query(rq, "modified_before"));
  query.size_min = signed_query(rq, "min_size");
  query.size_max = signed_query(rq, "max_size");
  if (const auto folder = rq.query("folder_id"); folder && !folder->empty())
    query.folder = folder_id(services, *folder);
  if (rq.query("recursive")) query.recursive = flag_query(rq, "recursive");
  if (rq.query("content")) query.content = flag_query(rq, "content");
  return query;
}

/// The body of the older route by the names it has there.
Asked read_body(const Services& services, const nlohmann::json& body) {
  wire::JsonObject fields(body);
  Asked asked;
  auto& query = asked.query;
  query.text = fields.opt_string("name_contains").value_or("");
  if (fields.has("file_types"))
    for (const auto& type : fields.strings("file_types")) add_types(query, type);
  query.created_after = start_of(fields.opt_integer("created_after"));
  query.created_before = end_of(fields.opt_integer("created_before"));
  query.modified_after = start_of(fields.opt_integer("modified_after"));
  query.modified_before = end_of(fields.opt_integer("modified_before"));
  query.size_min = fields.opt_integer("min_size");
  query.size_max = fields.opt_integer("max_size");
  if (const auto folder = fields.opt_string("folder_id")) query.folder = folder_id(services, *folder);
  query.recursive = fields.opt_boolean("recursive").value_or(true);
  query.content = fields.opt_boolean("content").value_or(true);
  asked.limit = fields.opt_integer("limit").value_or(asked.limit);
  asked.offset = fields.opt_integer("offset").value_or(0);
  set_sort(asked, fields.opt_string("sort_by").value_or(asked.sort_by));
  fields.done();
  return asked;
}

std::string relevance_member(const files::SearchHit& hit) {
  return "\"relevance_score\":" + std::to_string(hit.relevance);
}

Task<> answer(const Services& services, Request& rq, Reply& rp, Asked asked) {
  const Clocked clock;
  asked.limit = std::clamp<std::int64_t>(asked.limit, 1, 200);
  if (asked.offset < 0 || asked.offset + asked.limit > kOffsetMax)
    bad_query("offset", "a number from 0 to " + std::to_string(kOffsetMax - asked.limit) +
                            "; /api/search/resources goes on further by its cursor");
  asked.query.limit = static_cast<int>(asked.offset + asked.limit);
  auto page = co_await services.files.search().find(rq.caller(), asked.query);
  const auto& items = page.items;
  const auto first = std::min(static_cast<std::size_t>(asked.offset), items.size());
  std::string text;
  wire::JsonWriter json(text);
  NodeWriter nodes(services.ids, rq.caller(), json);
  json.begin_object();
  for (const bool folders : {false, true}) {
    json.key(folders ? "folders" : "files");
    json.begin_array();
    for (auto i = first; i < items.size(); ++i)
      if (items[i].node.is_folder() == folders)
        nodes.node(items[i].node, items[i].node.path.value_or(""), relevance_member(items[i]));
    json.end_array();
  }
  const bool more = !page.next.empty();
  if (more)
    json.null_field("total_count");  // nobody has counted the rest
  else
    json.field("total_count", items.size());
  json.field("limit", asked.limit);
  json.field("offset", asked.offset);
  json.field("has_more", more);
  json.field("query_time_ms", clock.ms());
  json.field("sort_by", asked.sort_by);
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// GET /api/search -> {files, folders, total_count|null, limit, offset, has_more, query_time_ms, sort_by}
Task<> find(const Services& services, Request& rq, Reply& rp) {
  Asked asked;
  asked.query = read_filters(services, rq);
  asked.limit = static_cast<std::int64_t>(std::min<std::uint64_t>(number_query(rq, "limit", 100), 200));
  asked.offset = static_cast<std::int64_t>(std::min<std::uint64_t>(number_query(rq, "offset", 0), 1'000'000));
  set_sort(asked, rq.query("sort_by").value_or("relevance"));
  co_await answer(services, rq, rp, std::move(asked));
}

/// POST /api/search/advanced: the same by a body
Task<> advanced(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  co_await answer(services, rq, rp, read_body(services, body));
}

/// GET /api/search/resources -> {items: [{resource_type, relevance_score, resource}], next_cursor?}
Task<> resources(const Services& services, Request& rq, Reply& rp) {
  auto query = read_filters(services, rq);
  query.order_by = asked_order(rq, kOrders);
  query.reverse = flag_query(rq, "reverse");
  read_kinds(rq, query.folders, query.files);
  query.limit = page_limit(rq);
  query.after = rq.query("cursor").value_or("");
  const auto page = co_await services.files.search().find(rq.caller(), std::move(query));
  std::string text;
  wire::JsonWriter json(text);
  NodeWriter nodes(services.ids, rq.caller(), json);
  json.begin_object();
  json.key("items");
  json.begin_array();
  for (const auto& hit : page.items) {
    json.begin_object();
    json.field("resource_type", hit.node.is_folder() ? "folder" : "file");
    json.field("relevance_score", hit.relevance);
    json.key("resource");
    nodes.node(hit.node, hit.node.path.value_or(""));
    json.end_object();
  }
  json.end_array();
  if (!page.next.empty()) json.field("next_cursor", page.next);
  json.end_object();
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// GET /api/search/suggest?query&folder_id&limit -> {suggestions, query_time_ms}
Task<> suggest(const Services& services, Request& rq, Reply& rp) {
  const Clocked clock;
  const int limit = static_cast<int>(std::clamp<std::uint64_t>(number_query(rq, "limit", 10), 1, 20));
  NodeId folder;
  if (const auto id = rq.query("folder_id"); id && !id->empty()) folder = folder_id(services, *id);
  const auto hits =
      co_await services.files.search().suggest(rq.caller(), rq.query("query").value_or(""), folder, limit);
  std::string text;
  write_suggestions(services.ids, rq.caller(), hits, clock.ms(), text);
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// DELETE /api/search/cache -> 200: every search asks the database, so there is nothing to forget
Task<> forget_cache(const Services&, Request&, Reply& rp) {
  co_await send_json(rp, Status::ok, {{"message", "Nothing is cached"}});
}

}  // namespace

void write_suggestions(const PublicIds& ids, const Caller& caller, const std::vector<files::SearchHit>& hits,
                       std::int64_t took_ms, std::string& out) {
  constexpr std::size_t kRowBytesGuess = 320;
  out.reserve(out.size() + hits.size() * kRowBytesGuess + 64);
  wire::JsonWriter json(out);
  json.begin_object();
  json.key("suggestions");
  json.begin_array();
  for (const auto& hit : hits) {
    const auto& node = hit.node;
    json.begin_object();
    if (node.is_root())
      json.field("name", shown_name(node, caller));
    else
      json.field("name", node.name);
    json.raw(node.is_folder() ? R"("item_type":"folder")" : R"("item_type":"file")");
    json.field("id", ids.encode(node.is_folder() ? IdKind::folder : IdKind::file, node.id.value));
    json.field("path", node.path ? std::string_view(*node.path) : std::string_view());
    json.raw(node.is_folder() ? folder_icon().json : icon_of(node.mime_type, node.name).json);
    json.field("relevance_score", hit.relevance);
    json.end_object();
  }
  json.end_array();
  json.field("query_time_ms", took_ms);
  json.end_object();
}

void mount_search(Scopes& s, const Services& services) {
  const auto on = family_routes(s, services, "/api/search", "search", "node");
  on(Method::get, "", "find", "read", find);
  on(Method::post, "/advanced", "advanced", "read", advanced);
  on(Method::get, "/resources", "resources", "read", resources);
  on(Method::get, "/suggest", "suggest", "read", suggest);
  on(Method::del, "/cache", "forget_cache", "read", forget_cache);
}

}  // namespace welkin::rest
