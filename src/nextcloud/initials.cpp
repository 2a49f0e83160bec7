#include "nextcloud/initials.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::nextcloud {
namespace {

struct Colour {
  std::uint8_t red, green, blue;
};
constexpr std::array kHues = {Colour{0x3b, 0x62, 0xd8}, Colour{0x11, 0x80, 0x8a}, Colour{0x2b, 0x85, 0x50},
                              Colour{0xa8, 0x6c, 0x00}, Colour{0xc2, 0x4a, 0x30}, Colour{0xc6, 0x3d, 0x72},
                              Colour{0x84, 0x50, 0xc8}, Colour{0x64, 0x70, 0x8a}};

// Strokes on a grid 4 wide and 6 high: points as two digits, '|' lifts the pen.
constexpr const char* kLetters[26] = {
    "06 20 46|14 34",                       // A
    "06 00 30 41 42 33 03|33 44 45 36 06",  // B
    "41 30 10 01 05 16 36 45",              // C
    "06 00 20 42 44 26 06",                 // D
    "40 00 06 46|03 33",                    // E
    "40 00 06|03 33",                       // F
    "41 30 10 01 05 16 36 45 43 23",        // G
    "00 06|40 46|03 43",                    // H
    "10 30|20 26|16 36",                    // I
    "40 45 36 16 05",                       // J
    "00 06|40 03 46",                       // K
    "00 06 46",                             // L
    "06 00 23 40 46",                       // M
    "06 00 46 40",                          // N
    "10 30 41 45 36 16 05 01 10",           // O
    "06 00 30 41 42 33 03",                 // P
    "10 30 41 45 36 16 05 01 10|34 46",     // Q
    "06 00 30 41 42 33 03|23 46",           // R
    "41 30 10 01 02 13 33 44 45 36 16 05",  // S
    "00 40|20 26",                          // T
    "00 05 16 36 45 40",                    // U
    "00 26 40",                             // V
    "00 16 23 36 40",                       // W
    "00 46|40 06",                          // X
    "00 23 40|23 26",                       // Y
    "00 40 06 46",                          // Z
};
constexpr const char* kDigits[10] = {
    "10 30 41 45 36 16 05 01 10|32 14",
    "11 20 26|16 36",
    "01 10 30 41 42 06 46",
    "01 10 30 41 42 33 44 45 36 16 05|23 33",
    "36 30 04 44",
    "40 00 03 33 44 45 36 06",
    "40 20 02 05 16 36 45 44 33 03",
    "00 40 16",
    "10 30 41 42 33 13 02 01 10|13 04 05 16 36 45 44 33",
    "06 26 44 41 30 10 01 02 13 43",
};

struct Line {
  double x1, y1, x2, y2;
};

bool is_drawn(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
const char* strokes_of(char c) { return c >= 'A' ? kLetters[c - 'A'] : kDigits[c - '0']; }

void add_letter(std::vector<Line>& lines, const char* strokes, double left, double top, double unit) {
  bool is_down = false;
  double x = 0, y = 0;
  for (const char* at = strokes; *at != '\0';) {
    if (*at == '|' || *at == ' ') {
      is_down = is_down && *at == ' ';
      ++at;
      continue;
    }
    const double next_x = left + (at[0] - '0') * unit, next_y = top + (at[1] - '0') * unit;
    if (is_down) lines.push_back({x, y, next_x, next_y});
    x = next_x;
    y = next_y;
    is_down = true;
    at += 2;
  }
}

double distance(const Line& line, double x, double y) {
  const double dx = line.x2 - line.x1, dy = line.y2 - line.y1;
  const double length = dx * dx + dy * dy;
  const double along =
      length == 0 ? 0 : std::clamp(((x - line.x1) * dx + (y - line.y1) * dy) / length, 0.0, 1.0);
  return std::hypot(x - line.x1 - along * dx, y - line.y1 - along * dy);
}

/// How much of the pixel around (x, y) is ink, 0 to 1.
struct Drawing {
  std::vector<Line> lines;
  double half_width = 0;
  double size = 0;  // of a person; 0: letters

  double ink(double x, double y) const {
    double outside = 1e9;  // how far from the ink, negative inside
    for (const auto& line : lines) outside = std::min(outside, distance(line, x, y) - half_width);
    if (size > 0) {  // head and shoulders
      outside = std::min(outside, std::hypot(x - size * .5, y - size * .38) - size * .15);
      outside = std::min(outside, std::hypot(x - size * .5, y - size * .92) - size * .29);
    }
    return std::clamp(.5 - outside, 0.0, 1.0);
  }
};

Drawing drawing_of(const std::string& letters, double size) {
  Drawing out;
  if (letters.empty()) {
    out.size = size;
    return out;
  }
  const double unit = size * (letters.size() == 1 ? .085 : .065);
  const double gap = unit * 1.6, width = static_cast<double>(letters.size()) * 4 * unit +
                                         static_cast<double>(letters.size() - 1) * gap;
  double left = (size - width) / 2;
  for (const char letter : letters) {
    add_letter(out.lines, strokes_of(letter), left, (size - 6 * unit) / 2, unit);
    left += 4 * unit + gap;
  }
  out.half_width = std::max(unit * .45, .6);
  return out;
}

void append_u32(std::string& out, std::uint32_t value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(value >> shift);
}

/// One chunk of a PNG (ISO 15948 §5.3).
void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_u32(out, static_cast<std::uint32_t>(data.size()));
  const auto from = out.size();
  (out += type) += data;
  const auto checked = std::string_view(out).substr(from);
  append_u32(out, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                                   static_cast<uInt>(checked.size()))));
}

