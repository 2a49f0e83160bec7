#include <string>
#include <string_view>

#include "http/ascii.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/body.hpp"

namespace welkin::http {
namespace {

/// Characters that turn the direction of text: with them "exe.txt" can be made to read "txt.exe".
bool is_bidi(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  if (byte(at) == 0xd8) return byte(at + 1) == 0x9c;  // U+061C
  if (byte(at) != 0xe2) return false;
  const auto second = byte(at + 1);
  const auto third = byte(at + 2);
  return (second == 0x80 && ((third >= 0x8e && third <= 0x8f) || (third >= 0xa8 && third <= 0xae))) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

/// The name without controls, separators of paths and bidi characters; never empty.
std::string harmless(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const auto c = static_cast<unsigned char>(name[i]);
    const std::size_t length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    const bool c1 = c == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (!(c < 0x20 || c == 0x7f || c == '/' || c == '\\' || c1 || is_bidi(name, i)))
      out += name.substr(i, length);
    i += length;
  }
  return out.empty() || !text::is_utf8(out) ? "download" : out;
}

}  // namespace

std::string content_disposition(std::string_view kind, std::string_view name) {
  const auto clean = harmless(name);
  std::string fallback;
  bool in_character = false;
  for (const char c : clean) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x80) {
      in_character = false;
      // '%' is decoded by some clients, quotes and ';' end the value for sloppy ones.
      fallback += c == '"' || c == '%' || c == ';' || c == '\'' ? '_' : c;
    } else if (!in_character || u >= 0xc0) {
      fallback += '_';
      in_character = true;
    }
  }
  return std::string(kind) + "; filename=\"" + fallback + "\"; filename*=UTF-8''" +
         text::percent_encode(clean);
}

bool may_show_inline(std::string_view mime_type) {
  const auto type = ascii::trim(mime_type.substr(0, mime_type.find(';')));
  for (const auto shown :
       {"image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "video/mp4", "video/webm",
        "audio/mpeg", "audio/mp3", "audio/ogg", "video/ogg", "audio/wav", "audio/x-wav", "audio/vnd.wave",
        "audio/flac", "audio/x-flac", "application/pdf", "text/plain"})
    if (ascii::iequals(type, shown)) return true;
  return false;
}

std::string safe_content_type(std::string_view mime_type) {
  static constexpr auto kUnknown = "application/octet-stream";
  auto type = text::lower(ascii::trim(mime_type.substr(0, mime_type.find(';'))));
  const auto slash = type.find('/');
  if (slash == type.npos || !ascii::all(type.substr(0, slash), ascii::kToken) || slash == 0 ||
      slash + 1 == type.size() || !ascii::all(type.substr(slash + 1), ascii::kToken))
    return kUnknown;
  const std::string_view family = std::string_view(type).substr(0, slash);
  const std::string_view kind = std::string_view(type).substr(slash + 1);
  // What some engine runs or lets load other things: markup, style, script, byte code, archives of web pages.
  const auto holds = [&](std::string_view word) { return kind.find(word) != kind.npos; };
  const bool active = holds("html") || holds("xml") || holds("xsl") || holds("svg") || holds("script") ||
                      kind == "css" || kind == "wasm" || holds("shockwave") || holds("java") ||
                      kind == "mathml";
  if (family == "text") return active ? "text/plain; charset=utf-8" : type + "; charset=utf-8";
  if (active && kind.find("openxmlformats") == kind.npos) return kUnknown;
  if (family == "image" || family == "audio" || family == "video" || family == "font" ||
      family == "application")
    return type;
  return kUnknown;
}

}  // namespace welkin::http
