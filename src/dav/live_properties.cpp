#include "dav/live_properties.hpp"

#include <fmt/core.h>

#include <unordered_map>
#include <vector>

#include "dav/lock.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {
namespace {

using Kinds = LiveProperty::Kinds;
constexpr std::string_view kDav = "DAV:";
constexpr std::string_view kApache = "http://apache.org/dav/props/";
constexpr std::string_view kMicrosoft = "urn:schemas-microsoft-com:";

bool put(std::string& out, std::string_view element) {
  out += element;
  return true;
}

/// What a client has set, as it was set.
bool put_stored(const Resource& r, std::string_view ns, std::string_view name, std::string& out) {
  const auto* stored = find_stored(r.stored, ns, name);
  return stored != nullptr && put(out, stored->value);
}

bool resourcetype(const Resource& r, const Viewer&, std::string& out) {
  return put(out,
             r.row.is_folder() ? "<d:resourcetype><d:collection/></d:resourcetype>" : "<d:resourcetype/>");
}

bool creationdate(const Resource& r, const Viewer&, std::string& out) {
  out += "<d:creationdate>";
  wire::append_rfc3339(out, r.row.created_at);
  return put(out, "</d:creationdate>");
}

bool displayname(const Resource& r, const Viewer& viewer, std::string& out) {
  if (put_stored(r, kDav, "displayname", out)) return true;
  out += "<d:displayname>";
  // Never empty: there are clients that do not survive it.
  wire::append_escaped(out, r.row.name.empty() ? std::string_view(viewer.caller.name) : r.row.name);
  return put(out, "</d:displayname>");
}

bool getcontentlanguage(const Resource& r, const Viewer&, std::string& out) {
  return put_stored(r, kDav, "getcontentlanguage", out);
}

bool getcontentlength(const Resource& r, const Viewer&, std::string& out) {
  out += "<d:getcontentlength>";
  wire::append_number(out, r.row.size_bytes);
  return put(out, "</d:getcontentlength>");
}

bool getcontenttype(const Resource& r, const Viewer&, std::string& out) {
  out += "<d:getcontenttype>";
  wire::append_escaped(out, r.row.mime_type.empty() ? "application/octet-stream" : r.row.mime_type);
  return put(out, "</d:getcontenttype>");
}

bool getetag(const Resource& r, const Viewer&, std::string& out) {
  ((out += "<d:getetag>\"") += r.row.etag()) += "\"</d:getetag>";
  return true;
}

bool getlastmodified(const Resource& r, const Viewer&, std::string& out) {
  out += "<d:getlastmodified>";
  wire::append_http_date(out, r.row.modified_at);
  return put(out, "</d:getlastmodified>");
}

bool lockdiscovery(const Resource& r, const Viewer& viewer, std::string& out) {
  if (r.locks.empty()) return put(out, "<d:lockdiscovery/>");
  out += "<d:lockdiscovery>";
  for (const auto& covering : r.locks)
    append_active_lock(out, *covering.lock, covering.root_href, viewer.now);
  return put(out, "</d:lockdiscovery>");
}

bool supportedlock(const Resource& r, const Viewer&, std::string& out) {
  // Office programs open read-only what is offered and then refused.
  if ((r.row.rights & rights::kUpdate) == 0) return put(out, "<d:supportedlock/>");
  return put(
      out,
      "<d:supportedlock><d:lockentry><d:lockscope><d:exclusive/></d:lockscope><d:locktype><d:write/>"
      "</d:locktype></d:lockentry><d:lockentry><d:lockscope><d:shared/></d:lockscope><d:locktype><d:write/>"
      "</d:locktype></d:lockentry></d:supportedlock>");
}

bool quota_available(const Resource& r, const Viewer&, std::string& out) {
  if (r.use == nullptr) return false;
  out += "<d:quota-available-bytes>";
  wire::append_number(out, r.use->free_bytes);
  return put(out, "</d:quota-available-bytes>");
}

bool quota_used(const Resource& r, const Viewer&, std::string& out) {
  if (r.use == nullptr) return false;
  out += "<d:quota-used-bytes>";
  wire::append_number(out, r.use->used_bytes);
  return put(out, "</d:quota-used-bytes>");
}

void append_principal(std::string& out, const Viewer& viewer, std::string_view name) {
  ((out += "<d:href>") += viewer.principals) += "users/";
  wire::append_href_segment(out, name);
  out += "/</d:href>";
}

bool current_user_principal(const Resource&, const Viewer& viewer, std::string& out) {
  out += "<d:current-user-principal>";
  if (viewer.caller.user) {
    append_principal(out, viewer, viewer.caller.name);
  } else {
    out += "<d:unauthenticated/>";
  }
  return put(out, "</d:current-user-principal>");
}

bool owner(const Resource& r, const Viewer& viewer, std::string& out) {
  if (r.row.author_name.empty()) return put(out, "<d:owner/>");
  out += "<d:owner>";
  append_principal(out, viewer, r.row.author_name);
  return put(out, "</d:owner>");
}

bool principal_collection_set(const Resource&, const Viewer& viewer, std::string& out) {
  ((out += "<d:principal-collection-set><d:href>") += viewer.principals) +=
      "</d:href></d:principal-collection-set>";
  return true;
}

bool current_user_privilege_set(const Resource& r, const Viewer&, std::string& out) {
  const auto may = [&](std::int32_t right) { return (r.row.rights & right) == right; };
  const auto privilege = [&](std::string_view name) {
    ((out += "<d:privilege><d:") += name) += "/></d:privilege>";
  };
  out += "<d:current-user-privilege-set>";
  if (may(rights::kRead)) {
    privilege("read");
    privilege("read-current-user-privilege-set");
  }
  if (may(rights::kUpdate | rights::kCreate | rights::kDelete)) privilege("write");
  if (may(rights::kUpdate)) {
    privilege("write-content");
    privilege("write-properties");
    privilege("unlock");
  }
  if (r.row.is_folder() && may(rights::kCreate)) privilege("bind");
  if (r.row.is_folder() && may(rights::kDelete)) privilege("unbind");
  return put(out, "</d:current-user-privilege-set>");
}

bool supported_privilege_set(const Resource&, const Viewer&, std::string& out) {
  constexpr auto kOne = [](std::string& o, std::string_view name, std::string_view inner) {
    ((o += "<d:supported-privilege><d:privilege><d:") += name) += "/></d:privilege>";
    (o += inner) += "</d:supported-privilege>";
  };
  std::string writes;
  for (const auto* name : {"write-content", "write-properties", "bind", "unbind", "unlock"})
    kOne(writes, name, {});
  std::string all;
  kOne(all, "read", {});
  kOne(all, "read-current-user-privilege-set", {});
  kOne(all, "write", writes);
  out += "<d:supported-privilege-set>";
  kOne(out, "all", all);
  return put(out, "</d:supported-privilege-set>");
}

bool supported_report_set(const Resource& r, const Viewer&, std::string& out) {
  return put(out, r.row.is_folder()
                      ? "<d:supported-report-set><d:supported-report><d:report><d:sync-collection/>"
                        "</d:report></d:supported-report></d:supported-report-set>"
                      : "<d:supported-report-set/>");
}

bool supported_method_set(const Resource& r, const Viewer&, std::string& out) {
  out += "<d:supported-method-set>";
  for (const auto* name : {"OPTIONS", "GET", "HEAD", "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPFIND",
                           "PROPPATCH", "LOCK", "UNLOCK", "REPORT", "SEARCH"}) {
    const bool for_folders = std::string_view(name) == "REPORT" || std::string_view(name) == "SEARCH";
    const bool for_files = std::string_view(name) == "PUT";
    if (r.row.is_folder() ? for_files : for_folders) continue;
    if (std::string_view(name) == "MKCOL") continue;  // for names that are not there yet
    ((out += "<d:supported-method name=\"") += name) += "\"/>";
  }
  return put(out, "</d:supported-method-set>");
}

bool supported_query_grammar_set(const Resource& r, const Viewer&, std::string& out) {
  return put(out,
             r.row.is_folder()
                 ? "<d:supported-query-grammar-set><d:supported-query-grammar><d:grammar><d:basicsearch/>"
                   "</d:grammar></d:supported-query-grammar></d:supported-query-grammar-set>"
                 : "<d:supported-query-grammar-set/>");
}

bool sync_token(const Resource& r, const Viewer&, std::string& out) {
  if (r.sync_token.empty()) return false;
  ((out += "<d:sync-token>") += r.sync_token) += "</d:sync-token>";
  return true;
}

bool resource_id(const Resource& r, const Viewer&, std::string& out) {
  out += "<d:resource-id><d:href>urn:welkin:node:";
  wire::append_number(out, static_cast<std::uint64_t>(r.row.id.value));
  return put(out, "</d:href></d:resource-id>");
}

bool lastmodified(const Resource& r, const Viewer&, std::string& out) {
  out += "<d:lastmodified>";
  wire::append_number(
      out, static_cast<std::uint64_t>(std::max<std::int64_t>(0, times::seconds(r.row.modified_at))));
  return put(out, "</d:lastmodified>");
}

bool win32_creation(const Resource& r, const Viewer&, std::string& out) {
  out += "<Z:Win32CreationTime>";
  wire::append_http_date(out, r.row.created_at);
  return put(out, "</Z:Win32CreationTime>");
}

bool win32_modified(const Resource& r, const Viewer&, std::string& out) {
  out += "<Z:Win32LastModifiedTime>";
  wire::append_http_date(out, r.row.modified_at);
  return put(out, "</Z:Win32LastModifiedTime>");
}

bool win32_accessed(const Resource& r, const Viewer&, std::string& out) {
  return put_stored(r, kMicrosoft, "Win32LastAccessTime", out);
}

bool win32_attributes(const Resource& r, const Viewer&, std::string& out) {
  return put_stored(r, kMicrosoft, "Win32FileAttributes", out);
}

bool executable(const Resource& r, const Viewer&, std::string& out) {
  return put_stored(r, kApache, "executable", out) || put(out, "<A:executable>F</A:executable>");
}

// A new property is one row here and one test.
constexpr LiveProperty kLive[] = {
    {kDav, "resourcetype", Kinds::kBoth, kEveryAllProp, 0, true, resourcetype},
    {kDav, "creationdate", Kinds::kBoth, kPlainAllProp, 0, false, creationdate},
    {kDav, "displayname", Kinds::kBoth, kPlainAllProp, needs::kStored, false, displayname},
    {kDav, "getcontentlanguage", Kinds::kBoth, kPlainAllProp, needs::kStored, false, getcontentlanguage},
    {kDav, "getcontentlength", Kinds::kFile, kEveryAllProp, 0, true, getcontentlength},
    {kDav, "getcontenttype", Kinds::kFile, kEveryAllProp, needs::kMimeType, false, getcontenttype},
    {kDav, "getetag", Kinds::kBoth, kEveryAllProp, 0, true, getetag},
    {kDav, "getlastmodified", Kinds::kBoth, kEveryAllProp, 0, false, getlastmodified},
    {kDav, "lockdiscovery", Kinds::kBoth, kPlainAllProp, needs::kLocks, true, lockdiscovery},
    // 240 bytes a row: some clients give up on a folder whose rows are long, so it comes by name only.
    {kDav, "supportedlock", Kinds::kBoth, kNever, 0, true, supportedlock},
    {kDav, "quota-available-bytes", Kinds::kFolder, kNextcloudAllProp, needs::kUse, true, quota_available},
    {kDav, "quota-used-bytes", Kinds::kFolder, kNextcloudAllProp, needs::kUse, true, quota_used},
    {kDav, "current-user-principal", Kinds::kBoth, kNever, 0, true, current_user_principal},
    {kDav, "owner", Kinds::kBoth, kNever, needs::kAuthor, true, owner},
    {kDav, "principal-collection-set", Kinds::kBoth, kNever, 0, true, principal_collection_set},
    {kDav, "current-user-privilege-set", Kinds::kBoth, kNever, 0, true, current_user_privilege_set},
    {kDav, "supported-privilege-set", Kinds::kBoth, kNever, 0, true, supported_privilege_set},
    {kDav, "supported-report-set", Kinds::kBoth, kNever, 0, true, supported_report_set},
    {kDav, "supported-method-set", Kinds::kBoth, kNever, 0, true, supported_method_set},
    {kDav, "supported-query-grammar-set", Kinds::kBoth, kNever, 0, true, supported_query_grammar_set},
    {kDav, "sync-token", Kinds::kFolder, kNever, needs::kSync, true, sync_token},
    {kDav, "resource-id", Kinds::kBoth, kNever, 0, true, resource_id},
    {kDav, "lastmodified", Kinds::kBoth, kNever, 0, false, lastmodified},
    {kMicrosoft, "Win32CreationTime", Kinds::kBoth, kNever, 0, false, win32_creation},
    {kMicrosoft, "Win32LastModifiedTime", Kinds::kBoth, kNever, 0, false, win32_modified},
    {kMicrosoft, "Win32LastAccessTime", Kinds::kBoth, kNever, needs::kStored, false, win32_accessed},
    {kMicrosoft, "Win32FileAttributes", Kinds::kBoth, kNever, needs::kStored, false, win32_attributes},
    {kApache, "executable", Kinds::kFile, kNever, needs::kStored, false, executable},
};

}  // namespace

std::span<const LiveProperty> live_properties() {
  static const auto kAll = [] {
    std::vector<LiveProperty> all(std::begin(kLive), std::end(kLive));
    const auto more = nextcloud_properties();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

const LiveProperty* find_live(std::string_view ns, std::string_view name) {
  static const auto kByName = [] {
    std::unordered_multimap<std::string_view, const LiveProperty*> map;
    for (const auto& live : live_properties()) map.emplace(live.name, &live);
    return map;
  }();
  const auto [from, to] = kByName.equal_range(name);
  for (auto at = from; at != to; ++at) {
    if (at->second->ns == ns) return at->second;
  }
  return nullptr;
}

const files::NodeProperty* find_stored(std::span<const files::NodeProperty> stored, std::string_view ns,
                                       std::string_view name) {
  for (const auto& property : stored) {
    if (property.name == name && property.ns == ns) return &property;
  }
  return nullptr;
}

}  // namespace welkin::dav
