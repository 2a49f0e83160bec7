#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "welkin/core/clock.hpp"
#include "welkin/core/id.hpp"
#include "welkin/http/request.hpp"
#include "welkin/people/people.hpp"

/// People as JSON. Every answer names its members one by one: nothing leaves that is not written here.
namespace welkin::rest {

/// The User object of the API, as text and as a tree.
std::string user_text(const PublicIds& ids, const people::User& user);
nlohmann::json user_json(const PublicIds& ids, const people::User& user);
/// The same with the shape of newer clients inside it: `full.user`.
nlohmann::json signed_in_user_json(const PublicIds& ids, const people::User& user);

/// RFC 3339, or null.
nlohmann::json time_json(const std::optional<Micros>& at);

/// Where the request comes from, for limits, sessions and the audit trail.
people::Origin origin_of(const http::Request& rq);

}  // namespace welkin::rest
