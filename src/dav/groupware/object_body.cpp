#include "dav/groupware/object_body.hpp"

#include "dav/groupware/limits.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/calendars/stored.hpp"
#include "welkin/contacts/stored.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav::groupware {
namespace {

/// Beyond this nobody is listened to any more.
constexpr std::uint64_t kReadBytesMax = std::uint64_t{64} << 20;

/// What says nothing, or that it is bytes, is looked at anyway.
void require_type(const http::Request& rq, bool calendar) {
  const auto header = rq.header("content-type");
  const auto type = text::lower(text::trim(header.substr(0, header.find(';'))));
  if (type.empty() || type == "application/octet-stream") return;
  if (calendar) {
    if (type == "text/calendar") return;
    forbid("C:supported-calendar-data");
  }
  if (type == "text/vcard" || type == "text/x-vcard" || type == "text/directory") return;
  forbid("A:supported-address-data");
}

}  // namespace

Task<std::string> read_object_body(http::Request& rq, bool calendar) {
  rq.limit_body(kReadBytesMax);
  std::string data;
  bool too_long = rq.content_length().value_or(0) > kObjectBytesMax;
  if (!too_long) require_type(rq, calendar);
  for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read()) {
    too_long = too_long || data.size() + piece.size() > kObjectBytesMax;
    if (!too_long) data += as_text(piece);
  }
  if (too_long) forbid(calendar ? "C:max-resource-size" : "A:max-resource-size");
  co_return data;
}

collections::Facts read_facts(const std::string& data, const Target& target) {
  if (target.spot.kind == kCalendarObject) return calendars::facts_of(data, target.collection->components);
  return contacts::facts_of(data, target.spot.object);
}

}  // namespace welkin::dav::groupware
