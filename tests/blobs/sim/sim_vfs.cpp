#include "blobs/sim/sim_vfs.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>

namespace welkin::blobs::sim {

void SimVfs::call(const char* what, const std::string& name) {
  fibers_.step(what);
  fibers_.note("    " + name);
}

void SimVfs::set_name(std::map<Key, InodePtr>& names, const NameChange& change) {
  if (change.inode)
    names[change.key] = change.inode;
  else
    names.erase(change.key);
}

void SimVfs::change_name(NameChange change) {
  set_name(current_, change);
  pending_.push_back(std::move(change));
}

File SimVfs::create(Area area, const std::string& name) {
  call("create", name);
  if (rates_.space && fibers_.random().one_in(rates_.space))
    throw VfsError(VfsError::Kind::no_space, "create " + name);
  const Key k = key(area, name);
  if (current_.contains(k)) throw VfsError(VfsError::Kind::exists, "create " + name);
  auto inode = std::make_shared<Inode>();
  change_name({k, inode});
  return std::make_unique<SimFile>(inode);
}

std::optional<File> SimVfs::open(Area area, const std::string& name) {
  call("open", name);
  const auto found = current_.find(key(area, name));
  if (found == current_.end()) return std::nullopt;
  return std::make_unique<SimFile>(found->second);
}

void SimVfs::write(VfsFile& file, std::uint64_t at, ByteView bytes) {
  call("write", "");
  Inode& inode = *static_cast<SimFile&>(file).inode;
  if (rates_.space && fibers_.random().one_in(rates_.space))
    throw VfsError(VfsError::Kind::no_space, "write");
  if (inode.current.size() < at + bytes.size()) inode.current.resize(at + bytes.size());
  std::copy(bytes.begin(), bytes.end(), inode.current.begin() + static_cast<std::ptrdiff_t>(at));
  for (std::size_t page = at / kPageBytes; page * kPageBytes < at + bytes.size(); ++page) {
    if (page >= 64) throw std::logic_error("a simulated file is too long");
    inode.dirty |= 1ull << page;
  }
}

std::size_t SimVfs::read(VfsFile& file, std::uint64_t at, std::span<std::byte> out) {
  call("read", "");
  const Bytes& bytes = static_cast<SimFile&>(file).inode->current;
  const std::size_t n = at >= bytes.size() ? 0 : std::min<std::size_t>(out.size(), bytes.size() - at);
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, out.begin());
  return n;
}

void SimVfs::start_writeback(VfsFile& file) {
  call("write back", "");
  // Some pages reach the disk early, which promises nothing.
  Inode& inode = *static_cast<SimFile&>(file).inode;
  for (std::size_t page = 0; page * kPageBytes < inode.current.size(); ++page) {
    if (!(inode.dirty >> page & 1) || !fibers_.random().one_in(4)) continue;
    const auto from = page * kPageBytes, to = std::min(inode.current.size(), from + kPageBytes);
    if (inode.durable.size() < to) inode.durable.resize(to);
    std::copy_n(inode.current.begin() + static_cast<std::ptrdiff_t>(from), to - from,
                inode.durable.begin() + static_cast<std::ptrdiff_t>(from));
    inode.dirty &= ~(1ull << page);
  }
}

SyncResult SimVfs::sync(VfsFile& file) {
  call("fdatasync", "");
  Inode& inode = *static_cast<SimFile&>(file).inode;
  if (fault_ == Fault::no_file_sync) return SyncResult::ok;
  if (fault_ == Fault::writeback_as_sync) return start_writeback(file), SyncResult::ok;
  if (rates_.sync && fibers_.random().one_in(rates_.sync)) {
    fibers_.note("    fails");
    inode.dirty = 0;  // the kernel has given these pages up, and they still read well
    if (fault_ == Fault::failed_sync_ignored) return SyncResult::ok;
    if (fault_ != Fault::sync_retried) return SyncResult::failed;
  }
  // Pages that an earlier failed flush dropped are clean: they stay as they are on the disk.
  inode.durable.resize(inode.current.size());
  for (std::size_t page = 0; page * kPageBytes < inode.current.size(); ++page) {
    if (!(inode.dirty >> page & 1)) continue;
    const auto from = page * kPageBytes, to = std::min(inode.current.size(), from + kPageBytes);
    std::copy_n(inode.current.begin() + static_cast<std::ptrdiff_t>(from), to - from,
                inode.durable.begin() + static_cast<std::ptrdiff_t>(from));
  }
  inode.dirty = 0;
  return SyncResult::ok;
}

void SimVfs::place_now(const Rename& rename) {
  const Key from = key({Area::Kind::spool, 0}, rename.from), to = key(rename.to, rename.name);
  const auto found = current_.find(from);
  if (found == current_.end()) throw VfsError(VfsError::Kind::other, "rename " + rename.from + ": not there");
  if (current_.contains(to)) throw VfsError(VfsError::Kind::exists, "rename " + rename.name);
  const InodePtr inode = found->second;
  change_name({to, inode});
  change_name({from, nullptr});
}

void SimVfs::place(const std::string& spool_name, Area to, const std::string& name) {
  call("rename", name);
  const Rename rename{spool_name, to, name};
  if (fault_ == Fault::row_before_rename)
    held_.push_back(rename);
  else
    place_now(rename);
}

