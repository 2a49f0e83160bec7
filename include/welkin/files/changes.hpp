#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "welkin/files/files.hpp"

/// What has changed in and below a folder since a token (RFC 6578, live events).
namespace welkin::files {

/// One place below the folder that is asked about.
struct Change {
  std::string path;         // below the folder, names as they are: "a/b.txt"
  bool gone = false;        // nothing is there any more; of a folder this means everything below it, too
  bool was_folder = false;  // gone: it was one, as far as is still known
  Node node;                // not gone: what is there now, new or changed; `path` of the Node is not set
};

struct ChangePage {
  std::vector<Change> items;  // no place twice
  std::string token;          // everything up to here has been told
  bool truncated = false;     // there is more: ask again with `token`
};

/// Tokens are texts of [0-9a-f-], made for one folder and one caller's mounts in it. The same text comes back
/// as long as nothing has changed in or below the folder. A token that was not made here, that another folder
/// got, that is older than what the log still knows, or that cannot be answered truly (a folder was replaced
/// by another one of its name; the caller's mounts below are other ones) is Error forbidden
/// `valid-sync-token`: list anew.
class ChangeLog {
 public:
  enum class Depth : std::uint8_t { one, infinity };
  static constexpr int kLimitMax = 5'000;

  struct Retention {
    std::int64_t seconds = 30LL * 86'400;
    std::int32_t rows = 100'000;  // a drive
    std::int32_t batch = 10'000;
  };

  explicit ChangeLog(db::Db& db) : ChangeLog(db, Retention()) {}
  ChangeLog(db::Db& db, Retention retention);
  ~ChangeLog();

  /// The state the folder is in now. Ask before a listing: what changes meanwhile is then told again, never
  /// missed.
  /// @throws Error not_found; invalid `not_a_folder`
  Task<std::string> token(Caller caller, NodeId folder);

  /// Whether `token` is valid and nothing has changed since. One look-up. @throws Error not_found
  Task<bool> is_current(Caller caller, NodeId folder, std::string token);

  /// What came, changed and went since `token`, oldest first, at most `limit` (1..kLimitMax) items. One
  /// snapshot; one look-up when there is nothing new. A node that moved is gone at its old place and there at
  /// its new one, with everything below it at Depth::infinity. Something may be told again by a later page,
  /// nothing is left out. The folder itself is not among the items, nor is a folder of which only the content
  /// below has changed, nor are mounts.
  /// @throws Error forbidden `valid-sync-token`, not_found, invalid `not_a_folder`
  Task<ChangePage> since(Caller caller, NodeId folder, std::string token, Depth depth, int limit);

  /// Forgets what is older than the retention; for the scheduler: one bounded turn on the calling thread.
  /// Tokens from before become invalid. @return true: more is waiting
  bool prune();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::files
