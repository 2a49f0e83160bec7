#include "rest/query.hpp"

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::rest {

void bad_query(std::string_view name, const std::string& wanted) {
  throw Error(Errc::invalid, "bad_query",
              "The query parameter '" + std::string(name) + "' must be " + wanted);
}

bool flag_query(const http::Request& rq, const char* name) {
  const auto value = rq.query(name);
  if (!value || *value == "false" || *value == "0") return false;
  if (*value != "true" && *value != "1") bad_query(name, "true or false");
  return true;
}

std::uint64_t number_query(const http::Request& rq, const char* name, std::uint64_t absent) {
  const auto value = rq.query(name);
  if (!value) return absent;
  const auto n = text::number(*value);
  if (!n) bad_query(name, "a number");
  return *n;
}

std::optional<std::int64_t> signed_query(const http::Request& rq, const char* name) {
  const auto value = rq.query(name);
  if (!value || value->empty()) return std::nullopt;
  const auto n = text::signed_number(*value);
  if (!n) bad_query(name, "a number");
  return *n;
}

void read_kinds(const http::Request& rq, bool& folders, bool& files) {
  const auto value = rq.query("resource_types");
  if (!value || value->empty()) return;
  folders = files = false;
  for (const auto type : text::split(*value, ',')) {
    if (type == "folder") {
      folders = true;
    } else if (type == "file") {
      files = true;
    } else {
      bad_query("resource_types", "a list of 'file' and 'folder'");
    }
  }
}

}  // namespace welkin::rest
