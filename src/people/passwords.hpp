#pragma once
#include <string>
#include <string_view>

/// Rules for passwords, and the shape of app passwords. Pure. `require_password` stands in the door.
namespace welkin::people {

inline constexpr std::size_t kPasswordBytesMin = 8;
inline constexpr std::size_t kPasswordBytesMax = 1024;

/// Whether `lowered` (ASCII lower case) is among the passwords that are tried first by everybody.
bool is_common_password(std::string_view lowered);

/// "welkin-" and 34 letters of a 32-letter alphabet: 170 bits.
std::string make_app_password();
/// Whether `secret` has the form above. Such a secret is only ever looked up as an app password, so that a
/// revoked one in a forgotten client cannot lock its owner out; account passwords of this form are refused.
bool looks_like_app_password(std::string_view secret);
/// The first letters, by which the owner recognises it in the list.
std::string app_password_prefix(std::string_view secret);

}  // namespace welkin::people
