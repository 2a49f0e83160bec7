#include "dav/groupware/live.hpp"

namespace welkin::dav::groupware {
namespace {

bool hrefs(std::string& out, std::string_view element, std::string_view href) {
  ((((((out += "<") += element) += "><d:href>") += href) += "</d:href></") += element) += ">";
  return true;
}

bool is_self(const Item& item) { return item.person == nullptr && item.group == nullptr; }

std::string_view email_of(const Item& item, const View& view) {
  if (item.group != nullptr) return {};
  return item.person != nullptr ? item.person->email : view.me.email;
}

bool current_user_principal(const Item&, const View& view, const Arguments*, std::string& out) {
  return hrefs(out, "d:current-user-principal", principal_href(view.mount, view.caller.name));
}

bool principal_url(const Item& item, const View& view, const Arguments*, std::string& out) {
  return hrefs(
      out, "d:principal-URL",
      item.group != nullptr ? group_href(view.mount, item.user) : principal_href(view.mount, item.user));
}

bool alternate_uri_set(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<d:alternate-URI-set/>");
}

/// One's own groups; those of others are not told.
bool group_membership(const Item& item, const View& view, const Arguments*, std::string& out) {
  out += "<d:group-membership>";
  if (is_self(item))
    for (const auto& group : view.groups)
      ((out += "<d:href>") += group_href(view.mount, group.name)) += "</d:href>";
  return put(out, "</d:group-membership>");
}

bool group_member_set(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<d:group-member-set/>");
}

bool principal_collection_set(const Item&, const View& view, const Arguments*, std::string& out) {
  std::string href;
  wire::append_escaped(href, view.mount);
  return hrefs(out, "d:principal-collection-set", href += "/principals/");
}

bool calendar_home_set(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!is_self(item) || (view.caller.protocol_mask & protocols::kCaldav) == 0) return false;
  return hrefs(out, "C:calendar-home-set", home_href(view.mount, collections::Kind::calendar, item.user));
}

bool addressbook_home_set(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (!is_self(item) || (view.caller.protocol_mask & protocols::kCarddav) == 0) return false;
  return hrefs(out, "A:addressbook-home-set", home_href(view.mount, collections::Kind::book, item.user));
}

bool calendar_user_address_set(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (item.group != nullptr) return false;
  out += "<C:calendar-user-address-set>";
  if (!email_of(item, view).empty()) {  // mail first: that is what clients put into ORGANIZER
    out += "<d:href preferred=\"1\">mailto:";
    wire::append_escaped(out, email_of(item, view));
    out += "</d:href>";
  }
  ((out += "<d:href>") += principal_href(view.mount, item.user)) += "</d:href>";
  return put(out, "</C:calendar-user-address-set>");
}

bool calendar_user_type(const Item& item, const View&, const Arguments*, std::string& out) {
  if (item.group != nullptr) return put(out, "<C:calendar-user-type>GROUP</C:calendar-user-type>");
  return put(out, "<C:calendar-user-type>INDIVIDUAL</C:calendar-user-type>");
}

bool email_address_set(const Item& item, const View& view, const Arguments*, std::string& out) {
  if (email_of(item, view).empty()) return put(out, "<CS:email-address-set/>");
  out += "<CS:email-address-set><CS:email-address>";
  wire::append_escaped(out, email_of(item, view));
  return put(out, "</CS:email-address></CS:email-address-set>");
}

bool proxy_read_for(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<CS:calendar-proxy-read-for/>");
}

bool proxy_write_for(const Item&, const View&, const Arguments*, std::string& out) {
  return put(out, "<CS:calendar-proxy-write-for/>");
}

bool record_type(const Item& item, const View&, const Arguments*, std::string& out) {
  if (item.group != nullptr) return put(out, "<CS:record-type>groups</CS:record-type>");
  return put(out, "<CS:record-type>users</CS:record-type>");
}

constexpr LiveProperty kPrincipals_[] = {
    {kDav, "current-user-principal", kAny, false, 0, true, current_user_principal},
    {kDav, "principal-collection-set", kAny, false, 0, true, principal_collection_set},
    {kDav, "principal-URL", kPrincipal, false, 0, true, principal_url},
    {kDav, "alternate-URI-set", kPrincipal, false, 0, true, alternate_uri_set},
    {kDav, "group-membership", kPrincipal, false, needs::kAccount, true, group_membership},
    {kDav, "group-member-set", kPrincipal, false, 0, true, group_member_set},
    {kCaldav, "calendar-home-set", kPrincipal, false, 0, true, calendar_home_set},
    {kCarddav, "addressbook-home-set", kPrincipal, false, 0, true, addressbook_home_set},
    {kCaldav, "calendar-user-address-set", kPrincipal, false, needs::kAccount, true,
     calendar_user_address_set},
    {kCaldav, "calendar-user-type", kPrincipal, false, 0, true, calendar_user_type},
    {kServer, "email-address-set", kPrincipal, false, needs::kAccount, true, email_address_set},
    {kServer, "calendar-proxy-read-for", kPrincipal, false, 0, true, proxy_read_for},
    {kServer, "calendar-proxy-write-for", kPrincipal, false, 0, true, proxy_write_for},
    {kServer, "record-type", kPrincipal, false, 0, true, record_type},
};

}  // namespace

std::span<const LiveProperty> principal_properties() { return kPrincipals_; }

}  // namespace welkin::dav::groupware