std::string deflated(const std::string& raw) {
  auto bytes = compressBound(static_cast<uLong>(raw.size()));
  std::string out(bytes, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &bytes, reinterpret_cast<const Bytef*>(raw.data()),
                static_cast<uLong>(raw.size()), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw Error(Errc::internal, "png", "a picture could not be compressed");
  out.resize(bytes);
  return out;
}

}  // namespace

std::string initials_of(std::string_view name) {
  std::string out;
  for (const auto word : text::split(name, ' ')) {
    if (word.empty()) continue;
    const char c =
        word.front() >= 'a' && word.front() <= 'z' ? static_cast<char>(word.front() - 32) : word.front();
    if (!is_drawn(c)) {
      if (out.empty()) return out;
      continue;
    }
    if (out.size() == 2) out.pop_back();  // the first word and the last
    out += c;
  }
  return out;
}

std::string initials_png(std::string_view name, std::string_view colour_of, unsigned pixels) {
  const auto digest = crypto::sha256(colour_of);
  const auto hue = kHues[digest[0] % kHues.size()];
  const auto drawing = drawing_of(initials_of(name), pixels);
  // A palette from the hue to white; each line begins with its filter, none.
  std::string palette, raw;
  for (unsigned i = 0; i < 16; ++i)
    for (const auto part : {hue.red, hue.green, hue.blue})
      palette += static_cast<char>(part + (255 - part) * static_cast<int>(i) / 15);
  raw.reserve((std::size_t{pixels} + 1) * pixels);
  for (unsigned y = 0; y < pixels; ++y) {
    raw += '\0';
    for (unsigned x = 0; x < pixels; ++x)
      raw += static_cast<char>(std::lround(drawing.ink(x + .5, y + .5) * 15));
  }
  std::string out = "\x89PNG\r\n\x1a\n", head;
  append_u32(head, pixels);
  append_u32(head, pixels);
  head += std::string_view("\x08\x03\x00\x00\x00", 5);  // 8 bits a pixel, of a palette
  append_chunk(out, "IHDR", head);
  append_chunk(out, "PLTE", palette);
  append_chunk(out, "IDAT", deflated(raw));
  append_chunk(out, "IEND", "");
  return out;
}

}  // namespace welkin::nextcloud
