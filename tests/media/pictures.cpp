#include "media/pictures.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace welkin::tests {
namespace {

std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
          static_cast<char>(n)};
}

std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

std::uint32_t adler_of(const std::string& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::string chunk(const std::string& type, const std::string& body) {
  return big_endian(static_cast<std::uint32_t>(body.size())) + type + body + big_endian(crc_of(type + body));
}

/// zlib with stored blocks only.
std::string stored(const std::string& plain) {
  std::string out = "\x78\x01";
  for (std::size_t at = 0; at < plain.size(); at += 65535) {
    const auto piece = plain.substr(at, 65535);
    const auto size = static_cast<std::uint16_t>(piece.size());
    out += at + 65535 >= plain.size() ? '\1' : '\0';
    for (const std::uint16_t n : {size, static_cast<std::uint16_t>(~size)})
      out += {static_cast<char>(n & 0xff), static_cast<char>(n >> 8)};
    out += piece;
  }
  return out + big_endian(adler_of(plain));
}

/// A TIFF directory of EXIF, big-endian.
class Ifd {
 public:
  /// @param type 2 text, 3 short, 4 long, 5 rational
  void add(std::uint16_t tag, std::uint16_t type, std::uint32_t count, const std::string& value) {
    entries_.push_back({tag, type, count, value});
  }
  /// @param at  where the directory will stand
  std::string bytes(std::uint32_t at) const {
    std::string head = half(static_cast<std::uint16_t>(entries_.size())), tail;
    const auto tail_at = at + 2 + 12 * static_cast<std::uint32_t>(entries_.size()) + 4;
    for (const auto& e : entries_) {
      head += half(e.tag) + half(e.type) + big_endian(e.count);
      if (e.value.size() <= 4) {
        head += e.value + std::string(4 - e.value.size(), '\0');
      } else {
        head += big_endian(tail_at + static_cast<std::uint32_t>(tail.size()));
        tail += e.value;
      }
    }
    return head + big_endian(0) + tail;
  }
  static std::string half(std::uint16_t n) { return {static_cast<char>(n >> 8), static_cast<char>(n)}; }

 private:
  struct Entry {
    std::uint16_t tag, type;
    std::uint32_t count;
    std::string value;
  };
  std::vector<Entry> entries_;
};

std::string rational(std::uint32_t above, std::uint32_t below) {
  return big_endian(above) + big_endian(below);
}

}  // namespace

std::string with_exif(const std::string& jpeg) {
  const auto nul = [](std::string text) { return text + '\0'; };
  Ifd taken, place;
  taken.add(0x9003, 2, 20, nul("2026:05:01 12:30:00"));
  place.add(0x0001, 2, 2, nul("N"));
  place.add(0x0002, 5, 3, rational(52, 1) + rational(30, 1) + rational(0, 1));
  place.add(0x0003, 2, 2, nul("W"));
  place.add(0x0004, 5, 3, rational(13, 1) + rational(15, 1) + rational(0, 1));
  const auto first = [&](std::uint32_t taken_at, std::uint32_t place_at) {
    Ifd ifd;
    ifd.add(0x010f, 2, 6, nul("Maker"));
    ifd.add(0x0110, 2, 4, nul("Cam"));
    ifd.add(0x0112, 3, 1, Ifd::half(6));
    ifd.add(0x8769, 4, 1, big_endian(taken_at));
    ifd.add(0x8825, 4, 1, big_endian(place_at));
    return ifd.bytes(8);
  };
  const auto taken_at = 8 + static_cast<std::uint32_t>(first(0, 0).size());
  const auto place_at = taken_at + static_cast<std::uint32_t>(taken.bytes(taken_at).size());
  const auto tiff = std::string("MM\0\x2a", 4) + big_endian(8) + first(taken_at, place_at) +
                    taken.bytes(taken_at) + place.bytes(place_at);
  const auto body = std::string("Exif\0\0", 6) + tiff;
  return jpeg.substr(0, 2) + "\xff\xe1" + Ifd::half(static_cast<std::uint16_t>(body.size() + 2)) + body +
         jpeg.substr(2);
}

std::string png(unsigned width, unsigned height) {
  std::string rows;
  for (unsigned y = 0; y < height; ++y) {
    rows += '\0';
    for (unsigned x = 0; x < width; ++x) rows += {'\x20', '\x80', '\xc0'};
  }
  std::string header = big_endian(width) + big_endian(height);
  header += {8, 2, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", stored(rows)) + chunk("IEND", "");
}

Dimensions jpeg_dimensions(const std::string& jpeg) {
  const auto byte = [&](std::size_t at) {
    return static_cast<unsigned>(static_cast<std::uint8_t>(jpeg[at]));
  };
  if (!jpeg.starts_with("\xff\xd8")) return {};
  for (std::size_t at = 2; at + 9 < jpeg.size() && byte(at) == 0xff;) {
    const auto marker = byte(at + 1);
    if (marker == 0xc0 || marker == 0xc2)
      return {byte(at + 7) << 8 | byte(at + 8), byte(at + 5) << 8 | byte(at + 6)};
    at += 2 + (byte(at + 2) << 8 | byte(at + 3));
  }
  return {};
}

std::string pdf(const std::string& line) {
  const std::string text = "BT /F1 24 Tf 20 100 Td (" + line + ") Tj ET";
  const std::vector<std::string> objects = {
      "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R "
      "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
      "<< /Length " + std::to_string(text.size()) + " >>\nstream\n" + text + "\nendstream"};
  std::string out = "%PDF-1.4\n", table = "0000000000 65535 f \n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto offset = std::to_string(out.size());
    table += std::string(10 - offset.size(), '0') + offset + " 00000 n \n";
    out += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const auto start = std::to_string(out.size());
  return out + "xref\n0 5\n" + table + "trailer << /Size 5 /Root 1 0 R >>\nstartxref\n" + start + "\n%%EOF\n";
}

}  // namespace welkin::tests
