#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "welkin/collections/collections.hpp"

namespace welkin::dav::groupware {

/// "urn:welkin:collection:{uid}/1-17": the value of DAV:sync-token and getctag, which so change together. A
/// URI with a colon and a slash, because there are clients that look for them.
std::string write_token(const collections::Collection& collection);
std::string write_token(const collections::Collection& collection, std::int64_t seq);

/// The number a token stands for; nullopt when this collection never gave it away.
std::optional<std::int64_t> read_token(const collections::Collection& collection, std::string_view token);

}  // namespace welkin::dav::groupware
