#include "http/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "http/ascii.hpp"
#include "http/head.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// An address as proxies write it: bare, with a port, in brackets, in quotes.
std::optional<Address> parse_hop(std::string_view s) {
  s = ascii::trim(s);
  if (s.size() >= 2 && s.front() == '"' && s.back() == '"') s = s.substr(1, s.size() - 2);
  if (s.starts_with('[')) {
    const auto end = s.find(']');
    if (end == s.npos) return std::nullopt;
    const auto after = s.substr(end + 1);
    if (!after.empty() && (after.front() != ':' || !text::number(after.substr(1)))) return std::nullopt;
    return parse_address(s.substr(1, end - 1));
  }
  if (const auto colon = s.find(':'); colon != s.npos && s.find(':', colon + 1) == s.npos) {
    if (!text::number(s.substr(colon + 1))) return std::nullopt;
    s = s.substr(0, colon);
  }
  return parse_address(s);
}

/// @param hops  from left (client) to right (last proxy)
Address walk(const Address& peer, const Networks& trusted, const std::vector<std::string_view>& hops) {
  Address at = peer;
  for (auto hop = hops.rbegin(); hop != hops.rend() && contains(trusted, at); ++hop) {
    const auto address = parse_hop(*hop);
    if (!address) break;
    at = *address;
  }
  return at;
}

/// The value of one parameter of a Forwarded element: `for=1.2.3.4;proto=https`.
std::string_view parameter(std::string_view element, std::string_view name) {
  while (!element.empty()) {
    const auto end = element.find(';');
    const auto pair = ascii::trim(element.substr(0, end));
    const auto equals = pair.find('=');
    if (equals != pair.npos && ascii::iequals(pair.substr(0, equals), name)) return pair.substr(equals + 1);
    if (end == element.npos) break;
    element.remove_prefix(end + 1);
  }
  return {};
}

std::string_view unquoted(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::optional<bool> is_https(std::string_view proto) {
  proto = unquoted(proto);
  if (ascii::iequals(proto, "https")) return true;
  if (ascii::iequals(proto, "http")) return false;
  return std::nullopt;
}

}  // namespace

Address Address::from_v4(const void* four_bytes) {
  Address a;
  std::copy(kMapped.begin(), kMapped.end(), a.bytes.begin());
  std::memcpy(a.bytes.data() + 12, four_bytes, 4);
  return a;
}

Address Address::from_v6(const void* sixteen_bytes) {
  Address a;
  std::memcpy(a.bytes.data(), sixteen_bytes, 16);
  return a;
}

bool Address::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes.begin()); }

bool Address::is_loopback() const {
  if (is_v4()) return bytes[12] == 127;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t b) { return b == 0; }) && bytes[15] == 1;
}

std::string Address::text() const {
  char out[INET6_ADDRSTRLEN] = {};
  if (is_v4())
    ::inet_ntop(AF_INET, bytes.data() + 12, out, sizeof out);
  else
    ::inet_ntop(AF_INET6, bytes.data(), out, sizeof out);
  return out;
}

Address Address::limit_key() const {
  Address key = *this;
  if (!is_v4()) std::fill(key.bytes.begin() + 8, key.bytes.end(), std::uint8_t{0});
  return key;
}

std::string Address::limit_text() const { return is_v4() ? text() : limit_key().text() + "/64"; }

std::optional<Address> parse_address(std::string_view s) {
  char buffer[INET6_ADDRSTRLEN];
  if (s.empty() || s.size() >= sizeof buffer) return std::nullopt;
  std::memcpy(buffer, s.data(), s.size());
  buffer[s.size()] = '\0';
  std::uint8_t bytes[16];
  if (std::memchr(buffer, '\0', s.size())) return std::nullopt;
  if (::inet_pton(AF_INET, buffer, bytes) == 1) return Address::from_v4(bytes);
  if (::inet_pton(AF_INET6, buffer, bytes) == 1) return Address::from_v6(bytes);
  return std::nullopt;
}

bool Network::contains(const Address& a) const {
  const unsigned whole = prefix_bits / 8;
  if (std::memcmp(base.bytes.data(), a.bytes.data(), whole) != 0) return false;
  const unsigned rest = prefix_bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
  return ((base.bytes[whole] ^ a.bytes[whole]) & mask) == 0;
}

std::optional<Network> parse_network(std::string_view s) {
  const auto slash = s.find('/');
  const auto address = parse_address(s.substr(0, slash));
  if (!address) return std::nullopt;
  Network out{*address, 128};
  if (slash == s.npos) return out;
  const auto bits = text::number(s.substr(slash + 1));
  // "::ffff:10.0.0.0/104" counts in IPv6 bits although the address is the mapped form of an IPv4 one.
  const bool v4 = s.substr(0, slash).find(':') == s.npos;
  if (!bits || *bits > (v4 ? 32 : 128)) return std::nullopt;
  out.prefix_bits = static_cast<unsigned>(*bits) + (v4 ? 96 : 0);
  return out;
}

bool contains(const Networks& networks, const Address& a) {
  return std::any_of(networks.begin(), networks.end(), [&](const Network& n) { return n.contains(a); });
}

std::vector<std::string> read_forwarded_hosts(std::string_view x_forwarded_host, std::string_view forwarded) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view authority) {
    if (const auto host = host_of(unquoted(authority)); !host.empty()) out.emplace_back(host);
  };
  ascii::each_element(x_forwarded_host, add);
  ascii::each_element(forwarded, [&](std::string_view element) { add(parameter(element, "host")); });
  return out;
}

bool is_loopback_name(std::string_view host) {
  return ascii::iequals(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

Forwarding read_forwarding(const Address& peer, const Networks& trusted, std::string_view x_forwarded_for,
                           std::string_view forwarded, std::string_view x_forwarded_proto) {
  std::vector<std::string_view> x_hops;
  std::vector<std::string_view> hops;
  std::optional<bool> said_by_forwarded;
  std::optional<bool> said_by_x;
  ascii::each_element(x_forwarded_for, [&](std::string_view hop) { x_hops.push_back(hop); });
  ascii::each_element(forwarded, [&](std::string_view element) {
    hops.push_back(parameter(element, "for"));
    if (const auto proto = parameter(element, "proto"); !proto.empty()) said_by_forwarded = is_https(proto);
  });
  ascii::each_element(x_forwarded_proto, [&](std::string_view proto) { said_by_x = is_https(proto); });

  Forwarding out{peer, x_forwarded_proto.empty() ? said_by_forwarded : said_by_x};
  if (x_hops.empty()) {
    out.client = walk(peer, trusted, hops);
  } else {
    out.client = walk(peer, trusted, x_hops);
    if (!hops.empty() && walk(peer, trusted, hops) != out.client) out.client = peer;
  }
  return out;
}

}  // namespace welkin::http
