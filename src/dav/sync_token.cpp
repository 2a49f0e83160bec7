#include "dav/sync_token.hpp"

#include "welkin/core/text.hpp"

namespace welkin::dav {
namespace {

constexpr std::string_view kPrefix = "urn:welkin:sync:";

}  // namespace

std::string write_sync_token(const SyncToken& token) {
  std::string out(kPrefix);
  out += token.state;
  if (!token.after.empty()) (out += '/') += text::base64url(as_bytes(token.after));
  return out;
}

std::optional<SyncToken> read_sync_token(std::string_view uri) {
  if (!uri.starts_with(kPrefix)) return std::nullopt;
  uri.remove_prefix(kPrefix.size());
  SyncToken token;
  const auto slash = uri.find('/');
  token.state = uri.substr(0, slash);
  if (token.state.empty() || token.state.find_first_not_of("0123456789abcdef-") != std::string::npos)
    return std::nullopt;
  if (slash == std::string_view::npos) return token;
  const auto after = text::from_base64url(uri.substr(slash + 1));
  if (!after || after->empty() || after->size() > 255) return std::nullopt;
  token.after = as_text(*after);
  if (!text::is_utf8(token.after) || token.after.find('\0') != std::string::npos) return std::nullopt;
  return token;
}

}  // namespace welkin::dav
