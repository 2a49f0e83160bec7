#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "welkin/blobs/vfs.hpp"

namespace welkin::blobs {

/// What a test does to the file layer of a store, shared with it: hooks run before the real call and may
/// throw VfsError.
struct VfsFaults {
  std::function<void(const std::string& name)> create, write, place, remove, open, read, exists;
  std::function<bool()> sync_fails, sync_dir_fails;
  std::atomic<unsigned> syncs{0}, sync_dirs{0};
};

/// A real file layer with faults.
class FaultyVfs : public Vfs {
 public:
  FaultyVfs(std::unique_ptr<Vfs> inner, std::shared_ptr<VfsFaults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  File create(Area area, const std::string& name) override {
    if (faults_->create) faults_->create(name);
    return inner_->create(area, name);
  }
  std::optional<File> open(Area area, const std::string& name) override {
    if (faults_->open) faults_->open(name);
    return inner_->open(area, name);
  }
  void write(VfsFile& file, std::uint64_t at, ByteView bytes) override {
    if (faults_->write) faults_->write("");
    inner_->write(file, at, bytes);
  }
  std::size_t read(VfsFile& file, std::uint64_t at, std::span<std::byte> out) override {
    if (faults_->read) faults_->read("");
    return inner_->read(file, at, out);
  }
  void start_writeback(VfsFile& file) override { inner_->start_writeback(file); }
  void prefetch(VfsFile& file, std::uint64_t at, std::uint64_t n) override { inner_->prefetch(file, at, n); }
  SyncResult sync(VfsFile& file) override {
    ++faults_->syncs;
    if (faults_->sync_fails && faults_->sync_fails()) return SyncResult::failed;
    return inner_->sync(file);
  }
  void place(const std::string& spool_name, Area to, const std::string& name) override {
    if (faults_->place) faults_->place(name);
    inner_->place(spool_name, to, name);
  }
  bool move(Area from, const std::string& name, Area to, const std::string& as) override {
    return inner_->move(from, name, to, as);
  }
  bool exists(Area area, const std::string& name) override {
    if (faults_->exists) faults_->exists(name);
    return inner_->exists(area, name);
  }
  Stat stat(VfsFile& file) override { return inner_->stat(file); }
  std::optional<Stat> stat(Area area, const std::string& name) override { return inner_->stat(area, name); }
  bool remove(Area area, const std::string& name) override {
    if (faults_->remove) faults_->remove(name);
    return inner_->remove(area, name);
  }
  SyncResult sync_dir(Area area) override {
    ++faults_->sync_dirs;
    if (faults_->sync_dir_fails && faults_->sync_dir_fails()) return SyncResult::failed;
    return inner_->sync_dir(area);
  }
  std::vector<std::string> list(Area area, const std::string& after, std::size_t limit) override {
    return inner_->list(area, after, limit);
  }
  Space space() override { return inner_->space(); }

 protected:
  Vfs& inner() { return *inner_; }

 private:
  std::unique_ptr<Vfs> inner_;
  std::shared_ptr<VfsFaults> faults_;
};

}  // namespace welkin::blobs
