#include "welkin/files/changes.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "files/change_store.hpp"
#include "files/node_store.hpp"

namespace welkin::files {
namespace {

using store::LogRow;
using store::SyncHead;

constexpr int kScanRows = 1'000;
constexpr int kScanRowsMax = 20'000;  // one call reads no more of the log, whatever it finds there
constexpr int kChildRows = 500;
constexpr auto kDepthMax = std::size_t{256};

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '/' + name;
}

/// @throws Error forbidden `valid-sync-token`
SyncToken require_token(const std::string& text, const SyncHead& head) {
  const auto token = SyncToken::parse(text);
  if (!token) throw bad_sync_token("this is not a sync token");
  if (token->drive != head.token.drive || token->folder != head.token.folder)
    throw bad_sync_token("the sync token belongs to another folder");
  if (token->epoch != head.token.epoch || token->mark.seq > head.seq)
    throw bad_sync_token("the sync token is from before a restore");
  if (token->mounts != head.token.mounts) throw bad_sync_token("what is mounted here has changed");
  return *token;
}

bool nothing_new(const SyncToken& token, const SyncHead& head) {
  return !token.mark.inside() && token.mark.seq >= head.token.mark.seq;
}

/// One page of the log of one folder, in one snapshot.
class Reading {
 public:
  Reading(db::Tx& tx, const Caller& caller, const SyncHead& head, ChangeLog::Depth depth, int limit)
      : tx_(tx),
        caller_(caller),
        head_(head),
        deep_(depth == ChangeLog::Depth::infinity),
        limit_(static_cast<std::size_t>(limit)),
        folder_(head.token.folder),
        ways_(folder_, caller) {}

  ChangePage read(const SyncToken& from) {
    position_ = from.mark;
    const auto upto = head_.token.mark.seq;
    bool complete = false;
    if (position_.below != 0) resume();
    for (int scanned = 0; !full_ && scanned < kScanRowsMax; scanned += kScanRows) {
      const auto rows = store::log_rows(tx_, head_.token.drive, position_, upto, kScanRows);
      study(rows);
      for (const auto& row : rows)
        if (!take(row)) break;
      complete = !full_ && rows.size() < kScanRows;
      if (complete) break;
    }
    return finish(complete);
  }

 private:
  struct Found {
    std::string path;
    std::int64_t id = 0;  // 0: gone
    std::int32_t granted = 0;
    bool was_folder = false;
  };
  struct Level {
    std::int64_t folder = 0;
    std::string path, after;
    std::int32_t granted = 0;
    std::vector<store::Child> rows;
    std::size_t at = 0;
    bool last_rows = false;
  };

  /// Learns in bulk what the rows will ask for.
  void study(const std::vector<LogRow>& rows) {
    std::vector<std::int64_t> places, parents;
    std::vector<std::string> names;
    for (const auto& row : rows) {
      places.push_back(row.parent);
      if (row.exists && row.parent_now != 0) places.push_back(row.parent_now);
    }
    ways_.learn(tx_, places);
    std::vector<std::int64_t> travellers;
    holders_.clear();
    for (const auto& row : rows) {
      const bool went = row.mark.op == store::op::kWent;
      const auto place = ways_.find(went ? row.parent : row.parent_now);
      if (!place) continue;
      if (went) {
        parents.push_back(row.parent);
        names.push_back(row.old_name);
      } else if (row.is_folder) {
        travellers.push_back(row.mark.node);
      }
      travellers.insert(travellers.end(), place->chain.begin(), place->chain.end());
    }
    const auto found = store::holders(tx_, parents, names);
    for (std::size_t i = 0; i < found.size(); ++i) holders_[{parents[i], names[i]}] = found[i];
    std::sort(travellers.begin(), travellers.end());
    travellers.erase(std::unique(travellers.begin(), travellers.end()), travellers.end());
    if (deep_) travels_ = store::travels(tx_, head_.token.drive, head_.token.mark.seq, travellers);
  }

  /// @return false when the page is full; the position is then before the row, or inside it
  bool take(const LogRow& row) {
    if (row.mark.op == store::op::kWent ? !take_went(row) : !take_here(row)) return false;
    position_ = row.mark;
    return true;
  }

