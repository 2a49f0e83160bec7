#include <algorithm>
#include <nlohmann/json.hpp>

#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/search.hpp"

// Searching from a client's menu: there is one provider, of files.
namespace welkin::nextcloud {
namespace {

constexpr std::int64_t kHitsMax = 100, kHitsUsual = 5;

std::string logo_of(const http::Request& rq) { return rq.base_url() + "/index.php/apps/theming/image/logo"; }

/// GET /search/providers
Task<> providers(Call& call) {
  const Json data = {{{"id", "files"},
                      {"appId", "files"},
                      {"name", "Files"},
                      {"icon", logo_of(call.rq)},
                      {"order", 5},
                      {"isPaginated", true},
                      {"inAppSearch", true},
                      {"triggers", {"files"}},
                      {"filters", {{"term", "string"}}}}};
  co_await answer_tagged(call, data);
}

Json entry_of(const http::Request& rq, const files::Node& node) {
  const auto id = std::to_string(node.id.value);
  const auto path = node.path.value_or("");
  const auto folder = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  return {{"thumbnailUrl", node.mime_type.starts_with("image/")
                               ? rq.base_url() + "/index.php/core/preview?x=32&y=32&fileId=" + id
                               : ""},
          {"title", node.name},
          {"subline", folder.empty() ? "" : "in " + folder.substr(1)},
          {"resourceUrl", rq.base_url() + "/index.php/f/" + id},
          {"icon", node.is_folder() ? "icon-folder" : "icon-filetype-file"},
          {"rounded", false},
          {"attributes", {{"fileId", id}, {"path", path}}}};
}

/// GET /search/providers/files/search?term=&limit=&cursor=
Task<> search(Call& call) {
  const auto params = co_await params_of(call.rq);
  files::SearchQuery query;
  query.text = params.get("term");
  query.content = false;
  query.limit =
      static_cast<int>(std::clamp<std::int64_t>(params.number("limit").value_or(kHitsUsual), 1, kHitsMax));
  query.after = params.get("cursor");
  files::SearchPage page;
  if (!query.text.empty())
    page = co_await call.services.files.search().find(call.rq.caller(), std::move(query));
  Json entries = Json::array();
  for (const auto& hit : page.items) entries.push_back(entry_of(call.rq, hit.node));
  const Json data{{"name", "Files"},
                  {"isPaginated", true},
                  {"entries", std::move(entries)},
                  {"cursor", page.next.empty() ? Json(nullptr) : Json(page.next)}};
  co_await answer(call, data);
}

}  // namespace

void mount_search_providers(OcsRoutes& ocs) {
  ocs.user(http::Method::get, "/search/providers", "search.providers", "account", "read", providers);
  ocs.user(http::Method::get, "/search/providers/files/search", "search.files", "search", "read", search);
}

}  // namespace welkin::nextcloud
