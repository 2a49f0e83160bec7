#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::http {

/// An IP address; IPv4 is kept as ::ffff:a.b.c.d, so that both ways of writing one address are equal.
struct Address {
  std::array<std::uint8_t, 16> bytes{};

  static Address from_v4(const void* four_bytes);
  static Address from_v6(const void* sixteen_bytes);
  bool is_v4() const;
  bool is_loopback() const;
  std::string text() const;
  /// What limits count: an IPv4 address whole, an IPv6 one by its /64 (one customer has at least that).
  Address limit_key() const;
  std::string limit_text() const;
  friend auto operator<=>(const Address&, const Address&) = default;
};
/// Plain text form, no port, no brackets, no zone. nullopt for anything else.
std::optional<Address> parse_address(std::string_view s);

/// A CIDR range; a single address is its own range.
struct Network {
  Address base;
  unsigned prefix_bits = 128;  // counted in the 128 bits of Address
  bool contains(const Address& a) const;
};
/// "10.0.0.0/8", "192.0.2.1", "fd00::/8". nullopt when malformed.
std::optional<Network> parse_network(std::string_view s);
using Networks = std::vector<Network>;
bool contains(const Networks& networks, const Address& a);

/// What the forwarding headers of a trusted peer say. Values nobody can parse end the walk at the last
/// address known.
struct Forwarding {
  Address client;
  std::optional<bool> secure;  // nullopt: not said
};

/// Walks X-Forwarded-For and Forwarded (RFC 7239) from the right, past trusted proxies, to the first hop that
/// is not one. When both headers are there and disagree, one of them came from the client through a proxy
/// that only minds the other: then neither is believed and the peer itself counts.
/// @param peer  the socket's other end; must be inside `trusted`, else nothing of this may be asked
Forwarding read_forwarding(const Address& peer, const Networks& trusted, std::string_view x_forwarded_for,
                           std::string_view forwarded, std::string_view x_forwarded_proto);

/// The hosts that X-Forwarded-Host and Forwarded name, without ports. Only for headers of a trusted peer.
std::vector<std::string> read_forwarded_hosts(std::string_view x_forwarded_host, std::string_view forwarded);
/// localhost, 127.0.0.1, [::1]; in any case.
bool is_loopback_name(std::string_view host);

}  // namespace welkin::http
