#include "welkin/wire/multistatus.hpp"

#include <algorithm>
#include <charconv>

#include "welkin/wire/xml.hpp"

namespace welkin::wire {
namespace {

/// How a byte of a segment is spelled; length 1: as it is.
struct Spelling {
  char text[6] = {};
  std::uint8_t length = 1;
};

constexpr bool is_plain(unsigned char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != 0 && std::string_view("-._~!$&'()*+,;=:@").find(static_cast<char>(c)) != std::string_view::npos;
}

constexpr Spelling spelling(unsigned char c) {
  Spelling out;
  const auto spell = [&](std::string_view as) {
    for (const char x : as) out.text[out.length++] = x;
  };
  if (is_plain(c) && c != '&' && c != '\'') return out;
  out.length = 0;
  if (c == '&') {
    spell("&amp;");
  } else if (c == '\'') {
    spell("&#39;");
  } else {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const char coded[3] = {'%', kDigits[c >> 4], kDigits[c & 15]};
    spell({coded, 3});
  }
  return out;
}

constexpr std::array<Spelling, 256> kSpellings = [] {
  std::array<Spelling, 256> t{};
  for (std::size_t c = 0; c < t.size(); ++c) t[c] = spelling(static_cast<unsigned char>(c));
  return t;
}();

struct StatusLine {
  int code;
  std::string_view text;
};
constexpr StatusLine kStatusLines[] = {
    {200, "HTTP/1.1 200 OK"},
    {403, "HTTP/1.1 403 Forbidden"},
    {404, "HTTP/1.1 404 Not Found"},
    {409, "HTTP/1.1 409 Conflict"},
    {412, "HTTP/1.1 412 Precondition Failed"},
    {423, "HTTP/1.1 423 Locked"},
    {424, "HTTP/1.1 424 Failed Dependency"},
    {507, "HTTP/1.1 507 Insufficient Storage"},
};

/// Days since 1970 to year, month, day (proleptic Gregorian; Howard Hinnant's civil_from_days).
struct Day {
  std::int64_t year;
  unsigned month, day;
};
constexpr Day civil(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const auto doe = static_cast<unsigned>(days - era * 146'097);
  const unsigned yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const unsigned mp = (5 * doy + 2) / 153;
  const unsigned month = mp < 10 ? mp + 3 : mp - 9;
  return {static_cast<std::int64_t>(yoe) + era * 400 + (month <= 2 ? 1 : 0), month,
          doy - (153 * mp + 2) / 5 + 1};
}

struct Moment {
  Day day;
  unsigned weekday, hour, minute, second;
};
Moment moment(Micros at) {
  // What four digits cannot say is told as the nearest that they can.
  constexpr std::int64_t kFirst = -62'167'219'200, kLast = 253'402'300'799;
  const auto seconds = std::clamp(times::seconds(at), kFirst, kLast);
  const auto days = seconds >= 0 ? seconds / 86'400 : (seconds - 86'399) / 86'400;
  const auto rest = static_cast<unsigned>(seconds - days * 86'400);
  return {civil(days), static_cast<unsigned>(((days + 4) % 7 + 7) % 7), rest / 3600, rest / 60 % 60,
          rest % 60};
}

void two(char* at, unsigned value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
}
void four(char* at, std::int64_t value) {
  two(at, static_cast<unsigned>(value / 100));
  two(at + 2, static_cast<unsigned>(value % 100));
}

}  // namespace

void append_href_segment(std::string& out, std::string_view segment) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const auto& s = kSpellings[static_cast<unsigned char>(segment[i])];
    if (s.length == 1) [[likely]]
      continue;
    out.append(segment.data() + from, i - from).append(s.text, s.length);
    from = i + 1;
  }
  out.append(segment.data() + from, segment.size() - from);
}

std::string href_prefix(std::string_view base, std::span<const std::string> segments) {
  std::string out;
  append_escaped(out, base);
  if (!out.ends_with('/')) out += '/';
  for (const auto& segment : segments) {
    append_href_segment(out, segment);
    out += '/';
  }
  return out;
}

void append_http_date(std::string& out, Micros at) {
  static constexpr char kDays[] = "SunMonTueWedThuFriSat";
  static constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char text[] = "Sun, 06 Nov 1994 08:49:37 GMT";
  const auto m = moment(at);
  std::copy_n(kDays + std::size_t{3} * m.weekday, 3, text);
  two(text + 5, m.day.day);
  std::copy_n(kMonths + std::size_t{3} * (m.day.month - 1), 3, text + 8);
  four(text + 12, m.day.year);
  two(text + 17, m.hour);
  two(text + 20, m.minute);
  two(text + 23, m.second);
  out.append(text, sizeof text - 1);
}

void append_rfc3339(std::string& out, Micros at) {
  char text[] = "1994-11-06T08:49:37Z";
  const auto m = moment(at);
  four(text, m.day.year);
  two(text + 5, m.day.month);
  two(text + 8, m.day.day);
  two(text + 11, m.hour);
  two(text + 14, m.minute);
  two(text + 17, m.second);
  out.append(text, sizeof text - 1);
}

void append_number(std::string& out, std::uint64_t value) {
  char digits[20];
  out.append(digits,
             static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits));
}

void begin_dav_document(std::string& out, std::string_view root, std::span<const XmlNamespace> more) {
  ((out += "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<d:") += root) += " xmlns:d=\"DAV:\"";
  for (const auto& ns : more) {
    ((out += " xmlns:") += ns.prefix) += "=\"";
    append_escaped(out, ns.uri);
    out += '"';
  }
  out += '>';
}

void Multistatus::status_line(int status) {
  out_ += "<d:status>";
  std::string_view line;
  for (const auto& known : kStatusLines)
    if (known.code == status) line = known.text;
  if (line.empty()) {
    out_ += "HTTP/1.1 ";
    append_number(out_, static_cast<std::uint64_t>(status));
    out_ += " Error";
  }
  (out_ += line) += "</d:status>";
}

void Multistatus::end_propstat(int status, std::string_view condition) {
  out_ += "</d:prop>";
  status_line(status);
  if (!condition.empty()) ((out_ += "<d:error>") += condition) += "</d:error>";
  out_ += "</d:propstat>";
}

void Multistatus::status(int status, std::string_view condition) {
  status_line(status);
  if (!condition.empty()) ((out_ += "<d:error>") += condition) += "</d:error>";
}

void append_empty_element(std::string& out, std::string_view ns, std::string_view name,
                          std::span<const XmlNamespace> prefixes) {
  out += '<';
  if (ns == "DAV:") {
    ((out += "d:") += name) += "/>";
    return;
  }
  for (const auto& known : prefixes) {
    if (known.uri != ns) continue;
    (((out += known.prefix) += ':') += name) += "/>";
    return;
  }
  out += name;
  if (!ns.empty()) {
    out += " xmlns=\"";
    append_escaped(out, ns);
    out += '"';
  }
  out += "/>";
}

}  // namespace welkin::wire