  bool take_went(const LogRow& row) {
    const auto place = ways_.find(row.parent);
    if (!place || (!deep_ && row.parent != folder_)) return true;
    const auto& holder = holders_.at({row.parent, row.old_name});
    if (holder.id != 0) {
      // Somebody has the place: his own row tells what is there. But of what was below a folder that is
      // another one now, nothing is known here.
      const bool replaced = holder.id != row.mark.node && holder.is_folder && (!row.exists || row.is_folder);
      if (deep_ && replaced) throw bad_sync_token("a folder was replaced by another one of its name");
      return true;
    }
    for (const auto ancestor : place->chain)
      if (is_new_here(ancestor, row.mark.seq)) return true;
    std::string path = joined(place->path, row.old_name);
    if (gone_.contains(path)) return true;
    if (!room()) return false;
    gone_.insert(path);
    found_.push_back({std::move(path), 0, 0, row.exists && row.is_folder});
    return true;
  }

  bool comes_later(std::int64_t folder, std::int64_t seq) const {
    const auto at = travels_.find(folder);
    return at != travels_.end() && at->second.last_came > seq;
  }

  /// A folder that came to its place after `seq` and had not been there before: nobody who has seen this
  /// place knows what was in the folder earlier, and he need not learn it.
  bool is_new_here(std::int64_t folder, std::int64_t seq) const {
    if (!comes_later(folder, seq)) return false;
    const auto* step = ways_.step(folder);
    const auto& left = travels_.at(folder).left;
    return std::none_of(left.begin(), left.end(), [&](const auto& stay) {
      return stay.parent == step->parent && stay.name == step->name;
    });
  }

  bool take_here(const LogRow& row) {
    if (!row.exists || row.parent_now == 0 || (!deep_ && row.parent_now != folder_)) return true;
    const auto place = ways_.find(row.parent_now);
    if (!place) return true;
    // Told when it comes to the last coming of the node, or of a folder it is in.
    if (comes_later(row.mark.node, row.mark.seq)) return true;
    for (const auto ancestor : place->chain)
      if (comes_later(ancestor, row.mark.seq)) return true;
    const std::string path = joined(place->path, row.name_now);
    if (!add(row.mark.node, path, place->granted)) return false;
    if (!deep_ || !row.is_folder || row.mark.op != store::op::kCame) return true;
    ways_.learn(tx_, {row.mark.node});
    position_ = row.mark;
    position_.below = row.mark.node;  // it has been told itself
    std::vector<Level> levels(1);
    levels[0].folder = row.mark.node;
    levels[0].path = path;
    levels[0].granted = place->granted | ways_.step(row.mark.node)->granted;
    return tell_below(row.mark, std::move(levels));
  }

  /// Tells everything below a folder in the order of names, parents first.
  bool tell_below(LogMark row, std::vector<Level> levels) {
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.at == level.rows.size()) {
        if (level.last_rows) {
          levels.pop_back();
          continue;
        }
        level.rows = store::children(tx_, caller_, level.folder, level.after, kChildRows);
        level.at = 0;
        level.last_rows = level.rows.size() < kChildRows;
        if (!level.rows.empty()) level.after = level.rows.back().name;
        continue;
      }
      const store::Child child = level.rows[level.at];
      const std::string path = joined(level.path, child.name);
      const std::int32_t granted = level.granted | child.granted;
      if (!add(child.id, path, level.granted)) return false;
      ++level.at;
      row.below = child.id;
      position_ = row;
      if (!child.is_folder || levels.size() > kDepthMax) continue;
      Level below;
      below.folder = child.id;
      below.path = path;
      below.granted = granted;
      levels.push_back(std::move(below));
    }
    return true;
  }

  /// Goes on inside a folder that came. Is the last one told no longer below it, the folder is told anew.
  void resume() {
    const LogMark mark = position_;
    ways_.learn(tx_, {mark.below, mark.node});
    const auto top = ways_.find(mark.node);
    bool done = true;
    if (top) {
      std::vector<Level> levels = levels_to(mark, *top);
      LogMark row = mark;
      row.below = 0;
      done = tell_below(row, std::move(levels));
    }
    if (done) {
      position_ = mark;
      position_.below = 0;
    }
  }

  std::vector<Level> levels_to(const LogMark& mark, const store::Ways::Place& top) {
    std::vector<Level> levels(1);
    levels[0].folder = mark.node;
    levels[0].path = top.path;
    levels[0].granted = top.granted;
    const auto last = ways_.find(mark.below);
    if (!last) return levels;
    const auto& chain = last->chain;  // the last one told first, then up
    const auto at = std::find(chain.begin(), chain.end(), mark.node);
    if (at == chain.end()) return levels;
    for (auto node = std::make_reverse_iterator(at); node != chain.rend(); ++node) {
      const auto* step = ways_.step(*node);
      levels.back().after = step->name;
      Level below;
      below.folder = *node;
      below.path = joined(levels.back().path, step->name);
      below.granted = levels.back().granted | step->granted;
      levels.push_back(std::move(below));
    }
    return levels;  // a file has no children: its level ends at once
  }

  bool room() {
    if (found_.size() == limit_) full_ = true;
    return !full_;
  }

  bool add(std::int64_t id, std::string path, std::int32_t granted) {
    if (here_.contains(id)) return true;
    if (!room()) return false;
    here_.insert(id);
    found_.push_back({std::move(path), id, granted, false});
    return true;
  }

  ChangePage finish(bool complete) {
    std::vector<std::int64_t> ids;
    for (const auto& found : found_)
      if (found.id != 0) ids.push_back(found.id);
    auto nodes = store::nodes(tx_, caller_, ids);
    ChangePage page;
    for (auto& found : found_) {
      Change change;
      change.path = std::move(found.path);
      change.gone = found.id == 0;
      change.was_folder = found.was_folder;
      if (!change.gone) {
        auto& loaded = nodes.at(found.id);
        change.node = std::move(loaded.node);
        change.node.rights = head_.rights | ((found.granted | loaded.granted) & caller_.rights_mask);
      }
      page.items.push_back(std::move(change));
    }
    SyncToken token = head_.token;
    if (!complete) token.mark = position_;
    page.token = token.text();
    page.truncated = !complete;
    return page;
  }

  db::Tx& tx_;
  const Caller& caller_;
  const SyncHead& head_;
  const bool deep_;
  const std::size_t limit_;
  const std::int64_t folder_;
  store::Ways ways_;
  std::map<std::pair<std::int64_t, std::string>, store::Child> holders_;
  std::unordered_map<std::int64_t, store::Travels> travels_;
  LogMark position_;
  std::vector<Found> found_;
  std::unordered_set<std::int64_t> here_;
  std::set<std::string> gone_;
  bool full_ = false;
};

}  // namespace

