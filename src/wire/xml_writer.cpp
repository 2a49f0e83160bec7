#include <algorithm>
#include <array>
#include <charconv>

#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::wire {
namespace {

constexpr std::string_view kXmlNamespace = "http://www.w3.org/XML/1998/namespace";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// What stands for a byte; nullptr: itself. 0xEF begins the two non-characters and is looked at closer.
constexpr std::array<const char*, 256> kSpelled = [] {
  std::array<const char*, 256> t{};
  for (std::size_t c = 0; c < 0x20; ++c) t[c] = "\xEF\xBF\xBD";
  t['\t'] = t['\n'] = nullptr;
  t['\r'] = "&#13;";
  t['&'] = "&amp;";
  t['<'] = "&lt;";
  t['>'] = "&gt;";
  t['"'] = "&quot;";
  t['\''] = "&#39;";
  t[0xEF] = "";
  return t;
}();

/// Namespace declarations in force while a tree is written.
class TreeWriter {
 public:
  explicit TreeWriter(std::string& out) : out_(out) {}

  void element(const XmlElement& e, std::string_view default_ns) {
    (out_ += '<') += e.name;
    if (e.ns != default_ns) attribute("xmlns", e.ns);
    const auto depth = prefixes_.size();
    for (const auto& a : e.attributes) {
      if (a.ns.empty()) {
        attribute(a.name, a.value);
      } else if (a.ns == kXmlNamespace) {
        attribute("xml:" + a.name, a.value);
      } else {
        const std::string prefix = prefix_of(a.ns);
        attribute(prefix + ':' + a.name, a.value);
      }
    }
    if (e.children.empty() && e.text.empty()) {
      out_ += "/>";
    } else {
      out_ += '>';
      append_escaped(out_, e.text);
      for (const auto& c : e.children) {
        element(c, e.ns);
        append_escaped(out_, c.tail);
      }
      ((out_ += "</") += e.name) += '>';
    }
    prefixes_.resize(depth);
  }

 private:
  void attribute(std::string_view name, std::string_view value) {
    ((out_ += ' ') += name) += "=\"";
    for (std::size_t from = 0; from <= value.size();) {  // blanks would come back as spaces (XML 1.0 §3.3.3)
      const auto at = std::min(value.find_first_of("\t\n", from), value.size());
      append_escaped(out_, value.substr(from, at - from));
      if (at < value.size()) out_ += value[at] == '\t' ? "&#9;" : "&#10;";
      from = at + 1;
    }
    out_ += '"';
  }
  std::string prefix_of(const std::string& ns) {
    const auto known = std::find(prefixes_.begin(), prefixes_.end(), ns);
    const auto number = std::to_string(known - prefixes_.begin());
    std::string prefix = "n" + number;
    if (known == prefixes_.end()) {
      prefixes_.push_back(ns);
      attribute("xmlns:" + prefix, ns);
    }
    return prefix;
  }

  std::string& out_;
  std::vector<std::string> prefixes_;  // of attributes only: n0, n1, ...
};

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char* spelled = kSpelled[static_cast<unsigned char>(text[i])];
    if (spelled == nullptr) [[likely]]
      continue;
    std::size_t length = 1;
    if (*spelled == '\0') {  // U+FFFE is EF BF BE, U+FFFF is EF BF BF
      const auto c = text.substr(i, 3);
      if (c != "\xEF\xBF\xBE" && c != "\xEF\xBF\xBF") continue;
      spelled = kReplacement.data();
      length = 3;
    }
    out.append(text, from, i - from).append(spelled);
    i += length - 1;
    from = i + 1;
  }
  out.append(text, from);
}

void append_xml(std::string& out, const XmlElement& element) { TreeWriter(out).element(element, ""); }

const XmlElement* XmlElement::child(std::string_view in_ns, std::string_view called) const {
  const auto at =
      std::find_if(children.begin(), children.end(), [&](const auto& c) { return c.is(in_ns, called); });
  return at == children.end() ? nullptr : &*at;
}

const std::string* XmlElement::attribute(std::string_view in_ns, std::string_view called) const {
  for (const auto& a : attributes)
    if (a.name == called && a.ns == in_ns) return &a.value;
  return nullptr;
}

std::string_view XmlElement::trimmed() const {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto from = text.find_first_not_of(kBlank);
  if (from == std::string::npos) return {};
  return std::string_view(text).substr(from, text.find_last_not_of(kBlank) - from + 1);
}

std::string charset_of(std::string_view content_type) {
  auto at = content_type.find(';');
  while (at != std::string_view::npos) {
    const auto end = content_type.find(';', at + 1);
    auto parameter =
        text::trim(content_type.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
    const auto equals = parameter.find('=');
    if (equals != std::string_view::npos &&
        text::iequals(text::trim(parameter.substr(0, equals)), "charset")) {
      auto value = text::trim(parameter.substr(equals + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
      return std::string(value);
    }
    at = end;
  }
  return {};
}

}  // namespace welkin::wire
