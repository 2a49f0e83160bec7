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

}  // namespace

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
