// Rows of chunks against their files.
#include "blobs/check.hpp"

namespace welkin::blobs {
namespace {

using db::Stmt;

constexpr std::int64_t kPage = 1'000;

const char* kind_of(FileState state) {
  switch (state) {
    case FileState::missing:
      return "chunk.missing";
    case FileState::wrong_size:
      return "chunk.size";
    default:
      return "chunk.damaged";
  }
}

/// As `look_at`; a file that the device cannot give is a damaged one.
FileState state_of(Vfs& vfs, Area area, const ChunkFile& chunk, bool deep, std::string& why) {
  try {
    const auto state = look_at(vfs, area, chunk, deep);
    why = words(state);
    return state;
  } catch (const VfsError& e) {
    why = e.what();
    return FileState::damaged;
  }
}

std::string subject(ChunkId id) { return "chunk " + std::to_string(id.value); }

}  // namespace

void ByteCheck::chunks() {
  static constexpr Stmt kChunks{"check.chunks", R"(
    select id, sha256, size from chunks where id > $1 and state = 0 and not quarantined order by id limit $2)"};
  std::int64_t after = 0;
  while (true) {
    const auto rows = db_.read_now([&](db::Tx& tx) { return tx.exec(kChunks, after, kPage); });
    for (const auto row : rows) {
      after = row.i64(0);
      const ChunkFile chunk{row.id<ChunkId>(0), to_sha256(row.bytes(1)),
                            static_cast<std::uint64_t>(row.i32(2))};
      std::string why;
      if (state_of(ground_.vfs, area_of(chunk.id), chunk, in_.options().deep, why) != FileState::sound)
        bad_chunk(chunk.id);
    }
    in_.looked_at["chunks"] += static_cast<std::uint64_t>(rows.size());
    if (rows.size() < kPage) return;
  }
}

/// Looks again while the collector is kept from the row: a file may go as soon as its row is dying.
void ByteCheck::bad_chunk(ChunkId id) {
  FileState state = FileState::sound;
  std::string why, name, needed;
  const bool live = with_live_chunk(db_, id, [&](const ChunkFile& chunk) {
    name = shown(area_of(id)) + "/" + chunk.name();
    state = state_of(ground_.vfs, area_of(id), chunk, in_.options().deep, why);
  });
  if (!live || state == FileState::sound) return;
  needed = db_.read_now([&](db::Tx& tx) { return needed_by_chunk(tx, id); });
  const auto detail = name + " " + why + (needed.empty() ? "; nothing needs it" : "; " + needed);
  in_.report(
      needed.empty() ? Weight::litter : Weight::loss, kind_of(state), subject(id), detail, [&]() -> Mended {
        set_aside(db_, ground_, id);
        if (heal(db_, ground_, id)) return {true, "replaced by a sound copy of the same bytes"};
        if (needed.empty()) return {true, "set aside, to be collected"};
        return {false, "set aside; it heals when these bytes are stored again or its file is brought back"};
      });
}

void ByteCheck::quarantined() {
  static constexpr Stmt kQuarantined{"check.quarantined", R"(
    select id from chunks where quarantined and state = 0 and id > $1 order by id limit $2)"};
  std::int64_t after = 0;
  while (true) {
    const auto rows = db_.read_now([&](db::Tx& tx) { return tx.exec(kQuarantined, after, kPage); });
    for (const auto row : rows) {
      after = row.i64(0);
      one_quarantined(row.id<ChunkId>(0));
    }
    if (rows.size() < kPage) return;
  }
}

void ByteCheck::one_quarantined(ChunkId id) {
  static constexpr Stmt kGet{"check.quarantined_chunk", R"(
    select c.id, c.sha256, c.size, t.id, t.size from chunks c
      left join chunks t on t.sha256 = c.sha256 and t.size = c.size and t.state = 0 and not t.quarantined
     where c.id = $1 and c.quarantined and c.state = 0)"};
  ChunkFile chunk, twin;
  std::string needed;
  db_.read_now([&](db::Tx& tx) {
    chunk = {};
    const auto rows = tx.exec(kGet, id);
    if (rows.empty()) return;
    chunk = {id, to_sha256(rows[0].bytes(1)), static_cast<std::uint64_t>(rows[0].i32(2))};
    twin = {rows[0].id<ChunkId>(3), chunk.sha256, chunk.size_bytes};
    needed = needed_by_chunk(tx, id);
  });
  if (!chunk.id || needed.empty()) return;  // leaves by the collector
  std::string why;
  if (twin.id && state_of(ground_.vfs, area_of(twin.id), twin, true, why) == FileState::sound) {
    in_.report(Weight::fault, "chunk.healable", subject(id),
               "lies in quarantine, but the same bytes are stored as chunk " + std::to_string(twin.id.value) +
                   "; " + needed,
               [&]() -> Mended {
                 if (heal(db_, ground_, id)) return {true, "replaced by that one"};
                 return {false, "that one has gone meanwhile"};
               });
    return;
  }
  const bool sound =
      !twin.id && (state_of(ground_.vfs, area_of(id), chunk, true, why) == FileState::sound ||
                   state_of(ground_.vfs, {Area::Kind::quarantine, 0}, chunk, true, why) == FileState::sound);
  if (sound) {
    in_.report(Weight::fault, "chunk.sound_again", subject(id),
               "lies in quarantine, but its file is right; " + needed, [&]() -> Mended {
                 if (release(db_, ground_, id)) return {true, "put into use again"};
                 return {false, "it changed meanwhile"};
               });
    return;
  }
  in_.mention(Weight::loss, "chunk.quarantined", subject(id), chunk.name() + " is lost; " + needed);
}

}  // namespace welkin::blobs
