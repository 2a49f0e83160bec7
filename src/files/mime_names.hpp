#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

namespace welkin::files {

/// The dictionary of media types, as far as it was asked for: its rows are never changed or removed, so a
/// listing of 10,000 files need not look each of them up. Thread-safe.
class MimeNames {
 public:
  explicit MimeNames(db::Db& db) : db_(db) {}

  /// Makes sure that `name` knows these. @throws Error unavailable
  Task<> learn(std::vector<std::int16_t> ids);
  /// Which of these are not known yet, each once.
  std::vector<std::int16_t> unknown(std::span<const std::int16_t> ids);
  /// The type's name; "" when there is no such type. The view holds as long as this.
  std::string_view name(std::int16_t id);

 private:
  db::Db& db_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<const std::string>> names_;  // by id
};

}  // namespace welkin::files
