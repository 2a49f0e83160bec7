#pragma once
#include <gtest/gtest.h>

#include <string>

#include "support/run.hpp"
#include "support/test_server.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {

/// A user with a folder /webdav/t of his own, and a file a ("hello") in it.
struct DavFixture : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice"));
  ApiClient dav = server.as(alice);
  NodeId home = server.home(alice), t = server.folder(alice, home, "t");
  NodeId a = server.file(alice, t, "a", "hello");
  const std::string b = "/webdav/t";

  static constexpr const char* kLockInfo =
      "<?xml version=\"1.0\"?><lockinfo xmlns=\"DAV:\"><lockscope><exclusive/></lockscope>"
      "<locktype><write/></locktype><owner>me</owner></lockinfo>";
  static constexpr const char* kSharedInfo =
      "<?xml version=\"1.0\"?><d:lockinfo xmlns:d=\"DAV:\"><d:lockscope><d:shared/></d:lockscope>"
      "<d:locktype><d:write/></d:locktype></d:lockinfo>";

  int status(std::string_view method, const std::string& target, HeaderList headers = {},
             std::string_view body = "") {
    last = dav.send(method, target, std::move(headers), body);
    if (last.status >= 400 && last.status != 401) {
      EXPECT_EQ(last.header("content-type"), "application/xml; charset=utf-8") << method << ' ' << target;
      EXPECT_NE(last.body.find("<d:error xmlns:d=\"DAV:\""), std::string::npos) << last.body;
      EXPECT_NE(last.body.find("<s:message>"), std::string::npos) << last.body;
    }
    return last.status;
  }
  int put(const std::string& target, std::string_view body, HeaderList headers = {}) {
    return status("PUT", target, std::move(headers), body);
  }
  std::string get(const std::string& target) {
    const auto got = dav.get(target);
    return got.status == 200 ? got.body : "status " + std::to_string(got.status);
  }
  /// "<opaquelocktoken:...>" of a new lock; "" when there is none.
  std::string lock(const std::string& target, HeaderList headers = {{"Depth", "0"}},
                   const char* info = kLockInfo) {
    const auto got = status("LOCK", target, std::move(headers), info);
    EXPECT_TRUE(got == 200 || got == 201) << got << last.body;
    return last.header("lock-token");
  }
  static HeaderList if_(const std::string& value) { return {{"If", value}}; }
  bool says(const std::string& text) const { return last.body.find(text) != std::string::npos; }
  std::int64_t nodes() {
    return server.number(
        "select count(*) from nodes n join drives d on d.id = n.drive_id where d.owner_id = " +
        std::to_string(alice.id.value));
  }
  std::int64_t versions() {
    return server.number(
        "select count(*) from versions v join nodes n on n.id = v.node_id join drives d on "
        "d.id = n.drive_id where d.owner_id = " +
        std::to_string(alice.id.value));
  }
  std::int64_t used() {
    return server.number("select used_bytes + reserved_bytes from drives where owner_id = " +
                         std::to_string(alice.id.value));
  }

  HttpResponse last;
};

}  // namespace welkin::tests
