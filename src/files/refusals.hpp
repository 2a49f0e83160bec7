#pragma once
#include <string>
#include <string_view>

#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"

namespace welkin::files {

/// The error of a verdict "WN404 slug" (commit_files) or of an exception raised by a function of ours.
/// @param name  what a taken name is told by: "already exists: <name>"
Error refusal(std::string_view sqlstate, std::string_view slug, const std::string& name);

/// Turns a statement's failure into the caller's error; anything unknown goes on as it is.
[[noreturn]] void rethrow(const db::SqlError& e, const std::string& name);

Error not_found();

}  // namespace welkin::files
