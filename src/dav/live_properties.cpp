#include "dav/live_properties.hpp"

#include <fmt/core.h>

#include <unordered_map>

#include "dav/lock.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {
namespace {

using Kinds = LiveProperty::Kinds;
constexpr std::string_view kDav = "DAV:";
constexpr std::string_view kApache = "http://apache.org/dav/props/";
constexpr std::string_view kOwncloud = "http://owncloud.org/ns";
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
             r.row.is_folder() ? "<D:resourcetype><D:collection/></D:resourcetype>" : "<D:resourcetype/>");
}

bool creationdate(const Resource& r, const Viewer&, std::string& out) {
  out += "<D:creationdate>";
  wire::append_rfc3339(out, r.row.created_at);
  return put(out, "</D:creationdate>");
}

bool displayname(const Resource& r, const Viewer& viewer, std::string& out) {
  if (put_stored(r, kDav, "displayname", out)) return true;
  out += "<D:displayname>";
  // Never empty: there are clients that do not survive it.
  wire::append_escaped(out, r.row.name.empty() ? std::string_view(viewer.caller.name) : r.row.name);
  return put(out, "</D:displayname>");
}

bool getcontentlanguage(const Resource& r, const Viewer&, std::string& out) {
  return put_stored(r, kDav, "getcontentlanguage", out);
}

bool getcontentlength(const Resource& r, const Viewer&, std::string& out) {
  out += "<D:getcontentlength>";
  wire::append_number(out, r.row.size_bytes);
  return put(out, "</D:getcontentlength>");
}

bool getcontenttype(const Resource& r, const Viewer&, std::string& out) {
  out += "<D:getcontenttype>";
  wire::append_escaped(out, r.row.mime_type.empty() ? "application/octet-stream" : r.row.mime_type);
  return put(out, "</D:getcontenttype>");
}

bool getetag(const Resource& r, const Viewer&, std::string& out) {
  ((out += "<D:getetag>\"") += r.row.etag()) += "\"</D:getetag>";
  return true;
}

bool getlastmodified(const Resource& r, const Viewer&, std::string& out) {
  out += "<D:getlastmodified>";
  wire::append_http_date(out, r.row.modified_at);
  return put(out, "</D:getlastmodified>");
}

bool lockdiscovery(const Resource& r, const Viewer& viewer, std::string& out) {
  if (r.locks.empty()) return put(out, "<D:lockdiscovery/>");
  out += "<D:lockdiscovery>";
  for (const auto& covering : r.locks)
    append_active_lock(out, *covering.lock, covering.root_href, viewer.now);
  return put(out, "</D:lockdiscovery>");
}

bool supportedlock(const Resource& r, const Viewer&, std::string& out) {
  // Office programs open read-only what is offered and then refused.
  if ((r.row.rights & rights::kUpdate) == 0) return put(out, "<D:supportedlock/>");
  return put(
      out,
      "<D:supportedlock><D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/>"
      "</D:locktype></D:lockentry><D:lockentry><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/>"
      "</D:locktype></D:lockentry></D:supportedlock>");
}

bool quota_available(const Resource& r, const Viewer&, std::string& out) {
  if (r.use == nullptr) return false;
  out += "<D:quota-available-bytes>";
  wire::append_number(out, r.use->free_bytes);
  return put(out, "</D:quota-available-bytes>");
}

bool quota_used(const Resource& r, const Viewer&, std::string& out) {
  if (r.use == nullptr) return false;
  out += "<D:quota-used-bytes>";
  wire::append_number(out, r.use->used_bytes);
  return put(out, "</D:quota-used-bytes>");
}

void append_principal(std::string& out, const Viewer& viewer, std::string_view name) {
  ((out += "<D:href>") += viewer.principals) += "users/";
  wire::append_href_segment(out, name);
  out += "/</D:href>";
}

bool current_user_principal(const Resource&, const Viewer& viewer, std::string& out) {
  out += "<D:current-user-principal>";
  if (viewer.caller.user) {
    append_principal(out, viewer, viewer.caller.name);
  } else {
    out += "<D:unauthenticated/>";
  }
  return put(out, "</D:current-user-principal>");
}

