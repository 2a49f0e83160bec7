#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "welkin/blobs/vfs.hpp"
#include "welkin/core/id.hpp"

/// Names on disk. A chunk's name says its hash and its id; its directory follows from the id alone, so that
/// the 64 chunks of one block of ids need one fsync of one directory.
namespace welkin::blobs {

inline constexpr unsigned kDirectories = 256;
inline constexpr std::int64_t kIdsPerBlock = 64;

struct ChunkName {
  Sha256 sha256;
  ChunkId id;
};

Area area_of(ChunkId id);
/// "<64 hex digits>.<id in hex>"
std::string chunk_file_name(const Sha256& sha256, ChunkId id);
/// A hash as the database has it, and back. @throws std::logic_error when it has another length
Sha256 to_sha256(ByteView bytes);
Bytes to_bytes(const Sha256& sha256);
/// nullopt for every name that `chunk_file_name` does not make.
std::optional<ChunkName> parse_chunk_file_name(std::string_view name);
/// "<id in hex>.part"
std::string spool_file_name(ChunkId id);
std::optional<ChunkId> parse_spool_file_name(std::string_view name);

}  // namespace welkin::blobs
