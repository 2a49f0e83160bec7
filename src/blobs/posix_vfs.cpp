#include "blobs/posix_vfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>

namespace welkin::blobs {
namespace {

class PosixFile final : public VfsFile {
 public:
  explicit PosixFile(int fd) : fd_(fd) {}
  int descriptor() const override { return fd_.get(); }
  bool synced = false;

 private:
  Fd fd_;
};

int fd_of(const VfsFile& file) { return file.descriptor(); }

VfsError::Kind kind_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return VfsError::Kind::no_space;
    case EEXIST:
      return VfsError::Kind::exists;
    case EIO:
    case EROFS:
    case EUCLEAN:  // what file systems say of their own damage
    case EBADMSG:
    case ENXIO:
    case ENODEV:
    case ESTALE:
    case ENOTCONN:
      return VfsError::Kind::io;
    default:
      return VfsError::Kind::other;
  }
}

[[noreturn]] void fail(int error, const char* call, const std::string& name) {
  throw VfsError(kind_of(error),
                 std::string(call) + " " + name + ": " + std::generic_category().message(error));
}

Micros micros(const timespec& t) { return Micros{t.tv_sec} * 1'000'000 + t.tv_nsec / 1'000; }

Stat to_stat(const struct stat& s) {
  return {.size_bytes = static_cast<std::uint64_t>(s.st_size),
          .changed_at = std::max(micros(s.st_mtim), micros(s.st_ctim))};
}

std::string path_of(Area area) {
  if (area.kind == Area::Kind::spool) return "spool";
  if (area.kind == Area::Kind::quarantine) return "quarantine";
  if (area.kind == Area::Kind::found) return "found";
  char path[16];
  std::snprintf(path, sizeof path, "blobs/%02x", static_cast<unsigned>(area.directory));
  return path;
}

}  // namespace

PosixVfs::PosixVfs(const std::string& root) : root_(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (!root_) fail(errno, "open", root);
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const Fd probe(static_cast<int>(::syscall(SYS_openat2, root_.get(), ".", &how, sizeof how)));
  has_openat2_ = static_cast<bool>(probe);  // absent before Linux 5.6 and under some container filters
}

PosixVfs::~PosixVfs() = default;

int PosixVfs::open_at(int directory, const char* name, int flags, unsigned mode) const {
  while (true) {
    int fd;
    if (has_openat2_) {
      open_how how{};
      how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
      how.mode = mode;
      how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
      fd = static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how));
    } else {
      fd = ::openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    }
    // EAGAIN: something was renamed while the kernel proved that the path stays beneath.
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return fd;
  }
}

PosixVfs::Directory& PosixVfs::directory(Area area) {
  if (area.kind == Area::Kind::spool) return directories_[kDirectories];
  if (area.kind == Area::Kind::quarantine) return directories_[kDirectories + 1];
  if (area.kind == Area::Kind::found) return directories_[kDirectories + 2];
  return directories_[area.directory];
}

int PosixVfs::descriptor(Area area) {
  Directory& dir = directory(area);
  const std::lock_guard lock(dir.mutex);
  if (!dir.fd) {
    // One component at a time, so that no component is a link on kernels without openat2 either.
    const std::string path = path_of(area);
    const auto slash = path.find('/');
    Fd parent;
    if (slash != std::string::npos) {
      parent = Fd(open_at(root_.get(), path.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY, 0));
      if (!parent) fail(errno, "open", path);
    }
    const char* leaf = slash == std::string::npos ? path.c_str() : path.c_str() + slash + 1;
    dir.fd = Fd(open_at(parent ? parent.get() : root_.get(), leaf, O_RDONLY | O_DIRECTORY, 0));
    if (!dir.fd) fail(errno, "open", path);
  }
  return dir.fd.get();
}