void SimVfs::rows_committed() {
  for (const auto& rename : std::exchange(held_, {})) {
    fibers_.step("rename, late");
    if (!current_.contains(key({Area::Kind::spool, 0}, rename.from))) continue;
    place_now(rename);
    static_cast<void>(sync_dir(rename.to));
  }
}

bool SimVfs::held_back(Area area, const std::string& name) const {
  return std::any_of(held_.begin(), held_.end(), [&](auto& r) { return r.to == area && r.name == name; });
}

bool SimVfs::move(Area from, const std::string& name, Area to, const std::string& as) {
  call("move", name);
  const Key source = key(from, name), target = key(to, as);
  const auto found = current_.find(source);
  if (found == current_.end()) return false;
  if (current_.contains(target)) throw VfsError(VfsError::Kind::exists, "rename " + as);
  const InodePtr inode = found->second;
  change_name({target, inode});
  change_name({source, nullptr});
  return true;
}

bool SimVfs::exists(Area area, const std::string& name) {
  call("stat", name);
  if (fault_ == Fault::no_look_at_own_name || held_back(area, name)) return true;
  return current_.contains(key(area, name));
}

Stat SimVfs::stat(VfsFile& file) {
  return {.size_bytes = static_cast<SimFile&>(file).inode->current.size(), .changed_at = 0};
}

std::optional<Stat> SimVfs::stat(Area area, const std::string& name) {
  call("stat", name);
  const auto found = current_.find(key(area, name));
  if (found == current_.end()) return std::nullopt;
  // Clocks promise nothing: any file may look old at any time.
  const bool old = all_old_ || !fibers_.random().one_in(4);
  return Stat{.size_bytes = found->second->current.size(), .changed_at = old ? 0 : kNow};
}

bool SimVfs::remove(Area area, const std::string& name) {
  if (!fibers_.step_quietly("unlink")) return false;
  fibers_.note("    " + name);
  if (rates_.remove && fibers_.random().one_in(rates_.remove))
    throw VfsError(VfsError::Kind::other, "unlink " + name);
  const Key k = key(area, name);
  if (!current_.contains(k)) return false;
  change_name({k, nullptr});
  return true;
}

SyncResult SimVfs::sync_dir(Area area) {
  call("fsync directory", "");
  if (fault_ == Fault::no_directory_sync) return SyncResult::ok;
  const int dir = directory(area);
  const bool fails = rates_.sync && fibers_.random().one_in(rates_.sync);
  std::vector<NameChange> rest;
  for (auto& change : pending_) {
    if (change.key.first != dir)
      rest.push_back(std::move(change));
    else if (!fails)
      set_name(durable_, change);
  }
  pending_ = std::move(rest);
  if (fails) fibers_.note("    fails");
  const bool hidden = fault_ == Fault::failed_sync_ignored || fault_ == Fault::sync_retried;
  return fails && !hidden ? SyncResult::failed : SyncResult::ok;
}

std::vector<std::string> SimVfs::list(Area area, const std::string& after, std::size_t limit) {
  call("list", "");
  std::vector<std::string> out;
  const int dir = directory(area);
  for (auto i = current_.upper_bound({dir, after}); i != current_.end() && i->first.first == dir; ++i) {
    if (out.size() == limit) break;
    out.push_back(i->first.second);
  }
  return out;
}

void SimVfs::cut_pages(Inode& inode) {
  Random& random = fibers_.random();
  const auto keep = random.below(3);  // none, all, some
  if (keep > 0 || random.one_in(2)) inode.durable.resize(inode.current.size());
  for (std::size_t page = 0; page * kPageBytes < inode.current.size(); ++page) {
    if (!(inode.dirty >> page & 1) || keep == 0 || (keep == 2 && random.one_in(2))) continue;
    const auto from = page * kPageBytes;
    auto bytes = std::min(inode.current.size() - from, kPageBytes);
    if (random.one_in(8)) bytes /= 2;  // torn
    std::copy_n(inode.current.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                inode.durable.begin() + static_cast<std::ptrdiff_t>(from));
  }
  inode.dirty = 0;
  inode.current = inode.durable;
}

void SimVfs::power_cut() {
  Random& random = fibers_.random();
  if (random.one_in(2)) {
    const auto kept = random.below(pending_.size() + 1);
    for (std::size_t i = 0; i < kept; ++i) set_name(durable_, pending_[i]);
  } else {
    for (const auto& change : pending_)
      if (random.one_in(2)) set_name(durable_, change);
  }
  pending_.clear();
  held_.clear();
  current_ = durable_;
  std::set<Inode*> seen;
  for (auto& [k, inode] : current_)
    if (seen.insert(inode.get()).second) cut_pages(*inode);
}

std::optional<Bytes> SimVfs::peek(Area area, const std::string& name) const {
  const auto found = current_.find(key(area, name));
  if (found == current_.end()) return std::nullopt;
  return found->second->current;
}

std::vector<std::string> SimVfs::names(Area::Kind kind) const {
  std::vector<std::string> out;
  for (const auto& [k, inode] : current_)
    if ((kind == Area::Kind::blobs) == (k.first < 256) &&
        (kind == Area::Kind::blobs || k.first == 256 + static_cast<int>(kind)))
      out.push_back(k.second);
  return out;
}

}  // namespace welkin::blobs::sim
