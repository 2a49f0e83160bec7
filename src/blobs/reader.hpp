#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "blobs/impl.hpp"
#include "welkin/core/event.hpp"
#include "welkin/db/page_stream.hpp"

namespace welkin::blobs {

/// The parameters of content_view() behind the content: what of it is asked for.
void add_view(db::Params& params, Slice slice);
/// What content_view() gave, in the columns from `column` on. @throws Error not_found
ContentView view_of(const db::Row& row, int column, ContentId content);

/// The contents row and, when it is in chunks, the first page of those that overlap `slice`.
/// @throws Error not_found
ContentView load_view(db::Tx& tx, ContentId content, Slice slice);

/// Chunks of `content` that overlap [from, to), in order, at most `limit`.
std::vector<ContentView::Part> load_parts(db::Tx& tx, ContentId content, std::uint64_t from, std::uint64_t to,
                                          std::size_t limit);

/// An open chunk file whose bytes are known to be right.
struct SoundChunk {
  ContentView::Part part;
  File file;
  bool was_hashed = false;  // just now, to know it
};

/// The part of `chunk` that lies in `slice`, with offsets in the chunk.
Slice within(const ContentView::Part& chunk, Slice slice);

/// Opens and, unless it was seen good within a day, hashes a chunk, of which `piece` will be read. Blocks: on
/// pool threads.
/// @return nullopt when it is missing or damaged, which is logged and counted
/// @throws Error unavailable `busy`
std::optional<SoundChunk> open_sound(Store::Impl& store, const ContentView::Part& part, Slice piece);

/// Vfs::read on the way to a client. What the device cannot give fails the read, is counted, and makes the
/// collector look at the chunk. @throws Error internal `content_damaged`
std::size_t read_loudly(Store::Impl& store, ChunkId id, VfsFile& file, std::uint64_t at,
                        std::span<std::byte> out);

/// Reads the chunks of one slice in order. As long as they are in memory and known to be sound each is opened
/// when its turn comes; from the first other one on the next ones are opened and checked while the last is
/// being sent: several in one turn of a thread, because handing over costs more than opening.
class ChunkReader {
 public:
  ChunkReader(Store::Impl& store, const ContentView& content, Slice slice);
  /// The next chunk; nullopt at the end. @throws Error internal `content_damaged`; unavailable `busy`
  Task<std::optional<SoundChunk>> next();

 private:
  /// Chunks being opened on a pool thread; it stops early at one that must be hashed first, or is damaged.
  struct Ahead {
    Event done;
    std::vector<SoundChunk> chunks;
    std::exception_ptr failure;
  };

  Task<> list_ahead();
  Task<bool> fill();
  std::optional<SoundChunk> open_now();
  void look_ahead();
  Task<SoundChunk> second_look(ContentView::Part part);

  Store::Impl& store_;
  const ContentId content_;
  const Slice slice_;
  std::uint64_t at_;  // lies in the next chunk
  const std::uint64_t end_;
  std::vector<ContentView::Part> parts_;
  std::size_t next_ = 0;                // in parts_
  std::optional<db::PageStream> rest_;  // the list behind parts_
  std::deque<SoundChunk> ready_;        // parts_[next_] and those behind it
  std::shared_ptr<Ahead> ahead_;        // those behind ready_
};

}  // namespace welkin::blobs
