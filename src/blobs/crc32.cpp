#include "blobs/crc32.hpp"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace welkin::blobs {
namespace {

#if defined(__x86_64__)

// Powers of x modulo the polynomial, bit-reflected, as folding over a distance of 512 and of 128 bits needs
// them
// ("Fast CRC computation for generic polynomials using PCLMULQDQ", Intel 2009, table for the gzip
// polynomial).
constexpr long long kFold512Low = 0x0154442bd4, kFold512High = 0x01c6e41596;
constexpr long long kFold128Low = 0x01751997d0, kFold128High = 0x00ccaa009e;
constexpr long long kFold64 = 0x0163cd6124;
constexpr long long kPolynomial = 0x01db710641, kBarrett = 0x01f7011641;

using Lane = __m128i;

__attribute__((target("pclmul,sse4.1"))) inline Lane fold(Lane x, Lane key, Lane next) {
  const Lane low = _mm_clmulepi64_si128(x, key, 0x00);
  const Lane high = _mm_clmulepi64_si128(x, key, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

inline Lane load(const std::byte* p) { return _mm_loadu_si128(reinterpret_cast<const Lane*>(p)); }

/// Brings 128 bits down to the 32 of the CRC: two folds, then a Barrett reduction.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t reduce(Lane x) {
  const Lane mask32 = _mm_setr_epi32(-1, 0, -1, 0);
  const Lane key128 = _mm_set_epi64x(kFold128High, kFold128Low);
  x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, key128, 0x10));
  const Lane key64 = _mm_set_epi64x(0, kFold64);
  x = _mm_xor_si128(_mm_srli_si128(x, 4), _mm_clmulepi64_si128(_mm_and_si128(x, mask32), key64, 0x00));
  const Lane field = _mm_set_epi64x(kBarrett, kPolynomial);
  Lane t = _mm_clmulepi64_si128(_mm_and_si128(x, mask32), field, 0x10);
  t = _mm_clmulepi64_si128(_mm_and_si128(t, mask32), field, 0x00);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(x, t), 1));
}

/// @param bytes  a multiple of 64, at least 64 bytes; `state` is the inverted CRC, before and after
__attribute__((target("pclmul,sse4.1"))) std::uint32_t fold_blocks(std::uint32_t state, ByteView bytes) {
  const std::byte* p = bytes.data();
  const std::byte* end = p + bytes.size();
  Lane a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(static_cast<int>(state)));
  Lane b = load(p + 16), c = load(p + 32), d = load(p + 48);
  const Lane key512 = _mm_set_epi64x(kFold512High, kFold512Low);
  for (p += 64; p != end; p += 64) {
    a = fold(a, key512, load(p));
    b = fold(b, key512, load(p + 16));
    c = fold(c, key512, load(p + 32));
    d = fold(d, key512, load(p + 48));
  }
  const Lane key128 = _mm_set_epi64x(kFold128High, kFold128Low);
  return reduce(fold(fold(fold(a, key128, b), key128, c), key128, d));
}

bool has_carryless_multiplication() {
  static const bool has = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return has;
}

#endif

}  // namespace

std::uint32_t crc32_plain(std::uint32_t crc, ByteView bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32(std::uint32_t crc, ByteView bytes) {
#if defined(__x86_64__)
  const std::size_t whole = bytes.size() & ~std::size_t{63};
  if (whole > 0 && has_carryless_multiplication()) {
    crc = ~fold_blocks(~crc, bytes.first(whole));
    bytes = bytes.subspan(whole);
  }
#endif
  // zlib takes a null pointer as "start anew".
  return bytes.empty() ? crc : crc32_plain(crc, bytes);
}

std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes) {
  return static_cast<std::uint32_t>(::crc32_combine(a, b, static_cast<z_off_t>(b_bytes)));
}

}  // namespace welkin::blobs
