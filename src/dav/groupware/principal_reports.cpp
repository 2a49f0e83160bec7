#include "dav/groupware/principal_reports.hpp"

#include <algorithm>

#include "dav/groupware/answer.hpp"
#include "dav/groupware/home_sync.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav::groupware {
namespace {

[[noreturn]] void refuse(const char* why) { throw Error(Errc::invalid, "bad_report", why); }

constexpr unsigned kSearchesPerWindow = 300, kSearchWindowSeconds = 600;

struct Searchable {
  std::string_view ns, name, about;
};
constexpr Searchable kSearchable[] = {
    {kDav, "displayname", "Name"},
    {kServer, "email-address-set", "E-mail address"},
    {kCaldav, "calendar-user-address-set", "Calendar address"},
};

Spot own_principal(const Spot& near, const Caller& caller) {
  return spot_at(near.mount, {"principals", "users", caller.name}, true);
}

Spot principal_of(const Spot& near, const people::Person& person) {
  return spot_at(near.mount, {"principals", "users", person.name}, true);
}

constexpr std::string_view kMail = "mailto:";

/// The texts a property of an account is searched in.
std::vector<std::string> values_of(const wire::XmlElement& property, const people::Person& person) {
  if (property.is(kDav, "displayname")) return {person.display_name};
  if (person.email.empty()) return {};
  if (property.is(kServer, "email-address-set")) return {person.email};
  if (property.is(kCaldav, "calendar-user-address-set")) return {std::string(kMail) + person.email};
  return {};
}

/// One DAV:property-search: all of its properties hold the text.
struct Search {
  const wire::XmlElement* prop;
  text::Matcher matcher;

  bool matches(const people::Person& person) const {
    return std::all_of(prop->children.begin(), prop->children.end(), [&](const wire::XmlElement& property) {
      const auto values = values_of(property, person);
      return std::any_of(values.begin(), values.end(),
                         [&](const auto& value) { return matcher.matches(value); });
    });
  }
};

struct Searches {
  std::vector<Search> all;
  bool any_of = false;
  std::string email;  // that was asked for in full: whoever knows it may find whose it is

  bool match(const people::Person& person) const {
    const auto hit = [&](const Search& search) { return search.matches(person); };
    return any_of ? std::any_of(all.begin(), all.end(), hit) : std::all_of(all.begin(), all.end(), hit);
  }
};

Searches read_searches(const wire::XmlElement& body) {
  Searches out;
  if (const auto* test = body.attribute("", "test")) out.any_of = *test == "anyof";
  for (const auto& child : body.children) {
    if (!child.is(kDav, "property-search")) continue;
    const auto* prop = child.child(kDav, "prop");
    const auto* wanted = child.child(kDav, "match");
    if (prop == nullptr || wanted == nullptr) refuse("A property-search has a prop and a match");
    auto type = text::MatchType::contains;
    if (const auto* named = wanted->attribute("", "match-type"))
      type = text::match_type_named(*named).value_or(text::MatchType::contains);
    out.all.push_back({prop, text::Matcher(text::Collation::unicode_casemap, type, wanted->text)});
    auto mail = wanted->trimmed();
    if (text::iequals(mail.substr(0, kMail.size()), kMail)) mail.remove_prefix(kMail.size());
    if (mail.find('@') != std::string_view::npos) out.email = mail;
  }
  if (out.all.empty()) refuse("A principal-property-search has a property-search");
  return out;
}

/// Those the caller may look through, and the one whose mail address he knows in full.
Task<std::vector<people::Person>> candidates(const ReportRequest& request, const std::string& email) {
  auto directory = request.services.people.directory();
  auto out = co_await directory.visible(request.rq.caller());
  if (email.empty() || request.services.config.people_search == "off") co_return out;
  request.services.people.count_attempt("people_search", std::to_string(request.rq.caller().user.value),
                                        kSearchesPerWindow, kSearchWindowSeconds);
  const auto known = co_await directory.with_email(email);
  const auto is_known = [&](const people::Person& person) { return known && person.id == known->id; };
  if (known && std::none_of(out.begin(), out.end(), is_known)) out.push_back(*known);
  co_return out;
}

/// Everybody in `found`, himself as himself.
Task<> tell(ReportRequest& request, const std::vector<people::Person>& found, std::size_t limit) {
  const auto query = read_report_props(request.body);
  Answer answer(request.services, request.rq, request.rp, query, request.target.spot);
  co_await answer.begin();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == limit) {
      answer.more(request.target.spot.href());
      break;
    }
    const bool is_self = found[i].id == request.rq.caller().user;
    co_await answer.place(principal_of(request.target.spot, found[i]), is_self ? nullptr : &found[i],
                          nullptr);
    co_await answer.send_if_long();
  }
  co_await answer.end();
}

}  // namespace

