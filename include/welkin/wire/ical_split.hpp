#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::wire {

/// Takes a file of many calendars or cards apart while its bytes arrive, so that one broken piece does not
/// cost the others. Looks at BEGIN and END only; what is in a piece is for parse_ical and parse_card.
class ComponentSplitter {
 public:
  /// Whole components: VEVENTs, VTODOs, VTIMEZONEs of VCALENDARs, or VCARDs.
  enum class Of : bool { calendars, cards };
  enum class Fault : unsigned char {
    none,
    unpaired,  // BEGIN and END do not fit, or the file ends inside
    large,     // longer than pieces may be; the text is cut
  };
  struct Piece {
    std::string name;  // upper case
    std::string text;  // from BEGIN to END, octet by octet
    std::size_t line;  // where it begins, from 1
    Fault fault = Fault::none;
  };

  ComponentSplitter(Of of, std::size_t piece_bytes_max) : of_(of), piece_bytes_max_(piece_bytes_max) {}

  void feed(std::string_view piece);
  /// After the last piece.
  void finish();
  /// What is whole by now, in its order.
  std::vector<Piece> take();
  /// Whether there was anything of the kind in it at all.
  bool has_seen_any() const { return has_seen_any_; }

 private:
  void line(std::string_view text);
  void begin(std::string_view name);
  void end(std::string_view name);
  void close(Fault fault);
  bool is_inside() const { return open_.size() >= depth(); }
  std::size_t depth() const { return of_ == Of::calendars ? 2 : 1; }

  Of of_;
  std::size_t piece_bytes_max_;
  std::string rest_;               // a line that has not ended yet
  std::vector<std::string> open_;  // names
  Piece current_{};
  bool is_after_agent_ = false;
  bool has_seen_any_ = false;
  std::size_t number_ = 0;
  std::vector<Piece> done_;
};

}  // namespace welkin::wire
