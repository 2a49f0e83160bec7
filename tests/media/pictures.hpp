#pragma once
#include <string>

namespace welkin::tests {

/// A PNG of one colour without a palette, made here byte by byte.
std::string png(unsigned width, unsigned height);
/// The JPEG with an EXIF block: taken on 2026-05-01 12:30:00 with "Cam" by "Maker", turned (6), at 52.5
/// north, 13.25 west.
std::string with_exif(const std::string& jpeg);
/// What a JPEG says of itself; 0 when it is none.
struct Dimensions {
  unsigned width = 0, height = 0;
};
Dimensions jpeg_dimensions(const std::string& jpeg);
/// A PDF of one empty page with a line of text.
std::string pdf(const std::string& line);

}  // namespace welkin::tests
