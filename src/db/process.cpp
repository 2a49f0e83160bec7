#include "db/process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "welkin/core/bytes.hpp"

namespace welkin::db {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr int kExecFailed = 127;

std::vector<std::string> full_argv(const Program& program) {
  if (program.run_as.empty()) return program.argv;
  const User user = find_user(program.run_as);
  std::vector<std::string> argv{"/usr/bin/setpriv", "--reuid=" + std::to_string(user.uid),
                                "--regid=" + std::to_string(user.gid), "--init-groups"};
  // Becoming somebody else clears what prctl has set, so setpriv sets it once more.
  if (program.death_signal != 0)
    argv.push_back(std::string("--pdeathsig=") + sigabbrev_np(program.death_signal));
  argv.insert(argv.end(), program.argv.begin(), program.argv.end());
  return argv;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// Between fork and exec only async-signal-safe calls: another thread may have held any lock.
[[noreturn]] void become(char* const* argv, char* const* environment, int log, int death_signal,
                         pid_t parent) {
  setsid();
  if (death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, death_signal);
    if (getppid() != parent) _exit(kExecFailed);  // died before we could ask to be told
  }
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGINT, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  execve(argv[0], argv, environment);
  static constexpr char kText[] = "cannot run the program\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(kExecFailed);
}

}  // namespace

User find_user(const std::string& name) {
  std::vector<char> buffer(16'384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    throw std::runtime_error("there is no user " + name);
  }
  return {entry.pw_uid, entry.pw_gid};
}

pid_t start_program(const Program& program) {
  auto argv = full_argv(program);
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  const auto argv_pointers = pointers(argv);
  const auto environment_pointers = pointers(environment);
  const Fd log(open(program.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) throw std::runtime_error("cannot write " + program.log_file + ": " + std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    become(argv_pointers.data(), environment_pointers.data(), log.get(), program.death_signal, parent);
  }
  return child;
}

bool ended_within(pid_t child, milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  const Fd handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  for (;;) {
    siginfo_t info{};
    const int asked = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    if ((asked == 0 && info.si_pid == child) || (asked < 0 && errno == ECHILD)) return true;
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    if (handle) {
      pollfd waiting{handle.get(), POLLIN, 0};
      poll(&waiting, 1, static_cast<int>(std::min<long long>(left.count(), 60'000)));
    } else {  // a kernel or a sandbox without pidfd
      std::this_thread::sleep_for(std::min(left, milliseconds(50)));
    }
  }
}

int collect(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool run_program(const Program& program) {
  const int status = collect(start_program(program));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace welkin::db
