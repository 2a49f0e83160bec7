#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::wire {

/// Strict JSON (RFC 8259): UTF-8, no duplicate keys, at most 32 levels, nothing after the value.
/// @throws Error invalid `bad_json`, with the byte position
nlohmann::json parse_json(std::string_view text);

/// Reads the members of one JSON object by name and type; `done` refuses members nobody asked for (mass
/// assignment). A wrong type is Error unprocessable `bad_field`, a missing required one Error unprocessable
/// `missing_field`. Strings are refused when they hold NUL.
class JsonObject {
 public:
  /// @throws Error unprocessable `bad_field` when `value` is not an object. `value` must outlive this.
  explicit JsonObject(const nlohmann::json& value);
  std::string string(const char* name);
  std::optional<std::string> opt_string(const char* name);  // absent or null: nullopt
  std::int64_t integer(const char* name);
  std::optional<std::int64_t> opt_integer(const char* name);
  bool boolean(const char* name);
  std::optional<bool> opt_boolean(const char* name);
  std::vector<std::string> strings(const char* name);  // a required array of strings
  bool has(const char* name) const;                    // present, perhaps null
  const nlohmann::json* raw(const char* name);         // nullptr when absent; counts as asked for
  /// Accepts a member without reading it.
  void ignore(const char* name) { asked_.insert(name); }
  /// @throws Error unprocessable `unknown_field`
  void done() const;

 private:
  const nlohmann::json* find(const char* name);
  const nlohmann::json& value_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace welkin::wire
