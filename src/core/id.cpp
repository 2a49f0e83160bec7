#include "welkin/core/id.hpp"

#include <openssl/evp.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "welkin/core/error.hpp"

namespace welkin {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr std::size_t kTextLength = 36;

bool is_dash_position(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

using Block = std::array<unsigned char, 16>;

struct ContextFree {
  void operator()(EVP_CIPHER_CTX* c) const { EVP_CIPHER_CTX_free(c); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, ContextFree>;

Context make_context(const std::array<std::uint8_t, 16>& key, bool encrypt) {
  Context context(EVP_CIPHER_CTX_new());
  if (!context ||
      EVP_CipherInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, key.data(), nullptr, encrypt) != 1)
    throw std::runtime_error("AES-128 is not available");
  EVP_CIPHER_CTX_set_padding(context.get(), 0);
  return context;
}

}  // namespace

// A cipher context is not for two threads at once, so each thread keeps a copy of the keyed one: copying per
// call would cost more than the block itself.
struct PublicIds::Keys {
  Context encrypt, decrypt;
  std::uint64_t serial;

  static std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  Block apply(bool encrypting, const Block& in) const {
    struct Copy {
      std::uint64_t serial = 0;
      Context encrypt, decrypt;
    };
    thread_local Copy copy;
    if (copy.serial != serial) {
      copy.encrypt.reset(EVP_CIPHER_CTX_new());
      copy.decrypt.reset(EVP_CIPHER_CTX_new());
      if (EVP_CIPHER_CTX_copy(copy.encrypt.get(), encrypt.get()) != 1 ||
          EVP_CIPHER_CTX_copy(copy.decrypt.get(), decrypt.get()) != 1)
        throw std::runtime_error("AES-128 failed");
      copy.serial = serial;
    }
    Block out;
    int length = 0;
    auto* context = encrypting ? copy.encrypt.get() : copy.decrypt.get();
    if (EVP_CipherUpdate(context, out.data(), &length, in.data(), 16) != 1 || length != 16)
      throw std::runtime_error("AES-128 failed");
    return out;
  }
};

PublicIds::PublicIds(const std::array<std::uint8_t, 16>& key)
    : keys_(new Keys{make_context(key, true), make_context(key, false), Keys::next_serial()}) {}
PublicIds::~PublicIds() { delete keys_; }

std::string PublicIds::encode(IdKind kind, std::int64_t key) const {
  Block plain{};
  plain[0] = static_cast<unsigned char>(kind);
  auto bits = static_cast<std::uint64_t>(key);
  for (std::size_t i = 16; i-- > 8; bits >>= 8) plain[i] = static_cast<unsigned char>(bits & 0xff);
  const Block sealed = keys_->apply(true, plain);
  std::string out(kTextLength, '-');
  std::size_t at = 0;
  for (const unsigned char byte : sealed) {
    if (is_dash_position(at)) ++at;
    out[at++] = kDigits[byte >> 4];
    out[at++] = kDigits[byte & 15];
  }
  return out;
}

std::optional<std::int64_t> PublicIds::decode(IdKind kind, std::string_view text) const {
  const auto refuse = [] { throw Error(Errc::invalid, "bad_id", "not a valid id"); };
  if (text.size() != kTextLength) refuse();
  Block sealed{};
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i)) {
      if (text[i] != '-') refuse();
      continue;
    }
    const int value = digit(text[i]);
    if (value < 0) refuse();
    sealed[nibble / 2] = static_cast<unsigned char>(sealed[nibble / 2] << 4 | value);
    ++nibble;
  }
  const Block plain = keys_->apply(false, sealed);
  if (plain[0] != static_cast<unsigned char>(kind)) return std::nullopt;
  for (std::size_t i = 1; i < 8; ++i)
    if (plain[i] != 0) return std::nullopt;
  std::uint64_t key = 0;
  for (std::size_t i = 8; i < 16; ++i) key = key << 8 | plain[i];
  if (key == 0 || key > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<std::int64_t>(key);
}

}  // namespace welkin
