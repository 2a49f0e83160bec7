#include "http/settings.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "http/request_id.hpp"

namespace welkin::http {
namespace {

TEST(Settings, BaseUrlGivesPathAndHost) {
  Config config;
  config.base_url = "https://Cloud.example:8443/a/b/";
  const Settings s(config);
  EXPECT_EQ(s.base_url, "https://Cloud.example:8443/a/b");
  EXPECT_EQ(s.base_path, "/a/b");
  EXPECT_TRUE(s.base_secure);
  EXPECT_EQ(s.hosts, std::vector<std::string>{"cloud.example"});
  config.base_url = "http://cloud.example";
  EXPECT_EQ(Settings(config).base_path, "");
  EXPECT_FALSE(Settings(config).base_secure);
}

TEST(Settings, UnusableValuesAreNamed) {
  for (const auto* url :
       {"cloud.example", "ftp://x", "https://", "https:///a", "https://a b/", "https://a/../b",
        "https://a/b?c", "https://a/%2e", "https://u@a/", "https://a//b", "https://a/b#c"}) {
    Config config;
    config.base_url = url;
    EXPECT_THROW(Settings{config}, std::runtime_error) << url;
  }
  Config proxies;
  proxies.trusted_proxies = {"10.0.0.0/99"};
  EXPECT_THROW(Settings{proxies}, std::runtime_error);
  Config hosts;
  hosts.allowed_hosts = {"a b"};
  EXPECT_THROW(Settings{hosts}, std::runtime_error);
}

TEST(Settings, ServesItsHosts) {
  const auto loopback = *parse_address("127.0.0.1");
  const auto far = *parse_address("192.0.2.1");
  Config config;
  EXPECT_TRUE(Settings(config).serves("anything", far));
  config.base_url = "https://cloud.example";
  config.allowed_hosts = {"other.example", "[2001:db8::1]"};
  const Settings s(config);
  EXPECT_TRUE(s.serves("CLOUD.example:123", far));
  EXPECT_TRUE(s.serves("other.example", far));
  EXPECT_TRUE(s.serves("[2001:db8::1]:8086", far));
  EXPECT_TRUE(s.serves("", far)) << "HTTP/1.0 without Host";
  EXPECT_FALSE(s.serves("evil.example", far));
  EXPECT_FALSE(s.serves("cloud.example.evil.example", far));
  EXPECT_FALSE(s.serves("localhost", far));
  EXPECT_TRUE(s.serves("localhost:8086", loopback));
  EXPECT_FALSE(s.serves("evil.example", loopback));
}

TEST(Listen, HostAndPort) {
  EXPECT_EQ(parse_listen("127.0.0.1:8086").host, "127.0.0.1");
  EXPECT_EQ(parse_listen("127.0.0.1:8086").port, 8086);
  EXPECT_EQ(parse_listen("[::1]:0").host, "::1");
  EXPECT_EQ(parse_listen("*:80").host, "");
  EXPECT_EQ(parse_listen(":80").host, "");
  EXPECT_EQ(parse_listen("localhost:80").host, "localhost");
  for (const auto* bad : {"", "80", "a:", "a:b", "a:65536", "::1:80", "a:-1"})
    EXPECT_THROW(parse_listen(bad), std::runtime_error) << bad;
}

TEST(RequestId, SaneOnesAreTakenOver) {
  EXPECT_TRUE(is_request_id("a"));
  EXPECT_TRUE(is_request_id(std::string(64, 'a')));
  EXPECT_TRUE(is_request_id("A.b_c-9"));
  EXPECT_FALSE(is_request_id(""));
  EXPECT_FALSE(is_request_id(std::string(65, 'a')));
  EXPECT_FALSE(is_request_id("a b"));
  EXPECT_FALSE(is_request_id("a\"b"));
  std::string a, b;
  make_request_id(a);
  make_request_id(b);
  EXPECT_NE(a, b);
  EXPECT_EQ(a.size(), 36u);
  EXPECT_EQ(a[14], '7');
  EXPECT_TRUE(is_request_id(a));
  for (int i = 0; i < 2000; ++i) make_request_id(b);  // past one page of randomness
  EXPECT_EQ(b[14], '7');
}

}  // namespace
}  // namespace welkin::http
