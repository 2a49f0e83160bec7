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
  ((out += "<d:owner><d:href>") += principal_href(view.mount, name)) += "</d:href></d:owner>";
  return true;
}

/// What clients look at, from what the caller may: who reads may still set what only he sees.
std::vector<std::string_view> privileges_of(const Item& item, const Caller& caller) {
  std::vector<std::string_view> out{"d:read", "d:read-current-user-privilege-set"};
  const bool may_change = (caller.rights_mask & rights::kUpdate) != 0;
  if ((item.kind & kHome) != 0) {
    const bool may_create = (caller.rights_mask & rights::kCreate) != 0;
    if (may_create) out.emplace_back("d:bind");
    if ((caller.rights_mask & rights::kDelete) != 0) out.emplace_back("d:unbind");
    if (may_change) out.emplace_back("d:write-properties");
    if (may_create && may_change) out.emplace_back("d:write");
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
    if (may_change) out.emplace_back("d:write-properties");
    if (item.collection->access >= Access::write) out.emplace_back("d:unbind");
    return out;
  }
  if (item.collection->kind == collections::Kind::calendar) out.emplace_back("C:read-free-busy");
  if (may_change) out.emplace_back("d:write-properties");
  const bool may_write = item.collection->may_write() && (item.object == nullptr || !item.object->masked);
  if (may_write) {
    for (const auto name : {"d:write", "d:write-content"}) out.emplace_back(name);
    if ((item.kind & kCollection) != 0) {
      out.emplace_back("d:bind");
      out.emplace_back("d:unbind");
    }
  }
  if (item.collection->access == Access::own) {
    if (may_write) out.emplace_back("d:all");
    for (const auto name : {"d:read-acl", "d:unlock"}) out.emplace_back(name);
    if ((caller.rights_mask & rights::kShare) != 0 && (item.kind & kCollection) != 0)
      out.emplace_back("d:share");
  }
  return out;
}

bool privilege_set(const Item& item, const View& view, const Arguments*, std::string& out) {
  out += "<d:current-user-privilege-set>";
  for (const auto name : privileges_of(item, view.caller))
    ((out += "<d:privilege><") += name) += "/></d:privilege>";
  return put(out, "</d:current-user-privilege-set>");
}

bool supported_privileges(const Item&, const View&, const Arguments*, std::string& out) {
  const auto one = [&](std::string_view name, std::string_view about) {
    ((((out += "<d:supported-privilege><d:privilege><") += name) +=
      "/></d:privilege><d:description xml:lang=\"en\">") += about) +=
        "</d:description></d:supported-privilege>";
  };
  out += "<d:supported-privilege-set>";
  out +=
      "<d:supported-privilege><d:privilege><d:all/></d:privilege><d:description xml:lang=\"en\">Anything"
      "</d:description>";
  one("d:read", "Read");
  one("d:read-acl", "Read the access list");
  one("d:read-current-user-privilege-set", "Read one's own privileges");
  one("C:read-free-busy", "See when somebody is busy");
  one("d:share", "Share with others");
  one("C:schedule-deliver", "Send invitations and answers to somebody");
  one("C:schedule-query-freebusy", "Ask when somebody is busy");
  one("C:schedule-send", "Send invitations and answers");
  out +=
      "<d:supported-privilege><d:privilege><d:write/></d:privilege><d:description xml:lang=\"en\">Write"
      "</d:description>";
  one("d:write-properties", "Set properties");
  one("d:write-content", "Change members");
  one("d:bind", "Add members");
  one("d:unbind", "Remove members");
  out += "</d:supported-privilege></d:supported-privilege></d:supported-privilege-set>";
  return true;
}

/// The owner's entry, and those he has invited, whom he manages by sharing.
bool acl(const Item& item, const View& view, const Arguments*, std::string& out) {
  const auto name = owner_of(item);
  if (name.empty() || name != view.caller.name || item.group != nullptr) return false;
  ((out += "<d:acl><d:ace><d:principal><d:href>") += principal_href(view.mount, name)) +=
      "</d:href></d:principal><d:grant><d:privilege><d:all/></d:privilege></d:grant><d:protected/></d:ace>";
  for (const auto& share : item.shares) {
    ((out += "<d:ace><d:principal><d:href>") +=
     share.is_group ? group_href(view.mount, share.name) : principal_href(view.mount, share.name)) +=
        "</d:href></d:principal><d:grant><d:privilege><d:read/></d:privilege>";
    if (share.access == Access::write) out += "<d:privilege><d:write/></d:privilege>";
    out += "</d:grant><d:protected/></d:ace>";
  }
  return put(out, "</d:acl>");
}

bool acl_restrictions(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<d:acl-restrictions><d:grant-only/><d:no-invert/></d:acl-restrictions>");
}

bool inherited_acl_set(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<d:inherited-acl-set/>");
}

bool supported_reports(const Item& item, const View&, const Arguments*, std::string& out) {
  out += "<d:supported-report-set>";
  for (const auto& report : reports()) {
    if ((report.kinds & item.kind) == 0) continue;
    out += "<d:supported-report><d:report>";
    wire::append_empty_element(out, report.ns, report.name, kNamespaces);
    out += "</d:report></d:supported-report>";
  }
  return put(out, "</d:supported-report-set>");
}

/// Of one's own only: what others have left is nobody's business.
bool is_own(const Item& item) { return item.collection == nullptr || item.collection->access == Access::own; }

bool quota_available(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!is_own(item)) return false;
  out += "<d:quota-available-bytes>";
  wire::append_number(out, view.use.free_bytes);
  return put(out, "</d:quota-available-bytes>");
}

bool quota_used(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!is_own(item)) return false;
  out += "<d:quota-used-bytes>";
  wire::append_number(out, view.use.used_bytes);
  return put(out, "</d:quota-used-bytes>");
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
