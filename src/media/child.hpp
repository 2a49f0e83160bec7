#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace welkin::media {

/// What a child process may use. Beyond them it is killed, or what it asks for fails.
struct ChildLimits {
  std::uint64_t memory_bytes = 1ull << 30;  // of address space
  unsigned cpu_seconds = 20;
  std::chrono::milliseconds deadline{30'000};  // by the clock
  std::uint64_t file_bytes = 32ull << 20;      // of each file it writes
  std::size_t output_bytes = 1 << 20;          // of its standard output; the rest is dropped
  const std::atomic<bool>* stop = nullptr;     // set by another thread: it is killed
};

struct ChildResult {
  bool ok = false;     // it ended by itself with 0
  std::string output;  // standard output
};

/// Runs a program that reads what strangers made, and waits for it: in a process of its own, with limits,
/// without the server's environment, descriptors, signals and capabilities to gain, where the kernel has it
/// without network and with no file to see but system programs and `directory`, which is its working
/// directory. Blocks; on threads of a pool only. Never throws for what the child does.
/// @param argv  the program's path first
ChildResult run_child(const std::vector<std::string>& argv, const std::string& directory,
                      const ChildLimits& limits);

/// Where a program is: /usr/local/bin, /usr/bin, /bin; "" when it is not installed.
std::string find_program(const std::string& name);

}  // namespace welkin::media
