#pragma once
#include <memory>

#include "welkin/blobs/store.hpp"
#include "welkin/core/config.hpp"
#include "welkin/db/db.hpp"

namespace welkin::media {

/// Reads files in the background, each content once: the words of texts, PDF and office files for the search
/// (files/search.hpp), and what pictures say of themselves (files/photos.hpp). What takes more than looking
/// at bytes is done by separate, limited processes.
class Reader {
 public:
  /// Of a text, this much is read; of the text in other files, too.
  static constexpr std::uint64_t kTextBytesMax = 64 << 10;

  Reader(db::Db& db, blobs::Store& store, const Config& config);
  ~Reader();

  // --- upkeep, for the scheduler: one turn of some seconds on the calling thread; true: more is waiting
  bool turn();
  /// From another thread: the turn in hand ends soon, and what it was at is read another time.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::media
