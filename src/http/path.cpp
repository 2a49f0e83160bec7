#include "http/path.hpp"

#include "http/ascii.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

/// @return false on a bad escape
bool decode_escapes(std::string_view in, bool plus_is_blank, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] == '%') {
      if (i + 2 >= in.size()) return false;
      const int high = ascii::hex_digit(in[i + 1]);
      const int low = ascii::hex_digit(in[i + 2]);
      if (high < 0 || low < 0) return false;
      out += static_cast<char>(high << 4 | low);
      i += 2;
    } else if (in[i] == '+' && plus_is_blank) {
      out += ' ';
    } else {
      out += in[i];
    }
  }
  return true;
}

/// Bytes of letters, digits and the like, which need neither decoding nor a look at their encoding.
bool is_plain(std::string_view s) {
  for (const char c : s)
    if (!ascii::is(c, ascii::kToken) || c == '%') return false;
  return true;
}

bool holds_control(std::string_view s) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c < 0x20 || c == 0x7f) return true;
    if (c == 0xc2 && i + 1 < s.size() && static_cast<unsigned char>(s[i + 1]) < 0xa0) return true;  // C1
  }
  return false;
}

const char* decode_segment(std::string_view raw, std::string& out) {
  if (is_plain(raw)) {
    out.assign(raw);
  } else {
    if (!decode_escapes(raw, false, out)) return "the path holds a bad percent escape";
    if (!text::is_utf8(out)) return "the path is not UTF-8";
    if (out.find('/') != out.npos) return "the path holds an encoded slash";
    if (holds_control(out)) return "the path holds a control character";
  }
  if (out == "." || out == "..") return "the path holds a dot segment";
  return nullptr;
}

/// Calls `f(name, value)`, both still encoded, until it returns false.
template <class F>
void each_pair(std::string_view query, F f) {
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto pair = query.substr(0, end);
    const auto equals = pair.find('=');
    const auto value = equals == pair.npos ? std::string_view{} : pair.substr(equals + 1);
    if (!pair.empty() && !f(pair.substr(0, equals), value)) return;
    if (end == query.npos) return;
    query.remove_prefix(end + 1);
  }
}

}  // namespace

const char* decode_path(std::string_view path, std::vector<std::string>& segments, bool& trailing_slash) {
  trailing_slash = path.ends_with('/');
  std::size_t count = 0;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = path.find('/');
    const auto raw = path.substr(0, end);
    path = end == path.npos ? std::string_view{} : path.substr(end);
    if (raw.empty()) continue;
    if (segments.size() <= count) segments.emplace_back();
    if (const char* wrong = decode_segment(raw, segments[count])) return wrong;
    ++count;
  }
  segments.resize(count);
  return nullptr;
}

const char* check_query(std::string_view query) {
  const char* wrong = nullptr;
  std::string decoded;
  each_pair(query, [&](std::string_view name, std::string_view value) {
    for (const auto part : {name, value}) {
      if (is_plain(part)) continue;
      if (!decode_escapes(part, true, decoded))
        wrong = "the query holds a bad percent escape";
      else if (!text::is_utf8(decoded))
        wrong = "the query is not UTF-8";
      else if (decoded.find('\0') != decoded.npos)
        wrong = "the query holds a NUL";
    }
    return wrong == nullptr;
  });
  return wrong;
}

std::optional<std::string> find_query(std::string_view query, std::string_view name) {
  std::optional<std::string> out;
  std::string decoded;
  each_pair(query, [&](std::string_view raw_name, std::string_view raw_value) {
    if (raw_name != name) {
      if (is_plain(raw_name) && raw_name.find('+') == raw_name.npos) return true;
      if (!decode_escapes(raw_name, true, decoded) || decoded != name) return true;
    }
    if (decode_escapes(raw_value, true, decoded)) out = decoded;
    return false;
  });
  return out;
}

std::string_view find_cookie(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const auto end = cookies.find(';');
    const auto pair = ascii::trim(cookies.substr(0, end));
    cookies = end == cookies.npos ? std::string_view{} : cookies.substr(end + 1);
    const auto equals = pair.find('=');
    if (equals == pair.npos || ascii::trim(pair.substr(0, equals)) != name) continue;
    auto value = ascii::trim(pair.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    return value;
  }
  return {};
}

}  // namespace welkin::http
