#include "blobs/quarantine.hpp"

#include <algorithm>

#include "welkin/core/crypto.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::blobs {
namespace {

using db::Stmt;

constexpr std::size_t kReadBytes = 256 << 10;
constexpr Area kQuarantine{Area::Kind::quarantine, 0};

metrics::Counter chunks_set_aside("welkin_chunks_quarantined_total", "damaged or missing chunks set aside");
metrics::Counter chunks_healed("welkin_chunks_healed_total", "quarantined chunks replaced by the same bytes");

ChunkFile chunk_of(const db::Row& row) {
  return {row.id<ChunkId>(0), to_sha256(row.bytes(1)), static_cast<std::uint64_t>(row.i32(2))};
}

void flush(Ground& ground, Area area) {
  if (ground.vfs.sync_dir(area) == SyncResult::failed) ground.health.suspect("fsync of a directory failed");
  ground.health.require_writable();
}

std::optional<ChunkFile> quarantined_chunk(db::Db& db, ChunkId id) {
  static constexpr Stmt kGet{"blobs.quarantined_chunk", R"(
    select id, sha256, size from chunks where id = $1 and quarantined and state = 0)"};
  return db.read_now([&](db::Tx& tx) -> std::optional<ChunkFile> {
    const auto rows = tx.exec(kGet, id);
    if (rows.empty()) return std::nullopt;
    return chunk_of(rows[0]);
  });
}

std::string list_of_names(const db::Rows& rows) {
  std::string out;
  for (const auto row : rows)
    out += (out.empty() ? "" : ", ") + std::string(row.boolean(2) ? "" : "an older version of ") + "file " +
           std::to_string(row.i64(0)) + " \"" + row.str(1) + "\"";
  return out;
}

}  // namespace

Sha256 hash_file(Vfs& vfs, VfsFile& file) {
  thread_local Bytes buffer(kReadBytes);
  crypto::Sha256Stream hash;
  for (std::uint64_t at = 0;;) {
    const std::size_t n = vfs.read(file, at, buffer);
    hash.update(ByteView(buffer).first(n));
    at += n;
    if (n < buffer.size()) return hash.finish();
  }
}

const char* words(FileState state) {
  switch (state) {
    case FileState::sound:
      return "is sound";
    case FileState::missing:
      return "is missing";
    case FileState::wrong_size:
      return "has a wrong size";
    case FileState::damaged:
      return "does not have its hash";
  }
  return "";
}

std::string ChunkFile::name() const { return chunk_file_name(sha256, id); }

FileState look_at(Vfs& vfs, Area area, const ChunkFile& chunk, bool deep) {
  const auto stat = vfs.stat(area, chunk.name());
  if (!stat) return FileState::missing;
  if (stat->size_bytes != chunk.size_bytes) return FileState::wrong_size;
  if (!deep) return FileState::sound;
  const auto file = vfs.open(area, chunk.name());
  if (!file) return FileState::missing;
  return hash_file(vfs, **file) == chunk.sha256 ? FileState::sound : FileState::damaged;
}

bool with_live_chunk(db::Db& db, ChunkId id, const std::function<void(const ChunkFile&)>& f) {
  static constexpr Stmt kHold{"blobs.hold_chunk", R"(
    select id, sha256, size from chunks where id = $1 and state = 0 and not quarantined for key share)"};
  return db.write_now([&](db::Tx& tx) {
    const auto rows = tx.exec(kHold, id);
    if (rows.empty()) return false;
    f(chunk_of(rows[0]));
    return true;
  });
}

bool is_bad(db::Db& db, Vfs& vfs, ChunkId id) {
  bool bad = false;
  with_live_chunk(db, id, [&](const ChunkFile& chunk) {
    try {
      bad = look_at(vfs, area_of(id), chunk, true) != FileState::sound;
    } catch (const VfsError& e) {
      bad = e.kind() == VfsError::Kind::io;
    }
  });
  return bad;
}

bool set_aside(db::Db& db, Ground& ground, ChunkId id) {
  // FOR UPDATE waits for uploads that are just taking the chunk for theirs; later ones find no living row.
  static constexpr Stmt kLock{"blobs.lock_bad_chunk", R"(
    select id, sha256, size from chunks where id = $1 and state = 0 and not quarantined for update)"};
  static constexpr Stmt kMark{"blobs.quarantine_chunk", "update chunks set quarantined = true where id = $1"};
  std::optional<ChunkFile> chunk;
  db.write_now([&](db::Tx& tx) {
    chunk.reset();
    const auto rows = tx.exec(kLock, id);
    if (rows.empty()) return;
    chunk = chunk_of(rows[0]);
    tx.exec(kMark, id);
  });
  if (!chunk) return false;
  chunks_set_aside.add();
  ground.warn("chunk " + chunk->name() + " is set aside");
  // The row first: from here on nobody counts on the file, wherever it lies.
  if (ground.vfs.move(area_of(id), chunk->name(), kQuarantine, chunk->name())) {
    flush(ground, kQuarantine);
    flush(ground, area_of(id));
  }
  return true;
}

