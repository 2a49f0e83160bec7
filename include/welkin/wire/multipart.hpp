#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/core/bytes.hpp"

namespace welkin::wire {

/// Head of one part of a multipart/form-data body (RFC 7578).
struct FormPart {
  std::string name;  // "" when the part has none
  /// Last segment of the client's file name, so "C:\x\a.txt" and "../a.txt" are "a.txt"; may be "". From
  /// filename* (RFC 8187) when that is there too. nullopt: a plain field.
  std::optional<std::string> filename;
  std::string content_type;  // as sent; "" when absent
};

/// Reads a multipart/form-data body piece by piece: no part is ever held as a whole, memory is bounded by the
/// pieces of the source and the longest part head.
///
///   MultipartReader form(request, request.header("content-type"));
///   while (auto part = co_await form.next()) { ... co_await form.read() ... }
///
/// Everything malformed is Error invalid `bad_multipart`; a body that ends before its last boundary too.
class MultipartReader final : public ByteSource {
 public:
  static constexpr std::size_t kHeadBytesMax = 8 << 10;     // all header lines of one part
  static constexpr std::size_t kOutsideBytesMax = 8 << 10;  // before the first and after the last boundary
  static constexpr std::size_t kPartsMax = 256;

  /// @param content_type  of the request
  /// @throws Error unsupported_media_type `not_multipart` when it is another type; invalid `bad_multipart`
  /// without a
  ///         usable boundary (RFC 2046 §5.1.1: 1..70 characters)
  MultipartReader(ByteSource& source, std::string_view content_type);
  ~MultipartReader() override;

  /// The head of the next part; what is left of the one before is skipped. nullopt: the body has ended
  /// properly.
  /// @throws Error invalid `bad_multipart`, and what the source throws
  Task<std::optional<FormPart>> next();
  /// The next piece of the current part, valid until the next call; empty at its end.
  Task<ByteView> read() override;
  /// The whole current part. @throws Error too_large `field_too_large`
  Task<std::string> text(std::size_t bytes_max);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace welkin::wire
