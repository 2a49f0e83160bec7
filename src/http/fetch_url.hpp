#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/address.hpp"

namespace welkin::http {

/// What of a URL a request needs.
struct FetchUrl {
  bool secure = false;
  std::string host;  // lower case; without brackets
  std::uint16_t port = 0;
  std::string target;  // path and query

  bool is_v6() const { return host.find(':') != std::string::npos; }
  std::string authority() const;
};

/// nullopt: another scheme, credentials in it, a host or a letter that does not belong there.
std::optional<FetchUrl> parse_fetch_url(std::string_view url);
/// Where a Location leads from there.
std::optional<FetchUrl> follow(const FetchUrl& from, std::string_view location);

/// Whether an address belongs to the public internet.
bool is_public(const Address& address);

}  // namespace welkin::http
