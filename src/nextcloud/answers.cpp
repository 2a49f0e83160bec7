#include "nextcloud/answers.hpp"

#include <algorithm>

#include "welkin/core/error.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::nextcloud {

Asked asked_of(const wire::XmlElement& prop) {
  constexpr std::size_t kMax = 256;
  Asked asked;
  for (const auto& child : prop.children) {
    if (asked.names.size() == kMax)
      throw Error(Errc::invalid, "too_many_properties", "At most 256 properties can be asked for at once");
    asked.names.emplace_back(child.ns, child.name);
  }
  return asked;
}

Asked read_asked(const std::optional<wire::XmlElement>& body) {
  Asked all;
  all.all = true;
  if (!body) return all;
  if (!body->is(kDav, "propfind")) throw Error(Errc::invalid, "bad_propfind", "The body is no DAV:propfind");
  const auto* prop = body->child(kDav, "prop");
  return prop == nullptr ? all : asked_of(*prop);
}

void Answers::add(std::string_view href, const std::vector<Property>& has) {
  out_.begin_response(href);
  std::vector<const std::pair<std::string, std::string>*> missing;
  out_.begin_propstat();
  if (asked_.all) {
    for (const auto& one : has) text_ += one.xml;
  }
  for (const auto& name : asked_.names) {
    const auto at = std::find_if(has.begin(), has.end(), [&](const Property& one) {
      return one.name == name.second && one.ns == name.first;
    });
    if (at == has.end()) {
      missing.push_back(&name);
    } else {
      text_ += at->xml;
    }
  }
  out_.end_propstat(200);
  if (!missing.empty()) {
    out_.begin_propstat();
    for (const auto* name : missing)
      wire::append_empty_element(text_, name->first, name->second, kNamespaces);
    out_.end_propstat(404);
  }
  out_.end_response();
}

Task<> Answers::send(http::Reply& rp) {
  out_.end();
  co_await rp.send(http::Status::multi_status, "application/xml; charset=utf-8", std::move(text_));
}

std::string element(std::string_view name, std::string_view text) {
  std::string out = "<";
  (out += name) += '>';
  wire::append_escaped(out, text);
  ((out += "</") += name) += '>';
  return out;
}

std::string element(std::string_view name, std::uint64_t number) {
  return element(name, std::to_string(number));
}

Answers::Property resourcetype(bool is_folder) {
  return {kDav, "resourcetype",
          is_folder ? "<d:resourcetype><d:collection/></d:resourcetype>" : "<d:resourcetype/>"};
}

Answers::Property last_modified(Micros at) {
  std::string date;
  wire::append_http_date(date, std::max<Micros>(at, 1'000'000));
  return {kDav, "getlastmodified", element("d:getlastmodified", date)};
}

Answers::Property creation_date(Micros at) {
  std::string date;
  wire::append_rfc3339(date, at);
  return {kDav, "creationdate", element("d:creationdate", date)};
}

Answers::Property content_length(std::uint64_t bytes) {
  return {kDav, "getcontentlength", element("d:getcontentlength", bytes)};
}

Answers::Property etag(std::string_view bare) {
  return {kDav, "getetag", element("d:getetag", '"' + std::string(bare) + '"')};
}

}  // namespace welkin::nextcloud
