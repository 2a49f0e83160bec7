#pragma once
#include <optional>
#include <string>

#include "welkin/core/config.hpp"
#include "welkin/core/task.hpp"
#include "welkin/core/work_pool.hpp"

namespace welkin::people {

/// Argon2id (RFC 9106) on a few threads of its own, so that a flood of sign-ins costs memory for a few hashes
/// only and never blocks an io thread. The queue is bounded: beyond it the caller gets 503 at once.
class Hasher {
 public:
  explicit Hasher(const Config& config);

  /// A PHC string, "$argon2id$v=19$m=65536,t=3,p=1$salt$hash".
  Task<std::string> hash(std::string password);

  struct Verdict {
    bool right = false;
    /// Set when the password was right and the stored string was made with other parameters than today's.
    std::optional<std::string> rehashed;
  };
  /// Without a stored string (nobody of that name, an account without a password) the same work is done on a
  /// string that no password matches. @throws Error unavailable `busy`
  Task<Verdict> verify(std::optional<std::string> phc, std::string password);

  void close() { pool_.join(); }

 private:
  std::string hash_now(const std::string& password) const;
  bool verify_now(const std::string& phc, const std::string& password) const;

  unsigned memory_kib_, iterations_;
  std::string parameters_;  // how every string made today begins
  std::string nobody_;      // what is verified when there is nothing to verify
  WorkPool pool_;
};

}  // namespace welkin::people
