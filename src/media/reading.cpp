#include "media/reading.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "welkin/core/text.hpp"

namespace welkin::media {
namespace {

constexpr std::size_t kNameBytesMax = 100;  // of make and model

using Fields = std::map<std::string_view, std::string_view>;

/// "name: value" of each line.
Fields fields_of(std::string_view header) {
  Fields out;
  for (const auto line : text::split(header, '\n')) {
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos) out.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  return out;
}

/// EXIF fields are printed as "value (value as text, TYPE, n components, m bytes)".
std::string_view value_of(const Fields& fields, std::string_view name) {
  const auto at = fields.find(name);
  if (at == fields.end()) return {};
  const auto line = at->second;
  if (const auto type = line.rfind(", ASCII, "); type != std::string_view::npos && type >= 2) {
    const auto value = line.substr(0, (type - 2) / 2);
    if (line.substr(value.size() + 2, value.size()) == value) return text::trim(value);
  }
  return text::trim(line.substr(0, line.find(" (")));
}

std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// "52/1" or "52".
std::optional<double> rational(std::string_view text) {
  const auto slash = text.find('/');
  const auto above = real(text.substr(0, slash));
  if (!above || slash == std::string_view::npos) return above;
  const auto below = real(text.substr(slash + 1));
  if (!below || *below == 0) return std::nullopt;
  return *above / *below;
}

/// Degrees, minutes, seconds.
std::optional<double> degrees(std::string_view text, std::string_view reference, char negative, double most) {
  double sum = 0, unit = 1;
  int parts = 0;
  for (const auto part : text::split(text, ' ')) {
    if (part.empty()) continue;
    const auto value = rational(part);
    if (!value || *value < 0 || ++parts > 3) return std::nullopt;
    sum += *value / unit;
    unit *= 60;
  }
  if (parts == 0 || sum > most) return std::nullopt;
  return !reference.empty() && reference[0] == negative ? -sum : sum;
}

std::optional<std::int32_t> small_number(std::string_view text, std::int32_t most) {
  const auto n = text::number(text);
  if (!n || *n == 0 || *n > static_cast<std::uint64_t>(most)) return std::nullopt;
  return static_cast<std::int32_t>(*n);
}

std::string name(std::string_view value) {
  auto out = searchable(value.substr(0, kNameBytesMax));
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  return out;
}

/// Days since 1970-01-01 in the Gregorian calendar.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2;
  const std::int64_t era = year / 400, of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

/// "+02:00" in seconds; 0 for anything else.
std::int64_t offset_seconds(std::string_view offset) {
  if (offset.size() != 6 || (offset[0] != '+' && offset[0] != '-') || offset[3] != ':') return 0;
  const auto hours = text::number(offset.substr(1, 2)), minutes = text::number(offset.substr(4, 2));
  if (!hours || !minutes || *hours > 14 || *minutes > 59) return 0;
  const auto seconds = static_cast<std::int64_t>(*hours * 3600 + *minutes * 60);
  return offset[0] == '-' ? -seconds : seconds;
}

}  // namespace

std::optional<std::int64_t> exif_time(std::string_view text, std::string_view offset) {
  text = text::trim(text);
  if (text.size() < 19) return std::nullopt;
  std::uint64_t part[6];
  constexpr std::pair<std::size_t, std::size_t> kPlaces[6] = {{0, 4},  {5, 2},  {8, 2},
                                                              {11, 2}, {14, 2}, {17, 2}};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto n = text::number(text.substr(kPlaces[i].first, kPlaces[i].second));
    if (!n) return std::nullopt;
    part[i] = *n;
  }
  if (part[0] < 1826 || part[0] > 2200 || part[1] < 1 || part[1] > 12 || part[2] < 1 || part[2] > 31 ||
      part[3] > 23 || part[4] > 59 || part[5] > 60)
    return std::nullopt;
  const auto days = days_of(static_cast<std::int64_t>(part[0]), static_cast<std::int64_t>(part[1]),
                            static_cast<std::int64_t>(part[2]));
  const auto seconds = days * 86'400 + static_cast<std::int64_t>(part[3] * 3600 + part[4] * 60 + part[5]);
  return (seconds - offset_seconds(text::trim(offset))) * 1'000'000;
}

Facts facts_of(std::string_view header) {
  const auto fields = fields_of(header);
  Facts out;
  out.width = small_number(value_of(fields, "width"), 1'000'000);
  out.height = small_number(value_of(fields, "height"), 1'000'000);
  out.orientation = small_number(value_of(fields, "orientation"), 8);
  if (out.orientation.value_or(1) >= 5) std::swap(out.width, out.height);
  out.taken_at = exif_time(value_of(fields, "exif-ifd2-DateTimeOriginal"),
                           value_of(fields, "exif-ifd2-OffsetTimeOriginal"));
  if (!out.taken_at)
    out.taken_at = exif_time(value_of(fields, "exif-ifd2-DateTimeDigitized"),
                             value_of(fields, "exif-ifd2-OffsetTimeDigitized"));
  const auto latitude = degrees(value_of(fields, "exif-ifd3-GPSLatitude"),
                                value_of(fields, "exif-ifd3-GPSLatitudeRef"), 'S', 90);
  const auto longitude = degrees(value_of(fields, "exif-ifd3-GPSLongitude"),
                                 value_of(fields, "exif-ifd3-GPSLongitudeRef"), 'W', 180);
  if (latitude && longitude) {
    out.latitude = latitude;
    out.longitude = longitude;
  }
  out.make = name(value_of(fields, "exif-ifd0-Make"));
  out.model = name(value_of(fields, "exif-ifd0-Model"));
  return out;
}

std::string text_between_tags(std::string_view xml) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string out;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '<') {
      const auto end = xml.find('>', at);
      if (end == std::string_view::npos) break;
      // Letters of one word may stand in several runs of text; between paragraphs and cells is a blank.
      const auto tag = xml.substr(at, end - at);
      if (!tag.starts_with("</w:t") && !tag.starts_with("<w:t") && !tag.starts_with("<w:r") &&
          !tag.starts_with("</w:r"))
        out += ' ';
      at = end + 1;
      continue;
    }
    const auto* entity = std::find_if(std::begin(kEntities), std::end(kEntities),
                                      [&](const auto& e) { return xml.substr(at).starts_with(e.first); });
    if (entity != std::end(kEntities)) {
      out += entity->second;
      at += entity->first.size();
    } else {
      out += xml[at++];
    }
  }
  return out;
}

std::string searchable(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  for (int cut = 0; cut < 4 && cut <= static_cast<int>(bytes.size()); ++cut) {
    const auto whole = bytes.substr(0, bytes.size() - static_cast<std::size_t>(cut));
    if (!text::is_utf8(whole)) continue;
    std::string out(whole);
    std::replace(out.begin(), out.end(), '\0', ' ');
    return out;
  }
  return "";
}

}  // namespace welkin::media
