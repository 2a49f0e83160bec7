#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/core/id.hpp"

namespace welkin::db {

using Uuid = std::array<std::uint8_t, 16>;

/// A statement: its text with $1..$n, and the name under which each connection prepares it once.
/// Namespace-scope constants in the stores: `constexpr Stmt kChildren{"files.children", "select ..."};` The
/// types of parameters are those of the C++ values bound first; text is sent as text and typed by the server.
struct Stmt {
  const char* name;
  const char* sql;
};

/// Values for $1..$n, in order, packed in binary (integers, bool, bytea, uuid, arrays) or as text.
/// Owns what it was given.
class Params {
 public:
  Params() = default;
  template <class... T>
  explicit Params(const T&... values) {
    (add(values), ...);
  }
  Params& add(std::int16_t v);
  Params& add(std::int32_t v);
  Params& add(std::int64_t v);
  Params& add(bool v);
  Params& add(std::string_view v);  // typed by the server: text, timestamptz, jsonb ...
  Params& add(const char* v) { return add(std::string_view(v)); }
  Params& add(const std::string& v) { return add(std::string_view(v)); }
  Params& add(ByteView v);  // bytea
  Params& add(const Bytes& v) { return add(ByteView(v)); }
  Params& add(const Sha256& v) { return add(std::as_bytes(std::span(v))); }
  Params& add(const Uuid& v);
  Params& add(std::nullopt_t);  // null, typed by the server
  Params& add(const std::vector<std::int16_t>& v);
  Params& add(const std::vector<std::int32_t>& v);
  Params& add(const std::vector<std::int64_t>& v);
  Params& add(const std::vector<std::string>& v);  // text[]
  Params& add(const std::vector<Bytes>& v);        // bytea[]
  Params& add(const std::vector<Sha256>& v);       // bytea[]
  Params& add(const std::vector<Uuid>& v);
  template <class Tag>
  Params& add(Id<Tag> v) {
    return add(v.value);
  }
  template <class T>
  Params& add(const std::optional<T>& v) {
    return v ? add(*v) : add(std::nullopt);
  }
  // Guards against silent conversions: a pointer must not become a bool, an unsigned not a float.
  template <class T>
  Params& add(T* v) = delete;

  std::size_t size() const { return items_.size(); }
  struct Item {
    std::uint32_t oid;  // 0: the server decides
    bool binary, is_null;
    std::size_t offset, length;
  };
  const std::vector<Item>& items() const { return items_; }
  const char* data(const Item& i) const { return buffer_.data() + i.offset; }

 private:
  void raw(std::uint32_t oid, bool binary, const void* data, std::size_t length);
  std::vector<Item> items_;
  std::string buffer_;  // every item NUL-terminated, for text
};

}  // namespace welkin::db
