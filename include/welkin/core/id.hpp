#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace welkin {

/// A key of one table. Ids of different tables do not convert into each other; 0 is no row.
template <class Tag>
struct Id {
  std::int64_t value = 0;
  friend auto operator<=>(const Id&, const Id&) = default;
  explicit operator bool() const noexcept { return value != 0; }
};

using UserId = Id<struct UserTag>;    // users and groups share one number space: a subject is one bigint
using GroupId = Id<struct GroupTag>;
using DriveId = Id<struct DriveTag>;  // integer in the database
using NodeId = Id<struct NodeTag>;    // also the Nextcloud file id
using ContentId = Id<struct ContentTag>;
using ChunkId = Id<struct ChunkTag>;
using UploadId = Id<struct UploadTag>;
using VersionId = Id<struct VersionTag>;
using LinkId = Id<struct LinkTag>;
using SessionId = Id<struct SessionTag>;
using AppPasswordId = Id<struct AppPasswordTag>;

/// The byte that makes ids of different kinds distinct inside the encrypted block. Values are stored in clients'
/// bookmarks: never renumber.
enum class IdKind : std::uint8_t {
  user = 1,
  group = 2,
  drive = 3,
  folder = 4,
  file = 5,
  version = 6,
  upload = 7,
  session = 8,
  app_password = 9,
  link = 10,
  grant = 11,
  calendar = 20,
  address_book = 21,
  calendar_object = 22,
  contact = 23,
  contact_group = 24,
  trashed_object = 25,  // an entry in the trash of calendars or address books
};

/// REST ids: one AES-128 block over (kind byte, 7 zero bytes, key as 8 bytes big-endian), printed in lower-case hex
/// as 8-4-4-4-12. Opaque, not enumerable, computed: no column, no index, no look-up. The 16-byte key is made once
/// and kept in `settings`; losing it changes every public id.
class PublicIds {
 public:
  explicit PublicIds(const std::array<std::uint8_t, 16>& key);
  ~PublicIds();
  PublicIds(const PublicIds&) = delete;
  PublicIds& operator=(const PublicIds&) = delete;

  std::string encode(IdKind kind, std::int64_t key) const;

  /// @return the key; nullopt when the text decrypts to another kind or to wrong padding (to the caller: not found)
  /// @throws Error invalid `bad_id` when the text is not 8-4-4-4-12 hex digits (either case)
  std::optional<std::int64_t> decode(IdKind kind, std::string_view text) const;

 private:
  struct Keys;
  Keys* keys_;
};

}  // namespace welkin

template <class Tag>
struct std::hash<welkin::Id<Tag>> {
  std::size_t operator()(const welkin::Id<Tag>& id) const noexcept { return std::hash<std::int64_t>{}(id.value); }
};
