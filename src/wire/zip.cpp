#include "welkin/wire/zip.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "welkin/core/error.hpp"

namespace welkin::wire {
namespace {

constexpr std::uint64_t kMax32 = 0xFFFFFFFF;
constexpr std::size_t kMax16 = 0xFFFF;
constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50,
                        kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kLocalFixed = 30, kCentralFixed = 46, kEnd64Fixed = 56;
constexpr std::uint64_t kTimeExtra = 9, kExtraHead = 4;
constexpr std::uint16_t kUtf8Flag = 0x0800;
constexpr std::uint16_t kNeeds = 20, kNeeds64 = 45;
constexpr std::uint16_t kMadeBy = 0x0300 | kNeeds64;  // Unix, so that the attributes count
constexpr std::uint32_t kFileMode = 0100644u << 16, kFolderMode = (040755u << 16) | 0x10;
constexpr std::size_t kDirectoryTurnBytes = std::size_t{16} * 1024;

void put16(std::string& out, std::uint64_t v) {
  out.push_back(static_cast<char>(v & 0xFF));
  out.push_back(static_cast<char>((v >> 8) & 0xFF));
}
void put32(std::string& out, std::uint64_t v) {
  put16(out, v);
  put16(out, v >> 16);
}
void put64(std::string& out, std::uint64_t v) {
  put32(out, v);
  put32(out, v >> 32);
}

bool has_unix_time(const ZipEntry& e) { return e.modified_at >= 0 && e.modified_at <= 0x7FFFFFFF; }
bool is_large(const ZipEntry& e) { return e.size_bytes >= kMax32; }
bool is_far(std::uint64_t offset) { return offset >= kMax32; }

/// Two 16-bit words, time and date, in UTC: the format knows no zone, and unpackers that matter prefer the
/// extra field. From 1980 to 2107.
std::pair<std::uint16_t, std::uint16_t> dos_time(std::int64_t seconds) {
  using namespace std::chrono;
  constexpr std::int64_t kFirst = 315'532'800, kLast = 4'354'819'198;
  const sys_seconds at{std::chrono::seconds(std::clamp(seconds, kFirst, kLast))};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  const auto word = [](auto hi, auto middle, auto lo, int a, int b) {
    return static_cast<std::uint16_t>((hi << a) | (middle << b) | lo);
  };
  return {word(time.hours().count(), time.minutes().count(), time.seconds().count() / 2, 11, 5),
          word(static_cast<int>(date.year()) - 1980, static_cast<unsigned>(date.month()),
               static_cast<unsigned>(date.day()), 9, 5)};
}

void put_unix_time(std::string& out, const ZipEntry& e) {
  if (!has_unix_time(e)) return;
  put16(out, 0x5455);
  put16(out, 5);
  out.push_back(1);  // the time of modification
  put32(out, static_cast<std::uint64_t>(e.modified_at));
}

/// What local and central record share: from "version needed" to the sizes.
void put_facts(std::string& out, const ZipEntry& e, bool needs_64) {
  put16(out, needs_64 ? kNeeds64 : kNeeds);
  put16(out, kUtf8Flag);
  put16(out, 0);  // stored
  const auto [time, date] = dos_time(e.modified_at);
  put16(out, time);
  put16(out, date);
  put32(out, e.crc32);
  const auto size = is_large(e) ? kMax32 : e.size_bytes;
  put32(out, size);
  put32(out, size);
}

}  // namespace

ZipLayout::ZipLayout(std::size_t count, Source entry_at) : entry_at_(std::move(entry_at)) {
  places_.reserve(count);
  std::uint64_t offset = 0, directory = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto e = entry_at_(i);
    // A folder's path ends with '/', so a child only adds its own name.
    const std::size_t path =
        (e.parent == kZipTop ? 0 : places_.at(e.parent).path_bytes) + e.name.size() + (e.is_folder ? 1 : 0);
    if (path > kPathBytesMax)
      throw Error(Errc::invalid, "path_too_long", "a path is too long for a ZIP archive");
    places_.push_back({offset, static_cast<std::uint32_t>(path)});
    directory += central_bytes(i, e);
    offset += local_bytes(i, e) + e.size_bytes;
  }
  directory_begin_ = offset;
  directory_end_ = offset + directory;
  std::string end;
  append_end(end);
  size_bytes_ = directory_end_ + end.size();
}

std::uint64_t ZipLayout::local_bytes(std::size_t entry, const ZipEntry& e) const {
  return kLocalFixed + places_[entry].path_bytes + (is_large(e) ? kExtraHead + 16 : 0) +
         (has_unix_time(e) ? kTimeExtra : 0);
}

std::uint64_t ZipLayout::central_bytes(std::size_t entry, const ZipEntry& e) const {
  const bool far = is_far(places_[entry].offset);
  return kCentralFixed + places_[entry].path_bytes + (has_unix_time(e) ? kTimeExtra : 0) +
         (is_large(e) || far ? kExtraHead + (is_large(e) ? 16 : 0) + (far ? 8 : 0) : 0);
}

