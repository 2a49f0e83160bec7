#include "dav/groupware/live.hpp"
#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {
namespace {

using collections::Access;

std::string_view owner_of(const Item& item) {
  return item.collection != nullptr ? std::string_view(item.collection->owner_name) : item.user;
}

bool owner(const Item& item, const View& view, const Arguments*, std::string& out) {
  const auto name = owner_of(item);
  if (name.empty() || item.group != nullptr) return false;
  ((out += "<D:owner><D:href>") += principal_href(view.mount, name)) += "</D:href></D:owner>";
  return true;
}

/// What clients look at, from what the caller may: who reads may still set what only he sees.
std::vector<std::string_view> privileges_of(const Item& item, const Caller& caller) {
  std::vector<std::string_view> out{"D:read", "D:read-current-user-privilege-set"};
  const bool may_change = (caller.rights_mask & rights::kUpdate) != 0;
  if ((item.kind & kHome) != 0) {
    const bool may_create = (caller.rights_mask & rights::kCreate) != 0;
    if (may_create) out.emplace_back("D:bind");
    if ((caller.rights_mask & rights::kDelete) != 0) out.emplace_back("D:unbind");
    if (may_change) out.emplace_back("D:write-properties");
    if (may_create && may_change) out.emplace_back("D:write");
    return out;
  }
  if (item.kind == kOutbox) {
    if ((caller.rights_mask & rights::kCreate) == 0) return out;
    for (const auto name :
         {"C:schedule-send", "C:schedule-send-invite", "C:schedule-send-reply", "C:schedule-send-freebusy"})
      out.emplace_back(name);
    return out;
  }
  if (item.collection == nullptr) return out;
  if (item.collection->kind == collections::Kind::inbox) {
    for (const auto name : {"C:schedule-deliver", "C:schedule-deliver-invite", "C:schedule-deliver-reply",
                            "C:schedule-query-freebusy"})
      out.emplace_back(name);
    if (may_change) out.emplace_back("D:write-properties");
    if (item.collection->access >= Access::write) out.emplace_back("D:unbind");
    return out;
  }
  if (item.collection->kind == collections::Kind::calendar) out.emplace_back("C:read-free-busy");
  if (may_change) out.emplace_back("D:write-properties");
  const bool may_write = item.collection->may_write() && (item.object == nullptr || !item.object->masked);
  if (may_write) {
    for (const auto name : {"D:write", "D:write-content"}) out.emplace_back(name);
    if ((item.kind & kCollection) != 0) {
      out.emplace_back("D:bind");
      out.emplace_back("D:unbind");
    }
  }
  if (item.collection->access == Access::own) {
    if (may_write) out.emplace_back("D:all");
    for (const auto name : {"D:read-acl", "D:unlock"}) out.emplace_back(name);
    if ((caller.rights_mask & rights::kShare) != 0 && (item.kind & kCollection) != 0)
      out.emplace_back("D:share");
  }
  return out;
}

bool privilege_set(const Item& item, const View& view, const Arguments*, std::string& out) {
  out += "<D:current-user-privilege-set>";
  for (const auto name : privileges_of(item, view.caller))
    ((out += "<D:privilege><") += name) += "/></D:privilege>";
  return put(out, "</D:current-user-privilege-set>");
}

bool supported_privileges(const Item&, const View&, const Arguments*, std::string& out) {
  const auto one = [&](std::string_view name, std::string_view about) {
    ((((out += "<D:supported-privilege><D:privilege><") += name) +=
      "/></D:privilege><D:description xml:lang=\"en\">") += about) +=
        "</D:description></D:supported-privilege>";
  };
  out += "<D:supported-privilege-set>";
  out +=
      "<D:supported-privilege><D:privilege><D:all/></D:privilege><D:description xml:lang=\"en\">Anything"
      "</D:description>";
  one("D:read", "Read");
  one("D:read-acl", "Read the access list");
  one("D:read-current-user-privilege-set", "Read one's own privileges");
  one("C:read-free-busy", "See when somebody is busy");
  one("D:share", "Share with others");
  one("C:schedule-deliver", "Send invitations and answers to somebody");
  one("C:schedule-query-freebusy", "Ask when somebody is busy");
  one("C:schedule-send", "Send invitations and answers");
  out +=
      "<D:supported-privilege><D:privilege><D:write/></D:privilege><D:description xml:lang=\"en\">Write"
      "</D:description>";
  one("D:write-properties", "Set properties");
  one("D:write-content", "Change members");
  one("D:bind", "Add members");
  one("D:unbind", "Remove members");
  out += "</D:supported-privilege></D:supported-privilege></D:supported-privilege-set>";
  return true;
}

/// The owner's entry, and those he has invited, whom he manages by sharing.
bool acl(const Item& item, const View& view, const Arguments*, std::string& out) {
  const auto name = owner_of(item);
  if (name.empty() || name != view.caller.name || item.group != nullptr) return false;
  ((out += "<D:acl><D:ace><D:principal><D:href>") += principal_href(view.mount, name)) +=
      "</D:href></D:principal><D:grant><D:privilege><D:all/></D:privilege></D:grant><D:protected/></D:ace>";
  for (const auto& share : item.shares) {
    ((out += "<D:ace><D:principal><D:href>") +=
     share.is_group ? group_href(view.mount, share.name) : principal_href(view.mount, share.name)) +=
        "</D:href></D:principal><D:grant><D:privilege><D:read/></D:privilege>";
    if (share.access == Access::write) out += "<D:privilege><D:write/></D:privilege>";
    out += "</D:grant><D:protected/></D:ace>";
  }
  return put(out, "</D:acl>");
}

bool acl_restrictions(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<D:acl-restrictions><D:grant-only/><D:no-invert/></D:acl-restrictions>");
}

bool inherited_acl_set(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<D:inherited-acl-set/>");
}

bool supported_reports(const Item& item, const View&, const Arguments*, std::string& out) {
  out += "<D:supported-report-set>";
  for (const auto& report : reports()) {
    if ((report.kinds & item.kind) == 0) continue;
    out += "<D:supported-report><D:report>";
    wire::append_empty_element(out, report.ns, report.name, kNamespaces);
    out += "</D:report></D:supported-report>";
  }
  return put(out, "</D:supported-report-set>");
}

/// Of one's own only: what others have left is nobody's business.
bool is_own(const Item& item) { return item.collection == nullptr || item.collection->access == Access::own; }

bool quota_available(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!is_own(item)) return false;
  out += "<D:quota-available-bytes>";
  wire::append_number(out, view.use.free_bytes);
  return put(out, "</D:quota-available-bytes>");
}

