#include "http/request_id.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "welkin/core/crypto.hpp"

namespace welkin::http {
namespace {

/// Random bytes bought by the page: one call a request would cost more than the rest of the head.
class RandomPage {
 public:
  const std::byte* take(std::size_t bytes) {
    if (at_ + bytes > page_.size()) {
      crypto::random_bytes(page_);
      at_ = 0;
    }
    const auto* out = page_.data() + at_;
    at_ += bytes;
    return out;
  }

 private:
  std::array<std::byte, 4096> page_;
  std::size_t at_ = sizeof page_;
};

}  // namespace

bool is_request_id(std::string_view s) {
  if (s.empty() || s.size() > 64) return false;
  for (const char c : s) {
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!alnum && c != '.' && c != '_' && c != '-') return false;
  }
  return true;
}

void make_request_id(std::string& out) {
  thread_local RandomPage random;
  std::array<std::uint8_t, 16> id;
  const auto ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                 std::chrono::system_clock::now().time_since_epoch())
                                                 .count());
  for (unsigned i = 0; i < 6; ++i) id[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  const auto* bytes = random.take(10);
  for (unsigned i = 0; i < 10; ++i) id[6 + i] = static_cast<std::uint8_t>(bytes[i]);
  id[6] = static_cast<std::uint8_t>(0x70 | (id[6] & 0x0f));
  id[8] = static_cast<std::uint8_t>(0x80 | (id[8] & 0x3f));
  static constexpr char kHex[] = "0123456789abcdef";
  out.resize(36);
  std::size_t at = 0;
  for (unsigned i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out[at++] = '-';
    out[at++] = kHex[id[i] >> 4];
    out[at++] = kHex[id[i] & 15];
  }
}

}  // namespace welkin::http
