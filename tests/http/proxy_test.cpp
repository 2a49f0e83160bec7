// Who asks and under which name: trusted proxies, Host, base path (checks RL-03, PX-01).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "http/test_server.hpp"

namespace welkin::test {
namespace {

void add_who(TestServer& server) {
  server.get("/who", [](http::Request& rq, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::ok, "text/plain",
                     rq.client_address() + " " + rq.limit_key() + " " +
                         (rq.is_secure() ? "secure" : "plain") + " " + rq.base_url());
  });
}

TEST(Proxy, ForwardingHeadersOfStrangersAreIgnored) {
  TestServer server;
  add_who(server);
  server.config.trusted_proxies = {"10.0.0.0/8"};
  server.start();
  auto client = server.client();
  EXPECT_EQ(client
                .get("/who", {{"Host", "h"},
                              {"X-Forwarded-For", "192.0.2.1"},
                              {"X-Forwarded-Proto", "https"},
                              {"Forwarded", "for=192.0.2.1;proto=https"},
                              {"X-Real-IP", "192.0.2.1"}})
                .body,
            "127.0.0.1 127.0.0.1 plain http://h");
}

TEST(Proxy, ForwardingHeadersOfTrustedOnesCount) {
  TestServer server;
  add_who(server);
  server.config.trusted_proxies = {"127.0.0.0/8", "10.0.0.0/8"};
  server.start();
  auto client = server.client();
  const auto who = [&](HeaderList headers) {
    headers.emplace_back("Host", "h");
    return client.get("/who", headers).body;
  };
  EXPECT_EQ(who({}), "127.0.0.1 127.0.0.1 plain http://h");
  EXPECT_EQ(who({{"X-Forwarded-For", "192.0.2.1"}}), "192.0.2.1 192.0.2.1 plain http://h");
  EXPECT_EQ(who({{"X-Forwarded-For", "6.6.6.6, 192.0.2.1, 10.0.0.9"}, {"X-Forwarded-Proto", "https"}}),
            "192.0.2.1 192.0.2.1 secure https://h");
  EXPECT_EQ(who({{"X-Forwarded-For", "6.6.6.6"}, {"X-Forwarded-For", "192.0.2.1"}}),
            "192.0.2.1 192.0.2.1 plain http://h")
      << "several fields are one list";
  EXPECT_EQ(who({{"X-Forwarded-For", "2001:db8:1:2:3::4"}}),
            "2001:db8:1:2:3::4 2001:db8:1:2::/64 plain http://h");
  EXPECT_EQ(who({{"Forwarded", "for=\"[2001:db8::1]:99\";proto=https"}}),
            "2001:db8::1 2001:db8::/64 secure https://h");
  EXPECT_EQ(who({{"X-Forwarded-For", "192.0.2.1"}, {"Forwarded", "for=6.6.6.6"}}),
            "127.0.0.1 127.0.0.1 plain http://h");
  EXPECT_EQ(who({{"X-Forwarded-For", "<script>"}}), "127.0.0.1 127.0.0.1 plain http://h");
  EXPECT_EQ(who({{"X-Forwarded-Host", "evil.example"}, {"X-Forwarded-Prefix", "/evil"}}),
            "127.0.0.1 127.0.0.1 plain http://h");
}

TEST(Proxy, HostMustBeOneOfOurs) {
  TestServer server;
  add_who(server);
  server.config.base_url = "https://cloud.example/base";
  server.config.allowed_hosts = {"other.example"};
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.get("/base/who", {{"Host", "cloud.example"}}).body,
            "127.0.0.1 127.0.0.1 plain https://cloud.example/base");
  EXPECT_EQ(client.get("/base/who", {{"Host", "other.example:8086"}}).body,
            "127.0.0.1 127.0.0.1 plain https://cloud.example/base");
  EXPECT_EQ(client.get("/base/who", {{"Host", "127.0.0.1"}}).status, 200) << "a health check from here";
  const unsigned before = server.handled;
  const auto wrong = client.get("/base/who", {{"Host", "evil.example"}});
  EXPECT_EQ(wrong.status, 421);
  EXPECT_EQ(nlohmann::json::parse(wrong.body).value("slug", ""), "misdirected");
  EXPECT_EQ(client.get("http://evil.example/base/who", {{"Host", "evil.example"}}).status, 421);
  EXPECT_EQ(server.handled, before);
  EXPECT_EQ(client.get("/base/who", {{"Host", "cloud.example"}}).header("strict-transport-security"),
            "max-age=31536000");
}

TEST(Proxy, OnlyTheBasePathIsServed) {
  TestServer server;
  server.get("/path", [](http::Request& rq, http::Reply& rp) -> Task<> {
    co_await rp.send(
        http::Status::ok, "text/plain",
        std::string(rq.base_path()) + " " + std::string(rq.raw_path()) + " " + std::string(rq.target()));
  });
  server.get("/", [](http::Request& rq, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::ok, "text/plain", "root " + std::string(rq.raw_path()));
  });
  server.config.base_url = "http://localhost/cloud/one/";
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.get("/cloud/one/path?x").body, "/cloud/one /path /cloud/one/path?x");
  EXPECT_EQ(client.get("/cloud/one").body, "root /");
  EXPECT_EQ(client.get("/cloud/one/").body, "root /");
  for (const auto* outside : {"/", "/path", "/cloud", "/cloud/onepath", "/cloud/one%2fpath",
                              "/%63loud/one/path", "/other/cloud/one/path"})
    EXPECT_EQ(client.get(outside).status, 404) << outside;
  EXPECT_EQ(client.get("/cloud/one/../one/path").status, 400);
  EXPECT_EQ(client.get("/cloud/one?x=1").body, "root /");
  EXPECT_EQ(client.request("OPTIONS", "*").status, 204);
}

}  // namespace
}  // namespace welkin::test
