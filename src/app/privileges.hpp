#pragma once
#include <stdexcept>
#include <string>

namespace welkin::app {

/// A start that cannot go on, told in a way an operator can act on.
class StartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What every process of ours does first: files are made 0600 and directories 0700, nobody may attach to it
/// or find its memory in a core file, no child gains rights, a peer that went away is an error and no signal,
/// and as many descriptors as the system grants.
void harden_process();

/// The user the server becomes when root starts it (scripts/setup makes it).
inline constexpr const char* kServerUser = "welkin";

/// Makes the data directory ready and leaves root behind, for good: afterwards no way back exists, which is
/// checked. As an ordinary user it only makes the directory (0700) when it is missing and checks that it can
/// be used.
/// @throws StartError
void settle_in(const std::string& data_dir);

/// The same without making anything: for commands that only look. A missing directory is fine.
void drop_root(const std::string& data_dir);

}  // namespace welkin::app
