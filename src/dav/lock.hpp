#pragma once
#include <string>
#include <string_view>

#include "dav/change.hpp"

namespace welkin::dav {

/// LOCK with a lockinfo -> 200, 201 when it made the file, 207 when something below is locked | 400 | 403 |
/// 409 parent_missing | 412 | 422 another locktype | 423 no-conflicting-lock. Without a body: the refresh of
/// the lock in If -> 200 | 400 | 412 | 423 (RFC 4918 §9.10).
Task<> lock(Change& change);

/// UNLOCK -> 204 | 400 | 403 not_lock_owner | 404 | 409 lock-token-matches-request-uri (RFC 4918 §9.11).
Task<> unlock(Change& change);

/// Appends a DAV:activelock (RFC 4918 §14.1). @param root  ready for a DAV:href
void append_active_lock(std::string& out, const files::Lock& lock, std::string_view root, Micros now);

}  // namespace welkin::dav
