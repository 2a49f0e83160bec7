#include "dav/groupware/live.hpp"

namespace welkin::dav::groupware {
namespace {

using collections::Access;

bool is_owned(const Item& item) { return item.collection->access == Access::own; }

bool allowed_modes(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!is_owned(item) || (view.caller.rights_mask & rights::kShare) == 0) return false;
  out += "<CS:allowed-sharing-modes><CS:can-be-shared/>";
  if (item.kind == kCalendar) out += "<CS:can-be-published/>";
  return put(out, "</CS:allowed-sharing-modes>");
}

std::string share_href(const View& view, const collections::Share& share) {
  return share.is_group ? group_href(view.mount, share.name) : principal_href(view.mount, share.name);
}

std::string_view cs_access(Access access) {
  return access >= Access::write ? "<CS:access><CS:read-write/></CS:access>"
                                 : "<CS:access><CS:read/></CS:access>";
}

/// Who was invited, in the words of Apple's protocol. Nobody has to accept, so everybody has.
bool cs_invite(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (is_owned(item) && item.shares.empty()) return false;
  ((out += "<CS:invite><CS:organizer><d:href>") += principal_href(view.mount, item.collection->owner_name)) +=
      "</d:href></CS:organizer>";
  for (const auto& share : item.shares) {
    ((out += "<CS:user><d:href>") += share_href(view, share)) += "</d:href><CS:common-name>";
    wire::append_escaped(out, share.display_name.empty() ? share.name : share.display_name);
    ((out += "</CS:common-name><CS:invite-accepted/>") += cs_access(share.access)) += "</CS:user>";
  }
  return put(out, "</CS:invite>");
}

std::string_view share_access_name(Access access) {
  return access >= Access::write ? "<d:share-access><d:read-write/></d:share-access>"
                                 : "<d:share-access><d:read/></d:share-access>";
}

/// The same in the words of draft-pot-webdav-resource-sharing, which books are shared with.
bool dav_invite(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (is_owned(item) && item.shares.empty()) return false;
  out += "<d:invite>";
  for (const auto& share : item.shares) {
    ((out += "<d:sharee><d:href>") += share_href(view, share)) +=
        "</d:href><d:invite-accepted/><d:prop><d:displayname>";
    wire::append_escaped(out, share.display_name.empty() ? share.name : share.display_name);
    ((out += "</d:displayname></d:prop>") += share_access_name(share.access)) += "</d:sharee>";
  }
  return put(out, "</d:invite>");
}

bool share_access(const Item& item, const View&, const Arguments*, std::string& out) {
  if (!is_owned(item)) return put(out, share_access_name(item.collection->access));
  return put(out, item.collection->is_shared ? "<d:share-access><d:shared-owner/></d:share-access>"
                                             : "<d:share-access><d:not-shared/></d:share-access>");
}

/// The same for everybody it is shared with.
bool share_resource_uri(const Item& item, const View&, const Arguments*, std::string& out) {
  ((out += "<d:share-resource-uri><d:href>urn:uuid:") += item.collection->uid) +=
      "</d:href></d:share-resource-uri>";
  return true;
}

constexpr LiveProperty kSharing[] = {
    {kServer, "allowed-sharing-modes", kCollection, false, 0, true, allowed_modes},
    {kServer, "invite", kCollection, false, needs::kShares, true, cs_invite},
    {kDav, "invite", kCollection, false, needs::kShares, true, dav_invite},
    {kDav, "share-access", kCollection, false, 0, true, share_access},
    {kDav, "share-resource-uri", kCollection, false, 0, true, share_resource_uri},
};

}  // namespace

std::span<const LiveProperty> sharing_properties() { return kSharing; }

}  // namespace welkin::dav::groupware
