#include "welkin/wire/xml.hpp"

#include <libxml/parser.h>
#include <libxml/xmlerror.h>

#include <optional>
#include <set>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "wire/xml_encoding.hpp"

namespace welkin::wire {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{16} * 1024;

std::string_view view(const xmlChar* s) {
  return s == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(s));
}

/// libxml2 hands out attribute values and namespaces with '&' still written as a reference, and nothing else.
std::string value_of(std::string_view raw) {
  constexpr std::string_view kAmpersand = "&#38;";
  std::string out;
  for (auto at = raw.find(kAmpersand); at != std::string_view::npos; at = raw.find(kAmpersand)) {
    out.append(raw.substr(0, at)).push_back('&');
    raw.remove_prefix(at + kAmpersand.size());
  }
  return out.append(raw);
}

[[noreturn]] void refuse(const char* what) { throw Error(Errc::invalid, "bad_xml", what); }

/// Builds the tree. Nothing may throw through libxml2's C frames, so faults are kept and told later.
struct Builder {
  enum class Fault { none, malformed, doctype, too_deep, too_many, no_memory };

  explicit Builder(const XmlLimits& l) : limits(l) {}

  bool start(std::string_view name, std::string_view ns, int namespaces, const xmlChar** declared,
             int attributes, const xmlChar** values) {
    if (open.size() >= limits.depth_max) return fail(Fault::too_deep);
    const auto all = static_cast<std::size_t>(namespaces) + static_cast<std::size_t>(attributes);
    if (++elements > limits.elements_max || all > limits.attributes_max || !fits(name) || !fits(ns)) {
      return fail(Fault::too_many);
    }
    for (int i = 0; i < namespaces; ++i) {
      const auto prefix = view(declared[2 * i]);
      const auto uri = view(declared[2 * i + 1]);
      if (!prefix.empty() && uri.empty()) return fail(Fault::malformed);  // Namespaces in XML 1.0 §2.2
      if (!fits(uri) || !fits(prefix)) return fail(Fault::too_many);
      if (!uris.contains(uri)) uris.emplace(uri);
      if (uris.size() > limits.namespaces_max) return fail(Fault::too_many);
    }
    XmlElement element;
    element.name = name;
    element.ns = value_of(ns);
    element.attributes.reserve(static_cast<std::size_t>(attributes));
    for (int i = 0; i < attributes; ++i) {
      const xmlChar** five = values + std::ptrdiff_t{5} * i;  // name, prefix, URI, value, its end
      if (!fits(view(five[0]))) return fail(Fault::too_many);
      element.attributes.push_back(
          {value_of(view(five[2])), std::string(view(five[0])),
           value_of({reinterpret_cast<const char*>(five[3]), static_cast<std::size_t>(five[4] - five[3])})});
    }
    open.push_back(std::move(element));
    return true;
  }

  void end() {
    XmlElement done = std::move(open.back());
    open.pop_back();
    if (open.empty()) {
      root = std::move(done);
    } else {
      open.back().children.push_back(std::move(done));
    }
  }

  void characters(std::string_view text) {
    if (open.empty()) return;
    auto& in = open.back();
    (in.children.empty() ? in.text : in.children.back().tail).append(text);
  }

  bool fits(std::string_view name) const { return name.size() <= limits.name_bytes_max; }
  bool fail(Fault f) {
    if (fault == Fault::none) fault = f;
    return false;
  }

  const XmlLimits& limits;
  std::vector<XmlElement> open;
  std::optional<XmlElement> root;
  std::set<std::string, std::less<>> uris;
  std::size_t elements = 0;
  Fault fault = Fault::none;
};

/// Runs `f` where an exception must not pass.
template <class F>
void guarded(void* user, F f) noexcept {
  auto* const parser = static_cast<xmlParserCtxtPtr>(user);
  auto& builder = *static_cast<Builder*>(parser->_private);
  try {
    if (builder.fault == Builder::Fault::none) f(builder);
  } catch (...) {
    builder.fail(Builder::Fault::no_memory);
  }
  if (builder.fault != Builder::Fault::none) xmlStopParser(parser);
}

