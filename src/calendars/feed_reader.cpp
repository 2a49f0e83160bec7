#include <fmt/core.h>

#include <set>

#include "welkin/calendars/object.hpp"
#include "welkin/calendars/stored.hpp"
#include "welkin/calendars/subscriptions.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

constexpr std::size_t kLinesMax = 2'000'000;

constexpr std::string_view kNoUid = "welkin-no-uid-";

/// Tells apart what has no UID until its content has named it.
std::string no_uid() {
  thread_local std::uint64_t made = 0;
  return std::string(kNoUid) + std::to_string(++made);
}

std::string digest_of(std::string_view text) {
  const auto digest = crypto::sha256(text);
  return text::hex(std::as_bytes(std::span(digest)));
}

/// What says the same in other words does not count: who wrote it when, under which UID.
std::string content_of(wire::IcalComponent object) {
  static const std::set<std::string, std::less<>> kPassing = {"UID",           "DTSTAMP", "CREATED",
                                                              "LAST-MODIFIED", "PRODID",  "SEQUENCE"};
  const auto is_passing = [](const wire::IcalProperty& property) { return kPassing.contains(property.name); };
  std::erase_if(object.properties, is_passing);
  for (auto& component : object.components) std::erase_if(component.properties, is_passing);
  std::string out;
  wire::append_ical(out, object);
  return digest_of(out);
}

std::optional<FeedObject> feed_object(wire::IcalComponent object) {
  FeedObject out;
  out.content = content_of(object);
  for (auto& component : object.components)
    if (kind_named(component.name) && component.value("UID").starts_with(kNoUid))
      component.set("UID", out.content);
  wire::append_ical(out.data, object);
  try {
    out.uid = facts_of(out.data, collections::component::kAll).uid;
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<std::vector<FeedObject>> read_feed(std::string_view text) {
  wire::IcalLimits limits;
  limits.lines_max = kLinesMax;
  std::vector<wire::IcalComponent> objects;
  try {
    const auto calendars = wire::parse_icals(text, limits);
    if (calendars.empty()) return std::nullopt;
    objects = split_objects(calendars, no_uid);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::vector<FeedObject> out;
  std::set<std::string> uids;
  for (auto& object : objects) {
    if (out.size() >= Subscriptions::kObjectsMax) break;
    auto made = feed_object(std::move(object));
    if (made && uids.insert(made->uid).second) out.push_back(*std::move(made));
  }
  return out;
}

}  // namespace welkin::calendars
