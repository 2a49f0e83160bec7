#include "dav/facts.hpp"

#include <algorithm>

#include "dav/sync_token.hpp"
#include "welkin/files/changes.hpp"
#include "welkin/files/favorites.hpp"

namespace welkin::dav {
namespace {

/// The href `levels` above another one. A lock is told where it was taken, and that is a folder.
std::string href_above(std::string_view href, std::size_t levels, std::string_view top) {
  for (; levels > 0; --levels) {
    const auto slash = href.find_last_of('/', href.size() < 2 ? 0 : href.size() - 2);
    if (slash == std::string_view::npos || slash + 1 < top.size()) break;
    href = href.substr(0, slash + 1);
  }
  return std::string(href);
}

}  // namespace

Task<> Facts::enter(NodeId folder, std::string_view href) {
  if ((needs_ & needs::kLocks) == 0) co_return;
  above_.clear();
  inherited_.clear();
  any_lock_ = co_await services_.files.locks().any_in_drive_of(folder);
  if (!any_lock_) co_return;
  above_ = co_await services_.files.locks().covering(caller_, folder);
  std::erase_if(above_, [](const files::Lock& lock) { return !lock.infinite; });
  for (const auto& lock : above_) inherited_.push_back({&lock, href_above(href, lock.levels_up, top_)});
}

Task<> Facts::load_one(const files::BrowseRow& row, std::string_view href) {
  stored_.clear();
  own_.clear();
  if ((needs_ & needs::kLocks) != 0) {
    above_ = co_await services_.files.locks().covering(caller_, row.id);
    inherited_.clear();
    for (const auto& lock : above_) inherited_.push_back({&lock, href_above(href, lock.levels_up, top_)});
  }
  if ((needs_ & needs::kStored) != 0) stored_ = co_await services_.files.properties().of({row.id}, names_);
  if ((needs_ & needs::kOwner) != 0) co_await load_owner(row.drive);
  if ((needs_ & needs::kFavorite) != 0)
    favorites_ = co_await services_.files.favorites().among(caller_, {row.id});
  co_await load_folder(row);
}

Task<std::size_t> Facts::load(std::span<const files::BrowseRow> rows) {
  stored_.clear();
  own_.clear();
  std::size_t count = rows.size();
  if ((needs_ & needs::kStored) != 0) {
    std::vector<NodeId> with;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].has_properties) continue;
      if (with.size() == kStoredRowsMax) {
        count = i;
        break;
      }
      with.push_back(rows[i].id);
    }
    if (!with.empty()) stored_ = co_await services_.files.properties().of(std::move(with), names_);
  }
  rows = rows.first(count);
  if ((needs_ & needs::kLocks) != 0) {
    std::vector<NodeId> nodes;
    nodes.reserve(count);
    for (const auto& row : rows) {
      if (any_lock_ || row.is_mount) nodes.push_back(row.id);  // a mount lies in another drive
    }
    own_ = co_await services_.files.locks().on(caller_, std::move(nodes));
  }
  if ((needs_ & needs::kFavorite) != 0) {
    std::vector<NodeId> nodes;
    nodes.reserve(count);
    for (const auto& row : rows) nodes.push_back(row.id);
    favorites_ = co_await services_.files.favorites().among(caller_, std::move(nodes));
  }
  if ((needs_ & needs::kOwner) != 0) {
    DriveId last;
    for (const auto& row : rows) {
      if (row.drive != last) co_await load_owner(row.drive);
      last = row.drive;
    }
  }
  if ((needs_ & (needs::kUse | needs::kSync)) != 0) {
    tokens_.clear();
    for (const auto& row : rows) co_await load_folder(row);
  }
  co_return count;
}

Task<> Facts::load_owner(DriveId drive) {
  if (!owners_.contains(drive.value)) owners_[drive.value] = co_await services_.files.drive_owner(drive);
}

Task<> Facts::load_folder(const files::BrowseRow& row) {
  if (!row.is_folder()) co_return;
  if ((needs_ & needs::kUse) != 0 && !uses_.contains(row.drive.value)) {
    uses_[row.drive.value] = co_await services_.files.drive_use(row.drive);
  }
  if ((needs_ & needs::kSync) != 0) {
    tokens_[row.id.value] =
        write_sync_token({co_await services_.files.change_log().token(caller_, row.id), {}});
  }
}

std::span<const files::NodeProperty> Facts::stored_of(NodeId node) const {
  const auto [from, to] =
      std::equal_range(stored_.begin(), stored_.end(), files::NodeProperty{node, {}, {}, {}},
                       [](const auto& a, const auto& b) { return a.node < b.node; });
  return {stored_.data() + (from - stored_.begin()), static_cast<std::size_t>(to - from)};
}

bool Facts::has_lock(NodeId node) const {
  return std::any_of(own_.begin(), own_.end(), [&](const files::Lock& lock) { return lock.root == node; });
}

std::span<const CoveringLock> Facts::locks_of(NodeId node, const std::string& href) {
  covering_ = inherited_;
  for (const auto& lock : own_) {
    if (lock.root == node) covering_.push_back({&lock, href});
  }
  return covering_;
}

}  // namespace welkin::dav
