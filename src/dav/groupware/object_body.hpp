#pragma once
#include <string>

#include "dav/groupware/target.hpp"

namespace welkin::dav::groupware {

/// The body of a PUT, at most kObjectBytesMax. One that is too long is read to its end (up to a limit), so
/// that the client hears the answer. @throws Refusal
Task<std::string> read_object_body(http::Request& rq, bool calendar);

/// What the index keeps of the bytes, and whether they may be stored. @throws Refusal, Error with the slug of
/// a precondition
collections::Facts read_facts(const std::string& data, const Target& target);

}  // namespace welkin::dav::groupware