File PosixVfs::create(Area area, const std::string& name) {
  Fd fd(open_at(descriptor(area), name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  if (!fd) fail(errno, "create", name);
  // The umask may have taken the owner's own bits.
  if (::fchmod(fd.get(), 0600) != 0) fail(errno, "chmod", name);
  return std::make_unique<PosixFile>(fd.release());
}

std::optional<File> PosixVfs::open(Area area, const std::string& name) {
  // O_NONBLOCK: a FIFO in the place of a file must not hold the thread.
  Fd fd(open_at(descriptor(area), name.c_str(), O_RDONLY | O_NONBLOCK, 0));
  if (!fd) {
    if (errno == ENOENT) return std::nullopt;
    if (errno == ELOOP) throw VfsError(VfsError::Kind::io, name + " is a link");
    fail(errno, "open", name);
  }
  struct stat s{};
  if (::fstat(fd.get(), &s) != 0) fail(errno, "stat", name);
  if (!S_ISREG(s.st_mode)) throw VfsError(VfsError::Kind::io, name + " is no regular file");
  return std::make_unique<PosixFile>(fd.release());
}

std::optional<Cached> PosixVfs::open_cached(Area area, const std::string& name, Slice piece) {
  if (!has_openat2_) return std::nullopt;
  int parent = -1;
  {
    Directory& dir = directory(area);
    const std::unique_lock lock(dir.mutex, std::try_to_lock);
    if (lock && dir.fd) parent = dir.fd.get();
  }
  if (parent < 0) return std::nullopt;
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED;
  Fd fd(static_cast<int>(::syscall(SYS_openat2, parent, name.c_str(), &how, sizeof how)));
  struct stat s{};
  if (!fd || ::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode) || piece.length == 0) return std::nullopt;
  for (const auto at : {piece.offset, piece.offset + piece.length / 2, piece.offset + piece.length - 1}) {
    char byte;
    const iovec into{&byte, 1};
    if (::preadv2(fd.get(), &into, 1, static_cast<off_t>(at), RWF_NOWAIT) != 1) return std::nullopt;
  }
  return Cached{std::make_unique<PosixFile>(fd.release()), to_stat(s)};
}

void PosixVfs::write(VfsFile& file, std::uint64_t at, ByteView bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::pwrite(fd_of(file), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (wrote < 0) {
      if (errno == EINTR) continue;
      fail(errno, "write", "a spool file");
    }
    at += static_cast<std::uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
}

std::size_t PosixVfs::read(VfsFile& file, std::uint64_t at, std::span<std::byte> out) {
  std::size_t got = 0;
  while (got < out.size()) {
    const auto n = ::pread(fd_of(file), out.data() + got, out.size() - got, static_cast<off_t>(at + got));
    if (n < 0) {
      if (errno == EINTR) continue;
      fail(errno, "read", "a chunk file");
    }
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

void PosixVfs::start_writeback(VfsFile& file) { ::sync_file_range(fd_of(file), 0, 0, SYNC_FILE_RANGE_WRITE); }

void PosixVfs::prefetch(VfsFile& file, std::uint64_t at, std::uint64_t length) {
  ::posix_fadvise(fd_of(file), static_cast<off_t>(at), static_cast<off_t>(length), POSIX_FADV_WILLNEED);
}

SyncResult PosixVfs::sync(VfsFile& file) {
  auto& posix = static_cast<PosixFile&>(file);
  // A second flush would report success over pages that the first one lost.
  if (posix.synced) return SyncResult::failed;
  posix.synced = true;
  return ::fdatasync(posix.descriptor()) == 0 ? SyncResult::ok : SyncResult::failed;
}

void PosixVfs::rename(int from_dir, const std::string& from, Area to, const std::string& name) {
  const int to_dir = descriptor(to);
  if (::renameat2(from_dir, from.c_str(), to_dir, name.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail(errno, "rename", name);
  // The file system cannot refuse to replace. Names are never used twice, so a look beforehand is enough.
  if (exists(to, name)) fail(EEXIST, "rename", name);
  if (::renameat(from_dir, from.c_str(), to_dir, name.c_str()) != 0) fail(errno, "rename", name);
}

void PosixVfs::place(const std::string& spool_name, Area to, const std::string& name) {
  rename(descriptor({Area::Kind::spool, 0}), spool_name, to, name);
}

bool PosixVfs::move(Area from, const std::string& name, Area to, const std::string& as) {
  const int from_dir = descriptor(from);
  struct stat s{};
  if (::fstatat(from_dir, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return false;
    fail(errno, "stat", name);
  }
  rename(from_dir, name, to, as);
  return true;
}

bool PosixVfs::exists(Area area, const std::string& name) { return stat(area, name).has_value(); }

Stat PosixVfs::stat(VfsFile& file) {
  struct stat s{};
  if (::fstat(fd_of(file), &s) != 0) fail(errno, "stat", "a chunk file");
  return to_stat(s);
}

std::optional<Stat> PosixVfs::stat(Area area, const std::string& name) {
  struct stat s{};
  if (::fstatat(descriptor(area), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    fail(errno, "stat", name);
  }
  if (!S_ISREG(s.st_mode)) return std::nullopt;
  return to_stat(s);
}

bool PosixVfs::remove(Area area, const std::string& name) {
  if (::unlinkat(descriptor(area), name.c_str(), 0) == 0) return true;
  if (errno != ENOENT) fail(errno, "unlink", name);
  return false;
}

SyncResult PosixVfs::sync_dir(Area area) {
  const int fd = descriptor(area);
  Directory& dir = directory(area);
  std::unique_lock lock(dir.mutex);
  const std::uint64_t mine = ++dir.asked;
  while (!dir.failed && dir.flushed < mine) {
    if (dir.flushing) {
      dir.done.wait(lock);
      continue;
    }
    dir.flushing = true;
    const std::uint64_t covers = dir.asked;  // every name put before now is in this flush
    lock.unlock();
    const bool ok = ::fsync(fd) == 0;
    lock.lock();
    dir.flushing = false;
    dir.flushed = covers;
    dir.failed = dir.failed || !ok;
    dir.done.notify_all();
  }
  return dir.failed ? SyncResult::failed : SyncResult::ok;
}

std::vector<std::string> PosixVfs::list(Area area, const std::string& after, std::size_t limit) {
  // A descriptor of its own: the position of a directory stream belongs to the open file.
  const int fd = open_at(descriptor(area), ".", O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) fail(errno, "open", path_of(area));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), &::closedir);
  if (!stream) {
    const int error = errno;
    ::close(fd);
    fail(error, "list", path_of(area));
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (!entry) {
      if (errno != 0) fail(errno, "list", path_of(area));
      break;
    }
    std::string name = entry->d_name;
    if (name != "." && name != ".." && name > after) names.push_back(std::move(name));
  }
  const auto kept = std::min(limit, names.size());
  std::partial_sort(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(kept), names.end());
  names.resize(kept);
  return names;
}

Space PosixVfs::space() {
  struct statvfs s{};
  if (::fstatvfs(descriptor({Area::Kind::spool, 0}), &s) != 0) fail(errno, "statvfs", "spool");
  Space out;
  out.free_bytes = std::uint64_t{s.f_bavail} * s.f_frsize;
  out.total_bytes = std::uint64_t{s.f_blocks} * s.f_frsize;
  // Some file systems (Btrfs) have no fixed number of inodes and say 0 of 0.
  out.free_inodes = s.f_files == 0 ? std::numeric_limits<std::uint64_t>::max() : s.f_favail;
  return out;
}

}  // namespace welkin::blobs
