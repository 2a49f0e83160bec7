#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What programs say of a file, taken apart. Pure: the text comes from strangers' files by way of strangers'
/// programs.
namespace welkin::media {

struct Facts {
  std::optional<std::int32_t> width, height;  // as shown
  std::optional<std::int32_t> orientation;    // 1 to 8
  std::optional<std::int64_t> taken_at;       // microseconds
  std::optional<double> latitude, longitude;  // degrees, north and east
  std::string make, model;                    // "": unknown
};

/// Reads what `vipsheader -a` prints.
Facts facts_of(std::string_view header);
/// "2026:05:01 12:30:00", with an offset such as "+02:00" when one is known. nullopt: no date, or one before
/// 1826 or after 2200.
std::optional<std::int64_t> exif_time(std::string_view text, std::string_view offset);

/// The text between the tags of XML, with a blank for each tag and the five entities undone.
std::string text_between_tags(std::string_view xml);
/// What can be looked for: UTF-8 without NUL, cut before a character that is not whole. "" for what is no
/// text.
std::string searchable(std::string_view bytes);

}  // namespace welkin::media
