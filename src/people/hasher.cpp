#include "people/hasher.hpp"

#include <argon2.h>

#include <array>

#include "people/passwords.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::people {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr unsigned kLanes = 1;            // one thread a hash: the pool bounds how many run
constexpr std::size_t kWaitingMax = 128;  // about ten seconds of work at the default cost

metrics::Counter hashes("welkin_password_hashes_total",
                        "Argon2id computations for sign-ins and new passwords");

Error busy() { return {Errc::unavailable, "busy", "the server is busy", 5}; }

}  // namespace

Hasher::Hasher(const Config& config)
    : memory_kib_(config.argon2_memory_kib),
      iterations_(config.argon2_iterations),
      parameters_("$argon2id$v=" + std::to_string(ARGON2_VERSION_NUMBER) +
                  "$m=" + std::to_string(memory_kib_) + ",t=" + std::to_string(iterations_) +
                  ",p=" + std::to_string(kLanes) + "$"),
      nobody_(hash_now(crypto::random_token(32))),
      pool_("passwords", std::max(1U, config.password_hash_threads), kWaitingMax) {}

std::string Hasher::hash_now(const std::string& password) const {
  std::array<std::byte, kSaltBytes> salt;
  crypto::random_bytes(salt);
  std::string phc(argon2_encodedlen(iterations_, memory_kib_, kLanes, kSaltBytes, kHashBytes, Argon2_id),
                  '\0');
  const int code = argon2id_hash_encoded(iterations_, memory_kib_, kLanes, password.data(), password.size(),
                                         salt.data(), salt.size(), kHashBytes, phc.data(), phc.size());
  if (code == ARGON2_MEMORY_ALLOCATION_ERROR) throw busy();
  if (code != ARGON2_OK)
    throw Error(Errc::internal, "argon2",
                std::string("hashing a password failed: ") + argon2_error_message(code));
  phc.resize(phc.find('\0'));
  return phc;
}

bool Hasher::verify_now(const std::string& phc, const std::string& password) const {
  // An overlong password is refused where passwords are set, so it can only be wrong; it costs the same as
  // any other.
  const bool too_long = password.size() > kPasswordBytesMax;
  const int code =
      argon2id_verify(phc.c_str(), password.data(), too_long ? kPasswordBytesMax : password.size());
  if (code == ARGON2_OK) return !too_long;
  if (code == ARGON2_VERIFY_MISMATCH) return false;
  if (code == ARGON2_MEMORY_ALLOCATION_ERROR) throw busy();
  log::error("a stored password hash cannot be read: {}", argon2_error_message(code));
  return false;
}

Task<std::string> Hasher::hash(std::string password) {
  co_return co_await pool_.run([&] {
    hashes.add();
    return hash_now(password);
  });
}

Task<Hasher::Verdict> Hasher::verify(std::optional<std::string> phc, std::string password) {
  co_return co_await pool_.run([&] {
    hashes.add();
    Verdict verdict;
    if (!phc) {
      verify_now(nobody_, password);
      return verdict;
    }
    verdict.right = verify_now(*phc, password);
    if (verdict.right && !phc->starts_with(parameters_)) verdict.rehashed = hash_now(password);
    return verdict;
  });
}

}  // namespace welkin::people
