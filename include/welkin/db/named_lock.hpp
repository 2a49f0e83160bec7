#pragma once
#include <memory>
#include <optional>
#include <string>

#include "welkin/db/db.hpp"

namespace welkin::db {

/// A name that one holder at a time has, over all nodes that share the database. Held on a connection of its
/// own until destroyed; should that connection be lost earlier, so is the lock, so what it guards must
/// survive two holders and may only be wasteful with them.
class NamedLock {
 public:
  /// @return nullopt when somebody else has it. @throws Error unavailable
  static std::optional<NamedLock> try_take(Db& db, const std::string& name);
  ~NamedLock();
  NamedLock(NamedLock&&) noexcept;
  NamedLock& operator=(NamedLock&&) noexcept;

 private:
  explicit NamedLock(std::unique_ptr<class Connection> connection);
  std::unique_ptr<class Connection> connection_;
};

}  // namespace welkin::db
