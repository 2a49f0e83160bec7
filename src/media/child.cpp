#include "media/child.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "welkin/core/bytes.hpp"
#include "welkin/core/log.hpp"

namespace welkin::media {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kLookAgainMs = 100;  // whether it is to be stopped

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// From here to exec only calls that may be made between fork and exec of a process with many threads.

constexpr std::uint64_t kLook =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
// Everything that the first version of the interface knows.
constexpr std::uint64_t kAll = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

void allow(int ruleset, const char* path, std::uint64_t access) {
  const int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  landlock_path_beneath_attr rule{access, fd};
  syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(fd);
}

/// No file but those of the system, to look at, and its own directory. Kernels without it go without.
void hide_files(const char* directory) {
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = kAll;
  const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0));
  if (ruleset < 0) return;
  for (const char* path :
       {"/usr", "/lib", "/lib64", "/bin", "/etc/fonts", "/etc/ld.so.cache", "/proc", "/var/cache/fontconfig"})
    allow(ruleset, path, path[1] == 'e' && path[5] == 'l' ? LANDLOCK_ACCESS_FS_READ_FILE : kLook);
  allow(ruleset, "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
  allow(ruleset, "/dev/urandom", LANDLOCK_ACCESS_FS_READ_FILE);
  allow(ruleset, directory, kAll);
  syscall(SYS_landlock_restrict_self, ruleset, 0);
  close(ruleset);
}

void limit(__rlimit_resource what, std::uint64_t most) {
  const rlimit both{most, most};
  setrlimit(what, &both);
}

[[noreturn]] void become(char* const* argv, char* const* environment, const char* directory, int output,
                         const ChildLimits& limits, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(null, 2) < 0 || chdir(directory) != 0)
    _exit(126);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNET);  // where it is allowed
  hide_files(directory);
  limit(RLIMIT_AS, limits.memory_bytes);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_CORE, 0);
  execve(argv[0], argv, environment);
  _exit(127);
}

bool is_stopped(const ChildLimits& limits) { return limits.stop != nullptr && limits.stop->load(); }

/// Reads until the end, the deadline or the stop. @return whether the end came
bool read_output(int fd, SteadyClock::time_point deadline, const ChildLimits& limits, std::string& out) {
  std::array<char, 16'384> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    if (left <= 0 || is_stopped(limits)) return false;
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<long long>(left, kLookAgainMs))) <= 0) continue;
    const auto got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    out.append(buffer.data(), std::min(static_cast<std::size_t>(got),
                                       limits.output_bytes - std::min(limits.output_bytes, out.size())));
  }
}

/// Waits for the end of what has closed its output, killing it at the deadline.
int collect(pid_t child, SteadyClock::time_point deadline, const ChildLimits& limits) {
  int status = 0;
  for (;;) {
    const auto ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (SteadyClock::now() >= deadline || is_stopped(limits)) kill(-child, SIGKILL);
    usleep(1'000);
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& argv, const std::string& directory,
                      const ChildLimits& limits) {
  ChildResult result;
  auto words = argv;
  // glib and fontconfig want a home; libvips leaves alone what only fragile libraries can read.
  std::vector<std::string> environment{
      "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",         "HOME=" + directory,           "TMPDIR=" + directory,
      "VIPS_CONCURRENCY=1", "VIPS_BLOCK_UNTRUSTED=1", "XDG_CACHE_HOME=" + directory, "OMP_NUM_THREADS=1"};
  const auto argv_pointers = pointers(words), environment_pointers = pointers(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    log::error("no pipe for a child process: errno {}", errno);
    return result;
  }
  Fd reader(ends[0]), writer(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    log::error("cannot start a process: errno {}", errno);
    return result;
  }
  if (child == 0)
    become(argv_pointers.data(), environment_pointers.data(), directory.c_str(), writer.get(), limits,
           parent);
  setpgid(child, child);  // whoever of the two comes first
  writer.reset();
  const auto deadline = SteadyClock::now() + limits.deadline;
  if (!read_output(reader.get(), deadline, limits, result.output)) kill(-child, SIGKILL);
  const int status = collect(child, deadline, limits);
  kill(-child, SIGKILL);  // what it left behind
  result.ok = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return result;
}

std::string find_program(const std::string& name) {
  for (const char* directory : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
    auto path = directory + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

}  // namespace welkin::media
