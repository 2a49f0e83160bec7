#include "dav/groupware/card_data.hpp"

#include <optional>

#include "dav/groupware/filter_text.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/vcard_filter.hpp"

namespace welkin::dav::groupware {
namespace {

using wire::CardVersion;

CardVersion version_of(const Arguments* request) {
  const auto* version = request == nullptr ? nullptr : request->attribute("", "version");
  return version == nullptr ? CardVersion::v3_0 : wire::card_version(*version).value_or(CardVersion::v3_0);
}

std::vector<wire::CardPropRequest> props_of(const Arguments* request) {
  std::vector<wire::CardPropRequest> out;
  if (request == nullptr || request->child(kCarddav, "allprop") != nullptr) return out;
  for (const auto& prop : request->children) {
    const auto* name = prop.is(kCarddav, "prop") ? prop.attribute("", "name") : nullptr;
    if (name == nullptr) continue;
    wire::CardPropRequest wanted;
    wanted.name = upper_name(*name);
    wanted.no_value = says_yes(prop, "novalue");
    out.push_back(std::move(wanted));
  }
  return out;
}

std::optional<wire::Card> read_card(std::string_view data) {
  try {
    return wire::parse_card(data);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string written(const wire::Card& card) {
  std::string out;
  wire::append_card(out, card);
  return out;
}

/// One of the types of an Accept header, and how much it is wanted, in thousandths.
struct Wanted {
  std::string type, version;
  unsigned weight = 1000;
};

Wanted read_wanted(std::string_view item) {
  Wanted wanted;
  bool first = true;
  for (const auto part : text::split(item, ';')) {
    const auto trimmed = text::trim(part);
    if (first) wanted.type = text::lower(trimmed);
    first = false;
    const auto equals = trimmed.find('=');
    if (equals == std::string_view::npos) continue;
    const auto name = text::lower(text::trim(trimmed.substr(0, equals)));
    auto value = text::trim(trimmed.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    if (name == "version") wanted.version = value;
    if (name != "q") continue;
    // "0.85": the digits after the point, as if there were three.
    wanted.weight = value.starts_with('1') ? 1000 : 0;
    unsigned unit = 100;
    for (std::size_t i = 2; i < value.size() && i < 5 && wanted.weight < 1000; ++i, unit /= 10)
      if (value[i] >= '0' && value[i] <= '9') wanted.weight += unit * static_cast<unsigned>(value[i] - '0');
  }
  return wanted;
}

}  // namespace

void check_address_data(const Arguments* request) {
  if (request == nullptr) return;
  const auto* type = request->attribute("", "content-type");
  const auto* version = request->attribute("", "version");
  const bool is_vcard = type == nullptr || text::iequals(*type, "text/vcard");
  const bool is_known = version == nullptr || *version == "3.0" || *version == "4.0";
  if (!is_vcard || !is_known) forbid("A:supported-address-data");
}

std::string render_card(std::string_view data, const Arguments* request) {
  const auto version = version_of(request);
  const auto props = props_of(request);
  const auto card = read_card(data);
  if (!card || (card->version == version && props.empty())) return std::string(data);
  auto made = wire::convert_card(*card, version);
  if (!props.empty()) made = wire::select_properties(made, props);
  return written(made);
}

Negotiated negotiate_card(std::string_view data, std::string_view accept) {
  Negotiated out;
  const auto card = read_card(data);
  std::optional<CardVersion> best;
  bool any = accept.empty();
  unsigned weight = 0;
  for (const auto item : text::split(accept, ',')) {
    const auto wanted = read_wanted(item);
    if (wanted.weight == 0) continue;
    const bool is_ours =
        wanted.type == "text/vcard" || wanted.type == "text/x-vcard" || wanted.type == "text/directory";
    if (wanted.type == "*/*" || wanted.type == "text/*" || (is_ours && wanted.version.empty())) any = true;
    const auto version = is_ours ? wire::card_version(wanted.version) : std::nullopt;
    if (!version || *version == CardVersion::v2_1 || wanted.weight <= weight) continue;
    best = version;
    weight = wanted.weight;
  }
  out.is_acceptable = best.has_value() || any;
  if (!best || !card || card->version == *best) {
    out.data = data;
  } else {
    out.data = written(wire::convert_card(*card, *best));
  }
  return out;
}

}  // namespace welkin::dav::groupware
