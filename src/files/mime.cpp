#include <algorithm>
#include <array>

#include "welkin/core/text.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {
namespace {

constexpr std::size_t kTypeBytesMax = 127;

struct Extension {
  std::string_view extension, type;
};

// Sorted by extension.
constexpr std::array kExtensions{
    Extension{"7z", "application/x-7z-compressed"},
    Extension{"aac", "audio/aac"},
    Extension{"avi", "video/x-msvideo"},
    Extension{"avif", "image/avif"},
    Extension{"bmp", "image/bmp"},
    Extension{"bz2", "application/x-bzip2"},
    Extension{"c", "text/x-c"},
    Extension{"conf", "text/plain"},
    Extension{"cpp", "text/x-c++"},
    Extension{"css", "text/css"},
    Extension{"csv", "text/csv"},
    Extension{"deb", "application/vnd.debian.binary-package"},
    Extension{"doc", "application/msword"},
    Extension{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    Extension{"epub", "application/epub+zip"},
    Extension{"flac", "audio/flac"},
    Extension{"gif", "image/gif"},
    Extension{"go", "text/x-go"},
    Extension{"gz", "application/gzip"},
    Extension{"h", "text/x-c"},
    Extension{"heic", "image/heic"},
    Extension{"heif", "image/heif"},
    Extension{"htm", "text/html"},
    Extension{"html", "text/html"},
    Extension{"ico", "image/vnd.microsoft.icon"},
    Extension{"ics", "text/calendar"},
    Extension{"ini", "text/plain"},
    Extension{"iso", "application/x-iso9660-image"},
    Extension{"java", "text/x-java"},
    Extension{"jpeg", "image/jpeg"},
    Extension{"jpg", "image/jpeg"},
    Extension{"js", "text/javascript"},
    Extension{"json", "application/json"},
    Extension{"log", "text/plain"},
    Extension{"m4a", "audio/mp4"},
    Extension{"m4v", "video/mp4"},
    Extension{"md", "text/markdown"},
    Extension{"mkv", "video/x-matroska"},
    Extension{"mov", "video/quicktime"},
    Extension{"mp3", "audio/mpeg"},
    Extension{"mp4", "video/mp4"},
    Extension{"odp", "application/vnd.oasis.opendocument.presentation"},
    Extension{"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    Extension{"odt", "application/vnd.oasis.opendocument.text"},
    Extension{"ogg", "audio/ogg"},
    Extension{"opus", "audio/ogg"},
    Extension{"pdf", "application/pdf"},
    Extension{"png", "image/png"},
    Extension{"ppt", "application/vnd.ms-powerpoint"},
    Extension{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    Extension{"py", "text/x-python"},
    Extension{"rar", "application/vnd.rar"},
    Extension{"rs", "text/x-rust"},
    Extension{"rtf", "application/rtf"},
    Extension{"sh", "application/x-sh"},
    Extension{"sql", "application/sql"},
    Extension{"svg", "image/svg+xml"},
    Extension{"tar", "application/x-tar"},
    Extension{"tif", "image/tiff"},
    Extension{"tiff", "image/tiff"},
    Extension{"toml", "application/toml"},
    Extension{"ts", "text/typescript"},
    Extension{"txt", "text/plain"},
    Extension{"vcf", "text/vcard"},
    Extension{"wav", "audio/wav"},
    Extension{"webm", "video/webm"},
    Extension{"webp", "image/webp"},
    Extension{"xls", "application/vnd.ms-excel"},
    Extension{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    Extension{"xml", "application/xml"},
    Extension{"xz", "application/x-xz"},
    Extension{"yaml", "application/yaml"},
    Extension{"yml", "application/yaml"},
    Extension{"zip", "application/zip"},
    Extension{"zst", "application/zstd"},
};
static_assert(std::is_sorted(kExtensions.begin(), kExtensions.end(),
                             [](const auto& a, const auto& b) { return a.extension < b.extension; }));

struct Magic {
  std::size_t offset;
  std::string_view bytes, type;
};

constexpr std::array kMagics{
    Magic{0, "\x89PNG\r\n\x1a\n", "image/png"},
    Magic{0, "\xff\xd8\xff", "image/jpeg"},
    Magic{0, "GIF87a", "image/gif"},
    Magic{0, "GIF89a", "image/gif"},
    Magic{8, "WEBP", "image/webp"},
    Magic{4, "ftypavif", "image/avif"},
    Magic{4, "ftypheic", "image/heic"},
    Magic{4, "ftypmif1", "image/heif"},
    Magic{4, "ftypM4A", "audio/mp4"},
    Magic{4, "ftypqt", "video/quicktime"},
    Magic{4, "ftyp", "video/mp4"},
    Magic{0, "%PDF-", "application/pdf"},
    Magic{0, "\x1f\x8b", "application/gzip"},
    Magic{0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
    Magic{0, "fLaC", "audio/flac"},
    Magic{0, "OggS", "audio/ogg"},
    Magic{0, "ID3", "audio/mpeg"},
    Magic{0, "\x1a\x45\xdf\xa3", "video/webm"},
};

bool is_token_char(char c) {  // RFC 9110 §5.6.2
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// type/subtype in lower case without parameters; "" when it is none.
std::string essence(std::string_view value) {
  const std::string low = text::lower(text::trim(value.substr(0, value.find(';'))));
  const auto slash = low.find('/');
  if (low.size() > kTypeBytesMax || slash == std::string::npos || slash == 0 || slash + 1 == low.size())
    return {};
  for (std::size_t i = 0; i < low.size(); ++i)
    if (i != slash && !is_token_char(low[i])) return {};
  return low;
}

/// What clients say when they do not know.
bool is_generic(std::string_view type) {
  return type.empty() || type == kUnknownMimeType || type == "binary/octet-stream" ||
         type == "application/unknown" || type == "application/x-www-form-urlencoded";
}

std::string_view by_magic(ByteView head) {
  const auto text = as_text(head);
  for (const auto& m : kMagics)
    if (text.size() >= m.offset + m.bytes.size() && text.substr(m.offset, m.bytes.size()) == m.bytes)
      return m.type;
  return {};
}

std::string_view by_extension(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return {};
  const std::string extension = text::lower(name.substr(dot + 1));
  const auto* const at =
      std::lower_bound(kExtensions.begin(), kExtensions.end(), extension,
                       [](const Extension& e, const std::string& x) { return e.extension < x; });
  return at != kExtensions.end() && at->extension == extension ? at->type : std::string_view{};
}

}  // namespace

std::string choose_mime_type(std::string_view client_type, ByteView head, std::string_view name) {
  const std::string told = essence(client_type);
  if (!is_generic(told)) return told;
  if (const auto type = by_magic(head); !type.empty()) return std::string(type);
  if (const auto type = by_extension(name); !type.empty()) return std::string(type);
  return std::string(kUnknownMimeType);
}

bool is_known_mime_type(std::string_view type) {
  const auto is_it = [type](const auto& entry) { return entry.type == type; };
  return type == kUnknownMimeType || std::any_of(kExtensions.begin(), kExtensions.end(), is_it) ||
         std::any_of(kMagics.begin(), kMagics.end(), is_it);
}

}  // namespace welkin::files
