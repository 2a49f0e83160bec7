#include "blobs/data_dir.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "blobs/layout.hpp"
#include "welkin/core/text.hpp"

namespace welkin::blobs {
namespace {

constexpr const char* kStoreId = "store.id";
constexpr const char* kSuspect = "store.suspect";
constexpr const char* kLock = "store.lock";
constexpr mode_t kDirectoryMode = 0700, kFileMode = 0600;

std::string message(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + message(error));
}

/// `name` below `parent`, made when missing; never through a link. @return its descriptor
Fd make_directory(int parent, const std::string& name, const std::string& shown) {
  const bool made = ::mkdirat(parent, name.c_str(), kDirectoryMode) == 0;
  if (!made && errno != EEXIST) fail("cannot make " + shown, errno);
  Fd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && (errno == ENOTDIR || errno == ELOOP))
    throw std::runtime_error(shown + " must be a directory of its own, not a link or a file");
  if (!fd) fail("cannot open " + shown, errno);
  struct stat s{};
  if (::fstat(fd.get(), &s) != 0) fail("cannot look at " + shown, errno);
  // The umask may have taken bits away, an older tool may have left some.
  if ((s.st_mode & 07777) != kDirectoryMode && ::fchmod(fd.get(), kDirectoryMode) != 0)
    fail("cannot set the mode of " + shown, errno);
  return fd;
}

void flush(const Fd& directory, const std::string& shown) {
  if (::fsync(directory.get()) != 0) fail("cannot flush " + shown, errno);
}

/// The whole of a small file; nullopt when it is not there.
std::optional<std::string> read_small(int directory, const char* name) {
  const Fd fd(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return std::nullopt;
    fail(std::string("cannot read ") + name, errno);
  }
  std::string out(4096, '\0');
  const auto n = ::pread(fd.get(), out.data(), out.size(), 0);
  if (n < 0) fail(std::string("cannot read ") + name, errno);
  out.resize(static_cast<std::size_t>(n));
  return std::string(text::trim(out));
}

/// Old content or new, never half of it, whatever happens meanwhile. @return 0 or the error
int write_small(int directory, const std::string& name, const std::string& text) {
  const std::string temporary = name + ".new";
  ::unlinkat(directory, temporary.c_str(), 0);
  Fd fd(::openat(directory, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 kFileMode));
  if (!fd || ::fchmod(fd.get(), kFileMode) != 0) return errno;
  const std::string line = text + "\n";
  if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return errno ? errno : EIO;
  if (::fsync(fd.get()) != 0) return errno;
  if (::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) return errno;
  return ::fsync(directory) == 0 ? 0 : errno;
}

Fd open_root(const std::string& path) { return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

std::string directory_name(unsigned n) {
  char name[8];
  std::snprintf(name, sizeof name, "%02x", n);
  return name;
}

bool is_uuid(std::string_view s) {
  if (s.size() != 36) return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool digit = (s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'f');
    if (dash ? s[i] != '-' : !digit) return false;
  }
  return true;
}

}  // namespace

DataDir::DataDir(std::string path) : path_(std::move(path)) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
    if (::mkdir(path_.c_str(), kDirectoryMode) != 0 && errno != EEXIST) fail("cannot make " + path_, errno);
  }
  root_ = open_root(path_);
  if (!root_) fail("cannot open the data directory " + path_, errno);
  lock();
  make_tree();
  check_file_system();
}

void DataDir::lock() {
  lock_ = Fd(::openat(root_.get(), kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!lock_) fail("cannot open " + path_ + "/" + kLock, errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) fail("cannot lock " + path_ + "/" + kLock, errno);
  throw std::runtime_error("the data directory " + path_ + " is in use by another Welkin process");
}

void DataDir::make_tree() {
  const std::string shown = path_ + "/blobs";
  make_directory(root_.get(), "spool", path_ + "/spool");
  make_directory(root_.get(), "quarantine", path_ + "/quarantine");
  make_directory(root_.get(), "found", path_ + "/found");
  const Fd blobs = make_directory(root_.get(), "blobs", shown);
  for (unsigned i = 0; i < kDirectories; ++i)
    make_directory(blobs.get(), directory_name(i), shown + "/" + directory_name(i));
  // From here on only the leaves are ever flushed.
  flush(blobs, shown);
  flush(root_, path_);
}

void DataDir::check_file_system() const {
  struct stat spool{};
  if (::fstatat(root_.get(), "spool", &spool, AT_SYMLINK_NOFOLLOW) != 0)
    fail("cannot look at " + path_ + "/spool", errno);
  const auto check = [&](const std::string& name) {
    struct stat s{};
    if (::fstatat(root_.get(), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0)
      fail("cannot look at " + name, errno);
    if (s.st_dev != spool.st_dev)
      throw std::runtime_error(path_ + "/spool and " + path_ + "/" + name + " must lie on one file system");
  };
  check("blobs");
  check("quarantine");
  check("found");
  for (unsigned i = 0; i < kDirectories; ++i) check("blobs/" + directory_name(i));
}

std::optional<std::string> DataDir::store_id() const {
  const auto id = read_small(root_.get(), kStoreId);
  if (id && !is_uuid(*id)) throw std::runtime_error(path_ + "/" + kStoreId + " does not hold a store id");
  return id;
}

void DataDir::set_store_id(const std::string& id) {
  if (const int error = write_small(root_.get(), kStoreId, id))
    fail("cannot write " + path_ + "/" + kStoreId, error);
}

bool DataDir::has_no_chunks() const {
  for (unsigned i = 0; i < kDirectories; ++i) {
    const std::string name = "blobs/" + directory_name(i);
    const int fd = ::openat(root_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
    if (!stream) fail("cannot list " + path_ + "/" + name, errno);
    bool found = false;
    while (const dirent* entry = found ? nullptr : ::readdir(stream))
      found = parse_chunk_file_name(entry->d_name).has_value();
    ::closedir(stream);
    if (found) return false;
  }
  return true;
}

std::optional<std::string> DataDir::suspect_reason(const std::string& path) {
  const Fd root = open_root(path);
  if (!root) return std::nullopt;
  return read_small(root.get(), kSuspect);
}

bool DataDir::set_suspect(const std::string& path, const std::string& reason) {
  const Fd root = open_root(path);
  return root && write_small(root.get(), kSuspect, reason) == 0;
}

void DataDir::clear_suspect(const std::string& path) {
  const Fd root = open_root(path);
  if (!root) return;
  if (::unlinkat(root.get(), kSuspect, 0) != 0 && errno != ENOENT)
    fail("cannot remove " + path + "/" + kSuspect, errno);
  flush(root, path);
}

}  // namespace welkin::blobs
