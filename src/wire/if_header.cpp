#include "welkin/wire/if_header.hpp"

namespace welkin::wire {
namespace {

/// Reads the value from the left; `fault` stays with the first thing that is wrong.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  IfParsed read() {
    IfParsed out;
    skip_blanks();
    if (rest_.empty()) fail("it is empty");
    const bool tagged = starts_with('<');
    while (!fault_ && !rest_.empty()) {
      if (starts_with('<')) {
        if (!tagged) fail("lists with and without a resource are mixed");
        resource_ = take_bracketed();
        skip_blanks();
      }
      if (!starts_with('('))
        fail(tagged ? "a resource must be followed by a list" : "a list starts with '('");
      if (fault_) break;
      if (out.header.lists.size() == kIfListsMax) {
        fail("it holds too many lists");
        break;
      }
      out.header.lists.push_back(take_list(tagged));
      skip_blanks();
    }
    out.fault = fault_;
    return out;
  }

 private:
  bool starts_with(char c) const { return rest_.starts_with(c); }
  void fail(const char* what) {
    if (!fault_) fault_ = what;
  }
  void skip_blanks() {
    const auto first = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(first == rest_.npos ? rest_.size() : first);
  }

  /// `<...>`, without the brackets.
  std::string take_bracketed() {
    const auto end = rest_.find('>');
    if (end == rest_.npos) {
      fail("a '<' is not closed");
      return {};
    }
    std::string inside(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    if (inside.empty()) fail("an empty '<>' names nothing");
    if (inside.find('<') != inside.npos) fail("a '<' is not closed");
    return inside;
  }

  /// `[entity-tag]`, without the brackets; an opaque tag may hold any bracket itself.
  std::string take_etag() {
    rest_.remove_prefix(1);
    skip_blanks();
    const std::size_t open = rest_.starts_with("W/") ? 2 : 0;
    const auto close = rest_.size() > open && rest_[open] == '"' ? rest_.find('"', open + 1) : rest_.npos;
    if (close == rest_.npos) {
      fail("an entity tag must stand in quotes");
      return {};
    }
    std::string tag(rest_.substr(0, close + 1));
    rest_.remove_prefix(close + 1);
    skip_blanks();
    if (!starts_with(']')) {
      fail("a '[' is not closed");
      return {};
    }
    rest_.remove_prefix(1);
    return tag;
  }

  bool take_not() {
    if (rest_.size() < 3) return false;
    const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
    if (lower(rest_[0]) != 'n' || lower(rest_[1]) != 'o' || lower(rest_[2]) != 't') return false;
    rest_.remove_prefix(3);
    skip_blanks();
    return true;
  }

  IfList take_list(bool tagged) {
    IfList list;
    list.tagged = tagged;
    list.resource = resource_;
    rest_.remove_prefix(1);  // the '('
    for (;;) {
      skip_blanks();
      if (fault_) return list;
      if (starts_with(')')) break;
      if (list.conditions.size() == kIfConditionsMax) {
        fail("a list holds too many conditions");
        return list;
      }
      IfCondition condition;
      condition.negated = take_not();
      condition.is_etag = starts_with('[');
      if (!condition.is_etag && !starts_with('<')) {
        fail("a condition must be a <token> or an [entity tag]");
        return list;
      }
      condition.value = condition.is_etag ? take_etag() : take_bracketed();
      list.conditions.push_back(std::move(condition));
    }
    rest_.remove_prefix(1);
    if (list.conditions.empty()) fail("a list is empty");
    return list;
  }

  std::string_view rest_;
  std::string resource_;
  const char* fault_ = nullptr;
};

}  // namespace

IfParsed parse_if(std::string_view value) {
  if (value.size() > kIfBytesMax) {
    IfParsed out;
    out.fault = "it is too long";
    return out;
  }
  return Reader(value).read();
}

}  // namespace welkin::wire