bool owner(const Resource& r, const Viewer& viewer, std::string& out) {
  if (r.row.author_name.empty()) return put(out, "<D:owner/>");
  out += "<D:owner>";
  append_principal(out, viewer, r.row.author_name);
  return put(out, "</D:owner>");
}

bool principal_collection_set(const Resource&, const Viewer& viewer, std::string& out) {
  ((out += "<D:principal-collection-set><D:href>") += viewer.principals) +=
      "</D:href></D:principal-collection-set>";
  return true;
}

bool current_user_privilege_set(const Resource& r, const Viewer&, std::string& out) {
  const auto may = [&](std::int32_t right) { return (r.row.rights & right) == right; };
  const auto privilege = [&](std::string_view name) {
    ((out += "<D:privilege><D:") += name) += "/></D:privilege>";
  };
  out += "<D:current-user-privilege-set>";
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
  return put(out, "</D:current-user-privilege-set>");
}

bool supported_privilege_set(const Resource&, const Viewer&, std::string& out) {
  constexpr auto kOne = [](std::string& o, std::string_view name, std::string_view inner) {
    ((o += "<D:supported-privilege><D:privilege><D:") += name) += "/></D:privilege>";
    (o += inner) += "</D:supported-privilege>";
  };
  std::string writes;
  for (const auto* name : {"write-content", "write-properties", "bind", "unbind", "unlock"})
    kOne(writes, name, {});
  std::string all;
  kOne(all, "read", {});
  kOne(all, "read-current-user-privilege-set", {});
  kOne(all, "write", writes);
  out += "<D:supported-privilege-set>";
  kOne(out, "all", all);
  return put(out, "</D:supported-privilege-set>");
}

bool supported_report_set(const Resource& r, const Viewer&, std::string& out) {
  return put(out, r.row.is_folder()
                      ? "<D:supported-report-set><D:supported-report><D:report><D:sync-collection/>"
                        "</D:report></D:supported-report></D:supported-report-set>"
                      : "<D:supported-report-set/>");
}

bool supported_method_set(const Resource& r, const Viewer&, std::string& out) {
  out += "<D:supported-method-set>";
  for (const auto* name : {"OPTIONS", "GET", "HEAD", "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPFIND",
                           "PROPPATCH", "LOCK", "UNLOCK", "REPORT", "SEARCH"}) {
    const bool for_folders = std::string_view(name) == "REPORT" || std::string_view(name) == "SEARCH";
    const bool for_files = std::string_view(name) == "PUT";
    if (r.row.is_folder() ? for_files : for_folders) continue;
    if (std::string_view(name) == "MKCOL") continue;  // for names that are not there yet
    ((out += "<D:supported-method name=\"") += name) += "\"/>";
  }
  return put(out, "</D:supported-method-set>");
}

bool supported_query_grammar_set(const Resource& r, const Viewer&, std::string& out) {
  return put(out,
             r.row.is_folder()
                 ? "<D:supported-query-grammar-set><D:supported-query-grammar><D:grammar><D:basicsearch/>"
                   "</D:grammar></D:supported-query-grammar></D:supported-query-grammar-set>"
                 : "<D:supported-query-grammar-set/>");
}

bool sync_token(const Resource& r, const Viewer&, std::string& out) {
  if (r.sync_token.empty()) return false;
  ((out += "<D:sync-token>") += r.sync_token) += "</D:sync-token>";
  return true;
}

bool resource_id(const Resource& r, const Viewer&, std::string& out) {
  out += "<D:resource-id><D:href>urn:welkin:node:";
  wire::append_number(out, static_cast<std::uint64_t>(r.row.id.value));
  return put(out, "</D:href></D:resource-id>");
}