void on_start(void* user, const xmlChar* name, const xmlChar*, const xmlChar* uri, int namespaces,
              const xmlChar** declared, int attributes, int, const xmlChar** values) {
  guarded(user,
          [&](Builder& b) { b.start(view(name), view(uri), namespaces, declared, attributes, values); });
}
void on_end(void* user, const xmlChar*, const xmlChar*, const xmlChar*) {
  guarded(user, [](Builder& b) { b.end(); });
}
void on_characters(void* user, const xmlChar* text, int length) {
  guarded(user, [&](Builder& b) {
    b.characters({reinterpret_cast<const char*>(text), static_cast<std::size_t>(length)});
  });
}
void on_doctype(void* user, const xmlChar*, const xmlChar*, const xmlChar*) {
  guarded(user, [](Builder& b) { b.fail(Builder::Fault::doctype); });
}
void on_error(void*, xmlErrorPtr) {}  // nothing of it is told or logged: it quotes the document

xmlSAXHandler handler() {
  xmlSAXHandler sax{};
  sax.initialized = XML_SAX2_MAGIC;
  sax.startElementNs = on_start;
  sax.endElementNs = on_end;
  sax.characters = on_characters;
  sax.ignorableWhitespace = on_characters;
  sax.cdataBlock = on_characters;
  sax.internalSubset = on_doctype;
  sax.serror = on_error;
  return sax;
}

struct FreeParser {
  void operator()(xmlParserCtxtPtr parser) const {
    if (parser->myDoc != nullptr) xmlFreeDoc(parser->myDoc);
    xmlFreeParserCtxt(parser);
  }
};

}  // namespace

struct XmlReader::Impl {
  Impl(std::string_view charset, const XmlLimits& l) : limits(l), builder(limits), decoder(charset) {
    static const bool once = (xmlInitParser(), true);
    (void)once;
    auto sax = handler();
    parser.reset(xmlCreatePushParserCtxt(&sax, nullptr, nullptr, 0, nullptr));
    if (!parser) throw std::bad_alloc();
    parser->userData = parser.get();
    parser->_private = &builder;
    // The decoder has made UTF-8 of it, whatever the document says.
    xmlCtxtUseOptions(parser.get(), XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);
    parser->_private = &builder;
  }

  void parse(std::string_view utf8) {
    while (!utf8.empty()) {
      const auto piece = utf8.substr(0, kPieceBytes);
      utf8.remove_prefix(piece.size());
      xmlParseChunk(parser.get(), piece.data(), static_cast<int>(piece.size()), 0);
      check();
    }
  }

  void check() const {
    using Fault = Builder::Fault;
    switch (builder.fault) {
      case Fault::doctype:
        throw Error(Errc::forbidden, "no_external_entities", "A document type declaration is not accepted");
      case Fault::too_deep:
        refuse("The XML of the request is nested too deeply");
      case Fault::too_many:
        refuse("The XML of the request has too many or too long names, attributes or elements");
      case Fault::no_memory:
        throw std::bad_alloc();
      case Fault::malformed:
        refuse("The XML of the request is not well-formed");
      case Fault::none:
        break;
    }
    if (parser->wellFormed == 0 || parser->nsWellFormed == 0) {
      refuse("The XML of the request is not well-formed");
    }
  }

  XmlLimits limits;
  Builder builder;
  Utf8Decoder decoder;
  std::unique_ptr<xmlParserCtxt, FreeParser> parser;
  std::string text;
  std::size_t bytes = 0;
};

XmlReader::XmlReader(std::string_view charset, const XmlLimits& limits)
    : impl_(std::make_unique<Impl>(charset, limits)) {}
XmlReader::~XmlReader() = default;

void XmlReader::feed(std::string_view piece) {
  impl_->bytes += piece.size();
  if (impl_->bytes > impl_->limits.bytes_max) {
    throw Error(Errc::too_large, "body_too_large", "The XML of the request is too long");
  }
  impl_->text.clear();
  impl_->decoder.add(piece, impl_->text);
  impl_->parse(impl_->text);
}

XmlElement XmlReader::finish() {
  impl_->text.clear();
  impl_->decoder.finish(impl_->text);
  impl_->parse(impl_->text);
  xmlParseChunk(impl_->parser.get(), nullptr, 0, 1);
  impl_->check();
  if (!impl_->builder.root) refuse("The XML of the request is not well-formed");
  return std::move(*impl_->builder.root);
}

XmlElement parse_xml(std::string_view document, std::string_view charset, const XmlLimits& limits) {
  XmlReader reader(charset, limits);
  reader.feed(document);
  return reader.finish();
}

}  // namespace welkin::wire
