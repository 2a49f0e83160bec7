#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"

/// ZIP archives of stored entries (APPNOTE.TXT 6.3.10): nothing is compressed and sizes and checksums are
/// known before, so every offset is arithmetic, the length is known before the first byte, and any range can
/// be made without what comes before it. Knows no clock and does no I/O; bodies come from elsewhere.
namespace welkin::wire {

inline constexpr std::size_t kZipTop = static_cast<std::size_t>(-1);

/// One entry. Its path is the names of the folders it is in and its own, joined by '/'.
struct ZipEntry {
  std::string_view name;         // UTF-8, without '/'
  std::size_t parent = kZipTop;  // an earlier entry, a folder; kZipTop: none
  bool is_folder = false;
  std::uint64_t size_bytes = 0;  // of folders 0
  std::uint32_t crc32 = 0;
  std::int64_t modified_at = 0;  // seconds since 1970
};

/// A part of an archive: bytes of its own (headers, directory), or a slice of an entry's body.
struct ZipPiece {
  std::string_view bytes;  // valid until the next piece
  bool is_body = false;
  std::size_t entry = 0;
  Slice body;
};

/// Where everything lies. Keeps 16 bytes an entry; asks for the entries themselves whenever it needs them,
/// and they must always be the same.
class ZipLayout {
 public:
  using Source = std::function<ZipEntry(std::size_t)>;
  static constexpr std::size_t kPathBytesMax = 65'535;

  /// @throws Error invalid `path_too_long` when a path has more than kPathBytesMax bytes
  ZipLayout(std::size_t count, Source entry_at);

  std::uint64_t size_bytes() const { return size_bytes_; }
  std::size_t count() const { return places_.size(); }
  /// Where the local header of an entry begins.
  std::uint64_t offset(std::size_t entry) const { return places_[entry].offset; }

  /// The pieces of a slice of the archive, in order. The layout outlives the walk.
  class Walk {
   public:
    Walk(const ZipLayout& layout, Slice slice);
    std::optional<ZipPiece> next();

   private:
    ZipPiece in_entry();
    ZipPiece in_directory();
    ZipPiece cut(std::uint64_t begin);  // what of buffer_, which begins at `begin`, is asked for

    const ZipLayout& layout_;
    std::uint64_t at_, end_;
    std::size_t entry_ = 0;                      // that of at_, or the next one of the directory
    std::optional<std::uint64_t> directory_at_;  // where the record of entry_ begins
    std::string buffer_;
  };
  Walk walk(Slice slice) const { return {*this, slice}; }

 private:
  struct Place {
    std::uint64_t offset;
    std::uint32_t path_bytes;
  };
  std::uint64_t local_bytes(std::size_t entry, const ZipEntry& e) const;
  std::uint64_t central_bytes(std::size_t entry, const ZipEntry& e) const;
  void append_path(std::string& out, std::size_t entry, const ZipEntry& e) const;
  void append_local(std::string& out, std::size_t entry) const;
  void append_central(std::string& out, std::size_t entry, const ZipEntry& e) const;
  void append_end(std::string& out) const;

  Source entry_at_;
  std::vector<Place> places_;
  std::uint64_t directory_begin_ = 0, directory_end_ = 0, size_bytes_ = 0;
};

}  // namespace welkin::wire
