#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/files/files.hpp"

/// A folder or a selection as one archive: what is in it, as of one snapshot, and the bodies.
namespace welkin::files {

/// What an archive holds, folders before what is in them, children by name. Names are safe for those who
/// unpack: no ':', no two in one folder that are the same but for case (the later ones are called "name
/// (2).txt").
class Archive {
 public:
  static constexpr std::uint32_t kTop = 0xFFFFFFFF;
  struct Entry {
    ContentId content;  // files
    std::uint64_t size_bytes = 0;
    Micros modified_at = 0;
    std::uint32_t crc32 = 0;
    std::uint32_t parent = kTop;  // an earlier entry
    std::uint32_t name_at = 0;
    std::uint16_t name_bytes = 0;
    Kind kind = Kind::file;
  };
  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](std::size_t i) const { return entries_[i]; }
  std::string_view name(std::size_t i) const {
    return std::string_view(names_).substr(entries_[i].name_at, entries_[i].name_bytes);
  }
  /// 32 hex digits: the same only for the same entries with the same bytes.
  const std::string& version() const { return version_; }

 private:
  friend class Archives;
  friend class ArchiveBuilder;
  struct Top {
    NodeId node;
    std::size_t first;  // its entry; what is below follows
  };
  std::vector<Entry> entries_;
  std::string names_;
  std::string version_;
  std::vector<Top> tops_;
  std::shared_ptr<void> lease_;  // of the memory all archives may take together
};

class Archives {
 public:
  static constexpr std::size_t kSelectionMax = 1'000;
  struct Limits {
    std::size_t entries = 250'000;           // in one archive
    std::size_t entries_in_use = 1'000'000;  // in all that are being sent
  };

  Archives(db::Db& db, blobs::Store& store) : Archives(db, store, Limits()) {}
  Archives(db::Db& db, blobs::Store& store, Limits limits);
  ~Archives();

  /// The folder, called `name`, with everything below it. Mounts in it are other people's and stay out.
  /// @throws Error not_found; invalid `not_a_folder`; too_large `too_many_entries`; unavailable `busy`
  Task<std::shared_ptr<const Archive>> folder(Caller caller, NodeId folder, std::string name);
  /// Files and folders side by side; what the caller may not read is left out.
  /// @throws Error not_found when nothing is left; too_large `too_many_entries`; unavailable `busy`
  Task<std::shared_ptr<const Archive>> selection(Caller caller, std::vector<NodeId> nodes);

  /// The bodies of one archive on their way to one reader. Small ones are fetched some at a time, and each
  /// time it is asked whether the caller may still read what they are in. No connection is held while the
  /// reader is slow.
  class Reader {
   public:
    Reader(Archives& archives, Caller caller, std::shared_ptr<const Archive> archive);
    /// @throws Error gone `archive_changed` when a right or a content is gone, internal `content_damaged`: in
    /// the middle
    ///         of an answer only breaking it off is left
    Task<> send(std::size_t entry, Slice slice, ByteSink& out);

   private:
    Task<> load(std::size_t entry, Slice slice);

    Archives& archives_;
    Caller caller_;
    std::shared_ptr<const Archive> archive_;
    std::size_t first_ = 0;  // entry of views_[0]
    bool first_is_whole_ = false;
    std::vector<blobs::ContentView> views_;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::files
