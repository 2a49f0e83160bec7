#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "media/picture_cache.hpp"

namespace welkin::media {

/// Makes pictures with the programs that are installed (vipsthumbnail, pdftoppm, ffmpeg), each in a limited
/// process. Blocks; on threads of a pool only.
class Painter {
 public:
  Painter();
  enum class Source { none, picture, document, video };
  /// How a picture is made of this type; `none`: it is not, or what it takes is not installed.
  Source source_of(std::string_view mime_type) const;
  /// @param from  a file in `folder`. @return the JPEG's path in `folder`, at most `pixels` wide and high,
  /// turned as its EXIF says, without metadata; "" when the file is none of that kind, or damaged
  std::string paint(const PictureCache::WorkFolder& folder, const std::string& from, Source source,
                    int pixels) const;
  /// What is being made ends at once, and nothing is made any more.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

 private:
  std::atomic<bool> stopped_ = false;
  std::string vips_, pdf_, video_;
};

/// Bytes beyond which no picture is made.
inline constexpr std::uint64_t kPictureBytesMax = 256ull << 20, kVideoBytesMax = 1ull << 30;

}  // namespace welkin::media
