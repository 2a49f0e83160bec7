#pragma once
#include <cstdint>

#include "welkin/core/bytes.hpp"

namespace welkin::blobs {

/// CRC-32 as zip and gzip have it (reflected 0xEDB88320), continued from `crc`; 0 starts. Uses carry-less
/// multiplication where the processor has it, zlib elsewhere.
std::uint32_t crc32(std::uint32_t crc, ByteView bytes);
/// zlib's: what `crc32` is measured and proved against.
std::uint32_t crc32_plain(std::uint32_t crc, ByteView bytes);
/// The CRC of a followed by b, from that of each and the length of b.
std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes);

}  // namespace welkin::blobs
