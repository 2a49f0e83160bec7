#pragma once
#include <string>
#include <string_view>

#include "welkin/core/clock.hpp"
#include "welkin/files/locks.hpp"

namespace welkin::dav {

/// Appends DAV:activelock (RFC 4918 §14.1). The token is told to the lock's own user only.
/// @param root_href  ready for a DAV:href
void append_active_lock(std::string& out, const files::Lock& lock, std::string_view root_href, Micros now);

/// The href of a lock's root, `levels` above the resource at `href` (both ready for a DAV:href).
std::string href_above(std::string_view href, std::size_t levels);

}  // namespace welkin::dav
