#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/address.hpp"
#include "welkin/core/config.hpp"

namespace welkin::http {

/// What sessions need of the configuration, read and checked once.
struct Settings {
  Settings() = default;
  /// @throws std::runtime_error naming the value that cannot be used
  explicit Settings(const Config& config);

  std::string base_url;            // without a trailing slash; "" when not configured
  std::string base_path;           // "" or "/cloud"
  bool base_secure = false;        // base_url is https
  std::vector<std::string> hosts;  // lower case, without ports; empty: any
  Networks trusted;
  std::uint64_t upload_bytes_max = 0;
  unsigned connections_max = 4096;
  unsigned connections_per_address_max = 64;
  unsigned header_seconds = 10;
  unsigned idle_seconds = 75;
  unsigned body_stall_seconds = 30;
  unsigned write_stall_seconds = 60;
  bool access_log = true;

  /// Whether a request for this Host is ours. A loopback name is fine for a peer on the loopback: health
  /// checks.
  bool serves(std::string_view authority, const Address& peer) const;
};

/// The host and port of Config::listen. @throws std::runtime_error
struct ListenAddress {
  std::string host;  // "" for all addresses
  std::uint16_t port = 0;
};
ListenAddress parse_listen(std::string_view listen);

}  // namespace welkin::http
