#include "files/sync_token.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

constexpr std::size_t kWholeFields = 5, kInsideFields = 8;

std::optional<std::int64_t> hex_number(std::string_view digits) {
  // Exactly as we print: nothing that from_chars would also take (capitals, signs, leading zeros).
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0') ||
      digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::string SyncToken::text() const {
  const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  std::string out =
      fmt::format("{:x}-{:x}-{:x}-{:x}-{:x}", u(drive), u(epoch), u(mark.seq), u(folder), u(mounts));
  if (mark.inside()) out += fmt::format("-{:x}-{:x}-{:x}", u(mark.node), u(mark.op), u(mark.below));
  return out;
}

std::optional<SyncToken> SyncToken::parse(std::string_view text) {
  const auto parts = text::split(text, '-');
  if (parts.size() != kWholeFields && parts.size() != kInsideFields) return std::nullopt;
  std::array<std::int64_t, kInsideFields> fields{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = hex_number(parts[i]);
    if (!value || (*value < 0 && i != 4)) return std::nullopt;  // only the digest uses all 64 bits
    fields[i] = *value;
  }
  SyncToken token;
  token.drive = fields[0];
  token.epoch = fields[1];
  token.mark.seq = fields[2];
  token.folder = fields[3];
  token.mounts = fields[4];
  if (parts.size() == kInsideFields) {
    if (fields[6] > std::numeric_limits<std::int16_t>::max()) return std::nullopt;
    token.mark.node = fields[5];
    token.mark.op = static_cast<std::int16_t>(fields[6]);
    token.mark.below = fields[7];
    if (!token.mark.inside()) return std::nullopt;
  }
  return token;
}

Error bad_sync_token(const char* why) { return {Errc::forbidden, "valid-sync-token", why}; }

}  // namespace welkin::files
