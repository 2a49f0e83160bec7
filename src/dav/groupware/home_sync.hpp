#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dav/groupware/report.hpp"

namespace welkin::dav::groupware {

/// The state of a home as a token that holds a word for every collection in it: what has changed, come or
/// gone since is found by comparing, and writers of members need not know in how many homes they are seen.
/// A home of 20 calendars has one of 250 letters.
std::string write_home_token(UserId user, collections::Kind kind,
                             const std::vector<collections::Collections::Mark>& marks);
/// nullopt: it is of another home, or none of ours.
std::optional<std::vector<collections::Collections::Mark>> read_home_token(UserId user,
                                                                           collections::Kind kind,
                                                                           std::string_view token);

/// The token of now.
Task<std::string> home_token(const Services& services, const Caller& caller, collections::Kind kind);

/// sync-collection of a home: collections that are new or changed, and 404 for those that are gone or no
/// longer shared. Level 1 only.
Task<> sync_home(ReportRequest& request);

}  // namespace welkin::dav::groupware
