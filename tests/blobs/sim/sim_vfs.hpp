#pragma once
#include <map>
#include <memory>

#include "blobs/sim/faults.hpp"
#include "blobs/sim/fibers.hpp"
#include "welkin/blobs/vfs.hpp"

namespace welkin::blobs::sim {

/// A file system that forgets. Written pages and changed names are pending until they are flushed; when the
/// power fails, all, none or some of the pending pages stay (one in eight torn), files may be as long as they
/// were without their bytes, and of the pending names either a prefix stays, as under a journal, or any of
/// them, as POSIX allows. A flush that fails drops what it should have written and the next one reports
/// success, as Linux does.
class SimVfs final : public Vfs {
 public:
  static constexpr std::size_t kPageBytes = 16;

  SimVfs(Fibers& fibers, Fault fault) : fibers_(fibers), fault_(fault) {}

  File create(Area area, const std::string& name) override;
  std::optional<File> open(Area area, const std::string& name) override;
  void write(VfsFile& file, std::uint64_t at, ByteView bytes) override;
  std::size_t read(VfsFile& file, std::uint64_t at, std::span<std::byte> out) override;
  void start_writeback(VfsFile& file) override;
  void prefetch(VfsFile&, std::uint64_t, std::uint64_t) override {}
  SyncResult sync(VfsFile& file) override;
  void place(const std::string& spool_name, Area to, const std::string& name) override;
  bool move(Area from, const std::string& name, Area to, const std::string& as) override;
  bool exists(Area area, const std::string& name) override;
  Stat stat(VfsFile& file) override;
  std::optional<Stat> stat(Area area, const std::string& name) override;
  bool remove(Area area, const std::string& name) override;
  SyncResult sync_dir(Area area) override;
  std::vector<std::string> list(Area area, const std::string& after, std::size_t limit) override;
  Space space() override { return {1ull << 40, 1ull << 40, 1ull << 30}; }

  // -- the simulation's own
  static constexpr Micros kNow = 1'000'000'000'000;
  void power_cut();
  /// Rates of injected failures, one in n calls; 0: never.
  struct Rates {
    unsigned sync = 0, space = 0, remove = 0;
  };
  void set_rates(Rates rates) { rates_ = rates; }
  /// From now on every file is old enough to be swept.
  void age_all() { all_old_ = true; }
  /// What a reader would get: no call, no failure.
  std::optional<Bytes> peek(Area area, const std::string& name) const;
  std::vector<std::string> names(Area::Kind kind) const;
  /// Fault `row_before_rename` holds renames back until the rows are committed.
  void rows_committed();

 private:
  struct Inode {
    Bytes durable, current;
    std::uint64_t dirty = 0;  // bit per page
  };
  using InodePtr = std::shared_ptr<Inode>;
  struct SimFile final : VfsFile {
    explicit SimFile(InodePtr i) : inode(std::move(i)) {}
    int descriptor() const override { return -1; }
    InodePtr inode;
  };
  using Key = std::pair<int, std::string>;  // directory, name
  struct NameChange {
    Key key;
    InodePtr inode;  // null: removed
  };
  struct Rename {
    std::string from;
    Area to;
    std::string name;
  };

  static int directory(Area area) {
    return area.kind == Area::Kind::blobs ? area.directory : 256 + static_cast<int>(area.kind);
  }
  static Key key(Area area, const std::string& name) { return {directory(area), name}; }
  static void set_name(std::map<Key, InodePtr>& names, const NameChange& change);
  void change_name(NameChange change);
  void place_now(const Rename& rename);
  void cut_pages(Inode& inode);
  bool held_back(Area area, const std::string& name) const;
  void call(const char* what, const std::string& name);

  Fibers& fibers_;
  Fault fault_;
  Rates rates_;
  bool all_old_ = false;
  std::map<Key, InodePtr> durable_, current_;
  std::vector<NameChange> pending_;  // in order
  std::vector<Rename> held_;
};

}  // namespace welkin::blobs::sim
