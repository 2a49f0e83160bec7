#pragma once
#include <gtest/gtest.h>

#include <map>

#include "support/run.hpp"
#include "support/test_server.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::tests {

/// A multistatus as a client understands it.
struct DavAnswer {
  struct Property {
    int status = 0;
    wire::XmlElement element;
  };
  struct Response {
    std::string href;                            // as sent, after XML
    int status = 0;                              // of the response itself; 0: it has propstats
    std::map<std::string, Property> properties;  // by "{namespace}name"
    std::vector<std::string> order;              // of those that were found
    std::string text(const std::string& name) const {
      const auto at = properties.find(name);
      return at == properties.end() || at->second.status != 200 ? "(none)" : at->second.element.text;
    }
    int status_of(const std::string& name) const {
      const auto at = properties.find(name);
      return at == properties.end() ? 0 : at->second.status;
    }
  };
  HttpResponse http;
  std::vector<Response> responses;
  std::string sync_token;

  const Response* find(const std::string& href) const {
    for (const auto& r : responses)
      if (r.href == href) return &r;
    return nullptr;
  }
  const Response& at(const std::string& href) const {
    const auto* found = find(href);
    EXPECT_NE(found, nullptr) << href << " in " << http.body;
    static const Response kNone;
    return found == nullptr ? kNone : *found;
  }
  std::vector<std::string> hrefs() const {
    std::vector<std::string> out;
    for (const auto& r : responses) out.push_back(r.href);
    return out;
  }
};

inline std::string clark(const wire::XmlElement& e) {
  return e.ns == "DAV:" ? e.name : "{" + e.ns + "}" + e.name;
}

inline int status_in(const wire::XmlElement& in) {
  const auto* status = in.child("DAV:", "status");
  if (status == nullptr) return 0;
  EXPECT_TRUE(status->text.starts_with("HTTP/1.1 ")) << status->text;
  return std::atoi(status->text.c_str() + 9);
}

inline DavAnswer dav_answer(HttpResponse http) {
  DavAnswer out;
  out.http = std::move(http);
  if (out.http.status != 207) return out;
  EXPECT_EQ(out.http.header("content-type"), "application/xml; charset=utf-8");
  wire::XmlLimits limits;
  limits.bytes_max = limits.elements_max = std::size_t{1} << 30;
  const auto root = wire::parse_xml(out.http.body, {}, limits);
  EXPECT_TRUE(root.is("DAV:", "multistatus"));
  for (const auto& child : root.children) {
    if (child.is("DAV:", "sync-token")) out.sync_token = child.text;
    if (!child.is("DAV:", "response")) continue;
    auto& response = out.responses.emplace_back();
    EXPECT_TRUE(child.children.at(0).is("DAV:", "href")) << "href comes first";
    response.href = child.children.at(0).text;
    response.status = status_in(child);
    for (const auto& propstat : child.children) {
      if (!propstat.is("DAV:", "propstat")) continue;
      EXPECT_EQ(response.status, 0) << "never both";
      const int status = status_in(propstat);
      for (const auto& property : propstat.child("DAV:", "prop")->children) {
        EXPECT_FALSE(response.properties.contains(clark(property))) << clark(property) << " twice";
        response.properties[clark(property)] = {status, property};
        if (status == 200) response.order.push_back(clark(property));
      }
    }
  }
  return out;
}

/// A fixture with a user, his folder `area` and a client.
struct DavTest : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice"));
  ApiClient dav = server.as(alice);
  NodeId home = server.home(alice), area = server.folder(alice, home, "area");

  static std::string prop(const std::string& names) {
    return "<d:propfind xmlns:d=\"DAV:\"><d:prop>" + names + "</d:prop></d:propfind>";
  }
  DavAnswer propfind(const std::string& path, const std::string& depth, const std::string& body = "",
                     HeaderList headers = {}) {
    if (!depth.empty()) headers.emplace_back("Depth", depth);
    return dav_answer(dav.send("PROPFIND", path, std::move(headers), body));
  }
  DavAnswer proppatch(const std::string& path, const std::string& inside, HeaderList headers = {}) {
    return dav_answer(dav.send("PROPPATCH", path, std::move(headers),
                               "<d:propertyupdate xmlns:d=\"DAV:\" xmlns:Z=\"urn:schemas-microsoft-com:\">" +
                                   inside + "</d:propertyupdate>"));
  }
  static std::string set(const std::string& props) { return "<d:set><d:prop>" + props + "</d:prop></d:set>"; }
  static std::string remove(const std::string& props) {
    return "<d:remove><d:prop>" + props + "</d:prop></d:remove>";
  }
  void expect_dav_error(const HttpResponse& answer, int status, const std::string& element) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.header("content-type"), "application/xml; charset=utf-8");
    EXPECT_NE(answer.body.find(element + "/>"), std::string::npos) << answer.body;
  }
};

}  // namespace welkin::tests
