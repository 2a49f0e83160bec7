#include "welkin/calendars/file.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "welkin/calendars/object.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

using wire::ComponentSplitter;

constexpr std::size_t kObjectsMax = 200'000;
constexpr std::string_view kHead = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Welkin//Welkin//EN\r\n";

/// Reads one component, as if it stood alone in a calendar.
wire::IcalComponent read(std::string_view text) {
  std::string whole = "BEGIN:VCALENDAR\r\n";
  (whole += text) += text.ends_with('\n') ? "END:VCALENDAR" : "\r\nEND:VCALENDAR";
  auto calendar = wire::parse_ical(whole);
  if (calendar.components.size() != 1)
    throw Error(Errc::forbidden, "valid_calendar_data", "BEGIN and END do not fit");
  return std::move(calendar.components.front());
}

void collect_zones(const wire::IcalComponent& component, std::set<std::string>& out) {
  for (const auto& property : component.properties)
    if (const auto tzid = property.parameter_value("TZID"); !tzid.empty()) out.emplace(tzid);
  for (const auto& below : component.components) collect_zones(below, out);
}

/// 128 bits of the component itself, as a UUID looks.
std::string uid_of(std::string_view text) {
  const auto digest = crypto::sha256(text);
  auto out = text::hex(std::as_bytes(std::span(digest))).substr(0, 32);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) out.insert(at, 1, '-');
  return out;
}

std::vector<std::string> told(std::string_view data) {
  std::vector<std::string> out;
  for (auto& component : wire::parse_ical(data).components) {
    if (component.name == "VTIMEZONE") continue;
    std::sort(component.properties.begin(), component.properties.end(), [](const auto& a, const auto& b) {
      return std::tie(a.name, a.value) < std::tie(b.name, b.value);
    });
    wire::append_ical(out.emplace_back(), component);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void CalendarJoiner::begin(std::string& out, std::string_view name) {
  (out += kHead) += "CALSCALE:GREGORIAN\r\n";
  wire::append_ical(out, {"X-WR-CALNAME", {}, wire::ical_escape(name)});
}

bool CalendarJoiner::add(std::string& out, std::string_view data,
                         const std::function<void(wire::IcalComponent&)>& change) {
  try {
    auto calendar = wire::parse_ical(data);
    for (auto& component : calendar.components) {
      if (component.name == "VTIMEZONE" && !zones_.insert(std::string(component.value("TZID"))).second)
        continue;
      if (change) change(component);
      wire::append_ical(out, component);
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

void CalendarJoiner::end(std::string& out) { out += "END:VCALENDAR\r\n"; }

CalendarFile::CalendarFile() : splitter_(ComponentSplitter::Of::calendars, kObjectBytesMax) {}

void CalendarFile::feed(std::string_view piece) {
  splitter_.feed(piece);
  for (auto& each : splitter_.take()) take(std::move(each));
}

void CalendarFile::finish() {
  splitter_.finish();
  for (auto& each : splitter_.take()) take(std::move(each));
  if (!splitter_.has_seen_any()) throw Error(Errc::invalid, "no_calendar", "This is no iCalendar file");
}

void CalendarFile::skip(const ComponentSplitter::Piece& piece, std::string slug, std::string reason) {
  if (skipped_.size() >= kObjectsMax)
    throw Error(Errc::invalid, "too_many_objects", "There is too much in the file that cannot be read");
  skipped_.push_back({piece.line, "", "", std::move(slug), std::move(reason)});
}

void CalendarFile::take(ComponentSplitter::Piece piece) {
  if (piece.fault == ComponentSplitter::Fault::large)
    return skip(piece, "max_resource_size", "It is too large");
  try {
    const auto component = read(piece.text);
    if (piece.name == "VTIMEZONE") {
      held_bytes_ += piece.text.size();
      zones_.try_emplace(component.text("TZID"), std::move(piece.text));
    } else if (!kind_named(piece.name)) {
      skip(piece, "supported_calendar_component", "Calendars hold no " + piece.name.substr(0, 64));
    } else {
      add(std::move(piece), component);
    }
  } catch (const Error& e) {
    if (e.code() != Errc::forbidden) throw;
    skip(piece, e.slug(), e.what());
  }
  if (held_bytes_ > kFileBytesMax)
    throw Error(Errc::too_large, "body_too_large",
                "A calendar file has at most 64 MiB: take it apart, or put its objects one by one");
}

void CalendarFile::add(ComponentSplitter::Piece piece, const wire::IcalComponent& component) {
  Part part;
  part.line = piece.line;
  auto uid = std::string(component.value("UID"));
  if (uid.empty()) {
    uid = uid_of(piece.text);
    // Behind the line of BEGIN; a UID that is empty gives way.
    std::string without;
    wire::IcalComponent copy = component;
    copy.set("UID", uid);
    wire::append_ical(without, copy);
    piece.text = std::move(without);
  }
  if (!piece.text.ends_with('\n')) piece.text += "\r\n";
  collect_zones(component, part.zones);
  held_bytes_ += piece.text.size();
  part.text = std::move(piece.text);
  const auto [at, is_new] = places_.emplace(std::pair(component.name, uid), groups_.size());
  if (is_new) {
    if (groups_.size() >= kObjectsMax)
      throw Error(Errc::invalid, "too_many_objects",
                  "There are more objects in the file than can be taken at once");
    groups_.push_back({uid, component.text("SUMMARY"), {}});
  }
  groups_[at->second].parts.push_back(std::move(part));
}

CalendarFile::Object CalendarFile::next() {
  auto group = std::move(groups_[at_++]);
  Object out;
  out.uid = std::move(group.uid);
  out.title = std::move(group.title);
  out.line = group.parts.front().line;
  out.data = kHead;
  std::set<std::string> zones;
  for (const auto& part : group.parts) zones.insert(part.zones.begin(), part.zones.end());
  for (const auto& name : zones) {
    const auto known = zones_.find(name);
    if (known == zones_.end()) continue;
    out.data += known->second;
    if (!known->second.ends_with('\n')) out.data += "\r\n";
  }
  for (const auto& part : group.parts) out.data += part.text;
  out.data += "END:VCALENDAR\r\n";
  return out;
}

bool say_the_same(std::string_view one, std::string_view other) {
  try {
    return told(one) == told(other);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace welkin::calendars
