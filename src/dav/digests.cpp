#include "dav/digests.hpp"

#include <algorithm>
#include <optional>

#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/http/upload_headers.hpp"

namespace welkin::dav {
namespace {

[[noreturn]] void mismatch() {
  throw Error(Errc::invalid, "digest_mismatch", "The body does not have the announced digest");
}

/// RFC 1950 §8.2.
class Adler32 {
 public:
  void update(ByteView bytes) {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), kBytesBeforeOverflow));
      for (const auto b : part) b_ += a_ += std::to_integer<std::uint32_t>(b);
      a_ %= kModulus;
      b_ %= kModulus;
      bytes = bytes.subspan(part.size());
    }
  }
  Bytes finish() const {
    Bytes out;
    for (const auto half : {b_, a_}) {
      out.push_back(static_cast<std::byte>(half >> 8));
      out.push_back(static_cast<std::byte>(half & 0xff));
    }
    return out;
  }

 private:
  static constexpr std::uint32_t kModulus = 65521;
  static constexpr std::size_t kBytesBeforeOverflow = 5552;
  std::uint32_t a_ = 1, b_ = 0;
};

std::optional<crypto::Digest> kind_of(std::string_view algorithm) {
  if (algorithm == "md5") return crypto::Digest::md5;
  if (algorithm == "sha-1") return crypto::Digest::sha1;
  if (algorithm == "sha-512") return crypto::Digest::sha512;
  return std::nullopt;  // adler32
}

}  // namespace

struct BodyDigests::Running {
  explicit Running(http::DeclaredDigest wanted) : declared(std::move(wanted)) {
    if (const auto kind = kind_of(declared.algorithm)) stream.emplace(*kind);
  }
  http::DeclaredDigest declared;
  std::optional<crypto::DigestStream> stream;
  Adler32 adler;
};

BodyDigests::BodyDigests(const http::Fields& headers) {
  auto all = http::declared_digests(headers);
  for (auto& older : http::declared_checksums(headers)) all.push_back(std::move(older));
  for (auto& declared : all) {
    if (declared.algorithm != "sha-256") {
      running_.push_back(std::make_unique<Running>(std::move(declared)));
      continue;
    }
    Sha256 value;
    std::transform(declared.value.begin(), declared.value.end(), value.begin(),
                   [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
    if (sha256_ && *sha256_ != value) mismatch();
    sha256_ = value;
  }
}
BodyDigests::~BodyDigests() = default;

Bytes BodyDigests::sha1() const {
  for (const auto& one : running_) {
    if (one->declared.algorithm == "sha-1") return one->declared.value;
  }
  return {};
}

void BodyDigests::update(ByteView bytes) {
  for (auto& one : running_) {
    if (one->stream) {
      one->stream->update(bytes);
    } else {
      one->adler.update(bytes);
    }
  }
}

void BodyDigests::require_match() {
  for (auto& one : running_) {
    const Bytes found = one->stream ? one->stream->finish() : one->adler.finish();
    if (found != one->declared.value) mismatch();
  }
}

}  // namespace welkin::dav
