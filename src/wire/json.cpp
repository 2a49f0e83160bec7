#include "welkin/wire/json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "welkin/core/error.hpp"

namespace welkin::wire {
namespace {

using nlohmann::json;

constexpr std::size_t kDepthMax = 32;

[[noreturn]] void refuse(std::size_t position, const std::string& why) {
  throw Error(Errc::invalid, "bad_json",
              "The JSON is not valid at byte " + std::to_string(position) + ": " + why);
}

/// Builds the tree while the parser runs, so that duplicate keys and depth are refused where they stand,
/// before more memory is spent. The parser itself checks UTF-8, escapes and numbers.
///
/// Throws out of the callbacks for our own rules; the parser has no state that would mind.
class Builder final : public nlohmann::json_sax<json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}
  json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool v) override { return put(v); }
  bool number_integer(number_integer_t v) override { return put(v); }
  bool number_unsigned(number_unsigned_t v) override { return put(v); }
  bool number_float(number_float_t v, const string_t& /*as written*/) override { return put(v); }
  bool string(string_t& v) override { return put(std::move(v)); }
  bool binary(binary_t& /*never in text*/) override { return false; }

  bool start_object(std::size_t /*size*/) override { return open(json::object()); }
  bool key(string_t& name) override {
    auto& object = open_.back()->get_ref<json::object_t&>();
    auto [at, is_new] = object.try_emplace(std::move(name), nullptr);
    if (!is_new) {
      throw Error(Errc::invalid, "bad_json",
                  "The JSON holds the key \"" + at->first + "\" twice in one object");
    }
    member_ = &at->second;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(json::array()); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& /*near*/,
                   const nlohmann::detail::exception& e) override {
    refuse(position, reason(position, e));
  }

 private:
  json& slot() {
    if (open_.empty()) return root_;
    if (open_.back()->is_object()) return *std::exchange(member_, nullptr);
    open_.back()->get_ref<json::array_t&>().emplace_back();
    return open_.back()->back();
  }
  template <class V>
  bool put(V&& v) {
    slot() = std::forward<V>(v);
    return true;
  }
  bool open(json empty) {
    if (open_.size() == kDepthMax) {
      throw Error(Errc::invalid, "bad_json",
                  "The JSON is nested deeper than " + std::to_string(kDepthMax) + " levels");
    }
    json& at = slot();
    at = std::move(empty);
    open_.push_back(&at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  /// The library's own text quotes what was read, which may be anything; two plain reasons say enough.
  std::string reason(std::size_t position, const nlohmann::detail::exception& e) const {
    if (e.id == 406) return "a number is out of range";
    return position > text_.size() ? "the text ends too early" : "unexpected text";
  }

  std::string_view text_;
  json root_;
  std::vector<json*> open_;  // stable: a parent is not touched while a child is open
  json* member_ = nullptr;
};

const char* type_name(const json& v) { return v.type_name(); }

[[noreturn]] void wrong_type(const char* name, const char* wanted, const json& got) {
  throw Error(Errc::unprocessable, "bad_field",
              std::string("The field '") + name + "' must be " + wanted + ", not " + type_name(got));
}

[[noreturn]] void missing(const char* name) {
  throw Error(Errc::unprocessable, "missing_field", std::string("The field '") + name + "' is missing");
}

std::string text_of(const char* name, const json& v) {
  if (!v.is_string()) wrong_type(name, "a string", v);
  const auto& s = v.get_ref<const std::string&>();
  if (s.find('\0') != std::string::npos) {
    throw Error(Errc::unprocessable, "bad_field", std::string("The field '") + name + "' must not hold NUL");
  }
  return s;
}

std::int64_t integer_of(const char* name, const json& v) {
  if (v.is_number_unsigned()) {
    const auto n = v.get<std::uint64_t>();
    if (n > static_cast<std::uint64_t>(INT64_MAX)) wrong_type(name, "an integer of at most 63 bits", v);
    return static_cast<std::int64_t>(n);
  }
  if (!v.is_number_integer()) wrong_type(name, "an integer", v);
  return v.get<std::int64_t>();
}

bool boolean_of(const char* name, const json& v) {
  if (!v.is_boolean()) wrong_type(name, "true or false", v);
  return v.get<bool>();
}

}  // namespace

json parse_json(std::string_view text) {
  // RFC 8259 §8.1: no byte order mark. The library would skip one silently.
  if (text.substr(0, 3) == "\xEF\xBB\xBF") refuse(0, "a byte order mark");
  // The library takes NUL for the end of the input, and would not look at what follows.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) refuse(nul + 1, "a NUL byte");
  Builder builder(text);
  json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

JsonObject::JsonObject(const json& value) : value_(value) {
  if (!value.is_object()) {
    throw Error(Errc::unprocessable, "bad_field",
                std::string("Expected a JSON object, not ") + type_name(value));
  }
}

const json* JsonObject::find(const char* name) {
  asked_.insert(name);
  const auto at = value_.find(name);
  return at == value_.end() ? nullptr : &*at;
}

std::string JsonObject::string(const char* name) {
  const json* v = find(name);
  if (!v) missing(name);
  return text_of(name, *v);
}

std::optional<std::string> JsonObject::opt_string(const char* name) {
  const json* v = find(name);
  if (!v || v->is_null()) return std::nullopt;
  return text_of(name, *v);
}

std::int64_t JsonObject::integer(const char* name) {
  const json* v = find(name);
  if (!v) missing(name);
  return integer_of(name, *v);
}

std::optional<std::int64_t> JsonObject::opt_integer(const char* name) {
  const json* v = find(name);
  if (!v || v->is_null()) return std::nullopt;
  return integer_of(name, *v);
}

bool JsonObject::boolean(const char* name) {
  const json* v = find(name);
  if (!v) missing(name);
  return boolean_of(name, *v);
}

std::optional<bool> JsonObject::opt_boolean(const char* name) {
  const json* v = find(name);
  if (!v || v->is_null()) return std::nullopt;
  return boolean_of(name, *v);
}

std::vector<std::string> JsonObject::strings(const char* name) {
  const json* v = find(name);
  if (!v) missing(name);
  if (!v->is_array()) wrong_type(name, "an array of strings", *v);
  std::vector<std::string> out;
  out.reserve(v->size());
  for (const auto& item : *v) out.push_back(text_of(name, item));
  return out;
}

bool JsonObject::has(const char* name) const { return value_.contains(name); }

const json* JsonObject::raw(const char* name) { return find(name); }

void JsonObject::done() const {
  for (const auto& [name, _] : value_.items()) {
    if (asked_.find(name) == asked_.end()) {
      throw Error(Errc::unprocessable, "unknown_field", "The field '" + name + "' is not known here");
    }
  }
}

}  // namespace welkin::wire
