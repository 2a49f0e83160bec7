#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace welkin::http {

enum class Encoding : unsigned char { identity, gzip, zstd };
std::string_view to_string(Encoding e);

/// Bodies below this gain nothing.
inline constexpr std::size_t kCompressBytesMin = 1024;

/// The best coding that an Accept-Encoding value allows (RFC 9110 §12.5.3): the highest weight wins, zstd
/// before gzip at equal weight; identity when neither is acceptable, malformed weights count as refusals.
Encoding choose_encoding(std::string_view accept_encoding);

/// Text, JSON, XML, JavaScript, SVG: types that shrink. Never media, archives, PDF, octet-stream or event
/// streams.
bool is_compressible(std::string_view content_type);

/// A running compressor. Made and used on one thread; the expensive part is kept there for the next body.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Appends what is ready to `out`.
  virtual void add(std::string_view bytes, std::string& out) = 0;
  /// Everything added so far can be decoded from `out`.
  virtual void flush(std::string& out) = 0;
  virtual void finish(std::string& out) = 0;
};
std::unique_ptr<Encoder> make_encoder(Encoding e);

}  // namespace welkin::http
