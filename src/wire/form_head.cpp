#include "form_head.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

bool is_token_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

/// RFC 2046 §5.1.1 `bchars`. None of them is CR, so a partial match of a delimiter can only begin at its CR.
bool is_boundary_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos);
}

/// A value with parameters: `form-data; name="a"; filename=b`. Parameter names are lowered; none may come
/// twice.
class Parameters {
 public:
  explicit Parameters(std::string_view value) : rest_(value) {
    kind_ = text::lower(text::trim(rest_.substr(0, rest_.find(';'))));
    rest_.remove_prefix(std::min(rest_.size(), rest_.find(';')));
    while (!rest_.empty()) parameter();
  }
  const std::string& kind() const { return kind_; }
  const std::string* find(const std::string& name) const {
    const auto at = values_.find(name);
    return at == values_.end() ? nullptr : &at->second;
  }

 private:
  void blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  std::string token() {
    std::size_t n = 0;
    while (n < rest_.size() && is_token_char(rest_[n])) ++n;
    std::string out(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return out;
  }
  /// A backslash escapes a quote or a backslash only: old clients send Windows paths with bare ones.
  std::string quoted() {
    std::string out;
    for (rest_.remove_prefix(1); !rest_.empty(); rest_.remove_prefix(1)) {
      if (rest_[0] == '"') {
        rest_.remove_prefix(1);
        return out;
      }
      if (rest_[0] == '\\' && rest_.size() > 1 && (rest_[1] == '"' || rest_[1] == '\\'))
        rest_.remove_prefix(1);
      out += rest_[0];
    }
    bad_multipart("a quoted value does not end");
  }
  void parameter() {
    if (rest_[0] != ';') bad_multipart("text after a value");
    rest_.remove_prefix(1);
    blanks();
    if (rest_.empty()) return;  // a ';' at the end harms nobody
    std::string name = text::lower(token());
    blanks();
    if (name.empty() || rest_.empty() || rest_[0] != '=') bad_multipart("a parameter without a value");
    rest_.remove_prefix(1);
    blanks();
    std::string value = !rest_.empty() && rest_[0] == '"' ? quoted() : bare();
    blanks();
    if (!values_.emplace(std::move(name), std::move(value)).second) bad_multipart("a parameter stands twice");
  }
  /// Wider than a token: clients leave quotes off names and boundaries that need them.
  std::string bare() {
    const std::string_view value = rest_.substr(0, rest_.find(';'));
    rest_.remove_prefix(value.size());
    return std::string(text::trim(value));
  }

  std::string_view rest_;
  std::string kind_;
  std::map<std::string, std::string> values_;
};

/// RFC 8187 ext-value: charset'language'percent-encoded.
std::string extended_value(std::string_view value) {
  const auto first = value.find('\'');
  const auto second = first == std::string_view::npos ? first : value.find('\'', first + 1);
  if (second == std::string_view::npos) bad_multipart("filename* is not charset'language'value");
  const auto decoded = text::percent_decode(value.substr(second + 1));
  if (!decoded) bad_multipart("filename* holds a bad escape");
  const auto charset = value.substr(0, first);
  if (text::iequals(charset, "UTF-8")) return *decoded;
  if (!text::iequals(charset, "ISO-8859-1")) bad_multipart("filename* is in an unknown character set");
  std::string out;
  for (const char c : *decoded) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | (byte >> 6));
      out += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return out;
}

/// Browsers write a quote inside filename="" as %22 and nothing else so (HTML, multipart/form-data encoding).
std::string browser_quotes(std::string name) {
  for (auto at = name.find("%22"); at != std::string::npos; at = name.find("%22", at + 1))
    name.replace(at, 3, "\"");
  return name;
}

std::string last_segment(const std::string& name) {
  const auto cut = name.find_last_of("/\\");
  return cut == std::string::npos ? name : name.substr(cut + 1);
}

void read_disposition(std::string_view value, FormPart& part) {
  const Parameters disposition(value);
  if (disposition.kind() != "form-data") bad_multipart("a part's Content-Disposition is not form-data");
  if (const auto* name = disposition.find("name")) part.name = *name;
  if (const auto* plain = disposition.find("filename")) part.filename = browser_quotes(*plain);
  if (const auto* extended = disposition.find("filename*")) part.filename = extended_value(*extended);
  if (part.filename) part.filename = last_segment(*part.filename);
  if (!text::is_utf8(part.name) || (part.filename && !text::is_utf8(*part.filename))) {
    bad_multipart("a name is not UTF-8");
  }
}

}  // namespace

void bad_multipart(const std::string& why) {
  throw Error(Errc::invalid, "bad_multipart", "The multipart body is malformed: " + why);
}

std::string form_boundary(std::string_view content_type) {
  const auto kind = text::trim(content_type.substr(0, content_type.find(';')));
  if (!text::iequals(kind, "multipart/form-data")) {
    throw Error(Errc::unsupported_media_type, "not_multipart", "The body must be multipart/form-data");
  }
  const Parameters parameters(content_type);
  const auto* boundary = parameters.find("boundary");
  if (!boundary || boundary->empty() || boundary->size() > 70 || boundary->back() == ' ') {
    bad_multipart("no boundary of 1 to 70 characters");
  }
  for (const char c : *boundary) {
    if (!is_boundary_char(c)) bad_multipart("the boundary holds a character it may not");
  }
  return *boundary;
}

FormPart form_part(std::string_view head) {
  FormPart part;
  bool disposed = false, typed = false;
  while (!head.empty()) {
    const auto end = head.find("\r\n");
    const auto line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
      bad_multipart("a control character in a part's head");
    }
    const auto colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) bad_multipart("a header line without a name");
    const auto name = line.substr(0, colon);
    for (const char c : name) {
      if (!is_token_char(c)) bad_multipart("a header name that is none");
    }
    const auto value = text::trim(line.substr(colon + 1));
    if (text::iequals(name, "content-disposition")) {
      if (std::exchange(disposed, true)) bad_multipart("two Content-Disposition lines");
      read_disposition(value, part);
    } else if (text::iequals(name, "content-type")) {
      if (std::exchange(typed, true)) bad_multipart("two Content-Type lines");
      part.content_type = value;
    } else if (text::iequals(name, "content-transfer-encoding") && !text::iequals(value, "binary") &&
               !text::iequals(value, "8bit") && !text::iequals(value, "7bit")) {
      // Taken as it is, the coded text would be stored in place of the file (RFC 7578 §4.7 deprecates the
      // field).
      bad_multipart("a part is transfer-encoded");
    }
  }
  if (!disposed) bad_multipart("a part without Content-Disposition");
  return part;
}

}  // namespace welkin::wire