struct ChangeLog::Impl {
  db::Db& db;
  Retention retention;
  std::int64_t pruned_drive = 0;  // where the next turn of prune goes on

  Task<SyncHead> head(const Caller& caller, NodeId folder) {
    co_return store::sync_head(folder,
                               co_await db.query(store::kSyncHead, store::sync_head_params(caller, folder)));
  }
};

ChangeLog::ChangeLog(db::Db& db, Retention retention) : impl_(new Impl{db, retention}) {}
ChangeLog::~ChangeLog() = default;

Task<std::string> ChangeLog::token(Caller caller, NodeId folder) {
  co_return (co_await impl_->head(caller, folder)).token.text();
}

Task<bool> ChangeLog::is_current(Caller caller, NodeId folder, std::string token) {
  const auto head = co_await impl_->head(caller, folder);
  try {
    co_return nothing_new(require_token(token, head), head);
  } catch (const Error&) {
    co_return false;
  }
}

Task<ChangePage> ChangeLog::since(Caller caller, NodeId folder, std::string token, Depth depth, int limit) {
  limit = std::clamp(limit, 1, kLimitMax);
  const auto head = co_await impl_->head(caller, folder);
  if (nothing_new(require_token(token, head), head)) co_return ChangePage{{}, head.token.text(), false};
  co_return co_await impl_->db.snapshot([&](db::Tx& tx) {
    const auto now =
        store::sync_head(folder, tx.exec(store::kSyncHead, store::sync_head_params(caller, folder)));
    const auto from = require_token(token, now);
    // Inside a number, that number's own rows are still needed.
    if (from.mark.seq < now.pruned_seq || (from.mark.inside() && from.mark.seq == now.pruned_seq))
      throw bad_sync_token("the sync token is too old");
    return Reading(tx, caller, now, depth, limit).read(from);
  });
}

bool ChangeLog::prune() {
  auto& s = *impl_;
  using namespace std::chrono;
  const auto before =
      duration_cast<seconds>(system_clock::now().time_since_epoch()).count() - s.retention.seconds;
  const auto drive = s.db.read_now([&](db::Tx& tx) { return store::next_logged_drive(tx, s.pruned_drive); });
  if (drive == 0) {
    s.pruned_drive = 0;
    return false;
  }
  const bool pruned = s.db.write_now(
      [&](db::Tx& tx) { return store::prune(tx, drive, before, s.retention.rows, s.retention.batch); });
  if (!pruned) s.pruned_drive = drive;
  return true;
}

}  // namespace welkin::files
