#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::wire {

struct XmlAttribute {
  std::string ns, name, value;  // ns "": none
};

/// An element with everything that means something: names, attributes, text and children in their order.
/// Prefixes, comments and processing instructions are gone.
struct XmlElement {
  std::string ns, name;                  // ns "": none
  std::vector<XmlAttribute> attributes;  // without namespace declarations
  std::string text;                      // before the first child
  std::vector<XmlElement> children;
  std::string tail;  // after this element, before its next sibling or its parent's end

  bool is(std::string_view in_ns, std::string_view called) const { return name == called && ns == in_ns; }
  /// The first such child; nullptr when there is none.
  const XmlElement* child(std::string_view in_ns, std::string_view called) const;
  /// The first such attribute's value; nullptr when there is none.
  const std::string* attribute(std::string_view in_ns, std::string_view called) const;
  /// Text of the element without blanks around it; text of its children does not count.
  std::string_view trimmed() const;
};

/// What a body may cost. Everything beyond is refused while it is read.
struct XmlLimits {
  std::size_t bytes_max = std::size_t{1} << 20;
  std::size_t depth_max = 64;
  std::size_t elements_max = 10'000;
  std::size_t attributes_max = 32;  // of one element, namespace declarations included
  std::size_t name_bytes_max = 256;
  std::size_t namespaces_max = 64;  // distinct
};

/// Reads an untrusted document (XML 1.0, Namespaces in XML 1.0) as its bytes arrive: UTF-8, or UTF-16 with a
/// byte order mark. There are no entities but the five of XML itself: a DOCTYPE ends the reading at once, so
/// nothing is ever expanded or fetched.
///
/// @throws Error invalid `bad_xml` (not well-formed, bad namespaces, bad encoding, a limit passed), forbidden
/// `no_external_entities` (a DOCTYPE), too_large `body_too_large`
class XmlReader {
 public:
  /// @param charset  of the Content-Type, "" when it has none; it wins over what the document says of itself
  explicit XmlReader(std::string_view charset = {}, const XmlLimits& limits = {});
  ~XmlReader();
  XmlReader(const XmlReader&) = delete;
  XmlReader& operator=(const XmlReader&) = delete;

  void feed(std::string_view piece);
  /// The root element. Call once, after the last piece.
  XmlElement finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The whole of a document that is in memory already.
XmlElement parse_xml(std::string_view document, std::string_view charset = {}, const XmlLimits& limits = {});

/// The value of charset in a Content-Type; "" when there is none.
std::string charset_of(std::string_view content_type);

/// Appends `text` as character data or a quoted attribute value of XML or HTML. Characters that neither can
/// say (C0 controls but tab and line ends, U+FFFE, U+FFFF) become U+FFFD.
void append_escaped(std::string& out, std::string_view text);

/// Appends the element, without its tail, so that it means the same wherever it is put: every namespace it
/// uses is declared on it or below.
void append_xml(std::string& out, const XmlElement& element);

}  // namespace welkin::wire
