#include "app/privileges.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

namespace welkin::app {
namespace {

struct Account {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name, home;
};

std::string reason() { return std::strerror(errno); }

Account account_of(uid_t uid) {
  char buffer[4096];
  passwd entry{};
  passwd* found = nullptr;
  Account out{uid, ::getegid(), std::to_string(uid), "/"};
  if (::getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) {
    out = {entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir};
  }
  return out;
}

Account server_account() {
  char buffer[4096];
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(kServerUser, &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) {
    throw StartError(
        fmt::format("started as root, but the user '{}' to run as does not exist; run scripts/setup, or: "
                    "useradd --system --user-group --home-dir /var/lib/welkin --shell /usr/sbin/nologin {}",
                    kServerUser, kServerUser));
  }
  if (entry.pw_uid == 0) throw StartError(fmt::format("the user '{}' has the rights of root", kServerUser));
  return {entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir};
}

/// Makes what is missing of `path`. Parents are ordinary (0755), the last one is private.
void make_directory(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  struct stat at{};
  if (!parent.empty() && parent != path && ::stat(parent.c_str(), &at) != 0) {
    std::error_code failed;
    const auto mask = ::umask(022);
    std::filesystem::create_directories(parent, failed);
    ::umask(mask);
    if (failed) throw StartError(fmt::format("cannot make {}: {}", parent, failed.message()));
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    throw StartError(fmt::format("cannot make the data directory {}: {}", path, reason()));
  }
}

/// As root: a new or empty directory of root's is given to `owner`; one that belongs to somebody else is left
/// alone.
void hand_over(const std::string& path, const Account& owner) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    throw StartError(fmt::format(
        "cannot open the data directory {}: {}", path,
        errno == ELOOP || errno == ENOTDIR ? "it is no directory (or a symbolic link)" : reason()));
  }
  struct stat at{};
  const bool known = ::fstat(fd, &at) == 0;
  std::string fault;
  if (!known) {
    fault = reason();
  } else if (at.st_uid == 0 && !std::filesystem::is_empty(path) &&
             !std::filesystem::exists(path + "/welkin.toml")) {
    fault = fmt::format("it belongs to root and is not empty; take an empty one, or one that belongs to {}",
                        owner.name);
  } else if (at.st_uid == 0) {
    if (::fchown(fd, owner.uid, owner.gid) != 0 || ::fchmod(fd, 0700) != 0) fault = reason();
  } else if (at.st_uid != owner.uid) {
    fault = fmt::format("it belongs to {}; start Welkin as that user, or run: chown -R {}: {}",
                        account_of(at.st_uid).name, owner.name, path);
  }
  ::close(fd);
  if (!fault.empty()) throw StartError(fmt::format("cannot use the data directory {}: {}", path, fault));
}

void become(const Account& account) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(account.gid, account.gid, account.gid) != 0 ||
      ::setresuid(account.uid, account.uid, account.uid) != 0) {
    throw StartError(fmt::format("cannot become the user {}: {}", account.name, reason()));
  }
  uid_t real = 0, effective = 0, saved = 0;
  gid_t groups[3] = {};
  ::getresuid(&real, &effective, &saved);
  ::getresgid(&groups[0], &groups[1], &groups[2]);
  const bool gone = real == account.uid && effective == account.uid && saved == account.uid &&
                    groups[0] == account.gid && groups[1] == account.gid && groups[2] == account.gid &&
                    ::getgroups(0, nullptr) == 0 && ::setuid(0) != 0 && ::setgid(0) != 0;
  if (!gone) throw StartError("root could not be left behind for good");
  ::setenv("HOME", account.home.c_str(), 1);
  ::setenv("USER", account.name.c_str(), 1);
  ::setenv("LOGNAME", account.name.c_str(), 1);
  // A change of user makes the process dumpable again.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void check_usable(const std::string& path) {
  struct stat at{};
  if (::stat(path.c_str(), &at) != 0) {
    const std::string why = reason();  // before anything else touches errno
    throw StartError(
        fmt::format("cannot reach the data directory {} as user {}: {}; every directory above it must be "
                    "open to that user",
                    path, account_of(::geteuid()).name, why));
  }
  if (!S_ISDIR(at.st_mode)) throw StartError(fmt::format("the data directory {} is no directory", path));
  if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    const auto owner = account_of(at.st_uid).name, self = account_of(::geteuid()).name;
    const auto cure = at.st_uid == 0 ? fmt::format("give it to {}: chown {} {}", self, self, path)
                                     : fmt::format("run this as root or as {}", owner);
    throw StartError(
        fmt::format("the data directory {} belongs to {} and is closed to {}; {}", path, owner, self, cure));
  }
}

}  // namespace

void harden_process() {
  ::umask(0077);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  std::signal(SIGPIPE, SIG_IGN);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

void settle_in(const std::string& data_dir) {
  if (::geteuid() == 0) {
    const auto account = server_account();
    make_directory(data_dir);
    hand_over(data_dir, account);
    become(account);
  } else {
    make_directory(data_dir);
  }
  check_usable(data_dir);
}

void drop_root(const std::string& data_dir) {
  if (::geteuid() == 0) become(server_account());
  struct stat at{};
  if (::stat(data_dir.c_str(), &at) == 0) check_usable(data_dir);
}

}  // namespace welkin::app
