#include "welkin/core/crypto.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "welkin/core/text.hpp"

namespace welkin::crypto {
namespace {

const unsigned char* raw(ByteView bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

EVP_MD_CTX* as_context(void* p) { return static_cast<EVP_MD_CTX*>(p); }

/// Fetched once: EVP_sha256() and its like are looked up again, under a lock, each time they are used.
EVP_MD* fetched(const char* name) {
  EVP_MD* digest = EVP_MD_fetch(nullptr, name, nullptr);
  if (!digest) throw std::runtime_error(std::string(name) + " is not available");
  return digest;
}

const EVP_MD* fetched_sha256() {
  static const EVP_MD* digest = fetched("SHA256");
  return digest;
}

void start(EVP_MD_CTX* context) {
  if (EVP_DigestInit_ex2(context, fetched_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available");
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

EVP_MAC_CTX* new_hmac_sha256() {
  static EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  if (!hmac) throw std::runtime_error("HMAC is not available");
  std::unique_ptr<EVP_MAC_CTX, FreeContext> context(EVP_MAC_CTX_new(hmac));
  if (!context) throw std::bad_alloc();
  std::string digest = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                               OSSL_PARAM_construct_end()};
  if (EVP_MAC_CTX_set_params(context.get(), params) != 1)
    throw std::runtime_error("HMAC with SHA-256 is not available");
  return context.release();
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
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  if (!context) throw std::bad_alloc();
  start(context.get());
  Sha256 out;
  if (EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), out.data(), nullptr) != 1)
    throw std::runtime_error("SHA-256 failed");
  return out;
}

Sha256 hmac_sha256(ByteView key, ByteView message) {
  // A context for each thread, with its digest chosen once: finding both anew costs more than hashing a
  // password.
  thread_local const std::unique_ptr<EVP_MAC_CTX, FreeContext> context(new_hmac_sha256());
  // An empty key must not be a null pointer: that means the key before.
  static const unsigned char nothing = 0;
  const unsigned char* key_data = key.empty() ? &nothing : raw(key);
  Sha256 out;
  std::size_t length = 0;
  if (EVP_MAC_init(context.get(), key_data, key.size(), nullptr) != 1 ||
      EVP_MAC_update(context.get(), raw(message), message.size()) != 1 ||
      EVP_MAC_final(context.get(), out.data(), &length, out.size()) != 1)
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
  static const EVP_MD *const md5 = fetched("MD5"), *const sha1 = fetched("SHA1"),
                             *const sha512 = fetched("SHA512");
  switch (kind) {
    case Digest::md5:
      return md5;
    case Digest::sha1:
      return sha1;
    case Digest::sha256:
      return fetched_sha256();
    case Digest::sha512:
      return sha512;
  }
  return nullptr;
}
}  // namespace

DigestStream::DigestStream(Digest kind) : context_(EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  if (EVP_DigestInit_ex2(as_context(context_), kind_of(kind), nullptr) == 1) return;
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
