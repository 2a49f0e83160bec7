#include "blobs/reader.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "blobs/crc32.hpp"
#include "blobs/quarantine.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::blobs {
namespace {

constexpr int kPageParts = 256;          // of a long list, 40 KB with the page behind it
constexpr std::size_t kAheadChunks = 4;  // open files of one download, half as many again at worst

metrics::Counter damaged_chunks("welkin_chunks_damaged_total", "reads that met a missing or damaged chunk");
metrics::Counter read_errors("welkin_chunk_read_errors_total", "reads of chunk files that the device failed");
metrics::Counter verified_chunks("welkin_chunks_verified_total", "chunks hashed before they were sent");

Error damaged() { return {Errc::internal, "content_damaged", "stored bytes are missing or damaged"}; }

std::string shown(const ContentView::Part& part) { return chunk_file_name(part.sha256, part.id); }

}  // namespace

void add_view(db::Params& params, Slice slice) {
  constexpr std::uint64_t end_max = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t from = std::min(slice.offset, end_max);
  params.add(static_cast<std::int64_t>(from))
      .add(static_cast<std::int64_t>(from + std::min(slice.length, end_max - from)))
      .add(static_cast<std::int64_t>(kViewPartsMax));
}

ContentView view_of(const db::Row& row, int column, ContentId content) {
  enum { size, crc, sha256, n_chunks, body, offs, ids, sizes, hashes, seen };
  const auto at = [column](int which) { return column + which; };
  if (row.is_null(at(size))) throw Error(Errc::not_found, "not_found", "there is no such content");
  ContentView view;
  view.id = content;
  view.size_bytes = static_cast<std::uint64_t>(row.i64(at(size)));
  view.crc32 = static_cast<std::uint32_t>(row.i32(at(crc)));
  if (!row.is_null(at(sha256))) view.sha256 = to_sha256(row.bytes(at(sha256)));
  if (row.i32(at(n_chunks)) > 0) {
    if (row.is_null(at(offs))) return view;  // none lies in the slice
    const auto all_offs = row.i64_array(at(offs)), all_ids = row.i64_array(at(ids));
    const auto all_sizes = row.i64_array(at(sizes)), all_seen = row.i64_array(at(seen));
    const ByteView all_hashes = row.bytes(at(hashes));
    view.parts.reserve(all_offs.size());
    for (std::size_t i = 0; i < all_offs.size(); ++i)
      view.parts.push_back({.id = ChunkId{all_ids.at(i)},
                            .sha256 = to_sha256(all_hashes.subspan(i * sizeof(Sha256), sizeof(Sha256))),
                            .offset = static_cast<std::uint64_t>(all_offs[i]),
                            .size_bytes = static_cast<std::uint32_t>(all_sizes.at(i)),
                            .verified_at = all_seen.at(i)});
    return view;
  }
  if (!row.is_null(at(body))) {
    const ByteView bytes = row.bytes(at(body));
    view.inline_body.assign(bytes.begin(), bytes.end());
  }
  if (view.inline_body.size() == view.size_bytes && crc32(0, view.inline_body) == view.crc32) return view;
  damaged_chunks.add();
  log::error("the inline body of content {} is damaged", content.value);
  throw damaged();
}

ContentView load_view(db::Tx& tx, ContentId content, Slice slice) {
  static constexpr db::Stmt kView{"blobs.view", "select * from content_view($1, $2, $3, $4)"};
  db::Params params(content);
  add_view(params, slice);
  const auto rows = tx.exec(kView, params);
  if (rows.empty()) throw Error(Errc::not_found, "not_found", "there is no such content");
  return view_of(rows[0], 0, content);
}

namespace {

constexpr db::Stmt kParts{"blobs.parts", R"(
    select p.off, c.id, c.sha256, c.size, c.verified_at
      from content_chunks p join chunks c on c.id = p.chunk_id
     where p.content_id = $1 and p.off < $2
       and p.off >= coalesce((select max(off) from content_chunks where content_id = $1 and off <= $3), 0)
     order by p.off limit $4)"};

std::vector<ContentView::Part> parts_of(const db::Rows& rows) {
  std::vector<ContentView::Part> out;
  out.reserve(static_cast<std::size_t>(rows.size()));
  for (const auto row : rows)
    out.push_back({.id = row.id<ChunkId>(1),
                   .sha256 = to_sha256(row.bytes(2)),
                   .offset = static_cast<std::uint64_t>(row.i64(0)),
                   .size_bytes = static_cast<std::uint32_t>(row.i32(3)),
                   .verified_at = row.opt_timestamp(4).value_or(0)});
  return out;
}

}  // namespace

