#include "files/browse_store.hpp"

#include <charconv>

namespace welkin::files::store {

#define WELKIN_BROWSE_COLUMNS(MIME, DIGESTS, AUTHOR)                                            \
  "n.id, n.drive_id, n.kind, n.flags, case when n.kind = 2 then f.bytes_below else n.size end," \
  " case when n.kind = 2 then f.changed_at else n.mtime end, n.created_at,"                     \
  " case when n.kind = 2 then n.drive_id else n.etag_drive end,"                                \
  " case when n.kind = 2 then f.etag_seq else n.etag_seq end,"                                  \
  " case when " MIME                                                                            \
  " and n.kind = 1 then (select m.name from mime_types m where m.id = n.mime) end,"             \
  " case when " DIGESTS                                                                         \
  " then (select c.sha256 from contents c where c.id = n.content_id) end,"                      \
  " case when " DIGESTS                                                                         \
  " then (select c.sha1 from contents c where c.id = n.content_id) end,"                        \
  " case when " AUTHOR " then (select u.name from users u where u.id = n.author_id) end, "
// The key is null for files: the index is not even opened for them.
#define WELKIN_BROWSE_FOLDER                                                          \
  " left join lateral (select x.etag_seq, x.changed_at, x.bytes_below from folders x" \
  "   where x.node_id = case when n.kind = 2 then n.id end offset 0) f on true"

const db::Stmt kMembers{
    "files.members",
    "select " WELKIN_BROWSE_COLUMNS("$8", "$9", "$10") "case when n.flags & 1 = 1"
    "  then (select g.rights from gate(n.id, $2, $3, $4, $5, $6) g) else $7 end, n.name"
    " from nodes n" WELKIN_BROWSE_FOLDER " where n.parent_id = $1 and n.name > $11 order by n.name limit $12"};

const db::Stmt kMounted{
    "files.mounted",
    "select " WELKIN_BROWSE_COLUMNS("$8", "$9", "$10") "g.rights, m.name from mounts m join nodes n on n.id = m.target_id"
    " cross join lateral gate(n.id, $2, $3, $4, $5, $6) g" WELKIN_BROWSE_FOLDER
    " where m.user_id = $7 and m.parent_id = $1 and g.live and g.rights & 1 = 1 order by m.name"};

std::string_view name_of(const db::Row& row) { return row.text(14); }

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

}  // namespace

BrowseRow browse_row_of(const db::Row& row) {
  BrowseRow r;
  row.id_into(0, r.id);
  row.id_into(1, r.drive);
  r.kind = row.i64(2) == 2 ? Kind::folder : Kind::file;
  r.has_properties = (row.i64(3) & 4) != 0;
  r.size_bytes = static_cast<std::uint64_t>(row.i64(4));
  r.modified_at = row.i64(5);
  r.created_at = row.i64(6);
  write_etag(r, row.i64(7), row.i64(8));
  if (!row.is_null(9)) r.mime_type = row.text(9);
  if (!row.is_null(10)) r.sha256 = row.bytes(10);
  if (!row.is_null(11)) r.sha1 = row.bytes(11);
  if (!row.is_null(12)) r.author_name = row.text(12);
  r.rights = row.i32(13);
  r.name = name_of(row);
  return r;
}

}  // namespace welkin::files::store
