#pragma once
#include <gtest/gtest.h>

#include <string>

#include "dav/dav_client.hpp"
#include "support/run.hpp"
#include "support/test_server.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {

/// Somebody who uses a client of Nextcloud: signed in by name and password, below /remote.php.
struct NextcloudTest : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice")), bob = server.user(server.fresh("bob"));
  ApiClient client{server.port(), basic(alice.name, alice.password)};
  const std::string dav = "/remote.php/dav";
  const std::string files = dav + "/files/" + alice.name;
  const std::string uploads = dav + "/uploads/" + alice.name;

  static constexpr const char* kSpaces =
      "xmlns:d='DAV:' xmlns:oc='http://owncloud.org/ns' xmlns:nc='http://nextcloud.org/ns' "
      "xmlns:ocs='http://open-collaboration-services.org/ns' xmlns:ocm='http://open-cloud-mesh.org/ns'";
  static std::string prop(const std::string& names) {
    return "<?xml version=\"1.0\"?><d:propfind " + std::string(kSpaces) + "><d:prop>" + names +
           "</d:prop></d:propfind>";
  }
  static std::string sha1(std::string_view body) {
    crypto::DigestStream stream(crypto::Digest::sha1);
    stream.update(as_bytes(body));
    return "SHA1:" + text::hex(stream.finish());
  }

  int status(std::string_view method, const std::string& target, HeaderList headers = {},
             std::string_view body = "") {
    last = client.send(method, target, std::move(headers), body);
    if (last.status >= 400) {
      EXPECT_EQ(last.header("content-type"), "application/xml; charset=utf-8") << method << ' ' << target;
      EXPECT_NE(last.body.find("<s:exception>"), std::string::npos) << method << ' ' << target << last.body;
      EXPECT_NE(last.body.find("<s:message>"), std::string::npos) << last.body;
    }
    return last.status;
  }
  int put(const std::string& target, std::string_view body, HeaderList headers = {}) {
    return status("PUT", target, std::move(headers), body);
  }
  std::string get(const std::string& target) {
    last = client.get(target);
    return last.status == 200 ? last.body : "status " + std::to_string(last.status);
  }
  DavAnswer propfind(const std::string& target, const std::string& depth, const std::string& names) {
    return dav_answer(client.send("PROPFIND", target, {{"Depth", depth}}, names.empty() ? "" : prop(names)));
  }
  std::string one(const std::string& target, const std::string& element, const std::string& name) {
    const auto answer = propfind(target, "0", "<" + element + "/>");
    return answer.responses.empty() ? "status " + std::to_string(answer.http.status)
                                    : answer.responses[0].text(name);
  }
  std::string etag_of(const std::string& target) { return one(target, "d:getetag", "getetag"); }
  std::string id_of(const std::string& target) { return one(target, "oc:id", "{http://owncloud.org/ns}id"); }
  bool says(const std::string& text) const { return last.body.find(text) != std::string::npos; }

  HttpResponse last;
};

}  // namespace welkin::tests
