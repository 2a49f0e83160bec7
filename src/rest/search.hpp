#pragma once
#include <string>
#include <vector>

#include "welkin/core/id.hpp"
#include "welkin/files/search.hpp"

namespace welkin::rest {

/// `{"suggestions": [...], "query_time_ms"}`. Apart for the benches.
void write_suggestions(const PublicIds& ids, const Caller& caller, const std::vector<files::SearchHit>& hits,
                       std::int64_t took_ms, std::string& out);

}  // namespace welkin::rest
