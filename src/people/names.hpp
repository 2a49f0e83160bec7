#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "welkin/core/crypto.hpp"

/// What people may be called, and what is kept of texts they send. Pure. `require_user_name` stands in the
/// door.
namespace welkin::people {

/// Folded; "" stays "". One '@', a dotted domain, no markup, at most 254 bytes. @throws Error invalid
/// `bad_email`
std::string require_email(std::string_view email);
/// Trimmed, NFC, at most 255 bytes, no control characters. @throws Error invalid `bad_display_name`
std::string require_display_name(std::string_view name);
/// 1..255 bytes after trimming, no control characters. @throws Error invalid `bad_label`
std::string require_label(std::string_view label);

/// What was typed as a name or an e-mail address, as it is looked up and counted: trimmed and folded, at most
/// 320 bytes. What cannot be a name (not UTF-8, NUL, too long) becomes '#' and a digest, which no account is
/// called.
std::string login_key(std::string_view typed);

/// For texts that are kept but not checked (user agents, subjects of audit rows): one line of valid UTF-8,
/// cut.
std::string clean_line(std::string_view s, std::size_t bytes_max);

}  // namespace welkin::people
