#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "welkin/calendars/filter.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/core/id.hpp"
#include "welkin/wire/json_writer.hpp"

namespace welkin::rest {

/// An object with what its master says. One that cannot be read any more says so.
void write_event(const PublicIds& ids, wire::JsonWriter& json, const collections::Collection& in,
                 const collections::Object& object);

/// The instances of an object that overlap the range, each with where it starts, as JSON.
void append_instances(const PublicIds& ids, std::vector<std::pair<std::int64_t, std::string>>& out,
                      const collections::Collection& in, const collections::Object& object,
                      const calendars::TimeRange& range, const calendars::Zone& zone,
                      std::size_t instances_max);

}  // namespace welkin::rest
