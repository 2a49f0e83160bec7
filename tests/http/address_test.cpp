#include "http/address.hpp"

#include <gtest/gtest.h>

namespace welkin::http {
namespace {

Address at(std::string_view s) { return parse_address(s).value(); }

TEST(Address, ReadsBothFamiliesAndTheirMappedForm) {
  EXPECT_EQ(at("192.0.2.1").text(), "192.0.2.1");
  EXPECT_EQ(at("::ffff:192.0.2.1"), at("192.0.2.1"));
  EXPECT_EQ(at("2001:DB8::1").text(), "2001:db8::1");
  for (const auto* bad :
       {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4 ", "::1%lo", "[::1]", "a", "1.2.3.4:5"})
    EXPECT_FALSE(parse_address(bad)) << bad;
  EXPECT_FALSE(parse_address(std::string_view("1.2.3.4\0", 8)));
  EXPECT_TRUE(at("127.8.9.1").is_loopback());
  EXPECT_TRUE(at("::1").is_loopback());
  EXPECT_FALSE(at("::2").is_loopback());
  EXPECT_FALSE(at("10.0.0.1").is_loopback());
}

TEST(Address, LimitsCountIpv4WholeAndIpv6ByNetwork) {
  EXPECT_EQ(at("192.0.2.1").limit_text(), "192.0.2.1");
  EXPECT_NE(at("192.0.2.1").limit_key(), at("192.0.2.2").limit_key());
  EXPECT_EQ(at("2001:db8:1:2:3:4:5:6").limit_text(), "2001:db8:1:2::/64");
  EXPECT_EQ(at("2001:db8:1:2::1").limit_key(), at("2001:db8:1:2:ffff::").limit_key());
}

TEST(Network, ContainsByPrefix) {
  const auto in = [](std::string_view network, std::string_view address) {
    return parse_network(network).value().contains(at(address));
  };
  EXPECT_TRUE(in("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(in("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(in("192.168.4.0/22", "192.168.7.255"));
  EXPECT_FALSE(in("192.168.4.0/22", "192.168.8.0"));
  EXPECT_TRUE(in("10.1.2.3", "10.1.2.3"));
  EXPECT_FALSE(in("10.1.2.3", "10.1.2.4"));
  EXPECT_TRUE(in("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(in("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(in("fd00::/8", "fd12::1"));
  EXPECT_FALSE(in("fd00::/8", "fe00::1"));
  EXPECT_TRUE(in("::/0", "10.0.0.1"));
  EXPECT_TRUE(in("10.9.9.9/8", "10.0.0.1")) << "stray host bits are masked";
  for (const auto* bad :
       {"", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "x/8", "10.0.0.0/08x"})
    EXPECT_FALSE(parse_network(bad)) << bad;
}

struct Case {
  const char* peer;
  const char* x_forwarded_for;
  const char* forwarded;
  const char* client;
};

TEST(Forwarding, TakesTheRightMostHopThatIsNoTrustedProxy) {
  const Networks trusted = {*parse_network("127.0.0.1"), *parse_network("10.0.0.0/8"),
                            *parse_network("fd00::/8")};
  const Case cases[] = {
      {"127.0.0.1", "", "", "127.0.0.1"},
      {"127.0.0.1", "192.0.2.1", "", "192.0.2.1"},
      {"127.0.0.1", "6.6.6.6, 192.0.2.1", "", "192.0.2.1"},   // a forged first hop
      {"127.0.0.1", "192.0.2.1, 10.0.0.2", "", "192.0.2.1"},  // past our second proxy
      {"127.0.0.1", "6.6.6.6, 192.0.2.1, 10.0.0.2, 10.1.1.1", "", "192.0.2.1"},
      {"127.0.0.1", "10.0.0.7, 10.0.0.2", "", "10.0.0.7"},  // all trusted: the left-most
      {"127.0.0.1", "192.0.2.1:4711", "", "192.0.2.1"},
      {"127.0.0.1", "[2001:db8::1]:4711", "", "2001:db8::1"},
      {"127.0.0.1", "2001:db8::1", "", "2001:db8::1"},
      {"127.0.0.1", "unknown", "", "127.0.0.1"},
      {"127.0.0.1", "192.0.2.1, unknown, 10.0.0.2", "", "10.0.0.2"},  // nothing behind nonsense is believed
      {"127.0.0.1", "192.0.2.1, 10.0.0.2:x", "", "127.0.0.1"},
      {"127.0.0.1", ", ,192.0.2.1,", "", "192.0.2.1"},
      {"127.0.0.1", "", "for=192.0.2.1", "192.0.2.1"},
      {"127.0.0.1", "", "for=6.6.6.6, for=192.0.2.1;proto=https;by=10.0.0.1", "192.0.2.1"},
      {"127.0.0.1", "", "For=\"[2001:db8::1]:4711\"", "2001:db8::1"},
      {"127.0.0.1", "", "for=_hidden", "127.0.0.1"},
      {"127.0.0.1", "", "proto=https", "127.0.0.1"},
      {"127.0.0.1", "192.0.2.1", "for=192.0.2.1", "192.0.2.1"},
      {"127.0.0.1", "192.0.2.1", "for=6.6.6.6", "127.0.0.1"},  // one of the two is the client's own
      {"127.0.0.1", "6.6.6.6", "for=192.0.2.1", "127.0.0.1"},
      {"fd00::5", "2001:db8::9", "", "2001:db8::9"},
      {"127.0.0.1", "::ffff:192.0.2.1", "", "192.0.2.1"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(read_forwarding(at(c.peer), trusted, c.x_forwarded_for, c.forwarded, "").client.text(),
              c.client)
        << c.x_forwarded_for << " | " << c.forwarded;
}

TEST(Forwarding, Scheme) {
  const Networks trusted = {*parse_network("127.0.0.1")};
  const auto secure = [&](const char* forwarded, const char* proto) {
    return read_forwarding(at("127.0.0.1"), trusted, "", forwarded, proto).secure;
  };
  EXPECT_EQ(secure("", ""), std::nullopt);
  EXPECT_EQ(secure("", "https"), true);
  EXPECT_EQ(secure("", "HTTP"), false);
  EXPECT_EQ(secure("", "http, https"), true);
  EXPECT_EQ(secure("", "gopher"), std::nullopt);
  EXPECT_EQ(secure("for=1.2.3.4;proto=https", ""), true);
  EXPECT_EQ(secure("for=1.2.3.4;proto=\"http\"", ""), false);
  EXPECT_EQ(secure("proto=http", "https"), true);
}

}  // namespace
}  // namespace welkin::http
