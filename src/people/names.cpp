#include "people/names.hpp"

#include <algorithm>
#include <array>

#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {
namespace {

constexpr std::size_t kUserNameBytesMax = 64;
constexpr std::size_t kEmailBytesMax = 254;  // RFC 5321 §4.5.3.1.3, without the angle brackets
constexpr std::size_t kDisplayNameBytesMax = 255;
constexpr std::size_t kLabelBytesMax = 255;

// A user's name stands in DAV paths and beside the names the server gives to its own folders and subjects.
constexpr std::array kReserved = {
    "addressbooks", "anonymous", "api",           "appdata",  "caldav",  "calendars", "carddav",
    "contacts",     "dav",       "everyone",      "files",    "groups",  "guest",     "health",
    "home",         "index.php", "inbox",         "link",     "login",   "logout",    "me",
    "metrics",      "nobody",    "notifications", "ocs",      "ocs.php", "outbox",    "principals",
    "public",       "ready",     "remote.php",    "s",        "self",    "settings",  "setup",
    "shared",       "shares",    "status.php",    "system",   "tags",    "tasks",     "trash",
    "trashbin",     "uploads",   "users",         "versions", "webdav",  "welkin",    "well-known",
    "wopi",
};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool has_control(std::string_view s) {
  return std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// "a.b", with at least one dot inside and only what a host name may hold; letters beyond ASCII are IDN.
bool is_dotted_domain(std::string_view domain) {
  const auto labels = text::split(domain, '.');
  if (labels.size() < 2) return false;
  return std::all_of(labels.begin(), labels.end(), [](std::string_view label) {
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    return std::all_of(label.begin(), label.end(), [](unsigned char c) {
      return c >= 0x80 || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    });
  });
}

[[noreturn]] void refuse_name(std::string_view name, const char* why) {
  std::string shown = log::one_line(name.substr(0, kUserNameBytesMax));
  throw Error(Errc::invalid, "bad_user_name", "Invalid user name '" + shown + "': " + why);
}

std::string require_line(std::string_view s, std::size_t bytes_max, const char* slug, const char* what) {
  const auto trimmed = text::trim(s);
  if (trimmed.size() > bytes_max)
    throw Error(Errc::invalid, slug,
                std::string(what) + " is longer than " + std::to_string(bytes_max) + " bytes");
  if (!text::is_utf8(trimmed) || has_control(trimmed))
    throw Error(Errc::invalid, slug, std::string(what) + " may not hold control characters");
  return text::nfc(trimmed);
}

}  // namespace

std::string require_user_name(std::string_view name) {
  const std::string folded = text::lower(name);
  if (folded.empty() || folded.size() > kUserNameBytesMax)
    refuse_name(name, "it must have 1 to 64 characters");
  if (!std::all_of(folded.begin(), folded.end(), is_name_letter))
    refuse_name(name, "only letters a-z, digits, '.', '_' and '-' are allowed");
  const auto is_edge = [](char c) { return c == '.' || c == '-'; };
  if (is_edge(folded.front()) || is_edge(folded.back()))
    refuse_name(name, "it may not start or end with '.' or '-'");
  if (std::find(kReserved.begin(), kReserved.end(), folded) != kReserved.end())
    refuse_name(name, "this name is reserved");
  return folded;
}

std::string require_email(std::string_view email) {
  const auto trimmed = text::trim(email);
  if (trimmed.empty()) return {};
  const auto refuse = [](const char* why) {
    throw Error(Errc::invalid, "bad_email", std::string("Invalid e-mail address: ") + why);
  };
  if (trimmed.size() > kEmailBytesMax) refuse("it is longer than 254 bytes");
  if (!text::is_utf8(trimmed) || has_control(trimmed)) refuse("it holds control characters");
  if (trimmed.find_first_of(" <>\"'`()[]{},;:\\&") != std::string_view::npos)
    refuse("it holds characters that are not allowed");
  std::string folded = text::fold(text::nfc(trimmed));
  const auto at = folded.find('@');
  if (at == std::string::npos || at == 0 || folded.find('@', at + 1) != std::string::npos)
    refuse("it needs exactly one '@'");
  if (!is_dotted_domain(std::string_view(folded).substr(at + 1))) refuse("its domain is not complete");
  return folded;
}

std::string require_display_name(std::string_view name) {
  return require_line(name, kDisplayNameBytesMax, "bad_display_name", "The display name");
}

std::string require_label(std::string_view label) {
  auto clean = require_line(label, kLabelBytesMax, "bad_label", "The label");
  if (clean.empty()) throw Error(Errc::invalid, "bad_label", "The label must have 1 to 255 bytes");
  return clean;
}

std::string login_key(std::string_view typed) {
  constexpr std::size_t kKeyBytesMax = 320;
  const auto trimmed = text::trim(typed);
  const bool storable = text::is_utf8(trimmed) && trimmed.find('\0') == std::string_view::npos;
  if (storable && trimmed.size() <= kKeyBytesMax) {
    std::string folded = text::fold(text::nfc(trimmed));
    if (folded.size() <= kKeyBytesMax) return folded;
  }
  // Nobody can be called this; it is counted all the same, under a name of bounded size that nobody can have.
  const Sha256 digest = crypto::sha256(typed);
  return "#" + text::hex(std::as_bytes(std::span(digest)));
}

std::string clean_line(std::string_view s, std::size_t bytes_max) {
  if (s.size() > bytes_max) {
    std::size_t end = bytes_max;  // not in the middle of a character
    while (end > 0 && (static_cast<unsigned char>(s[end]) & 0xc0) == 0x80) --end;
    s = s.substr(0, end);
  }
  std::string line = log::one_line(s);
  if (line.size() > bytes_max) {  // what is escaped is longer than it was
    line.resize(bytes_max);
    while (!text::is_utf8(line)) line.pop_back();
  }
  return line;
}

}  // namespace welkin::people
