#include "dav/groupware/prop_query.hpp"

#include <algorithm>
#include <set>

#include "dav/groupware/card_data.hpp"
#include "dav/groupware/filter_reader.hpp"
#include "welkin/core/error.hpp"

namespace welkin::dav::groupware {
namespace {

constexpr std::size_t kAskedMax = 256;

void ask(PropQuery& query, const wire::XmlElement& prop) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& asked : query.asked) seen.emplace(asked.ns, asked.name);
  for (const auto& element : prop.children) {
    if (!seen.emplace(element.ns, element.name).second) continue;
    if (seen.size() > kAskedMax)
      throw Error(Errc::invalid, "too_many_properties", "At most 256 properties can be asked for at once");
    const auto* live = find_live(element.ns, element.name);
    query.asked.push_back({element.ns, element.name, live, &element, true});
    query.needs |= live == nullptr ? needs::kStored : live->needs;
    if (element.is(kCarddav, "address-data")) check_address_data(&element);
    if (element.is(kCaldav, "calendar-data")) query.calendar_data = read_calendar_data(element);
  }
}

void ask_all(PropQuery& query) {
  query.show = PropQuery::Show::all;
  query.needs |= needs::kStored;
  for (const auto table : live_tables()) {
    for (const auto& live : table) {
      if (!live.in_allprop) continue;
      query.asked.push_back({live.ns, live.name, &live, nullptr, false});
      query.needs |= live.needs;
    }
  }
}

/// The one of the three that is there, read.
bool read_choice(PropQuery& query, const wire::XmlElement& in) {
  const auto* prop = in.child(kDav, "prop");
  const auto* names = in.child(kDav, "propname");
  const auto* all = in.child(kDav, "allprop");
  if ((prop != nullptr) + (names != nullptr) + (all != nullptr) > 1)
    throw Error(Errc::invalid, "bad_propfind", "One of prop, propname and allprop can be asked for");
  if (prop != nullptr) {
    query.show = PropQuery::Show::some;
    ask(query, *prop);
  } else if (names != nullptr) {
    query.show = PropQuery::Show::names;
    query.needs = needs::kStored | needs::kAccount;
  } else if (all != nullptr) {
    ask_all(query);
    if (const auto* include = in.child(kDav, "include")) ask(query, *include);
  } else {
    return false;
  }
  return true;
}

bool is_live_of(const Item& item, std::string_view ns, std::string_view name) {
  const auto* live = find_live(ns, name);
  return live != nullptr && (live->kinds & item.kind) != 0;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> PropQuery::stored_names() const {
  std::vector<std::pair<std::string, std::string>> names;
  if (show != Show::some) return names;
  for (const auto& one : asked)
    if (one.live == nullptr || (one.live->needs & needs::kStored) != 0) names.emplace_back(one.ns, one.name);
  return names;
}

PropQuery read_propfind(const wire::XmlElement* body) {
  PropQuery query;
  if (body == nullptr) {
    ask_all(query);
    return query;
  }
  if (!body->is(kDav, "propfind")) throw Error(Errc::invalid, "bad_propfind", "The body is no DAV:propfind");
  if (!read_choice(query, *body))
    throw Error(Errc::invalid, "bad_propfind", "A DAV:propfind holds one of prop, propname and allprop");
  return query;
}

PropQuery read_report_props(const wire::XmlElement& report) {
  PropQuery query;
  if (!read_choice(query, report)) query.show = PropQuery::Show::nothing;
  return query;
}

void ItemWriter::names(const Item& item, const View& view, wire::Multistatus& out) {
  out.begin_propstat();
  for (const auto table : live_tables()) {
    for (const auto& live : table) {
      if ((live.kinds & item.kind) == 0) continue;
      // What is made of what was not looked up is there whatever it says.
      ignored_.clear();
      if ((live.needs & (needs::kTimes | needs::kData)) == 0 && !live.write(item, view, nullptr, ignored_))
        continue;
      wire::append_empty_element(out.out(), live.ns, live.name, kNamespaces);
    }
  }
  for (const auto& stored : item.stored)
    if (!is_live_of(item, stored.ns, stored.name))
      wire::append_empty_element(out.out(), stored.ns, stored.name, kNamespaces);
  out.end_propstat(200);
}

void ItemWriter::propstats(const Item& item, const View& view, wire::Multistatus& out) {
  if (query_.show == PropQuery::Show::nothing) {
    out.status(200);
    return;
  }
  if (query_.show == PropQuery::Show::names) {
    names(item, view, out);
    return;
  }
  std::string& text = out.out();
  missing_.clear();
  const auto before = text.size();
  out.begin_propstat();
  const auto empty = text.size();
  for (const auto& asked : query_.asked) {
    const bool is_live = asked.live != nullptr && (asked.live->kinds & item.kind) != 0;
    if (is_live ? asked.live->write(item, view, asked.arguments, text)
                : put_stored(item, asked.ns, asked.name, text))
      continue;
    if (asked.missing_is_told && !minimal_)
      wire::append_empty_element(missing_, asked.ns, asked.name, kNamespaces);
  }
  if (query_.show == PropQuery::Show::all) {
    for (const auto& stored : item.stored) {
      const bool told = std::any_of(query_.asked.begin(), query_.asked.end(), [&](const auto& asked) {
        return asked.name == stored.name && asked.ns == stored.ns;
      });
      if (!told && !is_live_of(item, stored.ns, stored.name)) text += stored.value;
    }
  }
  if (text.size() != empty || missing_.empty()) {
    out.end_propstat(200);
  } else {
    text.resize(before);
  }
  if (missing_.empty()) return;
  out.begin_propstat();
  text += missing_;
  out.end_propstat(404);
}

}  // namespace welkin::dav::groupware