Task<> principal_property_search(ReportRequest& request) {
  const auto searches = read_searches(request.body);
  auto found = co_await candidates(request, searches.email);
  std::erase_if(found, [&](const people::Person& person) { return !searches.match(person); });
  co_await tell(request, found, people::Directory::kFoundMax);
}

/// Apple's: every word somewhere in the name or the mail address.
Task<> calendarserver_principal_search(ReportRequest& request) {
  std::vector<text::Matcher> words;
  std::string email;
  std::size_t limit = people::Directory::kFoundMax;
  for (const auto& child : request.body.children) {
    if (child.is(kServer, "search-token")) {
      words.emplace_back(text::Collation::unicode_casemap, text::MatchType::contains, child.text);
      if (child.text.find('@') != std::string::npos) email = child.trimmed();
    }
    if (const auto* count = child.is(kServer, "limit") ? child.child(kServer, "nresults") : nullptr)
      limit = std::min<std::size_t>(limit, text::number(count->trimmed()).value_or(limit));
  }
  if (words.empty()) refuse("A calendarserver-principal-search has a search-token");
  auto found = co_await candidates(request, email);
  std::erase_if(found, [&](const people::Person& person) {
    return !std::all_of(words.begin(), words.end(), [&](const text::Matcher& word) {
      return word.matches(person.display_name) || word.matches(person.email) || word.matches(person.name);
    });
  });
  co_await tell(request, found, limit);
}

/// Everybody in the access list (RFC 3744 §9.2), for whom the list may be read.
Task<> acl_principal_prop_set(ReportRequest& request) {
  const auto& collection = *request.target.collection;
  if (collection.access != collections::Access::own)
    forbid_privilege(request.target.spot.href(), "d:read-acl");
  const auto shares =
      co_await request.services.collections.sharing().list(request.rq.caller(), collection.id);
  const auto query = read_report_props(request.body);
  Answer answer(request.services, request.rq, request.rp, query, request.target.spot);
  co_await answer.begin();
  co_await answer.place(own_principal(request.target.spot, request.rq.caller()));
  for (const auto& share : shares) {
    if (share.is_group) {
      const people::Group group{GroupId{share.subject}, share.name, share.display_name};
      co_await answer.place(spot_at(request.target.spot.mount, {"principals", "groups", share.name}, true),
                            nullptr, &group);
    } else {
      const people::Person person{UserId{share.subject}, share.name,
                                  share.display_name.empty() ? share.name : share.display_name, ""};
      co_await answer.place(principal_of(request.target.spot, person), &person, nullptr);
    }
  }
  co_await answer.end();
}

Task<> principal_search_property_set(ReportRequest& request) {
  std::string out;
  wire::begin_dav_document(out, "principal-search-property-set", kNamespaces);
  for (const auto& one : kSearchable) {
    out += "<d:principal-search-property><d:prop>";
    wire::append_empty_element(out, one.ns, one.name, kNamespaces);
    ((out += "</d:prop><d:description xml:lang=\"en\">") += one.about) +=
        "</d:description></d:principal-search-property>";
  }
  out += "</d:principal-search-property-set>";
  co_await request.rp.send(http::Status::ok, "application/xml; charset=utf-8", std::move(out));
}

Task<> principal_match(ReportRequest& request) {
  const bool self = request.body.child(kDav, "self") != nullptr;
  if (!self && request.body.child(kDav, "principal-property") == nullptr)
    refuse("A principal-match has a self or a principal-property");
  const auto query = read_report_props(request.body);
  const auto& spot = request.target.spot;
  const auto& caller = request.rq.caller();
  Answer answer(request.services, request.rq, request.rp, query, spot);
  co_await answer.begin();
  if (self) {
    if ((spot.kind & (kRoot | kPrincipals | kPrincipal)) != 0)
      co_await answer.place(own_principal(spot, caller));
  } else if ((spot.kind & kHome) != 0) {
    auto mine = co_await request.services.collections.home(caller, spot.collection_kind());
    std::erase_if(mine, [](const auto& one) { return one.access != collections::Access::own; });
    co_await answer.collections(mine);
  }
  co_await answer.end();
}

namespace {

constexpr int kLevelsMax = 5;

/// Writes a response with the properties of one address, those that are hrefs expanded.
class Expander {
 public:
  Expander(ReportRequest& request, View view) : request_(request), view_(std::move(view)) {}

