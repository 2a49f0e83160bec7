#include "welkin/db/params.hpp"

#include <limits>
#include <stdexcept>

#include "db/oids.hpp"
#include "db/wire.hpp"
#include "welkin/core/error.hpp"

namespace welkin::db {
namespace {

// One-dimensional array in binary: dimensions, null flag, element type, length, lower bound, elements.
template <class T, class Append>
std::string packed(std::uint32_t element, const std::vector<T>& values, Append append_value) {
  if (values.size() > std::numeric_limits<std::int32_t>::max()) throw std::length_error("array too long");
  std::string out;
  wire::append<std::int32_t>(out, values.empty() ? 0 : 1);
  wire::append<std::int32_t>(out, 0);
  wire::append<std::uint32_t>(out, element);
  if (values.empty()) return out;
  wire::append<std::int32_t>(out, static_cast<std::int32_t>(values.size()));
  wire::append<std::int32_t>(out, 1);
  for (const auto& v : values) append_value(out, v);
  return out;
}

template <class T>
std::string packed_numbers(std::uint32_t element, const std::vector<T>& values) {
  return packed(element, values, [](std::string& out, T v) {
    wire::append<std::int32_t>(out, sizeof v);
    wire::append<T>(out, v);
  });
}

template <class T>
std::string packed_bytes(std::uint32_t element, const std::vector<T>& values) {
  return packed(element, values, [](std::string& out, const T& v) {
    wire::append<std::int32_t>(out, static_cast<std::int32_t>(v.size()));
    out.append(reinterpret_cast<const char*>(v.data()), v.size());
  });
}

template <class T>
std::string number(T v) {
  std::string out;
  wire::append<T>(out, v);
  return out;
}

}  // namespace

void Params::raw(std::uint32_t oid, bool binary, const void* data, std::size_t length) {
  items_.push_back({oid, binary, false, buffer_.size(), length});
  if (length > 0) buffer_.append(static_cast<const char*>(data), length);
  buffer_.push_back('\0');
}

Params& Params::add(std::int16_t v) {
  const auto s = number(v);
  raw(oid::kInt2, true, s.data(), s.size());
  return *this;
}
Params& Params::add(std::int32_t v) {
  const auto s = number(v);
  raw(oid::kInt4, true, s.data(), s.size());
  return *this;
}
Params& Params::add(std::int64_t v) {
  const auto s = number(v);
  raw(oid::kInt8, true, s.data(), s.size());
  return *this;
}
Params& Params::add(bool v) {
  const char c = v ? 1 : 0;
  raw(oid::kBool, true, &c, 1);
  return *this;
}
Params& Params::add(std::string_view v) {
  // libpq ends a text parameter at its first NUL: without this check the rest would be dropped silently.
  if (v.find('\0') != std::string_view::npos) {
    throw Error(Errc::invalid, "bad_text", "text may not contain a NUL character");
  }
  raw(0, false, v.data(), v.size());
  return *this;
}
Params& Params::add(ByteView v) {
  raw(oid::kBytea, true, v.data(), v.size());
  return *this;
}
Params& Params::add(const Uuid& v) {
  raw(oid::kUuid, true, v.data(), v.size());
  return *this;
}
Params& Params::add(std::nullopt_t) {
  items_.push_back({0, false, true, buffer_.size(), 0});
  return *this;
}
Params& Params::add(const std::vector<std::int16_t>& v) {
  const auto s = packed_numbers(oid::kInt2, v);
  raw(oid::kInt2Array, true, s.data(), s.size());
  return *this;
}
Params& Params::add(const std::vector<std::int32_t>& v) {
  const auto s = packed_numbers(oid::kInt4, v);
  raw(oid::kInt4Array, true, s.data(), s.size());
  return *this;
}
Params& Params::add(const std::vector<std::int64_t>& v) {
  const auto s = packed_numbers(oid::kInt8, v);
  raw(oid::kInt8Array, true, s.data(), s.size());
  return *this;
}
Params& Params::add(const std::vector<std::string>& v) {
  const auto s = packed_bytes(oid::kText, v);
  raw(oid::kTextArray, true, s.data(), s.size());
  return *this;
}
Params& Params::add(const std::vector<Bytes>& v) {
  const auto s = packed_bytes(oid::kBytea, v);
  raw(oid::kByteaArray, true, s.data(), s.size());
  return *this;
}
Params& Params::add(const std::vector<Sha256>& v) {
  const auto s = packed_bytes(oid::kBytea, v);
  raw(oid::kByteaArray, true, s.data(), s.size());
  return *this;
}
Params& Params::add(const std::vector<Uuid>& v) {
  const auto s = packed_bytes(oid::kUuid, v);
  raw(oid::kUuidArray, true, s.data(), s.size());
  return *this;
}

}  // namespace welkin::db