bool lastmodified(const Resource& r, const Viewer&, std::string& out) {
  out += "<D:lastmodified>";
  wire::append_number(
      out, static_cast<std::uint64_t>(std::max<std::int64_t>(0, times::seconds(r.row.modified_at))));
  return put(out, "</D:lastmodified>");
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

bool checksums(const Resource& r, const Viewer&, std::string& out) {
  if (r.row.sha1.empty() && r.row.sha256.empty()) return false;
  out += "<O:checksums><O:checksum>";
  if (!r.row.sha1.empty()) (out += "SHA1:") += text::hex(r.row.sha1);
  if (!r.row.sha1.empty() && !r.row.sha256.empty()) out += ' ';
  if (!r.row.sha256.empty()) (out += "SHA256:") += text::hex(r.row.sha256);
  return put(out, "</O:checksum></O:checksums>");
}

// A new property is one row here and one test.
constexpr LiveProperty kLive[] = {
    {kDav, "resourcetype", Kinds::kBoth, true, 0, true, resourcetype},
    {kDav, "creationdate", Kinds::kBoth, true, 0, false, creationdate},
    {kDav, "displayname", Kinds::kBoth, true, needs::kStored, false, displayname},
    {kDav, "getcontentlanguage", Kinds::kBoth, true, needs::kStored, false, getcontentlanguage},
    {kDav, "getcontentlength", Kinds::kFile, true, 0, true, getcontentlength},
    {kDav, "getcontenttype", Kinds::kFile, true, needs::kMimeType, false, getcontenttype},
    {kDav, "getetag", Kinds::kBoth, true, 0, true, getetag},
    {kDav, "getlastmodified", Kinds::kBoth, true, 0, false, getlastmodified},
    {kDav, "lockdiscovery", Kinds::kBoth, true, needs::kLocks, true, lockdiscovery},
    // 240 bytes a row: some clients give up on a folder whose rows are long, so it comes by name only.
    {kDav, "supportedlock", Kinds::kBoth, false, 0, true, supportedlock},
    {kDav, "quota-available-bytes", Kinds::kFolder, false, needs::kUse, true, quota_available},
    {kDav, "quota-used-bytes", Kinds::kFolder, false, needs::kUse, true, quota_used},
    {kDav, "current-user-principal", Kinds::kBoth, false, 0, true, current_user_principal},
    {kDav, "owner", Kinds::kBoth, false, needs::kAuthor, true, owner},
    {kDav, "principal-collection-set", Kinds::kBoth, false, 0, true, principal_collection_set},
    {kDav, "current-user-privilege-set", Kinds::kBoth, false, 0, true, current_user_privilege_set},
    {kDav, "supported-privilege-set", Kinds::kBoth, false, 0, true, supported_privilege_set},
    {kDav, "supported-report-set", Kinds::kBoth, false, 0, true, supported_report_set},
    {kDav, "supported-method-set", Kinds::kBoth, false, 0, true, supported_method_set},
    {kDav, "supported-query-grammar-set", Kinds::kBoth, false, 0, true, supported_query_grammar_set},
    {kDav, "sync-token", Kinds::kFolder, false, needs::kSync, true, sync_token},
    {kDav, "resource-id", Kinds::kBoth, false, 0, true, resource_id},
    {kDav, "lastmodified", Kinds::kBoth, false, 0, false, lastmodified},
    {kMicrosoft, "Win32CreationTime", Kinds::kBoth, false, 0, false, win32_creation},
    {kMicrosoft, "Win32LastModifiedTime", Kinds::kBoth, false, 0, false, win32_modified},
    {kMicrosoft, "Win32LastAccessTime", Kinds::kBoth, false, needs::kStored, false, win32_accessed},
    {kMicrosoft, "Win32FileAttributes", Kinds::kBoth, false, needs::kStored, false, win32_attributes},
    {kApache, "executable", Kinds::kFile, false, needs::kStored, false, executable},
    {kOwncloud, "checksums", Kinds::kFile, false, needs::kDigests, false, checksums},
};

}  // namespace

std::span<const LiveProperty> live_properties() { return kLive; }

const LiveProperty* find_live(std::string_view ns, std::string_view name) {
  static const auto kByName = [] {
    std::unordered_multimap<std::string_view, const LiveProperty*> map;
    for (const auto& live : kLive) map.emplace(live.name, &live);
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
