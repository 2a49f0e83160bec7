#pragma once
#include <optional>
#include <string>

#include "blobs/ground.hpp"
#include "welkin/db/db.hpp"

/// Chunks whose file is missing or wrong. Setting one aside frees its hash: the next upload of the same bytes
/// makes a new chunk, and healing then hangs what referred to the old one on the new. Nothing is deleted on
/// the way: the bad file lies in quarantine/, and comes back when its bytes are right after all.
namespace welkin::blobs {

/// The SHA-256 of a whole file. @throws VfsError
Sha256 hash_file(Vfs& vfs, VfsFile& file);

enum class FileState : std::uint8_t { sound, missing, wrong_size, damaged };
const char* words(FileState state);  // "is missing" ...

/// A chunk row as far as its file is concerned.
struct ChunkFile {
  ChunkId id;
  Sha256 sha256{};
  std::uint64_t size_bytes = 0;
  std::string name() const;
};
/// Looks at a chunk's file in `area`; hashes it when `deep`. @throws VfsError
FileState look_at(Vfs& vfs, Area area, const ChunkFile& chunk, bool deep);

/// Runs `f` while a live, sound row cannot begin to die. @return false when there is no such row any more
bool with_live_chunk(db::Db& db, ChunkId id, const std::function<void(const ChunkFile&)>& f);

/// Whether a live chunk's file is missing or wrong, read whole while its row cannot begin to die; what the
/// device cannot give counts as wrong, what the process cannot do now (too many open files ...) does not.
bool is_bad(db::Db& db, Vfs& vfs, ChunkId id);

/// Marks a live chunk and moves its file into quarantine/. @return false: it was not live any more
bool set_aside(db::Db& db, Ground& ground, ChunkId id);

/// Hangs everything that refers to a quarantined chunk on its living twin, once that one's file was read and
/// found right, and queues the old one. @return references moved; nullopt: there is no sound twin
std::optional<std::int64_t> heal(db::Db& db, Ground& ground, ChunkId id);

/// Puts a quarantined chunk whose file is right (in quarantine/ or in its own place) into use again.
/// @return false: its file is not right, or its hash has a living row
bool release(db::Db& db, Ground& ground, ChunkId id);

/// Heals at most `limit` quarantined chunks that have a living twin. @return how many
std::size_t heal_some(db::Db& db, Ground& ground, std::size_t limit);

/// Whom the loss of a chunk hurts, for people: "needed by 3 files: 17 "a.jpg", ..."; "" when nobody.
std::string needed_by_chunk(db::Tx& tx, ChunkId id);
std::string needed_by_content(db::Tx& tx, ContentId id);

}  // namespace welkin::blobs
