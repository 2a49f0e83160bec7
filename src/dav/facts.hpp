#pragma once
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dav/prop_request.hpp"
#include "welkin/dav/tree.hpp"

namespace welkin::dav {

/// Looks up what a request's properties need beside the rows themselves: for a piece of a listing at a time,
/// each kind of thing with one question.
class Facts {
 public:
  /// How many rows with stored properties are looked up together: each may have 256 KiB of them.
  static constexpr std::size_t kStoredRowsMax = 16;

  /// @param top  the href of the caller's root: no lock is told to lie above it
  Facts(const TreeServices& services, const Caller& caller, const PropRequest& request, std::string top)
      : services_(services),
        caller_(caller),
        needs_(request.needs),
        names_(request.stored_names()),
        top_(std::move(top)) {}

  /// Rows that follow lie in this folder: what covers it to the bottom covers them.
  /// @param href  the folder's, ready for a DAV:href
  Task<> enter(NodeId folder, std::string_view href);
  /// One resource that was asked for by itself.
  Task<> load_one(const files::BrowseRow& row, std::string_view href);
  /// The first rows of `rows` that can be looked up at once; they are what `resource` may be asked about.
  Task<std::size_t> load(std::span<const files::BrowseRow> rows);

  /// @param href  gives the row's own, ready for a DAV:href; only asked when a lock sits on it
  template <class Href>
  Resource resource(const files::BrowseRow& row, Href href) {
    Resource out{row, {}, {}, nullptr, {}, nullptr};
    if ((needs_ & needs::kFavorite) != 0)
      out.is_favorite = std::binary_search(favorites_.begin(), favorites_.end(), row.id);
    if ((needs_ & needs::kOwner) != 0) out.owner = owner_of(row.drive);
    if (!stored_.empty()) out.stored = stored_of(row.id);
    if ((needs_ & needs::kLocks) != 0) {
      out.locks = has_lock(row.id) ? locks_of(row.id, href()) : std::span<const CoveringLock>(inherited_);
    }
    if (row.is_folder()) {
      if (const auto use = uses_.find(row.drive.value); use != uses_.end()) out.use = &use->second;
      if (const auto token = tokens_.find(row.id.value); token != tokens_.end())
        out.sync_token = token->second;
    }
    return out;
  }

 private:
  std::span<const files::NodeProperty> stored_of(NodeId node) const;
  bool has_lock(NodeId node) const;
  std::span<const CoveringLock> locks_of(NodeId node, const std::string& href);
  Task<> load_folder(const files::BrowseRow& row);

  const TreeServices& services_;
  const Caller& caller_;
  unsigned needs_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::string top_;
  bool any_lock_ = true;                  // in the drive of the folder that was entered
  std::vector<files::Lock> above_, own_;  // above the rows, on them
  std::vector<CoveringLock> inherited_, covering_;
  std::vector<files::NodeProperty> stored_;
  const files::Files::DriveOwner* owner_of(DriveId drive) const {
    const auto at = owners_.find(drive.value);
    return at == owners_.end() ? nullptr : &at->second;
  }
  Task<> load_owner(DriveId drive);

  std::map<std::int64_t, files::Files::DriveUse> uses_;
  std::map<std::int64_t, files::Files::DriveOwner> owners_;
  std::vector<NodeId> favorites_;  // in rising order
  std::map<std::int64_t, std::string> tokens_;
};

}  // namespace welkin::dav
