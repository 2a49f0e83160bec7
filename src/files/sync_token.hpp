#pragma once
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/core/error.hpp"

namespace welkin::files {

/// A position in the change log of a drive, as it stands between two rows.
struct LogMark {
  std::int64_t seq = 0;
  // Behind this row of `seq`; as made, behind all of them.
  std::int64_t node = std::numeric_limits<std::int64_t>::max();
  std::int16_t op = std::numeric_limits<std::int16_t>::max();
  // Not 0: the row is the coming of a folder, and of what is below it everything up to this node has been
  // told.
  std::int64_t below = 0;

  bool inside() const { return node != std::numeric_limits<std::int64_t>::max(); }
};

/// Text form: drive, epoch, number, folder and digest of mounts in lower-case hex, joined by '-'; one that
/// stands inside a number has node, op and `below` behind it.
struct SyncToken {
  std::int64_t drive = 0, epoch = 0, folder = 0, mounts = 0;
  LogMark mark;

  std::string text() const;
  /// nullopt: none of ours.
  static std::optional<SyncToken> parse(std::string_view text);
};

Error bad_sync_token(const char* why);

}  // namespace welkin::files
