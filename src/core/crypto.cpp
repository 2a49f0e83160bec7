#include "welkin/core/crypto.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include "welkin/core/text.hpp"

namespace welkin::crypto {
namespace {

const unsigned char* raw(ByteView bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

EVP_MD_CTX* as_context(void* p) { return static_cast<EVP_MD_CTX*>(p); }

void start(EVP_MD_CTX* context) {
  if (EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available");
}

}  // namespace

void random_bytes(std::span<std::byte> out) {
  while (!out.empty()) {
    const auto got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno != EINTR) std::abort();  // going on with guessable secrets would be worse
    if (got > 0) out = out.subspan(static_cast<std::size_t>(got));
  }
}

std::string random_token(std::size_t bytes) {
  Bytes buffer(bytes);
  random_bytes(buffer);
  return text::base64url(buffer);
}

Sha256 sha256(ByteView bytes) {
  Sha256 out;
  if (EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 failed");
  return out;
}

Sha256 hmac_sha256(ByteView key, ByteView message) {
  Sha256 out;
  unsigned length = 0;
  // HMAC refuses a null key pointer, also for an empty key.
  static const unsigned char nothing = 0;
  const unsigned char* key_data = key.empty() ? &nothing : raw(key);
  if (!HMAC(EVP_sha256(), key_data, static_cast<int>(key.size()), raw(message), message.size(), out.data(),
            &length))
    throw std::runtime_error("HMAC failed");
  return out;
}

Sha256 hkdf_sha256(ByteView secret, std::string_view purpose) {
  // RFC 5869 with an empty salt and one block of output.
  const Sha256 zero_salt{};
  const Sha256 pseudo_random = hmac_sha256(std::as_bytes(std::span(zero_salt)), secret);
  std::string info(purpose);
  info.push_back('\x01');
  return hmac_sha256(std::as_bytes(std::span(pseudo_random)), as_bytes(info));
}

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  start(as_context(context_));
}
Sha256Stream::~Sha256Stream() { EVP_MD_CTX_free(as_context(context_)); }
Sha256Stream::Sha256Stream(Sha256Stream&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)) {}
Sha256Stream& Sha256Stream::operator=(Sha256Stream&& other) noexcept {
  std::swap(context_, other.context_);
  return *this;
}
void Sha256Stream::update(ByteView bytes) {
  if (EVP_DigestUpdate(as_context(context_), bytes.data(), bytes.size()) != 1)
    throw std::runtime_error("SHA-256 failed");
}
Sha256 Sha256Stream::finish() {
  Sha256 out;
  if (EVP_DigestFinal_ex(as_context(context_), out.data(), nullptr) != 1)
    throw std::runtime_error("SHA-256 failed");
  start(as_context(context_));
  return out;
}

namespace {
const EVP_MD* kind_of(Digest kind) {
  switch (kind) {
    case Digest::md5:
      return EVP_md5();
    case Digest::sha1:
      return EVP_sha1();
    case Digest::sha256:
      return EVP_sha256();
    case Digest::sha512:
      return EVP_sha512();
  }
  return nullptr;
}
}  // namespace

DigestStream::DigestStream(Digest kind) : context_(EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  if (EVP_DigestInit_ex(as_context(context_), kind_of(kind), nullptr) == 1) return;
  EVP_MD_CTX_free(as_context(context_));
  throw std::runtime_error("a digest is not available");
}
DigestStream::~DigestStream() { EVP_MD_CTX_free(as_context(context_)); }
void DigestStream::update(ByteView bytes) {
  if (EVP_DigestUpdate(as_context(context_), bytes.data(), bytes.size()) != 1)
    throw std::runtime_error("a digest failed");
}
Bytes DigestStream::finish() {
  Bytes out(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  if (EVP_DigestFinal_ex(as_context(context_), reinterpret_cast<unsigned char*>(out.data()), &size) != 1)
    throw std::runtime_error("a digest failed");
  out.resize(size);
  return out;
}

}  // namespace welkin::crypto
