#pragma once
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <stdexcept>
#include <string>

namespace welkin::test {

/// Everything that can be decoded so far; `whole` tells whether the end was there.
inline std::string gunzip(const std::string& coded, bool* whole = nullptr) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 16) != Z_OK) throw std::runtime_error("inflateInit2");
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  z.avail_in = static_cast<uInt>(coded.size());
  std::string out;
  std::array<char, 16384> step;
  int result;
  do {
    z.next_out = reinterpret_cast<Bytef*>(step.data());
    z.avail_out = step.size();
    result = inflate(&z, Z_SYNC_FLUSH);
    out.append(step.data(), step.size() - z.avail_out);
  } while (result == Z_OK && z.avail_out == 0);
  inflateEnd(&z);
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) throw std::runtime_error("not gzip");
  if (whole) *whole = result == Z_STREAM_END;
  return out;
}

inline std::string unzstd(const std::string& coded, bool* whole = nullptr) {
  ZSTD_DCtx* z = ZSTD_createDCtx();
  ZSTD_inBuffer in{coded.data(), coded.size(), 0};
  std::string out;
  std::array<char, 16384> step;
  std::size_t left = 1;
  for (;;) {
    ZSTD_outBuffer to{step.data(), step.size(), 0};
    left = ZSTD_decompressStream(z, &to, &in);
    if (ZSTD_isError(left)) break;
    out.append(step.data(), to.pos);
    if (in.pos == in.size && to.pos < to.size) break;
  }
  ZSTD_freeDCtx(z);
  if (ZSTD_isError(left)) throw std::runtime_error("not zstd");
  if (whole) *whole = left == 0;
  return out;
}

}  // namespace welkin::test
