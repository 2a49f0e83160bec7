#pragma once
#include <string_view>

namespace welkin::rest {

/// How a file looks in a list. Closed sets: all texts are literals, so a row costs no allocation.
struct Icon {
  std::string_view icon_class, icon_special_class, category;
  /// The three as members of a JSON object: `"icon_class":"...","icon_special_class":"...","category":"..."`.
  std::string_view json;
};

/// By exact type, then by the type's family, then, for types that say nothing, by the name's extension.
const Icon& icon_of(std::string_view mime_type, std::string_view name);
const Icon& folder_icon();

/// 1024-based, up to two decimals, trailing zeros dropped: "0 Bytes", "500 Bytes", "1.5 KB", "3.27 MB", up to
/// TB. Written into `buffer`. @return the text
inline constexpr std::size_t kSizeTextMax = 32;
std::string_view format_size(unsigned long long bytes, char (&buffer)[kSizeTextMax]);

}  // namespace welkin::rest
