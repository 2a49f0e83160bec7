#include "media/painter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "media/child.hpp"

namespace welkin::media {
namespace {

constexpr std::array<std::string_view, 11> kPictures = {
    "image/jpeg", "image/png",  "image/gif", "image/webp", "image/heic",   "image/heif",
    "image/avif", "image/tiff", "image/jxl", "image/jp2",  "image/svg+xml"};

bool is_there(const std::string& path) {
  std::error_code failed;
  return std::filesystem::file_size(path, failed) > 0 && !failed;
}

}  // namespace

Painter::Painter()
    : vips_(find_program("vipsthumbnail")), pdf_(find_program("pdftoppm")), video_(find_program("ffmpeg")) {}

Painter::Source Painter::source_of(std::string_view mime_type) const {
  if (vips_.empty()) return Source::none;
  if (std::find(kPictures.begin(), kPictures.end(), mime_type) != kPictures.end()) return Source::picture;
  if (mime_type == "application/pdf" && !pdf_.empty()) return Source::document;
  if (mime_type.starts_with("video/") && !video_.empty()) return Source::video;
  return Source::none;
}

std::string Painter::paint(const PictureCache::WorkFolder& folder, const std::string& from, Source source,
                           int pixels) const {
  std::string picture = from;
  ChildLimits limits;
  limits.stop = &stopped_;
  if (source == Source::document) {
    picture = folder.path("page.jpg");
    run_child({pdf_, "-f", "1", "-l", "1", "-singlefile", "-jpeg", "-scale-to", fmt::to_string(pixels), from,
               folder.path("page")},
              folder.path(), limits);
  } else if (source == Source::video) {
    picture = folder.path("frame.png");
    auto more = limits;
    more.memory_bytes = 2ull << 30;
    // The first picture after a second; of what is shorter, the first of all.
    for (const char* at : {"1", "0"}) {
      run_child(
          {video_,
           "-nostdin",
           "-loglevel",
           "quiet",
           "-threads",
           "1",
           "-protocol_whitelist",
           "file",
           "-ss",
           at,
           "-i",
           from,
           "-an",
           "-sn",
           "-frames:v",
           "1",
           "-vf",
           fmt::format("scale='min({0},iw)':'min({0},ih)':force_original_aspect_ratio=decrease", pixels),
           "-y",
           picture},
          folder.path(), more);
      if (is_there(picture)) break;
    }
  }
  const auto out = folder.path("out.jpg");
  if (!is_there(picture)) return "";
  const auto made = run_child({vips_, picture, "--size", fmt::format("{0}x{0}>", pixels), "--eprofile",
                               "srgb", "-o", out + "[Q=82,strip,background=255,optimize-coding]"},
                              folder.path(), limits);
  return made.ok && is_there(out) ? out : "";
}

}  // namespace welkin::media
