#include "http/settings.hpp"

#include <algorithm>
#include <stdexcept>

#include "http/ascii.hpp"
#include "http/head.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {

Settings::Settings(const Config& config)
    : upload_bytes_max(config.upload_bytes_max),
      connections_max(std::max(1u, config.connections_max)),
      connections_per_address_max(config.connections_per_address_max),
      header_seconds(config.header_seconds),
      idle_seconds(config.idle_seconds),
      body_stall_seconds(config.body_stall_seconds),
      write_stall_seconds(config.write_stall_seconds),
      access_log(config.access_log) {
  for (const auto& range : config.trusted_proxies) {
    const auto network = parse_network(range);
    if (!network)
      throw std::runtime_error("trusted_proxies: '" + range + "' is no address and no CIDR range");
    trusted.push_back(*network);
  }
  for (const auto& host : config.allowed_hosts) {
    if (!is_authority(host)) throw std::runtime_error("allowed_hosts: '" + host + "' is no host name");
    hosts.push_back(text::lower(host_of(host)));
  }
  if (config.base_url.empty()) return;
  const auto bad = [&](const char* why) {
    return std::runtime_error("base_url: '" + config.base_url + "' " + why);
  };
  std::string_view rest = config.base_url;
  base_secure = text::lower(rest.substr(0, 8)) == "https://";
  if (!base_secure && text::lower(rest.substr(0, 7)) != "http://")
    throw bad("does not begin with http:// or https://");
  rest.remove_prefix(base_secure ? 8 : 7);
  const auto slash = std::min(rest.find('/'), rest.size());
  if (!is_authority(rest.substr(0, slash))) throw bad("has no sound host");
  hosts.push_back(text::lower(host_of(rest.substr(0, slash))));
  base_path = rest.substr(slash);
  while (base_path.ends_with('/')) base_path.pop_back();
  if (base_path.find_first_of("?#%\\ \"<>") != base_path.npos || base_path.find("//") != base_path.npos ||
      (base_path + "/").find("/./") != base_path.npos || (base_path + "/").find("/../") != base_path.npos ||
      !ascii::all(base_path, ascii::kTarget))
    throw bad("has a path that is not plain");
  base_url = config.base_url;
  while (base_url.ends_with('/')) base_url.pop_back();
}

bool Settings::serves(std::string_view authority, const Address& peer) const {
  if (hosts.empty() || authority.empty()) return true;
  const auto host = text::lower(host_of(authority));
  if (std::find(hosts.begin(), hosts.end(), host) != hosts.end()) return true;
  return peer.is_loopback() && (host == "localhost" || host == "127.0.0.1" || host == "[::1]");
}

ListenAddress parse_listen(std::string_view listen) {
  const auto colon = listen.rfind(':');
  const auto bad = [&] {
    return std::runtime_error("listen: '" + std::string(listen) + "' is not host:port");
  };
  if (colon == listen.npos) throw bad();
  const auto port = text::number(listen.substr(colon + 1));
  if (!port || *port > 65535) throw bad();
  auto host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != host.npos)
    throw bad();
  if (host == "*") host = {};
  return {std::string(host), static_cast<std::uint16_t>(*port)};
}

}  // namespace welkin::http
