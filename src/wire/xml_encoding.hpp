#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace welkin::wire {

/// Makes UTF-8 of a document that comes in pieces: UTF-8 with or without a mark, UTF-16 with one (XML 1.0
/// appendix F). What the document declares is compared, never trusted.
/// @throws Error invalid `bad_xml` for other encodings and for bytes that are not in theirs
class Utf8Decoder {
 public:
  /// @param charset  "" when nobody said
  explicit Utf8Decoder(std::string_view charset);
  void add(std::string_view piece, std::string& out);
  void finish(std::string& out);

 private:
  enum class Form : std::uint8_t { unknown, utf8, utf16_little, utf16_big };
  void choose();
  void decode(std::string& out);
  void check_declaration(std::string& out, bool at_end);
  void put(std::uint32_t unit, std::string& out);

  std::string charset_;
  std::string head_;     // bytes not decoded yet
  std::string opening_;  // the beginning of the text, kept back until its declaration has been read
  Form form_ = Form::unknown;
  bool declaration_read_ = false;
  std::uint32_t high_ = 0;  // a surrogate that waits for its other half
};

}  // namespace welkin::wire