std::optional<std::int64_t> heal(db::Db& db, Ground& ground, ChunkId id) {
  static constexpr Stmt kTwin{"blobs.twin", R"(
    select t.id, t.sha256, t.size from chunks q join chunks t on t.sha256 = q.sha256 and t.size = q.size
     where q.id = $1 and q.quarantined and q.state = 0 and t.state = 0 and not t.quarantined)"};
  static constexpr Stmt kHold{"blobs.hold_twin", R"(
    select 1 from chunks where id = $1 and state = 0 and not quarantined for key share)"};
  static constexpr Stmt kMoveContents{"blobs.heal_contents",
                                      "update content_chunks set chunk_id = $2 where chunk_id = $1"};
  static constexpr Stmt kMoveUploads{"blobs.heal_uploads",
                                     "update upload_chunks set chunk_id = $2 where chunk_id = $1"};
  static constexpr Stmt kQueue{"blobs.queue_healed",
                               "insert into chunk_gc (chunk_id) values ($1) on conflict do nothing"};
  const auto twin = db.read_now([&](db::Tx& tx) -> std::optional<ChunkFile> {
    const auto rows = tx.exec(kTwin, id);
    if (rows.empty()) return std::nullopt;
    return chunk_of(rows[0]);
  });
  if (!twin || look_at(ground.vfs, area_of(twin->id), *twin, true) != FileState::sound) return std::nullopt;
  return db.write_now([&](db::Tx& tx) -> std::optional<std::int64_t> {
    if (tx.exec(kHold, twin->id).empty()) return std::nullopt;
    const auto moved =
        tx.exec(kMoveContents, id, twin->id).affected() + tx.exec(kMoveUploads, id, twin->id).affected();
    tx.exec(kQueue, id);
    chunks_healed.add();
    return moved;
  });
}

bool release(db::Db& db, Ground& ground, ChunkId id) {
  static constexpr Stmt kRelease{"blobs.release_chunk", R"(
    update chunks c set quarantined = false where id = $1 and quarantined and state = 0
       and not exists (select from chunks t where t.sha256 = c.sha256 and t.state = 0 and not t.quarantined))"};
  const auto chunk = quarantined_chunk(db, id);
  if (!chunk) return false;
  const Area found{Area::Kind::found, 0};
  const bool in_place = look_at(ground.vfs, area_of(id), *chunk, true) == FileState::sound;
  if (!in_place && look_at(ground.vfs, kQuarantine, *chunk, true) != FileState::sound) return false;
  // The other one makes room.
  ground.vfs.move(in_place ? kQuarantine : area_of(id), chunk->name(), found, chunk->name() + ".bad");
  if (!in_place) ground.vfs.move(kQuarantine, chunk->name(), area_of(id), chunk->name());
  flush(ground, area_of(id));
  try {
    return db.write_now([&](db::Tx& tx) { return tx.exec(kRelease, id).affected() == 1; });
  } catch (const db::SqlError& e) {
    if (e.unique_violation()) return false;  // somebody has just stored the same bytes
    throw;
  }
}

std::size_t heal_some(db::Db& db, Ground& ground, std::size_t limit) {
  static constexpr Stmt kHealable{"blobs.healable", R"(
    select c.id from chunks c where c.quarantined and c.state = 0
       and exists (select from chunks t where t.sha256 = c.sha256 and t.size = c.size and t.state = 0
                                          and not t.quarantined)
       and (exists (select from content_chunks r where r.chunk_id = c.id)
         or exists (select from upload_chunks r where r.chunk_id = c.id)) order by c.id limit $1)"};
  const auto rows =
      db.read_now([&](db::Tx& tx) { return tx.exec(kHealable, static_cast<std::int64_t>(limit)); });
  std::size_t healed = 0;
  for (const auto row : rows) {
    if (!heal(db, ground, row.id<ChunkId>(0))) continue;
    ++healed;
    ground.warn("chunk " + std::to_string(row.i64(0)) + " is whole again: its bytes were stored anew");
  }
  return healed;
}

std::string needed_by_chunk(db::Tx& tx, ChunkId id) {
  static constexpr Stmt kContents{
      "blobs.contents_of_chunk", "select count(distinct content_id) from content_chunks where chunk_id = $1"};
  static constexpr Stmt kFiles{"blobs.files_of_chunk", R"(
    select x.id, x.name, x.current from (
      select n.id, n.name::text, true as current from content_chunks c join nodes n on n.content_id = c.content_id
       where c.chunk_id = $1
      union
      select n.id, n.name::text, false from content_chunks c join versions v on v.content_id = c.content_id
        join nodes n on n.id = v.node_id where c.chunk_id = $1) x order by x.current desc, x.id limit 5)"};
  const auto contents = tx.one(kContents, id)[0].i64(0);
  if (contents == 0) return "";
  const auto names = list_of_names(tx.exec(kFiles, id));
  return "needed by " + std::to_string(contents) + (contents == 1 ? " content" : " contents") +
         (names.empty() ? "" : ": " + names);
}

std::string needed_by_content(db::Tx& tx, ContentId id) {
  static constexpr Stmt kFiles{"blobs.files_of_content", R"(
    select x.id, x.name, x.current from (
      select n.id, n.name::text, true as current from nodes n where n.content_id = $1
      union
      select n.id, n.name::text, false from versions v join nodes n on n.id = v.node_id where v.content_id = $1) x
     order by x.current desc, x.id limit 5)"};
  const auto names = list_of_names(tx.exec(kFiles, id));
  return names.empty() ? "" : "needed by " + names;
}

}  // namespace welkin::blobs
