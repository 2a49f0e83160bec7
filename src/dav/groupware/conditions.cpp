#include "dav/groupware/conditions.hpp"

#include <algorithm>

#include "dav/groupware/sync_state.hpp"
#include "dav/if_check.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav::groupware {
namespace {

using collections::Expect;

[[noreturn]] void fail() {
  throw Error(Errc::precondition_failed, "precondition_failed",
              "The resource is not in the state you expect");
}

struct Tags {
  bool any = false;
  std::vector<std::string> bare;
};

Tags read_tags(std::string_view list) {
  Tags tags;
  for (auto tag : text::split(list, ',')) {
    tag = text::trim(tag);
    if (tag == "*") tags.any = true;
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
    if (!tag.empty()) tags.bare.emplace_back(tag);
  }
  return tags;
}

bool matches(const Tags& tags, const Target& target) {
  if (!target.exists) return false;
  if (tags.any) return true;
  if (!target.object) return false;
  const auto etag = collections::etag_text(target.object->etag);
  return std::find(tags.bare.begin(), tags.bare.end(), etag) != tags.bare.end();
}

bool holds(const wire::IfCondition& condition, const Target& target) {
  bool is_true = false;
  if (condition.is_etag) {
    is_true = target.object && condition.value == etag_header(target.object->etag);
  } else if (target.collection && !target.object) {
    is_true = target.exists && condition.value == write_token(*target.collection);
  }
  return is_true != condition.negated;  // locks are none here, so a lock token is never true
}

/// Whether anything was asked of the request's own target.
Task<bool> require_if(const Services& services, const http::Request& rq, const Target& target) {
  const auto submitted = read_if(rq);
  if (!submitted.present) co_return false;
  bool any = false, asked_own = false;
  for (const auto& list : submitted.header.lists) {
    Target tagged;
    const auto spot = list.tagged ? spot_of_uri(rq, list.resource) : std::nullopt;
    const bool is_own = !list.tagged || (spot && spot->names == target.spot.names);
    if (!is_own && spot) tagged = co_await find_target(services, rq.caller(), *spot);
    asked_own = asked_own || is_own;
    const auto& of = is_own ? target : tagged;
    any = any || std::all_of(list.conditions.begin(), list.conditions.end(),
                             [&](const wire::IfCondition& condition) { return holds(condition, of); });
  }
  if (!any) fail();
  co_return asked_own;
}

Expect pinned(const Target& target) {
  if (!target.object) return {Expect::Kind::must_be_new, {}};
  return {Expect::Kind::etag_is, target.object->etag};
}

}  // namespace

Task<Expect> require_conditions(const Services& services, const http::Request& rq, const Target& target) {
  bool is_pinned = co_await require_if(services, rq, target);
  const auto& headers = rq.headers();
  Expect expect;
  if (headers.has("if-match")) {
    const auto tags = read_tags(headers.joined("if-match"));
    if (!matches(tags, target)) fail();
    if (tags.any) {
      expect.kind = Expect::Kind::must_exist;
    } else {
      is_pinned = true;
    }
  } else if (const auto since = times::from_http_date(headers.get("if-unmodified-since"));
             since && target.object) {
    if (times::seconds(target.object->modified_at) > times::seconds(*since)) fail();
    is_pinned = true;
  }
  if (headers.has("if-none-match")) {
    const auto tags = read_tags(headers.joined("if-none-match"));
    if (matches(tags, target)) fail();
    is_pinned = true;
  }
  co_return is_pinned ? pinned(target) : expect;
}

std::optional<collections::Etag> require_schedule_tag(const http::Request& rq, const Target& target) {
  if (!rq.headers().has("if-schedule-tag-match")) return std::nullopt;
  const auto tags = read_tags(rq.headers().joined("if-schedule-tag-match"));
  if (!target.object || !target.object->schedule_tag) fail();
  const auto& is = *target.object->schedule_tag;
  if (std::find(tags.bare.begin(), tags.bare.end(), collections::etag_text(is)) == tags.bare.end()) fail();
  return is;
}

bool names_etag(const http::Request& rq) {
  const auto tags = read_tags(rq.headers().joined("if-match"));
  return std::any_of(tags.bare.begin(), tags.bare.end(), [](const auto& tag) { return tag != "*"; });
}

Task<std::string> require_collection_state(const Services& services, const http::Request& rq,
                                           const Target& target) {
  const auto& headers = rq.headers();
  const bool asked = co_await require_if(services, rq, target);
  // A collection has no entity tag, so only the star can be true of it.
  if (headers.has("if-match") && !matches(read_tags(headers.joined("if-match")), target)) fail();
  if (headers.has("if-none-match") && matches(read_tags(headers.joined("if-none-match")), target)) fail();
  co_return asked ? target.collection->state() : std::string();
}

std::string etag_header(const collections::Etag& etag) { return '"' + collections::etag_text(etag) + '"'; }

}  // namespace welkin::dav::groupware
