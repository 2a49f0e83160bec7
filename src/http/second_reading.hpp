#pragma once
#include <string_view>

#include "http/head.hpp"

namespace welkin::http {

/// Reads the head of a request once more, with Beast's parser, and compares. Smuggling lives on two readers
/// who understand one head differently; here two unrelated ones must agree on method, target, version,
/// framing and persistence before a handler sees anything.
/// @param bytes  the head from its request line to its blank line
/// @param head   what HeadParser made of it, in origin form or as sent
bool agrees_with_beast(std::string_view bytes, const Head& head);

}  // namespace welkin::http
