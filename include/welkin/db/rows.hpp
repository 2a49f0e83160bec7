#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/id.hpp"
#include "welkin/db/params.hpp"

struct pg_result;

namespace welkin::db {

/// One row of a binary result: reads straight from the wire format, no copies. Valid while its Rows lives.
/// Asking a column for another type than it has throws std::logic_error: a programming error.
/// A null throws too; ask `is_null` first or use the optional forms.
class Row {
 public:
  bool is_null(int column) const;
  std::int16_t i16(int column) const;
  std::int32_t i32(int column) const;
  std::int64_t i64(int column) const;  // widens int2 and int4
  bool boolean(int column) const;
  double f64(int column) const;
  std::string_view text(int column) const;  // text, varchar, name, json
  std::string str(int column) const { return std::string(text(column)); }
  ByteView bytes(int column) const;  // bytea
  Uuid uuid(int column) const;
  Micros timestamp(int column) const;                     // timestamptz -> microseconds since 1970
  std::vector<std::int64_t> i64_array(int column) const;  // int8[] or int4[]
  std::vector<std::string> text_array(int column) const;
  template <class Tag>
  void id_into(int column, Id<Tag>& out) const {
    out.value = is_null(column) ? 0 : i64(column);
  }
  /// 0 when null.
  template <class IdType>
  IdType id(int column) const {
    IdType out;
    id_into(column, out);
    return out;
  }
  std::optional<std::int64_t> opt_i64(int column) const;
  std::optional<std::string> opt_str(int column) const;
  std::optional<Micros> opt_timestamp(int column) const;

 private:
  friend class Rows;
  Row(const pg_result* result, int row) : result_(result), row_(row) {}
  const pg_result* result_;
  int row_;
};

/// A whole result, owned.
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* owned);
  int size() const;
  bool empty() const { return size() == 0; }
  Row operator[](int row) const { return Row(result_.get(), row); }
  /// Rows touched by an INSERT, UPDATE or DELETE.
  std::int64_t affected() const;

  class Iterator {
   public:
    Iterator(const Rows& rows, int at) : rows_(&rows), at_(at) {}
    Row operator*() const { return (*rows_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& o) const { return at_ != o.at_; }

   private:
    const Rows* rows_;
    int at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  std::shared_ptr<pg_result> result_;
};

/// One row with the result that keeps it alive.
class Found {
 public:
  Found(Rows rows, int row) : rows_(std::move(rows)), row_(row) {}
  Row operator*() const { return rows_[row_]; }

 private:
  Rows rows_;
  int row_;
};

}  // namespace welkin::db
