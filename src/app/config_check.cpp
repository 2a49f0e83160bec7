// What one value cannot show alone: addresses, URLs, pairs, and secrets that are too weak.
#include <arpa/inet.h>
#include <fmt/core.h>

#include <cmath>

#include "app/config.hpp"
#include "welkin/core/text.hpp"
#include "welkin/mail/message.hpp"

namespace welkin::app {
namespace {

constexpr std::size_t kSecretLettersMin = 16;

bool is_host_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '_';
}

/// host, host:port or [v6]:port, as a Host field carries it.
bool is_host(std::string_view host) {
  if (host.empty()) return false;
  if (host.front() == '[') {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return false;
    in6_addr ignored;
    if (::inet_pton(AF_INET6, std::string(host.substr(1, end - 1)).c_str(), &ignored) != 1) return false;
    host.remove_prefix(end + 1);
  } else {
    while (!host.empty() && is_host_letter(host.front())) host.remove_prefix(1);
  }
  if (host.empty()) return true;
  const auto port = host.front() == ':' ? text::number(host.substr(1)) : std::nullopt;
  return port && *port >= 1 && *port <= 65'535;
}

bool is_cidr(std::string_view range) {
  const auto slash = range.find('/');
  const std::string address(range.substr(0, slash));
  in_addr v4;
  in6_addr v6;
  const unsigned bits = ::inet_pton(AF_INET, address.c_str(), &v4) == 1    ? 32
                        : ::inet_pton(AF_INET6, address.c_str(), &v6) == 1 ? 128
                                                                           : 0;
  if (bits == 0) return false;
  if (slash == std::string_view::npos) return true;
  const auto length = text::number(range.substr(slash + 1));
  return length && *length <= bits;
}

std::string base_url_fault(std::string_view url) {
  const auto scheme = url.starts_with("https://") ? 8u : url.starts_with("http://") ? 7u : 0u;
  if (scheme == 0) return "must begin with https:// or http://";
  auto rest = url.substr(scheme);
  if (rest.find_first_of("?#@ \t\\%") != std::string_view::npos)
    return "must be an origin and perhaps a path, no more";
  const auto slash = rest.find('/');
  if (!is_host(rest.substr(0, slash))) return "has no valid host";
  if (slash == std::string_view::npos) return "";
  const auto path = rest.substr(slash);
  if (path.ends_with('/')) return "must not end with a slash";
  for (const auto segment : text::split(path.substr(1), '/')) {
    if (segment.empty() || segment == "." || segment == "..") return "has an empty or dotted path segment";
  }
  return "";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

std::pair<std::string, std::uint16_t> parse_address(std::string_view address) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) throw ConfigError(fmt::format("'{}' has no port", address));
  auto host = address.substr(0, colon);
  const auto port = text::number(address.substr(colon + 1));
  if (!port || *port > 65'535) throw ConfigError(fmt::format("'{}' has no valid port", address));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    throw ConfigError(fmt::format("'{}': an IPv6 address needs brackets, [::1]:8086", address));
  }
  if (host.empty() || host == "*") host = "0.0.0.0";
  in_addr v4;
  in6_addr v6;
  const std::string text(host);
  if (host != "localhost" && ::inet_pton(AF_INET, text.c_str(), &v4) != 1 &&
      ::inet_pton(AF_INET6, text.c_str(), &v6) != 1) {
    throw ConfigError(
        fmt::format("'{}': '{}' is no IP address of this machine (nor localhost)", address, host));
  }
  return {host == "localhost" ? "127.0.0.1" : text, static_cast<std::uint16_t>(*port)};
}

