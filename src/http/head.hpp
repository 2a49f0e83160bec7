#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/http/message.hpp"

namespace welkin::http {

inline constexpr std::size_t kHeadBytesMax = std::size_t{32} * 1024;   // request line and fields: 431 above
inline constexpr std::size_t kTargetBytesMax = std::size_t{8} * 1024;  // 414 above
inline constexpr std::size_t kFieldsMax = 100;                         // 431 above
inline constexpr std::size_t kMethodBytesMax = 32;

/// Why a request is not looked at any further. The connection closes after the answer: after a fault in the
/// framing nobody knows where the next request begins.
struct Refusal {
  Status status = Status::bad_request;
  const char* slug = "";
  const char* message = "";
};

/// A request line and its fields, checked. Owns its text: the buffer it came from may move on.
struct Head {
  std::string method_token;
  Method method = Method::other;
  std::string target;     // origin form ("/a?b") or "*"; an absolute form is cut down to it
  std::string authority;  // of Host or the absolute form; "" when an HTTP/1.0 request names none
  int minor = 1;          // HTTP/1.x
  Fields fields;
  std::optional<std::uint64_t> content_length;  // nullopt without the field
  bool chunked = false;
  bool keep_alive = true;
  bool expect_continue = false;

  void clear();
  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

/// Reads the head of one request strictly (RFC 9112 §2-§6), as far as its bytes have come. Everything two
/// parsers in a row could understand differently is refused rather than repaired: bare LF or CR, folded
/// lines, blanks before the colon, controls, doubtful or doubled lengths, an encoding beside a length, a Host
/// that is missing, doubled or not the target's. Pure: no clock, no I/O.
class HeadParser {
 public:
  enum class Step { need_more, complete, refused };

  void reset();
  /// @param bytes  everything received since the request began; later calls repeat the bytes and may add some
  Step parse(std::string_view bytes);
  /// After `complete`: bytes of the head with its blank line.
  std::size_t consumed() const { return line_begin_; }
  const Refusal& refusal() const { return refusal_; }
  /// For reasons the bytes do not show: it took too long.
  void refuse(const Refusal& why) { refusal_ = why; }
  /// Whether a byte of a request has been seen (an empty line before it does not count).
  bool begun() const { return begun_; }

  Head head;

 private:
  Step refuse(Status status, const char* slug, const char* message);
  bool request_line(std::string_view line);
  bool absolute_form(std::string_view target);
  bool field_line(std::string_view line);
  Step open_line(std::string_view rest);
  bool finish(std::string_view bytes);
  bool finish_framing();
  bool finish_host();
  bool finish_connection();

  std::size_t line_begin_ = 0;  // of the first line not taken yet
  std::size_t head_begin_ = 0;  // behind an empty line before the request
  std::size_t looked_ = 0;      // no LF before this
  bool begun_ = false;
  bool in_fields_ = false;
  bool skipped_blank_ = false;
  std::string_view scheme_;  // of an absolute form: "http" or "https" (literals)
  std::string target_authority_;
  Refusal refusal_;
};

/// Checks `name: value` without its line end. @return nullptr when it is sound, else what is wrong with it
const char* check_field_line(std::string_view line, std::string_view& name, std::string_view& value);

/// host, host:port, [v6] or [v6]:port, as Host may say it.
bool is_authority(std::string_view s);
/// The host of an authority without its port, brackets kept.
std::string_view host_of(std::string_view authority);

}  // namespace welkin::http
