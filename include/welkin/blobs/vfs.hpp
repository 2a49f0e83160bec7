#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"

namespace welkin::blobs {

/// Places below the data directory that hold bytes. Directories blobs/00..ff are Area{dir 0..255}.
struct Area {
  enum class Kind : std::uint8_t { spool, blobs, quarantine, found } kind = Kind::spool;
  std::uint8_t directory = 0;  // of blobs
  friend bool operator==(const Area&, const Area&) = default;
};

enum class [[nodiscard]] SyncResult : std::uint8_t { ok, failed };

struct Space {
  std::uint64_t free_bytes = 0, total_bytes = 0, free_inodes = 0;
};

/// What a look at a file tells without reading it.
struct Stat {
  std::uint64_t size_bytes = 0;
  Micros changed_at = 0;  // the later of mtime and ctime: when bytes or name last changed
};

/// Thrown by Vfs calls. `no_space` is ENOSPC or EDQUOT at create or write; `io` means that the device or file
/// system itself failed or turned read-only (EIO, EROFS, EUCLEAN ...) or holds something else where a chunk
/// should be, and is not to be trusted; `other` that this call could not be done and a later one may (EMFILE,
/// EACCES ...).
class VfsError : public std::exception {
 public:
  enum class Kind : std::uint8_t { no_space, exists, io, other };
  VfsError(Kind kind, std::string what) : kind_(kind), what_(std::move(what)) {}
  Kind kind() const noexcept { return kind_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  Kind kind_;
  std::string what_;
};

class VfsFile {
 public:
  virtual ~VfsFile() = default;
  /// A descriptor for sendfile; -1 where there is none (simulation).
  virtual int descriptor() const = 0;
};
using File = std::unique_ptr<VfsFile>;

struct Cached {
  File file;
  Stat stat;
};

/// Every file call of the chunk store. Two implementations: PosixVfs, and SimVfs (tests/blobs), which loses
/// power. Synchronous; called on pool threads, but for open_cached. Names have no '/'. Opens follow no links
/// and stay beneath the root.
class Vfs {
 public:
  virtual ~Vfs() = default;
  virtual File create(Area area, const std::string& name) = 0;               // O_EXCL, mode 0600
  virtual std::optional<File> open(Area area, const std::string& name) = 0;  // read only; nullopt: not there
  /// Like open, for a loop that must not wait for a disk: only when the name is in memory, and so are the
  /// first, the middle and the last byte of `piece` (RESOLVE_CACHED of openat2(2), RWF_NOWAIT of preadv2(2)).
  /// @return nullopt: not so, or not to be known; open tells. Never throws
  virtual std::optional<Cached> open_cached(Area, const std::string&, Slice) { return std::nullopt; }
  virtual void write(VfsFile& file, std::uint64_t at, ByteView bytes) = 0;
  virtual std::size_t read(VfsFile& file, std::uint64_t at, std::span<std::byte> out) = 0;
  virtual void start_writeback(VfsFile& file) = 0;  // a hint, never a durability step
  virtual void prefetch(VfsFile& file, std::uint64_t at, std::uint64_t length) = 0;  // a hint
  virtual SyncResult sync(VfsFile& file) = 0;  // at most once per file; failure is final
  virtual void place(const std::string& spool_name, Area to,
                     const std::string& name) = 0;  // rename, never replaces
  /// Rename between any two places, never replaces. @return false: `name` was not there
  virtual bool move(Area from, const std::string& name, Area to, const std::string& as) = 0;
  virtual bool exists(Area area, const std::string& name) = 0;
  virtual Stat stat(VfsFile& file) = 0;
  virtual std::optional<Stat> stat(Area area, const std::string& name) = 0;  // nullopt: no such file
  virtual bool remove(Area area, const std::string& name) = 0;               // false: was not there
  virtual SyncResult sync_dir(Area area) = 0;
  virtual std::vector<std::string> list(Area area, const std::string& after,
                                        std::size_t limit) = 0;  // in byte order
  virtual Space space() = 0;
};

}  // namespace welkin::blobs
