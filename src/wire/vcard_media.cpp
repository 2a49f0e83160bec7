#include "vcard_media.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "ical_scan.hpp"
#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

bool is_base64(const CardProperty& property) {
  const auto encoding = text::lower(property.parameter_value("ENCODING"));
  return encoding == "b" || encoding == "base64";
}

/// What the first bytes say, for writers that name no type.
std::string_view guessed_type(std::string_view base64) {
  if (base64.starts_with("/9j/")) return "image/jpeg";
  if (base64.starts_with("iVBORw0KGgo")) return "image/png";
  if (base64.starts_with("R0lGOD")) return "image/gif";
  return "application/octet-stream";
}

/// TYPE and MEDIATYPE of 3.0 to a media type; what is no format stays in `left`.
std::string media_type_of(const CardProperty& property, std::vector<std::string>& left) {
  std::string found;
  for (const auto& type : property.types()) {
    if (type == "home" || type == "work" || type == "pref" || !found.empty()) {
      left.push_back(type);
    } else if (type.find('/') != std::string::npos) {
      found = type;
    } else if (property.name == "KEY") {
      found = type == "pgp"    ? "application/pgp-keys"
              : type == "x509" ? "application/pkix-cert"
                               : "application/" + type;
    } else if (property.name == "SOUND") {
      found = "audio/" + type;
    } else {
      found = "image/" + (type == "jpg" ? std::string("jpeg") : type);
    }
  }
  return found.empty() ? std::string(guessed_type(property.value)) : found;
}

void set_types(CardProperty& property, const std::vector<std::string>& types) {
  std::erase_if(property.parameters, [](const auto& p) { return p.name == "TYPE"; });
  if (!types.empty()) property.parameters.push_back({"TYPE", types});
}

std::string type_of_media(std::string_view media) {
  if (media == "application/pgp-keys") return "PGP";
  if (media == "application/pkix-cert") return "X509";
  const auto slash = media.find('/');
  return upper(slash == std::string_view::npos ? media : media.substr(slash + 1));
}

/// What a reader of 3.0 takes as it stands: it passes over blanks, and knows types as words.
bool is_plain_base64(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '/' || c == '=';
  });
}
bool is_plain_type(std::string_view media) {
  return std::all_of(media.begin(), media.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/+-.").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

bool is_media(std::string_view name) {
  return name == "PHOTO" || name == "LOGO" || name == "SOUND" || name == "KEY";
}

void media_to_4(CardProperty& property) {
  property.set_parameter("VALUE", "");
  if (!is_base64(property)) return;
  std::vector<std::string> left;
  const auto media = media_type_of(property, left);
  set_types(property, left);
  property.set_parameter("ENCODING", "");
  property.value = "data:" + media + ";base64," + property.value;
}

void media_to_3(CardProperty& property) {
  property.set_parameter("VALUE", "");
  property.set_parameter("ENCODING", "");
  constexpr std::string_view kData = "data:", kBase64 = ";base64,";
  const auto comma = property.value.find(',');
  const auto head = std::string_view(property.value).substr(0, comma == std::string::npos ? 0 : comma + 1);
  if (!text::iequals(head.substr(0, kData.size()), kData) || head.size() < kData.size() + kBase64.size() ||
      !text::iequals(head.substr(head.size() - kBase64.size()), kBase64)) {
    property.set_parameter("VALUE", "uri");
    return;
  }
  const auto media = text::lower(head.substr(kData.size(), head.find(';') - kData.size()));
  if (!is_plain_type(media) || !is_plain_base64(std::string_view(property.value).substr(comma + 1))) {
    property.set_parameter("VALUE", "uri");
    return;
  }
  property.set_parameter("MEDIATYPE", "");
  if (!media.empty() && media != "application/octet-stream") {
    auto types = property.types();
    types.insert(types.begin(), type_of_media(media));
    set_types(property, types);
  }
  property.parameters.insert(property.parameters.begin(), IcalParameter{"ENCODING", {"b"}});
  property.value.erase(0, comma + 1);
}

void media_as_3(CardProperty& property) {
  if (is_base64(property)) property.set_parameter("ENCODING", "b");
  if (text::iequals(property.parameter_value("VALUE"), "url")) property.set_parameter("VALUE", "uri");
}

std::string format_card_date(const CardDate& date, std::string_view dash) {
  const auto two = [](int n) { return std::string(n < 10 ? "0" : "") + std::to_string(n); };
  if (!date.year) return "--" + two(date.month) + two(date.day);
  const auto year = std::to_string(*date.year);
  return std::string(4 - std::min<std::size_t>(4, year.size()), '0') + year + std::string(dash) +
         two(date.month) + std::string(dash) + two(date.day);
}

}  // namespace welkin::wire
