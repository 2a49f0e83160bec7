#pragma once
#include <array>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <string_view>

#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/id.hpp"

namespace welkin::people {

/// Remembers what Argon2 said about a name and a password, because Basic sends both with every request.
///
/// Keyed by an HMAC under a key that lives and dies with the process, so memory holds no password and nothing
/// to attack off line. An entry counts only for the account and the generation (users.access_gen) it was made
/// for, and every request reads the generation: a change of password, role or state makes it void at once.
/// Right answers live for 60 s, wrong ones longer: asking the same wrong question again tells nobody
/// anything, and so a forgotten client with an old password is neither hashed for nor counted as a new try
/// that would lock its owner out.
class CredentialMemory {
 public:
  static constexpr std::size_t kEntriesMax = 8192;
  static constexpr Micros kRightFor = 60'000'000;
  static constexpr Micros kWrongFor = 900'000'000;

  enum class Answer { unknown, right, wrong };

  explicit CredentialMemory(std::size_t entries_max = kEntriesMax);

  Sha256 key(std::string_view login, std::string_view password) const;
  Answer recall(const Sha256& key, UserId user, std::int64_t generation, Micros now);
  void remember(const Sha256& key, UserId user, std::int64_t generation, bool right, Micros now);
  std::size_t size() const;

 private:
  struct Entry {
    UserId user;
    std::int64_t generation = 0;
    bool right = false;
    Micros since = 0;
    std::list<Sha256>::iterator age;
  };

  std::array<std::byte, 32> secret_;
  const std::size_t entries_max_;
  mutable std::mutex mutex_;
  std::map<Sha256, Entry> entries_;
  std::list<Sha256> by_age_;  // longest unused first
};

}  // namespace welkin::people
