#include <nlohmann/json.hpp>

#include "nextcloud/capabilities.hpp"
#include "nextcloud/web.hpp"

// What this server can do. A client that knows a key insists on its type, and takes a missing block for a
// missing feature: so types are exact, and of what is absent nothing is said.
namespace welkin::nextcloud {
namespace {

constexpr const char* kColour = "#3b62d8";
constexpr std::int64_t kChunkBytesMax = 100 << 20;
constexpr int kChunksAtOnce = 5;

Json core() {
  return {{"pollinterval", 60},
          {"webdav-root", "remote.php/webdav"},
          {"reference-api", false},
          {"reference-regex", ""},
          {"mod-rewrite-working", true}};
}

Json dav() {
  // Not bulkupload: clients have lost batches to it.
  return {{"chunking", "1.0"},
          {"chunkingParallelUploadDisabled", false},
          {"httpErrorCodesThatResetFailingChunkedUploads", {400, 404}}};
}

/// Names that `files` refuses, so that a client need not try.
void add_forbidden_names(Json& files, bool windows_names) {
  Json characters{"/", "\\"}, basenames = Json::array(), extensions = Json::array();
  if (windows_names) {
    for (const char* c : {"<", ">", ":", "\"", "|", "?", "*"}) characters.push_back(c);
    basenames = {"con", "prn", "aux", "nul"};
    for (const char* device : {"com", "lpt"})
      for (int n = 1; n <= 9; ++n) basenames.push_back(device + std::to_string(n));
    extensions = {" ", "."};
  }
  files["blacklisted_files"] = Json::array();
  files["forbidden_filenames"] = Json::array();
  files["forbidden_filename_basenames"] = std::move(basenames);
  files["forbidden_filename_characters"] = std::move(characters);
  files["forbidden_filename_extensions"] = std::move(extensions);
  files["windows_compatible_filenames"] = windows_names;
}

Json files(const Services& services, const std::string& base) {
  Json out{{"bigfilechunking", true},
           {"undelete", kHasTrash},
           {"versioning", kHasVersions},
           {"version_labeling", kHasVersions},
           {"version_deletion", kHasVersions},
           {"comments", kHasComments},
           {"chunked_upload", {{"max_size", kChunkBytesMax}, {"max_parallel_count", kChunksAtOnce}}}};
  add_forbidden_names(out, services.config.windows_names);
  if (kHasLocking) {
    out["locking"] = "1.0";
    out["api-feature-lock-type"] = true;
  }
  if (kHasDirectEditing)
    out["directEditing"] = {{"url", base + "/ocs/v2.php/apps/files/api/v1/directEditing"},
                            {"etag", kDirectEditingTag},
                            {"supportsFileId", true}};
  return out;
}

Json theming(const std::string& base) {
  return {{"name", "Welkin"},
          {"url", base},
          {"slogan", ""},
          {"color", kColour},
          {"color-text", "#ffffff"},
          {"color-element", kColour},
          {"color-element-bright", kColour},
          {"color-element-dark", kColour},
          {"logo", base + "/index.php/apps/theming/image/logo"},
          {"background", kColour},
          {"background-text", "#ffffff"},
          {"background-default", true},
          {"background-plain", true},
          {"logoheader", base + "/index.php/apps/theming/image/logo"},
          {"favicon", base + "/index.php/apps/theming/favicon"}};
}

/// wss where the site is https: a client with a safe address does not take the other.
Json notify_push(const std::string& base) {
  const auto socket = (base.starts_with("https://") ? "wss" : "ws") + base.substr(base.find("://"));
  return {
      {"type", {"files"}},
      {"endpoints",
       {{"websocket", socket + "/push/ws"}, {"pre_auth", base + "/index.php/apps/notify_push/pre_auth"}}}};
}

/// GET /cloud/capabilities
Task<> capabilities(Call& call) {
  const auto base = call.rq.base_url();
  Json can = Json::object();
  if (call.rq.caller().user) {
    can["core"] = core();
    can["dav"] = dav();
    can["files"] = files(call.services, base);
    if (kHasUserStatus)
      can["user_status"] = {
          {"enabled", true}, {"restore", false}, {"supports_emoji", true}, {"supports_busy", true}};
    if (kHasPush) can["notify_push"] = notify_push(base);
    if (kHasRecommendations) can["recommendations"] = {{"enabled", true}};
    if (kHasTags) can["systemtags"] = {{"enabled", true}};
  }
  can["theming"] = theming(base);
  const Json data{{"version",
                   {{"major", kVersionMajor},
                    {"minor", kVersionMinor},
                    {"micro", kVersionMicro},
                    {"string", kVersionText},
                    {"edition", ""},
                    {"extendedSupport", false}}},
                  {"capabilities", std::move(can)}};
  co_await answer_tagged(call, data);
}

}  // namespace

void mount_capabilities(OcsRoutes& ocs, const Kept& /*services*/) {
  ocs.open(http::Method::get, "/cloud/capabilities", "capabilities", capabilities);
}

}  // namespace welkin::nextcloud
