#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

/// Integers in network byte order, as PostgreSQL's binary format has them.
namespace welkin::db::wire {

template <class T>
T swapped(T v) {
  static_assert(std::endian::native == std::endian::little, "written for little-endian machines");
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(v)));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(v)));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(v)));
}

template <class T>
T load(const char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return swapped(v);
}

template <class T>
void append(std::string& to, T v) {
  const T net = swapped(v);
  to.append(reinterpret_cast<const char*>(&net), sizeof net);
}

}  // namespace welkin::db::wire
