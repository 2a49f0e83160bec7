#include "blobs/layout.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "welkin/core/text.hpp"

namespace welkin::blobs {
namespace {

constexpr std::string_view kSpoolSuffix = ".part";

std::string hex_id(ChunkId id) {
  char buffer[16];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::uint64_t>(id.value), 16);
  return {buffer, end.ptr};
}

/// Only what hex_id makes: no leading zeros, no capitals, above zero.
std::optional<ChunkId> parse_id(std::string_view digits) {
  std::uint64_t value = 0;
  const auto* end = digits.data() + digits.size();
  const auto got = std::from_chars(digits.data(), end, value, 16);
  const ChunkId id{static_cast<std::int64_t>(value)};
  if (got.ec != std::errc() || got.ptr != end || id.value <= 0 || hex_id(id) != digits) return std::nullopt;
  return id;
}

}  // namespace

Area area_of(ChunkId id) {
  return {Area::Kind::blobs, static_cast<std::uint8_t>((id.value / kIdsPerBlock) % kDirectories)};
}

std::string chunk_file_name(const Sha256& sha256, ChunkId id) {
  return text::hex(std::as_bytes(std::span(sha256))) + "." + hex_id(id);
}

std::optional<ChunkName> parse_chunk_file_name(std::string_view name) {
  constexpr std::size_t digits = 2 * sizeof(Sha256);
  if (name.size() <= digits || name[digits] != '.') return std::nullopt;
  const auto bytes = text::from_hex(name.substr(0, digits));
  const auto id = parse_id(name.substr(digits + 1));
  if (!bytes || !id) return std::nullopt;
  ChunkName out{.sha256 = {}, .id = *id};
  std::transform(bytes->begin(), bytes->end(), out.sha256.begin(),
                 [](std::byte b) { return static_cast<std::uint8_t>(b); });
  if (chunk_file_name(out.sha256, out.id) != name) return std::nullopt;
  return out;
}

Sha256 to_sha256(ByteView bytes) {
  Sha256 out;
  if (bytes.size() != out.size()) throw std::logic_error("a hash of a wrong length");
  std::transform(bytes.begin(), bytes.end(), out.begin(),
                 [](std::byte b) { return static_cast<std::uint8_t>(b); });
  return out;
}

Bytes to_bytes(const Sha256& sha256) {
  const auto view = std::as_bytes(std::span(sha256));
  return {view.begin(), view.end()};
}

std::string spool_file_name(ChunkId id) { return hex_id(id) + std::string(kSpoolSuffix); }

std::optional<ChunkId> parse_spool_file_name(std::string_view name) {
  if (!name.ends_with(kSpoolSuffix)) return std::nullopt;
  return parse_id(name.substr(0, name.size() - kSpoolSuffix.size()));
}

}  // namespace welkin::blobs
