// Files against rows of chunks.
#include <algorithm>

#include "blobs/check.hpp"

namespace welkin::blobs {
namespace {

using db::Stmt;

constexpr std::size_t kNames = 10'000;
constexpr Stmt kRowsOfFiles{"check.rows_of_files",
                            "select id, sha256, quarantined from chunks where id = any($1) order by id"};

std::string flat(Area area, const std::string& name) {
  std::string out = shown(area) + "-" + name;
  std::replace(out.begin(), out.end(), '/', '-');
  return out;
}

}  // namespace

void ByteCheck::files() {
  for (unsigned i = 0; i < kDirectories; ++i) files_of({Area::Kind::blobs, static_cast<std::uint8_t>(i)});
}

void ByteCheck::files_of(Area area) {
  std::string after;
  while (true) {
    const auto names = ground_.vfs.list(area, after, kNames);
    std::vector<ChunkName> chunks;
    std::vector<std::int64_t> ids;
    for (const auto& name : names) {
      const auto chunk = parse_chunk_file_name(name);
      if (!chunk) {
        foreign(area, name, shown(area) + "/" + name);
        continue;
      }
      chunks.push_back(*chunk);
      ids.push_back(chunk->id.value);
    }
    std::sort(chunks.begin(), chunks.end(), [](auto& a, auto& b) { return a.id < b.id; });
    const auto rows = db_.read_now([&](db::Tx& tx) { return tx.exec(kRowsOfFiles, ids); });
    int at = 0;
    for (const auto& chunk : chunks) {
      while (at < rows.size() && rows[at].i64(0) < chunk.id.value) ++at;
      const bool has_row = at < rows.size() && rows[at].i64(0) == chunk.id.value &&
                           std::ranges::equal(rows[at].bytes(1), to_bytes(chunk.sha256));
      if (!has_row) {
        orphan(area, chunk);
      } else if (area_of(chunk.id) != area) {
        misplaced(area, chunk);
      }
    }
    in_.looked_at["files"] += names.size();
    if (names.size() < kNames) return;
    after = names.back();
  }
}

/// A file of a row, but in another directory than its id says.
void ByteCheck::misplaced(Area area, const ChunkName& chunk) {
  const auto name = chunk_file_name(chunk.sha256, chunk.id);
  in_.report(Weight::fault, "file.misplaced", shown(area) + "/" + name,
             "belongs into " + shown(area_of(chunk.id)), [&]() -> Mended {
               if (ground_.vfs.exists(area_of(chunk.id), name)) {
                 move_to_found(area, name, flat(area, name));
                 return {true, "moved into found/: there is one in its place"};
               }
               ground_.vfs.move(area, name, area_of(chunk.id), name);
               flush(area);
               flush(area_of(chunk.id));
               return {true, "moved into its place"};
             });
}

void ByteCheck::orphan(Area area, const ChunkName& chunk) {
  const auto name = chunk_file_name(chunk.sha256, chunk.id);
  const auto stat = ground_.vfs.stat(area, name);
  if (stat && !is_old(area, name)) return;  // an upload between its file and its row
  // A second look: the row may have come, or the file gone, since the page was read.
  const auto rows = db_.read_now(
      [&](db::Tx& tx) { return tx.exec(kRowsOfFiles, std::vector<std::int64_t>{chunk.id.value}); });
  const bool has_row = !rows.empty() && std::ranges::equal(rows[0].bytes(1), to_bytes(chunk.sha256));
  if (has_row || !ground_.vfs.stat(area, name)) {
    if (!has_row && !stat) foreign(area, name, shown(area) + "/" + name);
    return;
  }
  in_.report(Weight::litter, "file.orphan", shown(area) + "/" + name, "no row speaks of it",
             [&] { return take_in_or_move(area, chunk); });
}

/// Makes an orphan's id ours and runs `f` meanwhile: no upload can make a row of it, and one that comes later
/// finds its file gone and starts over. @return false when the id has a row after all
bool ByteCheck::with_orphan(const ChunkName& chunk, const std::function<void(db::Tx&)>& f) {
  static constexpr Stmt kHold{"check.hold_orphan", R"(
    insert into chunks (id, sha256, size, crc32, state, stored_size) values ($1, $2, 0, 0, 1, 0) on conflict do nothing)"};
  static constexpr Stmt kLetGo{"check.let_go", "delete from chunks where id = $1 and state = 1"};
  return db_.write_now([&](db::Tx& tx) {
    if (tx.exec(kHold, chunk.id, to_bytes(chunk.sha256)).affected() != 1) return false;
    f(tx);
    tx.exec(kLetGo, chunk.id);
    return true;
  });
}

/// An orphan whose bytes somebody misses becomes a chunk, under a new id: whoever placed it may still remove
/// it under the old one.
bool ByteCheck::take_in(Area area, const ChunkName& chunk) {
  static constexpr Stmt kMissed{"check.missed_chunk", R"(
    select size from chunks c where sha256 = $1 and quarantined and state = 0
       and not exists (select from chunks t where t.sha256 = $1 and t.state = 0 and not t.quarantined) limit 1)"};
  static constexpr Stmt kTakeIn{"check.take_in", R"(
    insert into chunks (id, sha256, size, crc32, stored_size, codec, key_id, wrapped_key)
    select $2, sha256, size, crc32, stored_size, codec, key_id, wrapped_key from chunks
     where sha256 = $1 and quarantined and state = 0 order by id limit 1 on conflict do nothing)"};
  const auto hash = to_bytes(chunk.sha256);
  const auto missed = db_.read_now([&](db::Tx& tx) { return tx.exec(kMissed, hash); });
  if (missed.empty()) return false;
  const ChunkFile file{chunk.id, chunk.sha256, static_cast<std::uint64_t>(missed[0].i32(0))};
  if (look_at(ground_.vfs, area, file, true) != FileState::sound) return false;
  const ChunkId fresh = ground_.rows.next_ids();
  bool taken = false;
  with_orphan(chunk, [&](db::Tx& tx) {
    ground_.vfs.move(area, file.name(), area_of(fresh), chunk_file_name(chunk.sha256, fresh));
    flush(area_of(fresh));
    flush(area);
    taken = tx.exec(kTakeIn, hash, fresh).affected() == 1;
  });
  return taken;
}

Inspection::Mended ByteCheck::take_in_or_move(Area area, const ChunkName& chunk) {
  if (take_in(area, chunk)) return {true, "taken in: a damaged chunk misses these bytes"};
  const auto name = chunk_file_name(chunk.sha256, chunk.id);
  bool moved = false;  // the transaction may run twice
  if (!with_orphan(chunk, [&](db::Tx&) { moved = move_to_found(area, name, name) || moved; })) {
    // The id has a row: that of another hash, whose file this never was; or this one's, by an upload that was
    // faster.
    const auto rows = db_.read_now(
        [&](db::Tx& tx) { return tx.exec(kRowsOfFiles, std::vector<std::int64_t>{chunk.id.value}); });
    if (!rows.empty() && !std::ranges::equal(rows[0].bytes(1), to_bytes(chunk.sha256)))
      moved = move_to_found(area, name, name);
  }
  return moved ? Mended{true, "moved into found/"} : Mended{true, "gone meanwhile"};
}

void ByteCheck::foreign(Area area, const std::string& name, const std::string& subject) {
  if (ground_.vfs.stat(area, name)) {
    if (!is_old(area, name)) return;  // the store's own trial file at a start
  } else {
    // No regular file, or gone since the directory was read: a surplus chunk lives for a moment only.
    const auto names = ground_.vfs.list(area, name.substr(0, name.size() - 1), kNames);
    if (std::find(names.begin(), names.end(), name) == names.end()) return;
  }
  in_.report(Weight::litter, "file.foreign", subject, "is none of ours", [&]() -> Mended {
    move_to_found(area, name, flat(area, name));
    return {true, "moved into found/"};
  });
}

void ByteCheck::leftovers(Area area, const char* kind) {
  std::string after;
  while (true) {
    const auto names = ground_.vfs.list(area, after, kNames);
    for (const auto& name : names) {
      const auto subject = shown(area) + "/" + name;
      const bool ours = area.kind == Area::Kind::spool ? parse_spool_file_name(name).has_value()
                                                       : parse_chunk_file_name(name).has_value();
      // Without a state it is no regular file, or was put in its place since the directory was read.
      if (!ours || !ground_.vfs.stat(area, name)) {
        foreign(area, name, subject);
        continue;
      }
      if (!is_old(area, name)) continue;
      if (area.kind == Area::Kind::quarantine) {
        const auto chunk = parse_chunk_file_name(name);
        const auto rows = db_.read_now(
            [&](db::Tx& tx) { return tx.exec(kRowsOfFiles, std::vector<std::int64_t>{chunk->id.value}); });
        if (!rows.empty() && rows[0].boolean(2)) continue;
      }
      in_.report(Weight::litter, kind, subject, "nobody waits for it any more", [&]() -> Mended {
        move_to_found(area, name, flat(area, name));
        return {true, "moved into found/"};
      });
    }
    if (names.size() < kNames) return;
    after = names.back();
  }
}

void ByteCheck::spool() {
  leftovers({Area::Kind::spool, 0}, "spool.leftover");
  leftovers({Area::Kind::quarantine, 0}, "quarantine.leftover");
}

}  // namespace welkin::blobs
