#include "people/passwords.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {
namespace {

constexpr std::string_view kAppPasswordStart = "welkin-";
// With them a password is 41 letters long: no length that base64 comes in, since rclone takes what could be
// base64 for a password that it has obscured itself.
constexpr std::size_t kAppPasswordLetters = 34;
constexpr std::size_t kAppPasswordLettersBefore = 32;
// RFC 4648 base32 in lower case, without the letters that are mistaken for others when read aloud or copied
// by hand.
constexpr std::string_view kAlphabet = "abcdefghijkmnpqrstuvwxyz23456789";
static_assert(kAlphabet.size() == 32);

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Errc::invalid, "weak_password", "Invalid password: " + why);
}

bool is_one_character(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [&](char c) { return c == s.front(); });
}

/// "12345678", "abcdefghij", "87654321": each byte one more, or one less, than the byte before it ("90" goes
/// on too).
bool is_sequence(std::string_view s) {
  const auto runs = [&](int step) {
    for (std::size_t i = 1; i < s.size(); ++i) {
      const int difference = static_cast<unsigned char>(s[i]) - static_cast<unsigned char>(s[i - 1]);
      const bool wraps =
          (step > 0 && s[i - 1] == '9' && s[i] == '0') || (step < 0 && s[i - 1] == '0' && s[i] == '9');
      if (difference != step && !wraps) return false;
    }
    return true;
  };
  return runs(1) || runs(-1);
}

}  // namespace

void require_password(std::string_view password, std::string_view user_name) {
  if (password.size() < kPasswordBytesMin) refuse("it must have at least 8 characters");
  if (password.size() > kPasswordBytesMax) refuse("it is longer than 1024 bytes");
  if (password.find('\0') != std::string_view::npos) refuse("it holds a NUL character");
  const std::string lowered = text::lower(password);
  if (!user_name.empty() && lowered == text::lower(user_name)) refuse("it is the user name");
  if (is_one_character(lowered) || is_sequence(lowered) || is_common_password(lowered))
    refuse("it is one of the most common passwords");
  if (looks_like_app_password(password)) refuse("it has the form of an app password");
}

std::string make_app_password() {
  std::array<std::byte, kAppPasswordLetters> random;
  crypto::random_bytes(random);
  std::string secret(kAppPasswordStart);
  for (const auto b : random)
    secret += kAlphabet[std::to_integer<std::size_t>(b) & 31];  // 5 bits of each byte
  return secret;
}

bool looks_like_app_password(std::string_view secret) {
  if (!secret.starts_with(kAppPasswordStart)) return false;
  const std::size_t letters = secret.size() - kAppPasswordStart.size();
  if (letters != kAppPasswordLetters && letters != kAppPasswordLettersBefore) return false;
  return secret.find_first_not_of(kAlphabet, kAppPasswordStart.size()) == std::string_view::npos;
}

std::string app_password_prefix(std::string_view secret) {
  return std::string(secret.substr(0, kAppPasswordStart.size() + 4));  // 20 of 170 bits
}

}  // namespace welkin::people