std::uint64_t parse_bytes(std::string_view words) {
  const auto trimmed = text::trim(words);
  std::size_t digits = 0;
  while (digits < trimmed.size() &&
         ((trimmed[digits] >= '0' && trimmed[digits] <= '9') || trimmed[digits] == '.')) {
    ++digits;
  }
  const auto number = trimmed.substr(0, digits);
  const auto unit = text::lower(text::trim(trimmed.substr(digits)));
  static const std::map<std::string, double> units{
      {"", 1},         {"b", 1},        {"k", 1e3},      {"kb", 1e3},    {"m", 1e6},
      {"mb", 1e6},     {"g", 1e9},      {"gb", 1e9},     {"t", 1e12},    {"tb", 1e12},
      {"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30}, {"tib", 0x1p40}};
  const auto factor = units.find(unit);
  const auto dot = number.find('.');
  const auto whole = text::number(number.substr(0, dot));
  std::optional<std::uint64_t> part = 0;
  double scale = 1;
  if (dot != std::string_view::npos) {
    part = text::number(number.substr(dot + 1));
    scale = std::pow(10.0, static_cast<double>(number.size() - dot - 1));
  }
  if (factor == units.end() || !whole || !part || (factor->second == 1 && dot != std::string_view::npos)) {
    throw ConfigError(fmt::format("'{}' is no size; write 500MB, 10GB or 64MiB", words));
  }
  const auto too_large = [&] { return ConfigError(fmt::format("'{}' is too large", words)); };
  if (dot == std::string_view::npos) {
    const auto unit_bytes = static_cast<std::uint64_t>(factor->second);
    if (*whole > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / unit_bytes)
      throw too_large();
    return *whole * unit_bytes;
  }
  const double value = (static_cast<double>(*whole) + static_cast<double>(*part) / scale) * factor->second;
  if (value >= 0x1p63) throw too_large();
  return static_cast<std::uint64_t>(std::llround(value));
}

void check_config(const Loaded& loaded, std::vector<std::string>& errors,
                  std::vector<std::string>& warnings) {
  const Config& c = loaded.config;
  const auto complain = [&](const char* key, const std::string& what) {
    const auto& source = loaded.sources.at(key);
    errors.push_back(source.starts_with("WELKIN_") ? source + ": " + what
                                                   : fmt::format("{}: {}: {}", source, key, what));
  };
  const auto check_address = [&](const char* key, const std::string& value) -> std::string {
    try {
      return parse_address(value).first;
    } catch (const ConfigError& e) {
      complain(key, e.what());
      return "";
    }
  };

  if (!c.data_dir.starts_with('/'))
    complain("data_dir", fmt::format("'{}' is not an absolute path", c.data_dir));
  const auto host = check_address("listen", c.listen);
  if (!c.metrics_listen.empty()) {
    check_address("metrics_listen", c.metrics_listen);
    if (c.metrics_listen == c.listen && !c.listen.ends_with(":0")) {
      complain("metrics_listen", "is the same as listen; set metrics_token to serve /metrics there");
    }
  }
  if (!c.base_url.empty()) {
    if (const auto fault = base_url_fault(c.base_url); !fault.empty()) {
      complain("base_url", fmt::format("'{}' {}", c.base_url, fault));
    }
  }
  for (const auto& allowed : c.allowed_hosts) {
    if (!is_host(allowed)) complain("allowed_hosts", fmt::format("'{}' is no host name", allowed));
  }
  for (const auto& range : c.trusted_proxies) {
    if (!is_cidr(range))
      complain("trusted_proxies", fmt::format("'{}' is no address range such as 10.0.0.0/8", range));
  }
  if (c.tls_cert.empty() != c.tls_key.empty()) {
    complain(c.tls_cert.empty() ? "tls_key" : "tls_cert", "certificate and key must be set together");
  }
  if (!c.database_url.empty() && !c.database_url.starts_with("postgresql://") &&
      !c.database_url.starts_with("postgres://") && c.database_url.find('=') == std::string::npos) {
    complain("database_url", "must be postgresql://user:password@host/name or libpq's key=value form");
  }
  if (!c.setup_token.empty() && c.setup_token != "off" && c.setup_token.size() < kSecretLettersMin) {
    complain("setup_token", fmt::format("must have at least {} letters, or be off", kSecretLettersMin));
  }
  if (!c.metrics_token.empty() && c.metrics_token.size() < kSecretLettersMin) {
    complain("metrics_token", fmt::format("must have at least {} letters", kSecretLettersMin));
  }
  if (c.refresh_token_seconds < c.access_token_seconds) {
    complain("refresh_token_seconds", "must not be shorter than access_token_seconds");
  }

  if (!c.mail_host.empty()) {
    if (!is_host(c.mail_host) || c.mail_host.find(':') != std::string::npos)
      complain("mail_host", fmt::format("'{}' is no host name", c.mail_host));
    if (!mail::is_address(c.mail_from)) complain("mail_host", "needs mail_from, a mail address");
    if (c.mail_tls == "none" && !c.mail_user.empty() && !is_loopback(c.mail_host))
      complain("mail_user", "a password goes to another machine only with mail_tls starttls or tls");
  }
  if (c.mail_user.empty() != c.mail_password.empty())
    complain(c.mail_user.empty() ? "mail_password" : "mail_user",
             "mail_user and mail_password must be set together");

  if (c.setup_token == "off" && !host.empty() && !is_loopback(host)) {
    warnings.emplace_back(
        "setup_token is off and the server listens beyond this machine: until the first account is "
        "made, anybody who reaches it can take it");
  }
  if (!c.tls_cert.empty() && c.base_url.starts_with("http://")) {
    warnings.emplace_back(
        "base_url begins with http:// though a certificate is set: cookies will not be marked Secure");
  }
  if (!c.base_url.empty() && c.base_url.starts_with("https://") && c.tls_cert.empty() &&
      c.trusted_proxies.empty() && !is_loopback(host)) {
    warnings.emplace_back("base_url is https, but neither a certificate nor trusted_proxies is set");
  }
}

}  // namespace welkin::app
