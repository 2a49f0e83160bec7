#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace welkin::wire {

/// Writes JSON straight into a string: no tree, no allocation but the string's own growth. For listings; what
/// it writes is byte for byte what nlohmann::ordered_json::dump() writes for the same data.
///
/// Balance and the order key, value are the caller's duty. Text must be UTF-8 (names in the database are).
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  /// @param name  a literal that needs no escaping
  void key(std::string_view name) {
    comma();
    out_ += '"';
    out_ += name;
    out_ += "\":";
    after_value_ = false;
  }

  void string(std::string_view text);
  void null() { raw("null"); }
  void boolean(bool value) { raw(value ? std::string_view("true") : std::string_view("false")); }
  template <std::integral N>
    requires(!std::same_as<N, bool>)
  void number(N value) {
    if constexpr (std::is_signed_v<N>) {
      put_signed(value);
    } else {
      put_unsigned(value);
    }
  }

  void field(std::string_view name, std::string_view text) {
    key(name);
    string(text);
  }
  void field(std::string_view name, const char* text) { field(name, std::string_view(text)); }
  void field(std::string_view name, const std::string& text) { field(name, std::string_view(text)); }
  template <std::integral N>
  void field(std::string_view name, N value) {
    key(name);
    if constexpr (std::same_as<N, bool>) {
      boolean(value);
    } else {
      number(value);
    }
  }
  void null_field(std::string_view name) {
    key(name);
    null();
  }

  /// A value that is JSON already; inside an object also whole members, `"a":1,"b":2`.
  void raw(std::string_view json) {
    comma();
    out_ += json;
    after_value_ = true;
  }
  /// A string in two parts, each escaped already: a path from its folder's part and its name's.
  void escaped_string(std::string_view first, std::string_view second) {
    comma();
    out_ += '"';
    out_ += first;
    out_ += second;
    out_ += '"';
    after_value_ = true;
  }

  std::string& out() { return out_; }

 private:
  void comma() {
    if (after_value_) out_ += ',';
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    after_value_ = false;
  }
  void close(char bracket) {
    out_ += bracket;
    after_value_ = true;
  }
  void put_signed(std::int64_t value);
  void put_unsigned(std::uint64_t value);

  std::string& out_;
  bool after_value_ = false;
};

/// Appends `text` as the inside of a JSON string (RFC 8259 §7): quotes, backslashes and C0 controls escaped,
/// the rest copied.
void append_json_escaped(std::string& out, std::string_view text);

}  // namespace welkin::wire