void ZipLayout::append_path(std::string& out, std::size_t entry, const ZipEntry& e) const {
  // From the end to the beginning: an entry knows only its parent.
  const std::size_t begin = out.size();
  std::size_t at = begin + places_[entry].path_bytes;
  out.resize(at);
  ZipEntry part = e;
  for (;;) {
    if (part.is_folder) out[--at] = '/';
    at -= part.name.size();
    std::copy(part.name.begin(), part.name.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
    if (part.parent == kZipTop) return;
    part = entry_at_(part.parent);
  }
}

void ZipLayout::append_local(std::string& out, std::size_t entry) const {
  const auto e = entry_at_(entry);
  put32(out, kLocalSignature);
  put_facts(out, e, is_large(e));
  put16(out, places_[entry].path_bytes);
  put16(out, (is_large(e) ? kExtraHead + 16 : 0) + (has_unix_time(e) ? kTimeExtra : 0));
  append_path(out, entry, e);
  if (is_large(e)) {
    put16(out, 1);
    put16(out, 16);
    put64(out, e.size_bytes);
    put64(out, e.size_bytes);
  }
  put_unix_time(out, e);
}

void ZipLayout::append_central(std::string& out, std::size_t entry, const ZipEntry& e) const {
  const auto offset = places_[entry].offset;
  const bool far = is_far(offset), large = is_large(e);
  const std::uint64_t wide = (large ? 16u : 0u) + (far ? 8u : 0u);
  put32(out, kCentralSignature);
  put16(out, kMadeBy);
  put_facts(out, e, large || far);
  put16(out, places_[entry].path_bytes);
  put16(out, (wide > 0 ? kExtraHead + wide : 0) + (has_unix_time(e) ? kTimeExtra : 0));
  put16(out, 0);  // comment
  put16(out, 0);  // disk
  put16(out, 0);  // internal attributes
  put32(out, e.is_folder ? kFolderMode : kFileMode);
  put32(out, far ? kMax32 : offset);
  append_path(out, entry, e);
  if (wide > 0) {
    // Only what does not fit above, in this order (APPNOTE 4.5.3).
    put16(out, 1);
    put16(out, wide);
    if (large) {
      put64(out, e.size_bytes);
      put64(out, e.size_bytes);
    }
    if (far) put64(out, offset);
  }
  put_unix_time(out, e);
}

void ZipLayout::append_end(std::string& out) const {
  const std::uint64_t count = places_.size(), bytes = directory_end_ - directory_begin_;
  if (count >= kMax16 || bytes >= kMax32 || directory_begin_ >= kMax32) {
    put32(out, kEnd64Signature);
    put64(out, kEnd64Fixed - 12);  // what follows this field
    put16(out, kMadeBy);
    put16(out, kNeeds64);
    put32(out, 0);
    put32(out, 0);
    put64(out, count);
    put64(out, count);
    put64(out, bytes);
    put64(out, directory_begin_);
    put32(out, kLocator64Signature);
    put32(out, 0);
    put64(out, directory_end_);
    put32(out, 1);
  }
  put32(out, kEndSignature);
  put16(out, 0);
  put16(out, 0);
  put16(out, std::min<std::uint64_t>(count, kMax16));
  put16(out, std::min<std::uint64_t>(count, kMax16));
  put32(out, std::min(bytes, kMax32));
  put32(out, std::min(directory_begin_, kMax32));
  put16(out, 0);
}

ZipLayout::Walk::Walk(const ZipLayout& layout, Slice slice)
    : layout_(layout),
      at_(std::min(slice.offset, layout.size_bytes_)),
      end_(at_ + std::min(slice.length, layout.size_bytes_ - at_)) {
  const auto& places = layout_.places_;
  if (at_ >= layout_.directory_begin_) return;
  const auto behind = std::upper_bound(places.begin(), places.end(), at_,
                                       [](std::uint64_t at, const Place& p) { return at < p.offset; });
  entry_ = static_cast<std::size_t>(behind - places.begin()) - 1;
}

std::optional<ZipPiece> ZipLayout::Walk::next() {
  if (at_ >= end_) return std::nullopt;
  if (at_ < layout_.directory_begin_) return in_entry();
  if (at_ < layout_.directory_end_) return in_directory();
  buffer_.clear();
  layout_.append_end(buffer_);
  return cut(layout_.directory_end_);
}

ZipPiece ZipLayout::Walk::cut(std::uint64_t begin) {
  const auto stop = std::min(end_, begin + buffer_.size());
  ZipPiece piece;
  piece.bytes = std::string_view(buffer_).substr(at_ - begin, stop - at_);
  at_ = stop;
  return piece;
}

ZipPiece ZipLayout::Walk::in_entry() {
  const auto e = layout_.entry_at_(entry_);
  const auto begin = layout_.places_[entry_].offset;
  const auto body = begin + layout_.local_bytes(entry_, e), behind = body + e.size_bytes;
  if (at_ < body) {
    buffer_.clear();
    layout_.append_local(buffer_, entry_);
    const auto piece = cut(begin);
    if (at_ == behind) ++entry_;
    return piece;
  }
  ZipPiece piece;
  piece.is_body = true;
  piece.entry = entry_;
  piece.body = {at_ - body, std::min(end_, behind) - at_};
  at_ += piece.body.length;
  if (at_ == behind) ++entry_;
  return piece;
}

ZipPiece ZipLayout::Walk::in_directory() {
  if (!directory_at_) {  // records have no index of their own: counted through
    directory_at_ = layout_.directory_begin_;
    for (entry_ = 0;; ++entry_) {
      const auto bytes = layout_.central_bytes(entry_, layout_.entry_at_(entry_));
      if (*directory_at_ + bytes > at_) break;
      *directory_at_ += bytes;
    }
  }
  buffer_.clear();
  const auto begin = *directory_at_;
  while (buffer_.size() < kDirectoryTurnBytes && entry_ < layout_.places_.size() &&
         begin + buffer_.size() < end_) {
    layout_.append_central(buffer_, entry_, layout_.entry_at_(entry_));
    ++entry_;
  }
  directory_at_ = begin + buffer_.size();
  return cut(begin);
}

}  // namespace welkin::wire
