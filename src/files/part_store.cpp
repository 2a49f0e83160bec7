#include "files/part_store.hpp"

#include <algorithm>

#include "files/refusals.hpp"

namespace welkin::files::store {
namespace {

#define WELKIN_UPLOAD_COLUMNS                                                                         \
  "select u.id, u.client_dir, u.total, u.stored, u.expires_at - make_interval(secs => $2::int) from " \
  "uploads u"
constexpr db::Stmt kFind{"files.find_part_upload", WELKIN_UPLOAD_COLUMNS
                         " where u.user_id = $1 and u.client_dir = $3 and u.expires_at > now()"};
constexpr db::Stmt kList{"files.part_uploads", WELKIN_UPLOAD_COLUMNS
                         " where u.user_id = $1 and u.client_dir is not null and u.expires_at > now()"
                         " order by u.client_dir"};
constexpr db::Stmt kParts{"files.upload_parts",
                          "select name, size, stored_at from upload_parts where upload_id = $1"};
constexpr db::Stmt kFacts{"files.facts_of_parts",
                          "select name, part, size, crc32 from upload_parts where upload_id = $1"};
constexpr db::Stmt kExpired{
    "files.expired_part_upload",
    "select id from uploads where user_id = $1 and client_dir = $2 and expires_at <= now()"};
constexpr db::Stmt kBegin{"files.begin_part_upload", "select begin_part_upload($1, $2, $3, $4, $5, $6, $7)"};
constexpr db::Stmt kBeginPart{"files.begin_part", "select begin_part($1, $2, $3, $4, $5)"};
constexpr db::Stmt kPutPart{"files.put_part", "select put_part($1, $2, $3, $4, $5, $6)"};
constexpr db::Stmt kDropPart{"files.drop_part", "select drop_part($1, $2)"};
constexpr db::Stmt kMove{"files.move_upload", "select move_upload($1, $2)"};
constexpr db::Stmt kJoin{"files.join_part_uploads", "select join_part_uploads($1, $2, $3)"};
constexpr db::Stmt kDrop{"files.drop_upload", "select drop_upload($1)"};

std::int64_t clamped(std::uint64_t bytes) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX / 4));
}

std::optional<std::int64_t> clamped(std::optional<std::uint64_t> bytes) {
  return bytes ? std::optional<std::int64_t>(clamped(*bytes)) : std::nullopt;
}

PartUpload upload_of(const db::Row& row) {
  PartUpload out;
  row.id_into(0, out.id);
  out.name = row.str(1);
  if (!row.is_null(2)) out.total_bytes = static_cast<std::uint64_t>(row.i64(2));
  out.stored_bytes = static_cast<std::uint64_t>(row.i64(3));
  out.touched_at = row.timestamp(4);
  return out;
}

/// Runs one of the functions, whose refusals become errors.
template <class F>
auto obeyed(F f) {
  try {
    return f();
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
}

}  // namespace

std::optional<PartUpload> find_part_upload(db::Tx& tx, UserId user, const std::string& name) {
  const auto rows = tx.exec(kFind, user, PartUploads::kSecondsMax, name);
  return rows.empty() ? std::nullopt : std::optional<PartUpload>(upload_of(rows[0]));
}

std::vector<PartUpload> part_uploads(db::Tx& tx, UserId user) {
  std::vector<PartUpload> out;
  for (const auto row : tx.exec(kList, user, PartUploads::kSecondsMax)) out.push_back(upload_of(row));
  return out;
}

bool begin_part_upload(db::Tx& tx, const Caller& caller, DriveId drive, const std::string& name,
                       std::optional<std::uint64_t> total_bytes) {
  // One that is over and waits for its end must not keep the name.
  const auto over = tx.exec(kExpired, caller.user, name);
  if (!over.empty()) tx.exec(kDrop, over[0].i64(0));
  return obeyed([&] {
    const auto rows = tx.one(kBegin, caller.user, static_cast<std::int32_t>(drive.value), NodeId{}, name,
                             clamped(total_bytes), PartUploads::kSecondsMax, PartUploads::kPerUserMax);
    return !rows[0].is_null(0);
  });
}

void load_parts(db::Tx& tx, PartUpload& upload) {
  for (const auto row : tx.exec(kParts, upload.id))
    upload.parts.push_back({row.str(0), static_cast<std::uint64_t>(row.i64(1)), row.timestamp(2)});
  std::sort(upload.parts.begin(), upload.parts.end(),
            [](const auto& a, const auto& b) { return part_comes_before(a.name, b.name); });
}

std::vector<blobs::Store::PartFacts> facts_of_parts(db::Tx& tx, UploadId upload) {
  struct Named {
    std::string name;
    blobs::Store::PartFacts facts;
  };
  std::vector<Named> named;
  for (const auto row : tx.exec(kFacts, upload)) {
    named.push_back(
        {row.str(0),
         {row.i32(1), static_cast<std::uint64_t>(row.i64(2)), static_cast<std::uint32_t>(row.i32(3))}});
  }
  std::sort(named.begin(), named.end(),
            [](const auto& a, const auto& b) { return part_comes_before(a.name, b.name); });
  std::vector<blobs::Store::PartFacts> out;
  for (const auto& one : named) out.push_back(one.facts);
  return out;
}

std::int32_t begin_part(db::Tx& tx, UploadId upload, std::uint64_t size_bytes,
                        std::optional<std::uint64_t> total_bytes) {
  return obeyed([&] {
    return tx
        .one(kBeginPart, upload, clamped(size_bytes), clamped(total_bytes), PartUploads::kSecondsMax,
             PartUploads::kPartsMax)[0]
        .i32(0);
  });
}

bool put_part(db::Tx& tx, UploadId upload, const std::string& name, std::int32_t part,
              const blobs::Sealed& body) {
  return obeyed([&] {
    return tx
        .one(kPutPart, upload, name, part, clamped(body.size_bytes), static_cast<std::int32_t>(body.crc32),
             PartUploads::kSecondsMax)[0]
        .boolean(0);
  });
}

bool drop_part(db::Tx& tx, UploadId upload, const std::string& name) {
  return tx.one(kDropPart, upload, name)[0].boolean(0);
}

void move_upload(db::Tx& tx, UploadId upload, DriveId drive) {
  obeyed([&] { return tx.exec(kMove, upload, static_cast<std::int32_t>(drive.value)); });
}

void join_uploads(db::Tx& tx, UploadId into, const std::vector<std::int64_t>& from) {
  obeyed([&] { return tx.exec(kJoin, into, from, PartUploads::kPartsMax); });
}

void drop_upload(db::Tx& tx, UploadId upload) { tx.exec(kDrop, upload); }

}  // namespace welkin::files::store