std::vector<ContentView::Part> load_parts(db::Tx& tx, ContentId content, std::uint64_t from, std::uint64_t to,
                                          std::size_t limit) {
  if (from >= to) return {};
  return parts_of(tx.exec(kParts, content, static_cast<std::int64_t>(to), static_cast<std::int64_t>(from),
                          static_cast<std::int64_t>(limit)));
}

std::optional<SoundChunk> open_sound(Store::Impl& store, const ContentView::Part& part, Slice piece) {
  std::string trouble;
  std::optional<VfsError> failure;
  try {
    auto file = store.vfs->open(area_of(part.id), chunk_file_name(part.sha256, part.id));
    if (file) {
      const Stat stat = store.vfs->stat(**file);
      const Micros now = store.now();
      if (stat.size_bytes != part.size_bytes) {
        trouble = "has a wrong size";
      } else if (store.verified.is_good(part.id, stat, part.verified_at, now)) {
        store.vfs->prefetch(**file, piece.offset, piece.length);
        return SoundChunk{part, std::move(*file)};
      } else if (hash_file(*store.vfs, **file) == part.sha256) {
        verified_chunks.add();
        store.verified.add(part.id, stat, now);
        return SoundChunk{part, std::move(*file), true};
      } else {
        trouble = "does not have its hash";
      }
    } else {
      trouble = "is missing";
    }
  } catch (const VfsError& e) {
    failure = e;
  }
  if (failure && failure->kind() == VfsError::Kind::other) {
    log::error("chunk store: {}", failure->what());
    throw Error(Errc::unavailable, "busy", "the server could not read its disk", 1);
  }
  damaged_chunks.add();
  if (failure) read_errors.add();
  log::error("chunk {} {}", shown(part), failure ? failure->what() : trouble);
  store.suspect_chunk(part.id);
  return std::nullopt;
}

std::size_t read_loudly(Store::Impl& store, ChunkId id, VfsFile& file, std::uint64_t at,
                        std::span<std::byte> out) {
  try {
    return store.vfs->read(file, at, out);
  } catch (const VfsError& e) {
    log::error("chunk {}: {}", id.value, e.what());
  }
  read_errors.add();
  store.suspect_chunk(id);
  throw damaged();
}

Slice within(const ContentView::Part& chunk, Slice slice) {
  const std::uint64_t from = std::max(slice.offset, chunk.offset);
  const std::uint64_t to = std::min(slice.offset + slice.length, chunk.offset + chunk.size_bytes);
  return {from - chunk.offset, to - from};
}

// -- ChunkReader

ChunkReader::ChunkReader(Store::Impl& store, const ContentView& content, Slice slice)
    : store_(store),
      content_(content.id),
      slice_(slice),
      at_(slice.offset),
      end_(slice.offset + slice.length),
      parts_(content.parts) {
  // The view may hold more than this slice, before and behind.
  while (next_ < parts_.size() && parts_[next_].offset + parts_[next_].size_bytes <= at_) ++next_;
}

/// Asks for the list behind the parts at hand, so that it is there when they are sent.
Task<> ChunkReader::list_ahead() {
  const bool is_whole = !parts_.empty() && parts_.back().offset + parts_.back().size_bytes >= end_;
  if (rest_ || is_whole || at_ >= end_) co_return;
  const std::uint64_t behind = parts_.empty() ? 0 : parts_.back().offset + parts_.back().size_bytes;
  const std::uint64_t from = std::max(at_, behind);  // what is asked for may begin behind the parts at hand
  const auto after = [content = content_, from, end = end_](const db::Row* last) {
    return db::Params(content, static_cast<std::int64_t>(end),
                      last ? last->i64(0) + last->i32(3) : static_cast<std::int64_t>(from));
  };
  rest_.emplace(store_.db, kParts, after,
                db::PageStream::Options{.first_rows = kPageParts, .page_rows = kPageParts});
  co_await rest_->start();
}

