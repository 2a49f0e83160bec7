#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/clock.hpp"

namespace welkin::wire {

/// Appends one path segment as it stands in a DAV:href: everything percent-encoded, upper-case, but RFC
/// 3986's unreserved characters and `!$&'()*+,;=:@`; then escaped for XML.
void append_href_segment(std::string& out, std::string_view segment);

/// The path of a folder, with a slash at its end, ready for hrefs: "/webdav/a%20b/".
/// @param base  a path that is encoded already, with or without a slash at its end
std::string href_prefix(std::string_view base, std::span<const std::string> segments);

/// "Sun, 06 Nov 1994 08:49:37 GMT" and "1994-11-06T08:49:37Z" without an allocation of their own.
void append_http_date(std::string& out, Micros at);
void append_rfc3339(std::string& out, Micros at);
void append_number(std::string& out, std::uint64_t value);

struct XmlNamespace {
  std::string_view prefix, uri;  // literals
};

/// The declaration of a document and the start of its root, a DAV: element with the namespaces used in it.
void begin_dav_document(std::string& out, std::string_view root, std::span<const XmlNamespace> more = {});

/// Writes a DAV:multistatus (RFC 4918 §13) into a string that the caller hands on and empties whenever it is
/// long enough. No tree, no line breaks, no allocation but the string's own growth; namespaces are declared
/// once, on the root, `D` for DAV: among them. Balance is the caller's duty.
class Multistatus {
 public:
  explicit Multistatus(std::string& out) : out_(out) {}
  Multistatus(const Multistatus&) = delete;
  Multistatus& operator=(const Multistatus&) = delete;

  /// @param more  namespaces beside DAV:, declared on the root
  void begin(std::span<const XmlNamespace> more = {}) { begin_dav_document(out_, "multistatus", more); }
  void end() { out_ += "</d:multistatus>"; }

  /// @param prefix  of href_prefix; @param name  the member's, "" for the folder `prefix` itself
  void begin_response(std::string_view prefix, std::string_view name, bool is_collection) {
    out_ += "<d:response><d:href>";
    out_ += prefix;
    append_href_segment(out_, name);
    if (is_collection && !name.empty()) out_ += '/';
    out_ += "</d:href>";
  }
  /// @param href  encoded and escaped
  void begin_response(std::string_view href) { ((out_ += "<d:response><d:href>") += href) += "</d:href>"; }
  void end_response() { out_ += "</d:response>"; }

  void begin_propstat() { out_ += "<d:propstat><d:prop>"; }
  /// @param condition  children of DAV:error (RFC 4918 §16), "" for none
  void end_propstat(int status, std::string_view condition = {});
  /// The status of a response that has no propstat.
  void status(int status, std::string_view condition = {});

  std::string& out() { return out_; }

 private:
  void status_line(int status);
  std::string& out_;
};

/// Appends an empty element of any namespace: a name without its value.
/// @param prefixes  declared on the root beside DAV:
void append_empty_element(std::string& out, std::string_view ns, std::string_view name,
                          std::span<const XmlNamespace> prefixes);

}  // namespace welkin::wire
