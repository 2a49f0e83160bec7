#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace welkin::wire {

/// What iCalendar and vCard share on their way in and out: lines folded with a blank (RFC 5545 §3.1, RFC 6350
/// §3.2), parameters escaped with "^" (RFC 6868).

/// Why a line, unfolded, is refused: not UTF-8, or characters that XML cannot say; nullptr: it is fine.
/// Before it is unfolded nothing can be told, for old writers fold inside of code points.
const char* text_fault(std::string_view text);

/// Without its byte order mark.
std::string_view without_mark(std::string_view text);

/// Lines with their folds taken out. A line that was not folded is a view into the text, so that no byte of
/// it is copied; views hold until the next call.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> next();
  /// As next(), by the ways of vCard: quoted-printable goes on behind a "=" at the end of a line, whatever
  /// comes next (vCard 2.1 §2.1.3), and before 3.0 the blank of a fold belongs to the text (`keeps_blank`).
  std::optional<std::string_view> next_of_card(bool keeps_blank);
  /// The next line only, however it begins.
  std::optional<std::string_view> next_physical();
  /// What is left, to look ahead in.
  std::string_view rest() const { return rest_; }
  /// Where the last one begins, from 1.
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string unfolded_;
  std::size_t number_ = 0, lines_ = 0;
};

/// ASCII only.
std::string upper(std::string_view s);

/// "^n", "^^" and "^'" undone (RFC 6868 §3.1).
std::string decode_caret(std::string_view value);
/// Encoded, and in quotes where it needs them.
void append_parameter_value(std::string& out, std::string_view value);
/// The line, folded at 75 octets and never inside a code point, and its end.
void append_folded(std::string& out, std::string_view line, std::string_view eol);

}  // namespace welkin::wire
