#include "welkin/files/archives.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "files/archive_builder.hpp"
#include "files/archive_store.hpp"
#include "files/node_store.hpp"
#include "files/refusals.hpp"

namespace welkin::files {
namespace {

constexpr std::size_t kFoldersAtOnce = 500;
// What is fetched together: that much of memory waits behind a slow reader, and no more.
constexpr std::size_t kBodiesAtOnce = 64;
constexpr std::uint64_t kBodyBytesAtOnce = 1 << 20;

Error changed() {
  return {Errc::gone, "archive_changed", "a part of the archive is no longer there for you"};
}

/// Entries that all archives being sent hold together.
class Budget {
 public:
  class Lease {
   public:
    Lease(std::shared_ptr<Budget> budget, const Archives::Limits& limits)
        : budget_(std::move(budget)), limits_(limits) {}
    ~Lease() { budget_->used_ -= taken_; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    const Archives::Limits& limits() const { return limits_; }
    void take(std::size_t entries) {
      taken_ += entries;
      if ((budget_->used_ += entries) > limits_.entries_in_use)
        throw Error(Errc::unavailable, "busy", "too many large archives are being sent; try again soon", 10);
    }

   private:
    std::shared_ptr<Budget> budget_;
    Archives::Limits limits_;
    std::size_t taken_ = 0;
  };

 private:
  std::atomic<std::size_t> used_{0};
};

store::Leaf leaf_of(db::Tx& tx, const Node& node, std::string name) {
  store::Leaf leaf;
  leaf.id = node.id;
  leaf.kind = node.kind;
  leaf.name = std::move(name);
  leaf.modified_at = node.modified_at;
  if (!node.is_folder()) {
    leaf.size_bytes = node.size_bytes;
    leaf.content = node.content;
    leaf.crc32 = store::crc32_of(tx, node.content);
  }
  return leaf;
}

/// Adds everything below the tops, level by level.
void add_below(db::Tx& tx, ArchiveBuilder& builder, Budget::Lease& lease) {
  store::read_by_index_only(tx);
  lease.take(builder.items().size());
  for (std::uint32_t done = 0; done < builder.items().size();) {
    std::vector<std::int64_t> folders;
    std::vector<std::uint32_t> at;
    for (; done < builder.items().size() && folders.size() < kFoldersAtOnce; ++done) {
      if (builder.items()[done].leaf.kind != Kind::folder) continue;
      folders.push_back(builder.items()[done].leaf.id.value);
      at.push_back(done);
    }
    if (folders.empty()) return;
    const auto room = lease.limits().entries - builder.items().size();
    auto leaves = store::leaves(tx, folders, static_cast<std::int64_t>(room) + 1);
    if (leaves.size() > room)
      throw Error(Errc::too_large, "too_many_entries",
                  "there are more than " + std::to_string(lease.limits().entries) +
                      " files and folders in this; download parts of it");
    lease.take(leaves.size());
    for (auto& leaf : leaves) {
      const auto parent = at[leaf.at];
      builder.add(std::move(leaf), parent);
    }
  }
}

}  // namespace

struct Archives::Impl {
  db::Db& db;
  blobs::Store& store;
  Limits limits;
  std::shared_ptr<Budget> budget = std::make_shared<Budget>();
};

Archives::Archives(db::Db& db, blobs::Store& store, Limits limits) : impl_(new Impl{db, store, limits}) {}
Archives::~Archives() = default;

Task<std::shared_ptr<const Archive>> Archives::folder(Caller caller, NodeId folder, std::string name) {
  co_return co_await impl_->db.snapshot([&](db::Tx& tx) -> std::shared_ptr<const Archive> {
    const auto found = store::require_folder(tx, caller, folder);
    const auto out = std::make_shared<Archive>();
    const auto lease = std::make_shared<Budget::Lease>(impl_->budget, impl_->limits);
    ArchiveBuilder builder;
    builder.add(leaf_of(tx, found.node, name), Archive::kTop);
    add_below(tx, builder, *lease);
    builder.build(*out);
    out->lease_ = lease;
    return out;
  });
}

Task<std::shared_ptr<const Archive>> Archives::selection(Caller caller, std::vector<NodeId> nodes) {
  co_return co_await impl_->db.snapshot([&](db::Tx& tx) -> std::shared_ptr<const Archive> {
    const auto out = std::make_shared<Archive>();
    const auto lease = std::make_shared<Budget::Lease>(impl_->budget, impl_->limits);
    ArchiveBuilder builder;
    std::set<NodeId> once;
    for (const auto id : nodes) {
      if (!once.insert(id).second) continue;
      if (const auto found = store::find(tx, caller, id))
        builder.add(leaf_of(tx, found->node, found->node.name.empty() ? "My Folder" : found->node.name),
                    Archive::kTop);
    }
    if (builder.items().empty()) throw not_found();
    add_below(tx, builder, *lease);
    builder.build(*out);
    out->lease_ = lease;
    return out;
  });
}

Archives::Reader::Reader(Archives& archives, Caller caller, std::shared_ptr<const Archive> archive)
    : archives_(archives), caller_(std::move(caller)), archive_(std::move(archive)) {}

Task<> Archives::Reader::send(std::size_t entry, Slice slice, ByteSink& out) {
  if (slice.length == 0) co_return;
  // The list of chunks of the first one may hold only the slice it was loaded for.
  const bool here = entry >= first_ && entry < first_ + views_.size() && views_[entry - first_].id &&
                    (entry > first_ || first_is_whole_);
  if (!here) co_await load(entry, slice);
  const auto& view = views_[entry - first_];
  // Contents never change, so this cannot differ but by damage; better broken off than another length.
  const auto& planned = (*archive_)[entry];
  if (view.size_bytes != planned.size_bytes || view.crc32 != planned.crc32) throw changed();
  co_await archives_.impl_->store.send(view, slice, out);
}

/// The views of one large body, or of small ones from `entry` on.
Task<> Archives::Reader::load(std::size_t entry, Slice slice) {
  const auto& archive = *archive_;
  auto& impl = *archives_.impl_;
  first_ = entry;
  first_is_whole_ = slice.offset == 0 && slice.length == archive[entry].size_bytes;
  views_.clear();
  std::size_t end = entry + 1;
  for (std::uint64_t bytes = archive[entry].size_bytes; end < archive.size() && end - entry < kBodiesAtOnce &&
                                                        archive[entry].size_bytes <= blobs::kInlineBytesMax;
       ++end) {
    bytes += archive[end].size_bytes;
    if (archive[end].size_bytes > blobs::kInlineBytesMax || bytes > kBodyBytesAtOnce) break;
  }
  bool still_there = true;
  views_ = co_await impl.db.read([&](db::Tx& tx) {
    still_there = true;
    std::vector<blobs::ContentView> views(end - entry);
    auto top = std::upper_bound(archive.tops_.begin(), archive.tops_.end(), entry,
                                [](std::size_t at, const Archive::Top& t) { return at < t.first; }) -
               1;
    for (; top != archive.tops_.end() && top->first < end; ++top)
      if (!store::may_still_read(tx, caller_, top->node)) still_there = false;
    for (std::size_t i = entry; still_there && i < end; ++i) {
      const auto& e = archive[i];
      if (e.size_bytes == 0) continue;
      try {
        views[i - entry] = impl.store.view(tx, e.content, i == entry ? slice : Slice{0, e.size_bytes});
      } catch (const Error& error) {
        if (error.code() != Errc::not_found) throw;
        still_there = false;
      }
    }
    return views;
  });
  if (!still_there) {
    views_.clear();
    throw changed();
  }
}

}  // namespace welkin::files
