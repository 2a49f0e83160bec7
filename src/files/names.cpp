#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {
namespace {

constexpr std::size_t kNameBytesMax = 255;

/// C1 controls, which show as nothing, and noncharacters, which XML cannot say. `name` is UTF-8.
bool holds_unspeakable(std::string_view name) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(name[at]); };
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (byte(i) == 0xc2 && byte(i + 1) < 0xa0) return true;
    if (byte(i) < 0xef) continue;
    const bool long_form = byte(i) >= 0xf0;
    const std::size_t last = i + (long_form ? 3 : 2);  // U+FDD0..FDEF, and the last two of every plane
    if (!long_form && byte(i + 1) == 0xb7 && byte(last) >= 0x90 && byte(last) <= 0xaf) return true;
    const bool plane_ends =
        long_form ? (byte(i + 1) & 0x0f) == 0x0f && byte(i + 2) == 0xbf : byte(i + 1) == 0xbf;
    if (plane_ends && byte(last) >= 0xbe) return true;
    i = last;
  }
  return false;
}

/// CON, con.txt, LPT1, COM9.tar.gz: with any extension, the device is meant.
bool is_device(std::string_view name) {
  const auto stem = text::lower(text::trim(name.substr(0, name.find('.'))));
  if (stem == "con" || stem == "prn" || stem == "aux" || stem == "nul") return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '1' &&
         stem[3] <= '9';
}

const char* windows_fault_of(std::string_view name) {
  if (name.find_first_of("<>:\"|?*") != name.npos) return "Windows allows none of < > : \" | ? * in it";
  if (name.front() == ' ' || name.back() == ' ' || name.back() == '.')
    return "on Windows it may not begin with a blank nor end with a blank or a dot";
  if (is_device(name)) return "on Windows it is a device";
  return nullptr;
}

const char* fault_of(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (!text::is_utf8(name)) return "it is not UTF-8";
  if (name == "." || name == "..") return "it has a meaning of its own";
  for (const char c : name) {
    if (c == '/' || c == '\\') return "it holds a slash";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "it holds a control character";
  }
  if (holds_unspeakable(name)) return "it holds a control character";
  return nullptr;
}

[[noreturn]] void refuse_name(std::string_view name, Kind kind, const char* fault) {
  const char* what = kind == Kind::folder ? "folder" : "file";
  // The name goes back to whoever sent it; shortened, and without what could confuse a reader of logs.
  throw Error(Errc::invalid, "bad_name",
              fmt::format("Invalid {} name '{}': {}", what, log::one_line(name.substr(0, 100)), fault));
}

}  // namespace

std::string require_name(std::string_view name, Kind kind) {
  const char* fault = fault_of(name);
  std::string normal;
  if (!fault) {
    normal = text::nfc(name);
    if (normal.size() > kNameBytesMax) fault = "it is longer than 255 bytes";
  }
  if (fault) refuse_name(name, kind, fault);
  return normal;
}

std::string require_new_name(std::string_view name, Kind kind, bool windows_names) {
  auto normal = require_name(name, kind);
  if (const char* fault = windows_names ? windows_fault_of(normal) : nullptr) refuse_name(name, kind, fault);
  return normal;
}

}  // namespace welkin::files
