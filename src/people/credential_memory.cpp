#include "people/credential_memory.hpp"

#include <string>

#include "welkin/core/crypto.hpp"

namespace welkin::people {

CredentialMemory::CredentialMemory(std::size_t entries_max) : entries_max_(entries_max) {
  crypto::random_bytes(secret_);
}

Sha256 CredentialMemory::key(std::string_view login, std::string_view password) const {
  // The length in front keeps ("a", "bc") and ("ab", "c") apart.
  std::string message = std::to_string(login.size());
  message.append(":").append(login).append(password);
  return crypto::hmac_sha256(secret_, as_bytes(message));
}

CredentialMemory::Answer CredentialMemory::recall(const Sha256& key, UserId user, std::int64_t generation,
                                                  Micros now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return Answer::unknown;
  const Entry& entry = found->second;
  const Micros age = now - entry.since;
  if (entry.user != user || entry.generation != generation || age < 0 ||
      age >= (entry.right ? kRightFor : kWrongFor)) {
    by_age_.erase(entry.age);
    entries_.erase(found);
    return Answer::unknown;
  }
  by_age_.splice(by_age_.end(), by_age_, entry.age);
  return entry.right ? Answer::right : Answer::wrong;
}

void CredentialMemory::remember(const Sha256& key, UserId user, std::int64_t generation, bool right,
                                Micros now) {
  const std::lock_guard lock(mutex_);
  auto [at, made] = entries_.try_emplace(key);
  if (made) {
    by_age_.push_back(key);
    at->second.age = std::prev(by_age_.end());
  }
  at->second.user = user;
  at->second.generation = generation;
  at->second.right = right;
  at->second.since = now;
  if (entries_.size() > entries_max_) {
    entries_.erase(by_age_.front());
    by_age_.pop_front();
  }
}

std::size_t CredentialMemory::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace welkin::people
