#include "http/fetch_url.hpp"

#include <algorithm>

#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

constexpr std::size_t kUrlBytesMax = 4096;

struct Scheme {
  std::string_view prefix;
  bool secure;
};
constexpr Scheme kSchemes[] = {
    {"https://", true}, {"http://", false}, {"webcals://", true}, {"webcal://", true}};

bool is_host_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool is_clean(std::string_view url) {
  return std::all_of(url.begin(), url.end(), [](char c) {
    return c > ' ' && c < 127 && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
  });
}

/// Splits "host:port"; the port is 0 when there is none.
bool read_authority(std::string_view authority, FetchUrl& url) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return false;
    url.host = text::lower(authority.substr(1, end - 1));
    const auto address = parse_address(url.host);
    if (!address || !url.is_v6()) return false;
    port = authority.substr(end + 1);
    if (!port.empty() && port.front() != ':') return false;
    if (!port.empty()) port.remove_prefix(1);
  } else {
    const auto colon = authority.find(':');
    url.host = text::lower(authority.substr(0, colon));
    if (colon != std::string_view::npos) port = authority.substr(colon + 1);
    if (url.host.empty() || url.host.size() > 253 ||
        !std::all_of(url.host.begin(), url.host.end(), is_host_letter))
      return false;
  }
  if (port.empty()) return true;
  const auto number = text::number(port);
  if (!number || *number == 0 || *number > 65535) return false;
  url.port = static_cast<std::uint16_t>(*number);
  return true;
}

Networks networks(std::initializer_list<const char*> names) {
  Networks out;
  for (const auto* name : names) out.push_back(parse_network(name).value());
  return out;
}

}  // namespace

std::string FetchUrl::authority() const {
  std::string out = is_v6() ? '[' + host + ']' : host;
  if (port != (secure ? 443 : 80)) out += ':' + std::to_string(port);
  return out;
}

std::optional<FetchUrl> parse_fetch_url(std::string_view url) {
  if (url.size() > kUrlBytesMax || !is_clean(url)) return std::nullopt;
  const auto lowered = text::lower(url.substr(0, 10));
  for (const auto& scheme : kSchemes) {
    if (!std::string_view(lowered).starts_with(scheme.prefix)) continue;
    url.remove_prefix(scheme.prefix.size());
    FetchUrl out;
    out.secure = scheme.secure;
    url = url.substr(0, url.find('#'));
    const auto end = std::min(url.find_first_of("/?"), url.size());
    const auto authority = url.substr(0, end);
    if (authority.find('@') != std::string_view::npos || !read_authority(authority, out)) return std::nullopt;
    if (out.port == 0) out.port = out.secure ? 443 : 80;
    out.target = url.substr(end);
    if (!out.target.starts_with('/')) out.target.insert(0, 1, '/');
    return out;
  }
  return std::nullopt;
}

std::optional<FetchUrl> follow(const FetchUrl& from, std::string_view location) {
  location = text::trim(location);
  if (location.empty()) return std::nullopt;
  const std::string scheme = from.secure ? "https:" : "http:";
  std::string whole(location);
  if (location.starts_with("//")) {
    whole = scheme + whole;
  } else if (location.front() == '/') {
    whole = scheme + "//" + from.authority() + whole;
  } else if (location.find("://") == std::string_view::npos) {
    const auto path = from.target.substr(0, from.target.find('?'));
    whole = scheme + "//" + from.authority() +
            (location.front() == '?' ? path : path.substr(0, path.rfind('/') + 1)) + whole;
  }
  auto to = parse_fetch_url(whole);
  if (to && from.secure && !to->secure) return std::nullopt;
  return to;
}

bool is_public(const Address& address) {
  // RFC 6890 and its registry, and what carries an IPv4 address inside.
  static const auto kInside4 =
      networks({"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
                "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
                "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"});
  static const auto kGlobal6 = networks({"2000::/3"});
  static const auto kInside6 =
      networks({"2001::/23", "2001:db8::/32", "2002::/16", "3ffe::/16", "3fff::/20"});
  if (address.is_v4()) return !contains(kInside4, address);
  return contains(kGlobal6, address) && !contains(kInside6, address);
}

}  // namespace welkin::http
