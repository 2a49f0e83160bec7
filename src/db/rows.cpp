#include "welkin/db/rows.hpp"

#include <libpq-fe.h>

#include <charconv>
#include <limits>
#include <stdexcept>

#include "db/oids.hpp"
#include "db/wire.hpp"

namespace welkin::db {
namespace {

constexpr std::int64_t kEpoch2000 = 946'684'800'000'000;  // PostgreSQL counts from 2000-01-01

[[noreturn]] void misread(const pg_result* r, int column, const char* wanted) {
  const char* name = column >= 0 && column < PQnfields(r) ? PQfname(r, column) : "?";
  throw std::logic_error("column " + std::to_string(column) + " (" + name + ") read as " + wanted);
}

std::uint32_t type_of(const pg_result* r, int column, const char* wanted) {
  if (column < 0 || column >= PQnfields(r)) misread(r, column, wanted);
  return PQftype(r, column);
}

const char* value(const pg_result* r, int row, int column, const char* wanted) {
  if (PQgetisnull(r, row, column) != 0) {
    throw std::logic_error(std::string("column ") + PQfname(r, column) + " is null, read as " + wanted);
  }
  return PQgetvalue(r, row, column);
}

// Calls `take(bytes, length)` for each element of a one-dimensional array without nulls.
template <class Take>
void each_element(const char* at, int length, const char* wanted, Take take) {
  const char* const end = at + length;
  const auto need = [&](std::ptrdiff_t n) {
    if (end - at < n) throw std::logic_error(std::string("array cut short, read as ") + wanted);
  };
  need(12);
  const auto dimensions = wire::load<std::int32_t>(at);
  at += 12;
  if (dimensions == 0) return;
  if (dimensions != 1) throw std::logic_error(std::string("array of several dimensions, read as ") + wanted);
  need(8);
  const auto count = wire::load<std::int32_t>(at);
  at += 8;
  for (std::int32_t i = 0; i < count; ++i) {
    need(4);
    const auto size = wire::load<std::int32_t>(at);
    at += 4;
    if (size < 0) throw std::logic_error(std::string("null inside an array read as ") + wanted);
    need(size);
    take(at, size);
    at += size;
  }
}

}  // namespace

bool Row::is_null(int column) const {
  type_of(result_, column, "null");
  return PQgetisnull(result_, row_, column) != 0;
}

std::int16_t Row::i16(int column) const {
  if (type_of(result_, column, "int2") != oid::kInt2) misread(result_, column, "int2");
  return wire::load<std::int16_t>(value(result_, row_, column, "int2"));
}

std::int32_t Row::i32(int column) const {
  switch (type_of(result_, column, "int4")) {
    case oid::kInt4:
      return wire::load<std::int32_t>(value(result_, row_, column, "int4"));
    case oid::kInt2:
      return wire::load<std::int16_t>(value(result_, row_, column, "int4"));
    default:
      misread(result_, column, "int4");
  }
}

std::int64_t Row::i64(int column) const {
  switch (type_of(result_, column, "int8")) {
    case oid::kXid8:
    case oid::kInt8:
      return wire::load<std::int64_t>(value(result_, row_, column, "int8"));
    case oid::kInt4:
      return wire::load<std::int32_t>(value(result_, row_, column, "int8"));
    case oid::kInt2:
      return wire::load<std::int16_t>(value(result_, row_, column, "int8"));
    case oid::kOid:
      return wire::load<std::uint32_t>(value(result_, row_, column, "int8"));
    default:
      misread(result_, column, "int8");
  }
}

bool Row::boolean(int column) const {
  if (type_of(result_, column, "bool") != oid::kBool) misread(result_, column, "bool");
  return *value(result_, row_, column, "bool") != 0;
}

double Row::f64(int column) const {
  switch (type_of(result_, column, "float8")) {
    case oid::kFloat8:
      return std::bit_cast<double>(wire::load<std::int64_t>(value(result_, row_, column, "float8")));
    case oid::kFloat4:
      return std::bit_cast<float>(wire::load<std::int32_t>(value(result_, row_, column, "float8")));
    default:
      misread(result_, column, "float8");
  }
}

std::string_view Row::text(int column) const {
  switch (type_of(result_, column, "text")) {
    case oid::kText:
    case oid::kVarchar:
    case oid::kName:
    case oid::kJson:
    case oid::kBpchar:
    case oid::kChar:
    case oid::kUnknown: {
      const char* at = value(result_, row_, column, "text");
      return {at, static_cast<std::size_t>(PQgetlength(result_, row_, column))};
    }
    case oid::kJsonb: {  // one byte of format version, then the text
      const char* at = value(result_, row_, column, "text");
      return {at + 1, static_cast<std::size_t>(PQgetlength(result_, row_, column) - 1)};
    }
    default:
      misread(result_, column, "text");
  }
}

ByteView Row::bytes(int column) const {
  if (type_of(result_, column, "bytea") != oid::kBytea) misread(result_, column, "bytea");
  const char* at = value(result_, row_, column, "bytea");
  return {reinterpret_cast<const std::byte*>(at),
          static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

Uuid Row::uuid(int column) const {
  if (type_of(result_, column, "uuid") != oid::kUuid) misread(result_, column, "uuid");
  Uuid out;
  std::memcpy(out.data(), value(result_, row_, column, "uuid"), out.size());
  return out;
}

Micros Row::timestamp(int column) const {
  if (type_of(result_, column, "timestamptz") != oid::kTimestamptz) misread(result_, column, "timestamptz");
  const auto at = wire::load<std::int64_t>(value(result_, row_, column, "timestamptz"));
  // 'infinity' and '-infinity' are the two ends of the range, here and there.
  using Limits = std::numeric_limits<std::int64_t>;
  if (at == Limits::min()) return at;
  return at > Limits::max() - kEpoch2000 ? Limits::max() : at + kEpoch2000;
}

std::vector<std::int64_t> Row::i64_array(int column) const {
  const auto type = type_of(result_, column, "int8[]");
  if (type != oid::kInt8Array && type != oid::kInt4Array && type != oid::kInt2Array) {
    misread(result_, column, "int8[]");
  }
  std::vector<std::int64_t> out;
  each_element(value(result_, row_, column, "int8[]"), PQgetlength(result_, row_, column), "int8[]",
               [&](const char* at, std::int32_t size) {
                 if (size == 8) out.push_back(wire::load<std::int64_t>(at));
                 if (size == 4) out.push_back(wire::load<std::int32_t>(at));
                 if (size == 2) out.push_back(wire::load<std::int16_t>(at));
               });
  return out;
}

std::vector<std::string> Row::text_array(int column) const {
  const auto type = type_of(result_, column, "text[]");
  if (type != oid::kTextArray && type != oid::kVarcharArray && type != oid::kNameArray) {
    misread(result_, column, "text[]");
  }
  std::vector<std::string> out;
  each_element(
      value(result_, row_, column, "text[]"), PQgetlength(result_, row_, column), "text[]",
      [&](const char* at, std::int32_t size) { out.emplace_back(at, static_cast<std::size_t>(size)); });
  return out;
}

std::optional<std::int64_t> Row::opt_i64(int column) const {
  if (is_null(column)) return std::nullopt;
  return i64(column);
}
std::optional<std::string> Row::opt_str(int column) const {
  if (is_null(column)) return std::nullopt;
  return str(column);
}
std::optional<Micros> Row::opt_timestamp(int column) const {
  if (is_null(column)) return std::nullopt;
  return timestamp(column);
}

Rows::Rows(pg_result* owned) : result_(owned, [](pg_result* r) { PQclear(r); }) {}

int Rows::size() const { return result_ ? PQntuples(result_.get()) : 0; }

std::int64_t Rows::affected() const {
  if (!result_) return 0;
  const std::string_view count = PQcmdTuples(result_.get());
  std::int64_t n = 0;
  std::from_chars(count.data(), count.data() + count.size(), n);
  return n;
}

}  // namespace welkin::db
