#include "content_line.hpp"

#include <algorithm>

#include "ical_scan.hpp"

namespace welkin::wire {
namespace {

constexpr std::size_t kNameMax = 255;

class Reading {
 public:
  Reading(std::string_view line, const LineRules& rules) : line_(line), rules_(rules) {}

  const char* read(ContentLine& out) {
    if (!name(":;", out.name)) return fault_;
    if (rules_.has_groups) take_group(out);
    while (at_ < line_.size() && line_[at_] == ';') {
      ++at_;
      if (at_ < line_.size() && (line_[at_] == ':' || line_[at_] == ';')) continue;  // "TEL;;HOME:", "TEL;:"
      if (out.parameters.size() >= rules_.parameters_max) return "it has too many parameters";
      if (!parameter(out.parameters.emplace_back())) return fault_;
    }
    if (at_ == line_.size() || line_[at_] != ':') return "there is no ':' behind the name";
    out.value = line_.substr(at_ + 1);
    return nullptr;
  }

 private:
  bool fail(const char* why) {
    fault_ = why;
    return false;
  }

  bool name(std::string_view ends, std::string& out) {
    const std::size_t from = at_;
    while (at_ < line_.size() && ends.find(line_[at_]) == std::string_view::npos) {
      const auto c = static_cast<unsigned char>(line_[at_]);
      if (c <= ' ' || c >= 0x7f || c == '"' || c == ',')
        return fail("a name holds a character that names cannot have");
      if (++at_ - from > kNameMax) return fail("a name is too long");
    }
    if (at_ == from) return fail("a name is missing");
    out = upper(line_.substr(from, at_ - from));
    return true;
  }

  void take_group(ContentLine& out) {
    const auto dot = out.name.rfind('.');
    if (dot == std::string::npos || dot + 1 == out.name.size()) return;
    out.group = line_.substr(0, dot);
    out.name.erase(0, dot + 1);
  }

  bool parameter(IcalParameter& out) {
    if (!name("=:;", out.name)) return false;
    if (at_ == line_.size() || line_[at_] != '=') return true;
    do {
      ++at_;
      if (!value(out.values.emplace_back())) return false;
    } while (at_ < line_.size() && line_[at_] == ',');
    return true;
  }

  std::string decoded(std::string_view raw) const {
    return rules_.has_carets ? decode_caret(raw) : std::string(raw);
  }

  bool value(std::string& out) {
    const bool quoted = at_ < line_.size() && line_[at_] == '"';
    if (quoted) {
      const auto end = line_.find('"', at_ + 1);
      if (end == std::string_view::npos) return fail("a quote is not closed");
      out = decoded(line_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
    }
    // Behind a closing quote some writers go on; that text belongs to the value.
    const auto end = std::min(line_.find_first_of(",;:", at_), line_.size());
    out += decoded(line_.substr(at_, end - at_));
    at_ = end;
    return true;
  }

  std::string_view line_;
  const LineRules& rules_;
  std::size_t at_ = 0;
  const char* fault_ = nullptr;
};

}  // namespace

const char* read_content_line(std::string_view line, const LineRules& rules, ContentLine& out) {
  return Reading(line, rules).read(out);
}

}  // namespace welkin::wire
