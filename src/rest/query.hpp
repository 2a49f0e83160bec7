#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/http/request.hpp"

/// Parameters of queries that several listings share. Everything throws Error invalid `bad_query`.
namespace welkin::rest {

/// "The query parameter 'name' must be <wanted>"
[[noreturn]] void bad_query(std::string_view name, const std::string& wanted);

/// true or 1, false or 0; absent: false.
bool flag_query(const http::Request& rq, const char* name);
std::uint64_t number_query(const http::Request& rq, const char* name, std::uint64_t absent);
/// Whole seconds or bytes, perhaps negative; absent or empty: nullopt.
std::optional<std::int64_t> signed_query(const http::Request& rq, const char* name);
/// `resource_types`, a list of file and folder; absent or empty: both.
void read_kinds(const http::Request& rq, bool& folders, bool& files);

/// `order_by` by its name in `orders`, pairs of name and order, the first of which is taken when it is
/// absent.
template <class Orders>
auto asked_order(const http::Request& rq, const Orders& orders) {
  const auto value = rq.query("order_by");
  std::string names;
  for (const auto& [name, order] : orders) {
    if (!value || *value == name) return order;
    if (!names.empty()) names += ", ";
    names += name;
  }
  bad_query("order_by", "one of " + names);
}

}  // namespace welkin::rest
