#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "welkin/dav/resource.hpp"
#include "welkin/wire/multistatus.hpp"

namespace welkin::nextcloud {

/// The prefixes under which the apps look for names.
inline constexpr wire::XmlNamespace kNamespaces[] = {
    {"s", "http://sabredav.org/ns"}, {"oc", "http://owncloud.org/ns"}, {"nc", "http://nextcloud.org/ns"}};
inline constexpr std::string_view kDav = "DAV:", kOwncloud = "http://owncloud.org/ns",
                                  kNextcloud = "http://nextcloud.org/ns";

/// Which properties a PROPFIND or REPORT asks for; none named: all there are.
struct Asked {
  std::vector<std::pair<std::string, std::string>> names;  // namespace, name
  bool all = false;
};
/// @throws Error invalid `bad_propfind`
Asked read_asked(const std::optional<wire::XmlElement>& body);
Asked asked_of(const wire::XmlElement& prop);

/// A small collection as a multistatus: what is told of each resource are finished elements by their names.
class Answers {
 public:
  /// The value of a property, or nullopt when the resource has none.
  struct Property {
    std::string_view ns, name;
    std::string xml;  // the whole element
  };

  explicit Answers(const Asked& asked) : asked_(asked), out_(text_) { out_.begin(kNamespaces); }
  /// @param href  encoded and escaped. @param has  everything the resource has
  void add(std::string_view href, const std::vector<Property>& has);
  Task<> send(http::Reply& rp);

 private:
  const Asked& asked_;
  std::string text_;
  wire::Multistatus out_;
};

/// Finished elements.
std::string element(std::string_view name, std::string_view text);
std::string element(std::string_view name, std::uint64_t number);
Answers::Property resourcetype(bool is_folder);
Answers::Property last_modified(Micros at);
Answers::Property creation_date(Micros at);
Answers::Property content_length(std::uint64_t bytes);
Answers::Property etag(std::string_view bare);

}  // namespace welkin::nextcloud
