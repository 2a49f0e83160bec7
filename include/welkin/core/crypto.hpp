#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "welkin/core/bytes.hpp"

namespace welkin::crypto {

/// Fills `out` from the operating system's generator. Ends the process only if there is no entropy at all.
void random_bytes(std::span<std::byte> out);
/// `bytes` random bytes as base64url text: 32 give a 43-letter secret of 256 bits.
std::string random_token(std::size_t bytes);

Sha256 sha256(ByteView bytes);
inline Sha256 sha256(std::string_view text) { return sha256(as_bytes(text)); }
Sha256 hmac_sha256(ByteView key, ByteView message);
/// RFC 5869 with SHA-256: one key per purpose out of one secret.
Sha256 hkdf_sha256(ByteView secret, std::string_view purpose);

/// Running SHA-256.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void update(ByteView bytes);
  /// Ends the stream and starts a new one.
  Sha256 finish();

 private:
  void* context_;
};

/// What clients announce of a body beside SHA-256. The first two protect against accidents only.
enum class Digest : std::uint8_t { md5, sha1, sha256, sha512 };

/// Running digest of any of these kinds.
class DigestStream {
 public:
  explicit DigestStream(Digest kind);
  ~DigestStream();
  DigestStream(const DigestStream&) = delete;
  DigestStream& operator=(const DigestStream&) = delete;
  void update(ByteView bytes);
  /// Call once, at the end.
  Bytes finish();

 private:
  void* context_;
};

}  // namespace welkin::crypto
