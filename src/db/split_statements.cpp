#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/db/migrate.hpp"

namespace welkin::db {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

// Reads one script from left to right; each `skip_` starts at the opening and ends behind the closing.
class Scanner {
 public:
  explicit Scanner(std::string_view script) : s_(script) {}

  std::vector<std::string> statements() {
    while (at_ < s_.size()) step();
    finish();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }
  bool starts(std::string_view what) const { return s_.substr(at_).starts_with(what); }

  void step() {
    if (starts("--")) return skip_past("\n");
    if (starts("/*")) return skip_block_comment();
    if (peek() == ';') {
      finish();
      ++at_;
      begin_ = at_;
      return;
    }
    if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
      ++at_;
      return;
    }
    if (!has_code_) begin_ = at_;
    has_code_ = true;
    if (peek() == '\'') return skip_quoted('\'', escapes_allowed());
    if (peek() == '"') return skip_quoted('"', false);
    if (peek() == '$' && (at_ == 0 || !is_word(s_[at_ - 1]))) return skip_dollar_quoted();
    ++at_;
  }

  // E'...' knows backslashes, '...' does not.
  bool escapes_allowed() const {
    if (at_ == 0 || (s_[at_ - 1] | 0x20) != 'e') return false;
    return at_ == 1 || !is_word(s_[at_ - 2]);
  }

  void skip_past(std::string_view end) {
    const auto found = s_.find(end, at_);
    at_ = found == std::string_view::npos ? s_.size() : found + end.size();
  }

  void skip_quoted(char quote, bool backslashes) {
    for (++at_; at_ < s_.size(); ++at_) {
      if (backslashes && s_[at_] == '\\') {
        ++at_;
      } else if (s_[at_] == quote) {
        ++at_;
        return;  // a doubled quote opens the next piece at once
      }
    }
    at_ = s_.size();
  }

  void skip_dollar_quoted() {
    std::size_t end = at_ + 1;
    while (end < s_.size() && is_word(s_[end])) ++end;
    const bool is_tag =
        end < s_.size() && s_[end] == '$' && std::isdigit(static_cast<unsigned char>(s_[at_ + 1])) == 0;
    if (!is_tag) {
      ++at_;
      return;
    }
    const auto tag = s_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    skip_past(tag);
  }

  void skip_block_comment() {  // they nest
    int depth = 0;
    do {
      if (starts("/*")) {
        ++depth;
        at_ += 2;
      } else if (starts("*/")) {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0 && at_ < s_.size());
  }

  void finish() {
    if (has_code_) {
      auto text = s_.substr(begin_, at_ - begin_);
      while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.remove_suffix(1);
      out_.emplace_back(text);
    }
    has_code_ = false;
  }

  std::string_view s_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  bool has_code_ = false;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> split_statements(std::string_view script) { return Scanner(script).statements(); }

}  // namespace welkin::db
