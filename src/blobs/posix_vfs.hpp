#pragma once
#include <array>
#include <condition_variable>
#include <mutex>

#include "blobs/layout.hpp"
#include "welkin/blobs/vfs.hpp"

namespace welkin::blobs {

/// The Vfs over a real data directory: <root>/spool, <root>/quarantine, <root>/found and <root>/blobs/00 ..
/// ff, which exist already.
///
/// Each directory is opened once, beneath the root and over no symbolic link, and every name is resolved
/// against that descriptor: a link or a moved folder planted later leads nowhere. Thread-safe.
class PosixVfs final : public Vfs {
 public:
  /// @throws VfsError
  explicit PosixVfs(const std::string& root);
  ~PosixVfs() override;

  File create(Area area, const std::string& name) override;
  std::optional<File> open(Area area, const std::string& name) override;
  std::optional<Cached> open_cached(Area area, const std::string& name, Slice piece) override;
  void write(VfsFile& file, std::uint64_t at, ByteView bytes) override;
  std::size_t read(VfsFile& file, std::uint64_t at, std::span<std::byte> out) override;
  void start_writeback(VfsFile& file) override;
  void prefetch(VfsFile& file, std::uint64_t at, std::uint64_t length) override;
  SyncResult sync(VfsFile& file) override;
  void place(const std::string& spool_name, Area to, const std::string& name) override;
  bool move(Area from, const std::string& name, Area to, const std::string& as) override;
  bool exists(Area area, const std::string& name) override;
  Stat stat(VfsFile& file) override;
  std::optional<Stat> stat(Area area, const std::string& name) override;
  bool remove(Area area, const std::string& name) override;
  /// Callers that come while the directory is being flushed share the next flush. Once a flush of it failed,
  /// every later one is answered `failed` without asking the kernel, which reports a lost write only once.
  SyncResult sync_dir(Area area) override;
  std::vector<std::string> list(Area area, const std::string& after, std::size_t limit) override;
  Space space() override;

 private:
  struct Directory {
    std::mutex mutex;
    std::condition_variable done;
    Fd fd;                                 // opened at first use
    std::uint64_t asked = 0, flushed = 0;  // numbers of sync_dir calls
    bool flushing = false, failed = false;
  };

  Directory& directory(Area area);
  int descriptor(Area area);
  void rename(int from_dir, const std::string& from, Area to, const std::string& name);
  int open_at(int directory, const char* name, int flags, unsigned mode) const;

  Fd root_;
  std::array<Directory, kDirectories + 3> directories_;
  bool has_openat2_;
};

}  // namespace welkin::blobs
