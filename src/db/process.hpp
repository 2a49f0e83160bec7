#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace welkin::db {

/// A program to run with a clean environment, in a session of its own (so a Ctrl-C meant for us does not
/// reach it) and with its output appended to a file.
struct Program {
  std::vector<std::string> argv;  // argv[0] is an absolute path
  std::string log_file;
  std::string run_as;    // user to become; empty: stay who we are. Needs root
  int death_signal = 0;  // sent to it when the thread that started it ends
};

/// @return the process id. @throws std::runtime_error
pid_t start_program(const Program& program);

/// Waits up to `limit` for the end of a child, without collecting it: its number stays its own until
/// `collect`.
bool ended_within(pid_t child, std::chrono::milliseconds limit);
/// Collects an ended child. @return its wait status
int collect(pid_t child);

/// Runs a program to its end. @return true when it exited with 0
bool run_program(const Program& program);

struct User {
  uid_t uid;
  gid_t gid;
};
/// @throws std::runtime_error when there is no such user
User find_user(const std::string& name);

}  // namespace welkin::db
