#pragma once
#include <string>
#include <string_view>

#include "welkin/wire/multipart.hpp"

namespace welkin::wire {

/// The boundary out of a Content-Type value. Pure.
/// @throws Error unsupported_media_type `not_multipart`, invalid `bad_multipart`
std::string form_boundary(std::string_view content_type);

/// Reads the header lines of one part, without the blank line that ends them. Pure.
/// @throws Error invalid `bad_multipart`
FormPart form_part(std::string_view head);

[[noreturn]] void bad_multipart(const std::string& why);

}  // namespace welkin::wire
