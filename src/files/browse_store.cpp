#include "files/browse_store.hpp"

#include <charconv>

namespace welkin::files::store {

// A long listing's time is the database's, and most of that goes by the values it hands over. So what is
// small is one value, what is mostly the same is null, a folder's own numbers are one value that is looked up
// for folders alone, and a type is its number in the dictionary.
// clang-format off
#define WELKIN_BROWSE_COLUMNS                                                                              \
  "n.id, (n.drive_id::int8 << 32) | ((n.mime::int4 << 16) | (n.flags::int4 << 2) | n.kind),"               \
  " n.size, n.mtime, nullif(n.created_at, n.mtime), nullif(n.etag_drive, n.drive_id), n.etag_seq,"         \
  " case when n.kind = 2 then"                                                                             \
  " (select int8send(f.bytes_below) || int8send(f.changed_at) || int8send(f.etag_seq)"                     \
  " from folders f where f.node_id = n.id) end, "
#define WELKIN_BROWSE_RIGHTS                                                                               \
  "case when n.flags & 1 = 1 then (select g.rights from gate(n.id, $2, $3, $4, $5, $6) g) end, n.name"
#define WELKIN_BROWSE_MORE(DIGESTS, AUTHOR)                                                                \
  ", case when " DIGESTS " then (select c.sha256 from contents c where c.id = n.content_id) end,"          \
  " case when " DIGESTS " then (select c.sha1 from contents c where c.id = n.content_id) end,"             \
  " case when " AUTHOR " then (select u.name from users u where u.id = n.author_id) end"
// clang-format on

const db::Stmt kMembers{"files.members",
                        "select " WELKIN_BROWSE_COLUMNS WELKIN_BROWSE_RIGHTS
                        " from nodes n where n.parent_id = $1 and n.name > $7 order by n.name limit $8"};

const db::Stmt kMembersTold{
    "files.members_told",
    "select " WELKIN_BROWSE_COLUMNS WELKIN_BROWSE_RIGHTS WELKIN_BROWSE_MORE(
        "$7", "$8") " from nodes n where n.parent_id = $1 and n.name > $9 order by n.name limit $10"};

const db::Stmt kMounted{
    "files.mounted",
    "select " WELKIN_BROWSE_COLUMNS "g.rights, m.name" WELKIN_BROWSE_MORE("$8", "$9")
    " from mounts m join nodes n on n.id = m.target_id cross join lateral gate(n.id, $2, $3, $4, $5, $6) g"
    " where m.user_id = $7 and m.parent_id = $1 and g.live and g.rights & 1 = 1 order by m.name"};

std::string_view name_of(const db::Row& row) { return row.text(9); }
std::int16_t type_of(const db::Row& row) { return static_cast<std::int16_t>(row.i64(1) >> 16 & 0x7fff); }

namespace {

/// Twin of etag_text: drive, change, node, in at least 8, 16 and 8 hex digits.
void write_etag(BrowseRow& r, std::int64_t drive, std::int64_t seq) {
  char* at = r.etag_text.data();
  const auto hex = [&](std::int64_t value, int width) {
    char digits[16];
    const auto length =
        std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(value), 16).ptr - digits;
    for (auto i = length; i < width; ++i) *at++ = '0';
    at = std::copy_n(digits, length, at);
  };
  hex(drive, 8);
  hex(seq, 16);
  hex(r.id.value, 8);
  r.etag_length = static_cast<std::uint8_t>(at - r.etag_text.data());
}

std::int64_t big_endian(ByteView bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  return static_cast<std::int64_t>(value);
}

}  // namespace

BrowseRow browse_row_of(const db::Row& row, std::int32_t folder_rights, bool told) {
  BrowseRow r;
  row.id_into(0, r.id);
  const std::int64_t small = row.i64(1);
  r.kind = (small & 3) == 2 ? Kind::folder : Kind::file;
  r.has_properties = (small >> 2 & 4) != 0;
  r.drive = DriveId{static_cast<std::int32_t>(small >> 32)};
  r.created_at = row.is_null(4) ? row.i64(3) : row.i64(4);
  if (r.is_folder()) {
    const ByteView own = row.bytes(7);
    r.size_bytes = static_cast<std::uint64_t>(big_endian(own, 0));
    r.modified_at = big_endian(own, 8);
    write_etag(r, r.drive.value, big_endian(own, 16));
  } else {
    r.size_bytes = static_cast<std::uint64_t>(row.i64(2));
    r.modified_at = row.i64(3);
    write_etag(r, row.is_null(5) ? r.drive.value : row.i64(5), row.i64(6));
  }
  r.rights = row.is_null(8) ? folder_rights : row.i32(8);
  r.name = name_of(row);
  if (!told) return r;
  if (!row.is_null(10)) r.sha256 = row.bytes(10);
  if (!row.is_null(11)) r.sha1 = row.bytes(11);
  if (!row.is_null(12)) r.author_name = row.text(12);
  return r;
}

}  // namespace welkin::files::store