/// @return false at the end of the slice; afterwards parts_[next_] is the chunk at at_
Task<bool> ChunkReader::fill() {
  if (at_ >= end_) co_return false;
  co_await list_ahead();
  if (next_ == parts_.size()) {
    const auto rows = rest_ ? co_await rest_->next() : std::nullopt;
    parts_ = rows ? parts_of(*rows) : std::vector<ContentView::Part>();
    next_ = 0;
  }
  const bool fits = next_ < parts_.size() && parts_[next_].offset <= at_ &&
                    at_ < parts_[next_].offset + parts_[next_].size_bytes;
  if (!fits) {
    damaged_chunks.add();
    log::error("content {} has no chunk at {}", content_.value, at_);
    throw damaged();
  }
  co_return true;
}

/// The next chunk, when neither disk nor hashing stands between: handing over to a thread costs more than it
/// does.
std::optional<SoundChunk> ChunkReader::open_now() {
  const auto& part = parts_[next_];
  auto cached =
      store_.vfs->open_cached(area_of(part.id), chunk_file_name(part.sha256, part.id), within(part, slice_));
  if (!cached || cached->stat.size_bytes != part.size_bytes ||
      !store_.verified.is_good(part.id, cached->stat, part.verified_at, store_.now()))
    return std::nullopt;
  return SoundChunk{part, std::move(cached->file)};
}

void ChunkReader::look_ahead() {
  const std::size_t from = next_ + ready_.size();
  std::vector<std::pair<ContentView::Part, Slice>> wanted;
  for (auto i = from; i < parts_.size() && parts_[i].offset < end_ && wanted.size() < kAheadChunks; ++i)
    wanted.emplace_back(parts_[i], within(parts_[i], slice_));
  if (wanted.empty()) return;
  const auto ahead = std::make_shared<Ahead>();
  const bool queued = store_.io.post([&store = store_, ahead, wanted = std::move(wanted)] {
    try {
      for (const auto& [part, piece] : wanted) {
        auto chunk = open_sound(store, part, piece);
        if (!chunk) break;
        ahead->chunks.push_back(std::move(*chunk));
        if (ahead->chunks.back().was_hashed) break;  // that took long: the client waits
      }
    } catch (...) {
      ahead->failure = std::current_exception();
    }
    ahead->done.set();
  });
  if (!queued) throw Error(Errc::unavailable, "busy", "the server is busy", 1);
  ahead_ = ahead;
}

/// The list is read once more: a repair may have moved the content to a sound copy meanwhile.
Task<SoundChunk> ChunkReader::second_look(ContentView::Part part) {
  const auto now = co_await store_.db.read(
      [&](db::Tx& tx) { return load_parts(tx, content_, part.offset, part.offset + part.size_bytes, 2); });
  const bool moved = now.size() == 1 && now[0].id != part.id && now[0].offset == part.offset &&
                     now[0].size_bytes == part.size_bytes && now[0].sha256 == part.sha256;
  if (!moved) throw damaged();
  auto chunk = co_await store_.io.run([&] { return open_sound(store_, now[0], within(now[0], slice_)); });
  if (!chunk) throw damaged();
  co_return std::move(*chunk);
}

Task<std::optional<SoundChunk>> ChunkReader::next() {
  if (!co_await fill()) co_return std::nullopt;
  const ContentView::Part part = parts_[next_];
  if (ready_.empty() && !ahead_) {
    if (auto chunk = open_now()) {
      ++next_;
      at_ = part.offset + part.size_bytes;
      co_return chunk;
    }
    look_ahead();
  }
  if (ready_.empty()) {
    const auto ahead = std::exchange(ahead_, nullptr);
    co_await ahead->done.wait();
    // What stopped it behind the first chunk is met again when its turn comes.
    if (ahead->chunks.empty()) {
      if (ahead->failure) std::rethrow_exception(ahead->failure);
      ready_.push_back(co_await second_look(part));
    }
    std::move(ahead->chunks.begin(), ahead->chunks.end(), std::back_inserter(ready_));
  }
  std::optional<SoundChunk> chunk = std::move(ready_.front());
  ready_.pop_front();
  ++next_;
  at_ = part.offset + part.size_bytes;
  if (!ahead_ && ready_.size() <= kAheadChunks / 2) look_ahead();
  co_return chunk;
}

}  // namespace welkin::blobs
