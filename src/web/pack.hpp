#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::web {

enum class Coding : std::uint8_t { identity, gzip, br };

/// A file of the app. The views point into the pack. An empty coded form: not smaller than the plain one.
struct Asset {
  std::string_view path;  // "_app/immutable/entry/start.x.js"
  std::string_view type;  // of the media
  std::string_view tag;   // hexadecimal, of its bytes
  std::string_view plain, gzip, br;

  /// The shortest form that a client takes who says so in Accept-Encoding (RFC 9110 §12.5.3).
  Coding choose(std::string_view accept_encoding) const;
  std::string_view form(Coding coding) const;
  bool is_named_by_content() const { return path.starts_with("_app/immutable/"); }
};

/// What frontend/pack.mjs writes: lines of text, tabs between fields, an empty line, then all bytes in order.
///   welkin-web 1
///   page TAB pattern                                             of the router, "/files/{id}"
///   file TAB path TAB type TAB tag TAB plain TAB gzip TAB br     lengths in bytes, 0: not there
struct Pack {
  std::vector<std::string> pages;
  std::vector<Asset> assets;

  const Asset* find(std::string_view path) const;
};

/// @throws std::runtime_error
Pack read_pack(std::string_view bytes);

/// What the linker put into this binary; empty: the app was not built.
std::string_view packed_app();

}  // namespace welkin::web
