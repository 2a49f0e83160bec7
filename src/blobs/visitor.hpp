#pragma once
#include <string>

#include "blobs/ground.hpp"
#include "blobs/pg_chunk_rows.hpp"
#include "blobs/posix_vfs.hpp"

namespace welkin::blobs {

/// The store as a process works on it that does not own it: a command, beside a running server or alone. The
/// chunk protocol needs no owner, for it relies on rows and names only; what a server keeps in memory, like
/// the list of spool files it writes, is replaced by ages here.
class Visitor {
 public:
  /// @param may_change  makes the directories for what is moved aside
  /// @throws std::runtime_error when directory and database do not belong together, or there is no store yet
  Visitor(db::Db& db, const std::string& data_dir, bool may_change);

  /// No other process has the store open, and none can open it while this lives.
  bool alone() const { return static_cast<bool>(lock_); }

 private:
  Fd lock_;
  PosixVfs vfs_;
  PgChunkRows rows_;
  Health health_;
  LivingSpool living_;

 public:
  Ground ground;
};

}  // namespace welkin::blobs
