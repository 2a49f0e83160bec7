#include "files/version_store.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "files/node_store.hpp"
#include "files/refusals.hpp"

namespace welkin::files::store {
namespace {

#define WELKIN_VERSION_COLUMNS                                                                           \
  "select v.id, v.size, (select m.name from mime_types m where m.id = v.mime), v.mtime, v.replaced_at, " \
  "v.author_id, (select u.name from users u where u.id = v.author_id), v.label, "                        \
  "(select c.sha256 from contents c where c.id = v.content_id), v.content_id from versions v "

constexpr db::Stmt kVersions{"files.versions", WELKIN_VERSION_COLUMNS
                             "where v.node_id = $1 and v.id < $2 order by v.id desc limit $3"};
constexpr db::Stmt kVersion{"files.version", WELKIN_VERSION_COLUMNS "where v.node_id = $1 and v.id = $2"};
constexpr db::Stmt kRestore{"files.restore_version",
                            "select restore_version($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"};
constexpr db::Stmt kLabel{"files.label_version", "select label_version($1, $2, $3, $4, $5, $6, $7, $8)"};
constexpr db::Stmt kDelete{"files.delete_version", "select delete_version($1, $2, $3, $4, $5, $6, $7)"};
constexpr db::Stmt kExpired{"files.expired_versions",
                            "select drive, ids, last_id from expired_versions($1, $2, $3, $4)"};
constexpr db::Stmt kExpire{"files.expire_versions", "select expire_versions($1, $2, $3, $4)"};

Version version_of(const db::Row& row) {
  Version v;
  row.id_into(0, v.id);
  v.size_bytes = static_cast<std::uint64_t>(row.i64(1));
  v.mime_type = row.is_null(2) ? "application/octet-stream" : row.str(2);
  v.modified_at = row.i64(3);
  v.replaced_at = row.timestamp(4);
  row.id_into(5, v.author);
  if (!row.is_null(6)) v.author_name = row.str(6);
  if (!row.is_null(7)) v.label = row.str(7);
  if (!row.is_null(8)) {
    const auto digest = row.bytes(8);
    std::memcpy(v.sha256.emplace().data(), digest.data(), v.sha256->size());
  }
  return v;
}

void change(db::Tx& tx, const db::Stmt& stmt, const db::Params& params) {
  try {
    tx.exec(stmt, params);
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
}

}  // namespace

std::vector<Version> versions(db::Tx& tx, NodeId file, VersionId before, int limit) {
  const auto below = before ? before.value : INT64_MAX;
  std::vector<Version> items;
  for (const auto row : tx.exec(kVersions, file, below, static_cast<std::int64_t>(limit)))
    items.push_back(version_of(row));
  return items;
}

std::pair<Version, ContentId> require_version(db::Tx& tx, NodeId file, VersionId version) {
  const auto rows = tx.exec(kVersion, file, version);
  if (rows.empty()) throw not_found();
  return {version_of(rows[0]), rows[0].id<ContentId>(9)};
}

void restore_version(db::Tx& tx, const Caller& caller, NodeId file, VersionId version, const Expect& expect,
                     const std::vector<db::Uuid>& lock_tokens) {
  db::Params params(file, version, caller.user);
  add_gate(params, caller)
      .add(static_cast<std::int16_t>(expect.kind))
      .add(own_etags(expect.etags))
      .add(lock_tokens);
  change(tx, kRestore, params);
}

void label_version(db::Tx& tx, const Caller& caller, NodeId file, VersionId version,
                   const std::string& label) {
  db::Params params(file, version, label.empty() ? std::nullopt : std::optional(label));
  add_gate(params, caller);
  change(tx, kLabel, params);
}

void delete_version(db::Tx& tx, const Caller& caller, NodeId file, VersionId version) {
  db::Params params(file, version);
  add_gate(params, caller);
  change(tx, kDelete, params);
}

ExpiryStep expired_versions(db::Tx& tx, std::int64_t after, std::int32_t days, std::int32_t keep,
                            std::int32_t limit) {
  ExpiryStep step;
  for (const auto row : tx.exec(kExpired, after, days, keep, limit)) {
    if (!row.is_null(2)) step.last = row.i64(2);
    auto ids = row.i64_array(1);
    if (!row.is_null(0) && !ids.empty()) step.expired.emplace_back(row.id<DriveId>(0), std::move(ids));
  }
  return step;
}

void expire_versions(db::Tx& tx, DriveId drive, const std::vector<std::int64_t>& ids, std::int32_t days,
                     std::int32_t keep) {
  tx.exec(kExpire, static_cast<std::int32_t>(drive.value), ids, days, keep);
}

}  // namespace welkin::files::store
