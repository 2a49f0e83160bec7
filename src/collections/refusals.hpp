#pragma once
#include "welkin/core/caller.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

namespace welkin::collections {

/// Turns a statement's failure into the caller's error; anything unknown goes on as it is.
[[noreturn]] void rethrow(const db::SqlError& e);

/// Whoever is nobody, or shut into a folder of his files, has no collections. @throws Error not_found
void require_person(const Caller& caller);

}  // namespace welkin::collections
