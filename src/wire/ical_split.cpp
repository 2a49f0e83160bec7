#include "welkin/wire/ical_split.hpp"

#include <algorithm>

#include "ical_scan.hpp"
#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

constexpr std::size_t kOpenMax = 64;

/// The value of "BEGIN:x" and "END:x", in upper case; "" for any other line.
std::string value_of(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || !text::iequals(line.substr(0, name.size()), name)) return {};
  line.remove_prefix(name.size());
  return upper(text::trim(line));
}

}  // namespace

void ComponentSplitter::feed(std::string_view piece) {
  while (!piece.empty()) {
    const auto at = piece.find('\n');
    if (at == std::string_view::npos) {
      // A line without end is cut where no piece could be that long.
      if (rest_.size() <= piece_bytes_max_) rest_ += piece;
      return;
    }
    if (rest_.empty()) {
      line(piece.substr(0, at + 1));
    } else {
      if (rest_.size() <= piece_bytes_max_) rest_ += piece.substr(0, at + 1);
      line(rest_);
      rest_.clear();
    }
    piece.remove_prefix(at + 1);
  }
}

void ComponentSplitter::finish() {
  if (!rest_.empty()) line(rest_);
  rest_.clear();
  if (is_inside()) close(Fault::unpaired);
  open_.clear();
}

std::vector<ComponentSplitter::Piece> ComponentSplitter::take() { return std::exchange(done_, {}); }

void ComponentSplitter::line(std::string_view text) {
  ++number_;
  if (number_ == 1) text = without_mark(text);
  const auto begun = value_of(text, "BEGIN:");
  // A card that begins inside of another is its AGENT (vCard 2.1), or the other never ended.
  const bool begins_anew = !begun.empty() && ((of_ == Of::calendars && begun == "VCALENDAR") ||
                                              (of_ == Of::cards && begun == "VCARD" && !is_after_agent_));
  if (begins_anew && !open_.empty()) {
    if (is_inside()) close(Fault::unpaired);
    open_.clear();
  }
  if (!begun.empty()) begin(begun);
  if (is_inside() && current_.fault != Fault::large) {
    if (current_.text.size() + text.size() > piece_bytes_max_) {
      current_.fault = Fault::large;
    } else {
      current_.text += text;
    }
  }
  if (const auto ended = value_of(text, "END:"); !ended.empty()) end(ended);
  if (!text::trim(text).empty()) is_after_agent_ = text::iequals(text.substr(0, 5), "AGENT");
}

void ComponentSplitter::begin(std::string_view name) {
  if (open_.empty() && name != (of_ == Of::calendars ? "VCALENDAR" : "VCARD")) return;
  if (open_.size() >= kOpenMax) {
    current_.fault = std::max(current_.fault, Fault::unpaired);
    return;
  }
  open_.emplace_back(name);
  has_seen_any_ = true;
  if (open_.size() != depth()) return;
  current_ = {};
  current_.name = name;
  current_.line = number_;
}

void ComponentSplitter::end(std::string_view name) {
  if (open_.empty()) return;
  const bool was_inside = is_inside();
  const auto fits = std::find(open_.rbegin(), open_.rend(), name);
  if (fits == open_.rend() || fits != open_.rbegin())
    current_.fault = std::max(current_.fault, Fault::unpaired);
  if (fits == open_.rend()) return;
  open_.erase(std::next(fits).base(), open_.end());
  if (was_inside && !is_inside()) close(current_.fault);
}

void ComponentSplitter::close(Fault fault) {
  current_.fault = std::max(current_.fault, fault);
  done_.push_back(std::exchange(current_, {}));
}

}  // namespace welkin::wire