  Task<> response(Spot spot, const wire::XmlElement& wanted, int level) {
    const auto target = co_await find_target(request_.services, request_.rq.caller(), std::move(spot));
    const auto href = target.spot.href();
    ((out_ += "<d:response><d:href>") += href) += "</d:href>";
    if (!target.exists) {
      out_ += "<d:status>HTTP/1.1 404 Not Found</d:status></d:response>";
      co_return;
    }
    std::vector<collections::Property> stored;
    if (target.collection && !target.object)
      stored = co_await request_.services.collections.properties(request_.rq.caller(),
                                                                 {target.collection->id}, {});
    std::vector<collections::Share> shares;
    if (target.collection && !target.object)
      shares =
          co_await request_.services.collections.sharing().list(request_.rq.caller(), target.collection->id);
    std::string token;
    if ((target.spot.kind & kHome) != 0)
      token = co_await home_token(request_.services, request_.rq.caller(), target.spot.collection_kind());
    collections::ObjectRow row;
    if (target.object) row = collections::row_of(*target.object);
    const Item item{target.spot.kind,
                    href,
                    target.spot.user,
                    target.collection ? &*target.collection : nullptr,
                    target.object ? &row : nullptr,
                    stored,
                    shares,
                    target.person ? &*target.person : nullptr,
                    target.group ? &*target.group : nullptr,
                    token};
    std::string missing;
    out_ += "<d:propstat><d:prop>";
    for (const auto& property : wanted.children) {
      if (!property.is(kDav, "property")) continue;
      co_await one(item, target.spot.mount, property, level, missing);
    }
    out_ += "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>";
    if (!missing.empty())
      ((out_ += "<d:propstat><d:prop>") += missing) +=
          "</d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>";
    out_ += "</d:response>";
  }

  std::string& out() { return out_; }

 private:
  Task<> one(const Item& item, const std::string& mount, const wire::XmlElement& property, int level,
             std::string& missing) {
    const auto* name = property.attribute("", "name");
    const auto* ns = property.attribute("", "namespace");
    if (name == nullptr) refuse("A property has a name");
    const std::string space = ns == nullptr ? std::string(kDav) : *ns;
    const auto* live = find_live(space, *name);
    std::string value;
    const bool is_live = live != nullptr && (live->kinds & item.kind) != 0;
    if (!(is_live ? live->write(item, view_, nullptr, value) : put_stored(item, space, *name, value))) {
      wire::append_empty_element(missing, space, *name, kNamespaces);
      co_return;
    }
    if (property.children.empty() || level >= kLevelsMax) {
      out_ += value;
      co_return;
    }
    // Read again what was just written: the one place that needs it as a tree.
    std::string document;
    wire::begin_dav_document(document, "prop", kNamespaces);
    const auto tree = wire::parse_xml((document += value) += "</d:prop>");
    auto element = tree.children.at(0);
    std::vector<std::string> hrefs;
    for (const auto& child : element.children)
      if (child.is(kDav, "href")) hrefs.push_back(child.text);
    std::erase_if(element.children, [](const auto& child) { return child.is(kDav, "href"); });
    std::string shell;
    wire::append_xml(shell, element);
    const auto end = shell.ends_with("/>") ? shell.size() - 2 : shell.rfind("</");
    out_ += shell.substr(0, end);
    if (shell.ends_with("/>")) out_ += '>';
    for (const auto& href : hrefs)
      if (auto spot = spot_of_uri(request_.rq, href))
        co_await response(spot_at(mount, std::move(spot->names), spot->has_slash), property, level + 1);
    out_ += shell.ends_with("/>") ? "</" + element.name + ">" : shell.substr(end);
  }

  ReportRequest& request_;
  View view_;
  std::string out_;
};

}  // namespace

Task<> expand_property(ReportRequest& request) {
  auto& files = request.services.files;
  View view{request.rq.caller(),
            request.target.spot.mount,
            co_await request.services.people.me(request.rq.caller()),
            nullptr,
            {},
            request.services.scheduling.is_on(),
            {},
            co_await request.services.people.directory().groups_of(request.rq.caller()),
            co_await files.drive_use((co_await files.home(request.rq.caller())).drive)};
  if (view.scheduling)
    view.default_calendar = co_await request.services.scheduling.default_calendar(request.rq.caller());
  Expander expander(request, std::move(view));
  wire::Multistatus(expander.out()).begin(kNamespaces);
  co_await expander.response(request.target.spot, request.body, 0);
  expander.out() += "</d:multistatus>";
  request.rp.set("Cache-Control", "private, no-cache");
  co_await request.rp.send(http::Status::multi_status, "application/xml; charset=utf-8",
                           std::move(expander.out()));
}

}  // namespace welkin::dav::groupware
