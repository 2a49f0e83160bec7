#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "welkin/blobs/store.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

/// Small pictures of files: made by separate, limited processes, kept on disk by content and size, gone with
/// the content.
namespace welkin::media {

/// The longer side in pixels: 150, 400, 800.
enum class ThumbnailSize : std::uint8_t { icon, preview, large };
inline constexpr int pixels_of(ThumbnailSize size) {
  return size == ThumbnailSize::icon ? 150 : size == ThumbnailSize::preview ? 400 : 800;
}

struct Thumbnail {
  enum class State : std::uint8_t {
    ready,
    pending,  // being made, or waiting for its turn: ask again
    none      // there is none of this file: not of a kind that has any, or damaged
  } state = State::none;
  files::Node node;
  std::string jpeg;  // ready
  std::string tag;   // without quotes; changes when the file's content does, and only then
};

class Thumbnails {
 public:
  /// Bytes of a picture that a client may bring.
  static constexpr std::size_t kBroughtBytesMax = 512 << 10;

  /// @param store, db  outlive this
  Thumbnails(db::Db& db, blobs::Store& store, files::Files& files, const Config& config);
  ~Thumbnails();

  /// What there is, at once; else it is made, and waited for, for at most a second: the making goes on when
  /// nobody waits any more. The right to read is asked for first, each time. @throws Error not_found
  Task<Thumbnail> find_or_make(Caller caller, NodeId id, ThumbnailSize size);
  /// A picture that a client made of a file of which the server makes none (a frame of a video, say); only
  /// who may change the file may bring one, and it counts for this file and its present content.
  /// @throws Error not_found, forbidden; too_large; unprocessable `not_a_picture`
  Task<> put(Caller caller, NodeId id, ThumbnailSize size, std::string picture);

  /// The tag of a file's thumbnails, as `Thumbnail::tag` says it: for addresses that may be kept for ever.
  static std::string tag_of(const files::Node& node);
  /// Whether pictures are made of this type at all, with the programs that are installed.
  bool makes_of(std::string_view mime_type) const;

  // --- upkeep, for the scheduler: one bounded turn on the calling thread; true: more is waiting
  /// Removes pictures whose content is gone.
  bool sweep_turn();

  /// Breaks off what is being made. Idempotent.
  void close();

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace welkin::media
