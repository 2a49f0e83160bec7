#pragma once
#include "welkin/collections/collections.hpp"

namespace welkin::collections {

/// Somebody, or a group, whom a collection is shared with.
struct Share {
  std::int64_t subject = 0;  // the key of the user or group
  bool is_group = false;
  std::string name, display_name;
  std::string email;  // "" for groups, and when there is none
  Access access = Access::read;
  Micros created_at = 0;
};

struct ShareChange {
  std::int64_t subject = 0;
  std::optional<Access> access;  // read or write; unset: the share ends
};

/// Who may see and change what somebody owns. What is given counts at once, nobody has to accept it; who was
/// given something himself leaves with Collections::remove.
class Sharing {
 public:
  static constexpr std::int32_t kSharesMax = 500;  // of one collection

  explicit Sharing(db::Db& db) : db_(db) {}

  /// The owner is shown all, anybody else what he himself, or a group of his, was given. By name.
  /// @throws Error not_found
  Task<std::vector<Share>> list(Caller caller, CollectionId id);
  /// All or nothing; the last word on a subject counts; unknown subjects are passed over.
  /// @throws Error not_found, forbidden, invalid `share_with_owner`, quota_exceeded `too_many_shares`
  Task<> change(Caller caller, CollectionId id, std::vector<ShareChange> changes);
  /// Whether one of the two shares anything with the other.
  Task<bool> are_related(Caller caller, UserId other);

 private:
  db::Db& db_;
};

}  // namespace welkin::collections