bool quota_used(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!is_own(item)) return false;
  out += "<D:quota-used-bytes>";
  wire::append_number(out, view.use.used_bytes);
  return put(out, "</D:quota-used-bytes>");
}

constexpr unsigned kOwned = kPrincipal | kHome | kCollection | kObject | kInbox | kOutbox;

constexpr LiveProperty kAccess[] = {
    {kDav, "owner", kOwned, false, 0, true, owner},
    {kDav, "current-user-privilege-set", kAny, false, 0, true, privilege_set},
    {kDav, "supported-privilege-set", kOwned, false, 0, true, supported_privileges},
    {kDav, "acl", kOwned, false, needs::kShares, true, acl},
    {kDav, "acl-restrictions", kOwned, false, 0, true, acl_restrictions},
    {kDav, "inherited-acl-set", kOwned, false, 0, true, inherited_acl_set},
    {kDav, "supported-report-set", kAny, false, 0, true, supported_reports},
    {kDav, "quota-available-bytes", kHome | kCollection, false, needs::kQuota, true, quota_available},
    {kDav, "quota-used-bytes", kHome | kCollection, false, needs::kQuota, true, quota_used},
};

}  // namespace

std::span<const LiveProperty> access_properties() { return kAccess; }

}  // namespace welkin::dav::groupware
