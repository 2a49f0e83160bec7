#include "dav/groupware/sharing_post.hpp"

#include "dav/groupware/feed.hpp"
#include "dav/groupware/live.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/collections/feeds.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/resource.hpp"

namespace welkin::dav::groupware {
namespace {

using collections::Access;

constexpr std::size_t kNamedMax = 100;
// Asking for names is a way to find out who is here.
constexpr unsigned kNamedPerWindow = 300, kNamedWindowSeconds = 600;

[[noreturn]] void refuse(const char* why) { throw Error(Errc::invalid, "bad_sharing", why); }

/// One sentence of a request: who, and what he is given. Unset: nothing any more.
struct Wish {
  std::string href;
  std::optional<Access> access;
};

Wish read_set(const wire::XmlElement& element) {
  const auto* href = element.child(kDav, "href");
  if (href == nullptr) refuse("Who is meant is missing");
  const bool writes = element.child(kServer, "read-write") != nullptr;
  return {std::string(href->trimmed()), writes ? Access::write : Access::read};
}

std::vector<Wish> read_cs_share(const wire::XmlElement& body) {
  std::vector<Wish> out;
  for (const auto& child : body.children) {
    if (child.is(kServer, "set")) out.push_back(read_set(child));
    if (!child.is(kServer, "remove")) continue;
    out.push_back(read_set(child));
    out.back().access.reset();
  }
  return out;
}

std::vector<Wish> read_share_resource(const wire::XmlElement& body) {
  std::vector<Wish> out;
  for (const auto& child : body.children) {
    if (!child.is(kDav, "sharee")) continue;
    auto wish = read_set(child);
    const auto* access = child.child(kDav, "share-access");
    if (access == nullptr) refuse("A sharee has a share-access");
    if (access->child(kDav, "read-write") != nullptr) {
      wish.access = Access::write;
    } else if (access->child(kDav, "no-access") != nullptr) {
      wish.access.reset();
    } else if (access->child(kDav, "read") == nullptr) {
      refuse("A share-access is read, read-write or no-access");
    }
    out.push_back(std::move(wish));
  }
  return out;
}

/// The user or group an address means; 0: nobody we know.
Task<std::int64_t> subject_of(const Services& services, const http::Request& rq, const std::string& href) {
  constexpr std::string_view kMail = "mailto:";
  auto directory = services.people.directory();
  if (text::iequals(std::string_view(href).substr(0, kMail.size()), kMail)) {
    const auto person = co_await directory.with_email(href.substr(kMail.size()));
    co_return person ? person->id.value : 0;
  }
  const auto spot = spot_of_uri(rq, href);
  if (!spot || spot->kind != kPrincipal) co_return 0;
  if (spot->is_group()) {
    const auto group = co_await directory.group(rq.caller(), spot->user);
    co_return group ? group->id.value : 0;
  }
  const auto person = co_await directory.named(spot->user);
  co_return person ? person->id.value : 0;
}

Task<> share(const Services& services, http::Request& rq, http::Reply& rp, const Target& target,
             std::vector<Wish> wishes) {
  if (wishes.empty()) refuse("Nobody is named");
  if (wishes.size() > kNamedMax) refuse("At most 100 can be named at once");
  std::vector<collections::ShareChange> changes;
  std::vector<bool> known;
  for (const auto& wish : wishes) {
    services.people.count_attempt("share", std::to_string(rq.caller().user.value), kNamedPerWindow,
                                  kNamedWindowSeconds);
    const auto subject = co_await subject_of(services, rq, wish.href);
    known.push_back(subject != 0);
    if (subject != 0) changes.push_back({subject, wish.access});
  }
  const bool all_known = changes.size() == wishes.size();
  co_await services.collections.sharing().change(rq.caller(), target.collection->id, std::move(changes));
  rp.set("Cache-Control", "no-cache");
  if (all_known) {
    co_await rp.send(http::Status::ok);
    co_return;
  }
  std::string text;
  wire::Multistatus out(text);
  out.begin(kNamespaces);
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    std::string href;
    wire::append_escaped(href, wishes[i].href);
    out.begin_response(href);
    out.status(known[i] ? 200 : 404);
    out.end_response();
  }
  out.end();
  co_await rp.send(http::Status::multi_status, "application/xml; charset=utf-8", std::move(text));
}

Task<> publish(const Services& services, http::Request& rq, http::Reply& rp, const Target& target) {
  const auto token = co_await services.collections.feeds().publish(rq.caller(), target.collection->id, {});
  const auto url = feed_url(rq, token);
  std::string text;
  wire::begin_dav_document(text, "prop", kNamespaces);
  text += "<CS:publish-url><d:href>";
  wire::append_escaped(text, url);
  text += "</d:href></CS:publish-url></d:prop>";
  rp.set("Location", url);
  rp.set("Cache-Control", "no-store");
  co_await rp.send(http::Status::ok, "application/xml; charset=utf-8", std::move(text));
}

}  // namespace

Task<> post_to_collection(const Services& services, http::Request& rq, http::Reply& rp,
                          const Target& target) {
  const auto body = co_await read_xml(rq);
  if (!body) refuse("The body says nothing");
  if (target.collection->access != Access::own || (rq.caller().rights_mask & rights::kShare) == 0)
    forbid_privilege(target.spot.href(), "d:share");
  const bool is_calendar = target.spot.kind == kCalendar;
  if (body->is(kServer, "share")) {
    co_await share(services, rq, rp, target, read_cs_share(*body));
  } else if (body->is(kDav, "share-resource")) {
    co_await share(services, rq, rp, target, read_share_resource(*body));
  } else if (is_calendar && body->is(kServer, "publish-calendar")) {
    co_await publish(services, rq, rp, target);
  } else if (is_calendar && body->is(kServer, "unpublish-calendar")) {
    co_await services.collections.feeds().unpublish(rq.caller(), target.collection->id);
    co_await rp.send(http::Status::ok);
  } else {
    refuse("The body is none of share, share-resource, publish-calendar and unpublish-calendar");
  }
}

}  // namespace welkin::dav::groupware
