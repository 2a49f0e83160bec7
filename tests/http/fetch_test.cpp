// Asking addresses that users have given: what may be asked, and what becomes of answers (RFC 6890 for what
// lies inside).
#include "welkin/http/fetch.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "http/fetch_url.hpp"

namespace welkin::http {
namespace {

using Outcome = Fetched::Outcome;

/// Answers each connection with what `answer` makes of the head it was sent, and closes.
class Answerer {
 public:
  explicit Answerer(std::function<std::string(const std::string&)> answer) : answer_(std::move(answer)) {
    listening_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (::bind(listening_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listening_, 16) != 0 ||
        ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      throw std::runtime_error("no socket to listen on");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Answerer() {
    ::shutdown(listening_, SHUT_RDWR);
    thread_.join();
    ::close(listening_);
  }
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;

  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> heads() {
    const std::lock_guard lock(mutex_);
    return heads_;
  }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept(listening_, nullptr, nullptr);
      if (client < 0) return;
      std::string head;
      char buffer[4096];
      while (head.find("\r\n\r\n") == std::string::npos) {
        const auto got = ::recv(client, buffer, sizeof(buffer), 0);
        if (got <= 0) break;
        head.append(buffer, static_cast<std::size_t>(got));
      }
      {
        const std::lock_guard lock(mutex_);
        heads_.push_back(head);
      }
      const auto reply = answer_(head);
      for (std::size_t sent = 0; sent < reply.size();) {
        const auto n = ::send(client, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += static_cast<std::size_t>(n);
      }
      if (reply.empty())  // says nothing until the other end has enough
        while (::recv(client, buffer, sizeof(buffer), 0) > 0) {
        }
      ::close(client);
    }
  }

  std::function<std::string(const std::string&)> answer_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> heads_;
  std::thread thread_;
};

std::string reply(const std::string& status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}

Fetched ask(const std::string& url, FetchOptions options, FetchRequest request = {}) {
  request.url = url;
  const std::atomic<bool> stop = false;
  return fetch(options, request, stop);
}

FetchOptions allowing(const std::vector<std::string>& hosts) {
  FetchOptions options;
  options.allowed = hosts;
  return options;
}

TEST(FetchUrl, IsReadOrRefused) {
  const auto plain = parse_fetch_url("webcal://Example.ORG/a/b.ics?x=1#y");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->secure);
  EXPECT_EQ(plain->host, "example.org");
  EXPECT_EQ(plain->port, 443);
  EXPECT_EQ(plain->target, "/a/b.ics?x=1");
  EXPECT_EQ(parse_fetch_url("http://example.org")->target, "/");
  EXPECT_EQ(parse_fetch_url("http://example.org?q")->target, "/?q");
  EXPECT_EQ(parse_fetch_url("HTTPS://[2001:DB8::1]:8443/x")->authority(), "[2001:db8::1]:8443");
  for (const char* bad : {"",
                          "example.org",
                          "//example.org/",
                          "ftp://example.org/",
                          "http://",
                          "http:///x",
                          "http://a b/",
                          "http://a@b/",
                          "http://a:b@c/",
                          "http://a:0/",
                          "http://a:65536/",
                          "http://a:b/",
                          "http://[::1/",
                          "http://[1.2.3.4]/",
                          "http://exa\xc3\xa4mple.org/",
                          "http://a/\r\n",
                          "http://a/ b",
                          "http://a\\b/",
                          "http://[::1]x/",
                          "http://a%2eb/"})
    EXPECT_FALSE(parse_fetch_url(bad)) << bad;
  EXPECT_FALSE(parse_fetch_url("http://a/" + std::string(5000, 'x')));
}

TEST(FetchUrl, RedirectsLeadSomewhere) {
  const auto from = parse_fetch_url("https://a.example/x/y?z").value();
  EXPECT_EQ(follow(from, "https://b.example/q")->host, "b.example");
  EXPECT_EQ(follow(from, "//b.example/q")->authority(), "b.example");
  EXPECT_EQ(follow(from, "/q")->target, "/q");
  EXPECT_EQ(follow(from, "q")->target, "/x/q");
  EXPECT_EQ(follow(from, "?q")->target, "/x/y?q");
  EXPECT_FALSE(follow(from, "http://a.example/")) << "not from what is sealed to what is open";
  EXPECT_FALSE(follow(from, "file:///etc/passwd"));
  EXPECT_FALSE(follow(from, ""));
}

TEST(FetchAddresses, OnlyPublicOnesAreAsked) {
  for (const char* inside : {"0.0.0.0",
                             "0.1.2.3",
                             "10.1.2.3",
                             "100.64.0.1",
                             "127.0.0.1",
                             "127.255.255.255",
                             "169.254.169.254",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.0.0.1",
                             "192.0.2.1",
                             "192.88.99.1",
                             "192.168.1.1",
                             "198.18.0.1",
                             "198.51.100.1",
                             "203.0.113.1",
                             "224.0.0.1",
                             "239.255.255.255",
                             "240.0.0.1",
                             "255.255.255.255",
                             "::",
                             "::1",
                             "::ffff:127.0.0.1",
                             "::ffff:10.0.0.1",
                             "64:ff9b::7f00:1",
                             "64:ff9b:1::1",
                             "100::1",
                             "fc00::1",
                             "fd12::1",
                             "fe80::1",
                             "fec0::1",
                             "ff02::1",
                             "2001::1",
                             "2001:db8::1",
                             "2002:7f00:1::",
                             "3fff::1",
                             "5f00::1"})
    EXPECT_FALSE(is_public(parse_address(inside).value())) << inside;
  for (const char* outside : {"1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.0.1", "100.128.0.1",
                              "126.0.0.1", "128.0.0.1", "172.15.0.1", "172.32.0.1", "192.167.0.1",
                              "223.255.255.255", "::ffff:1.1.1.1", "2606:4700::1111", "2a00::1"})
    EXPECT_TRUE(is_public(parse_address(outside).value())) << outside;
}

TEST(FetchAddresses, NamesOfTheInsideAreFoundOutWhenTheyAreLookedUp) {
  Answerer inside([](const std::string&) { return reply("200 OK", "", "secret"); });
  const auto port = inside.host().substr(inside.host().rfind(':'));
  for (const auto& url :
       {"http://" + inside.host() + "/", "http://localhost" + port + "/", "http://2130706433" + port + "/",
        "http://127.1" + port + "/", "http://[::ffff:127.0.0.1]" + port + "/",
        std::string("http://127.0.0.1/"), std::string("http://169.254.169.254/latest/meta-data/")}) {
    const auto got = ask(url, {});
    EXPECT_EQ(got.outcome, Outcome::failed) << url;
    EXPECT_EQ(got.body, "");
  }
  EXPECT_EQ(inside.heads().size(), 0u) << "not even a connection";
}

TEST(Fetch, BringsWhatIsThere) {
  Answerer there([](const std::string&) {
    return reply("200 OK", "ETag: \"v1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "BEGIN");
  });
  FetchRequest request;
  request.etag = "\"v0\"";
  request.last_modified = "Sat, 05 Nov 1994 08:49:37 GMT";
  const auto got = ask("http://" + there.host() + "/a?b", allowing({there.host()}), request);
  EXPECT_EQ(got.outcome, Outcome::fetched) << got.why;
  EXPECT_EQ(got.body, "BEGIN");
  EXPECT_EQ(got.etag, "\"v1\"");
  EXPECT_EQ(got.last_modified, "Sun, 06 Nov 1994 08:49:37 GMT");
  const auto head = there.heads().at(0);
  EXPECT_TRUE(head.starts_with("GET /a?b HTTP/1.1\r\n")) << head;
  EXPECT_NE(head.find("If-None-Match: \"v0\"\r\n"), std::string::npos);
  EXPECT_NE(head.find("If-Modified-Since: Sat, 05 Nov 1994 08:49:37 GMT\r\n"), std::string::npos);
  for (const char* word : {"Cookie", "Authorization"}) EXPECT_EQ(head.find(word), std::string::npos);
}

TEST(Fetch, TellsApartWhatWasAnswered) {
  std::string answer = "HTTP/1.1 304 Not Modified\r\n\r\n";
  Answerer there([&](const std::string&) { return answer; });
  const auto options = allowing({there.host()});
  const auto url = "http://" + there.host() + "/";
  EXPECT_EQ(ask(url, options).outcome, Outcome::not_modified);
  answer = reply("404 Not Found", "", "no");
  EXPECT_EQ(ask(url, options).outcome, Outcome::refused);
  EXPECT_EQ(ask(url, options).status, 404u);
  answer = "HTTP/1.1 200 OK\r\n\r\nuntil the end";
  EXPECT_EQ(ask(url, options).body, "until the end");
  answer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut";
  EXPECT_EQ(ask(url, options).outcome, Outcome::failed) << "what is cut is no answer";
  answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  EXPECT_EQ(ask(url, options).body, "hello");
  answer = "SSH-2.0-OpenSSH\r\n";
  EXPECT_EQ(ask(url, options).outcome, Outcome::failed);
  answer = "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n";
  EXPECT_EQ(ask(url, options).outcome, Outcome::failed);
}

TEST(Fetch, NoMoreThanTheLimitIsTaken) {
  std::string answer;
  Answerer there([&](const std::string&) { return answer; });
  auto options = allowing({there.host()});
  options.bytes_max = 1000;
  const auto url = "http://" + there.host() + "/";
  answer = reply("200 OK", "", std::string(1000, 'x'));
  EXPECT_EQ(ask(url, options).outcome, Outcome::fetched);
  answer = reply("200 OK", "", std::string(1001, 'x'));
  EXPECT_EQ(ask(url, options).outcome, Outcome::too_large);
  answer = "HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x');
  EXPECT_EQ(ask(url, options).outcome, Outcome::too_large) << "also when its size was not said";
}

TEST(Fetch, WhoSaysNothingIsLeft) {
  Answerer silent([](const std::string&) { return std::string(); });
  auto options = allowing({silent.host()});
  options.seconds = 1;
  EXPECT_EQ(ask("http://" + silent.host() + "/", options).outcome, Outcome::failed);
  const std::atomic<bool> stop = true;
  options.seconds = 3600;
  FetchRequest request;
  request.url = "http://" + silent.host() + "/";
  EXPECT_EQ(fetch(options, request, stop).outcome, Outcome::failed) << "and at once when we are to stop";
}

TEST(Fetch, RedirectsAreFollowedCheckedAndCounted) {
  Answerer forbidden([](const std::string&) { return reply("200 OK", "", "secret"); });
  std::string location;
  Answerer there([&](const std::string& head) {
    if (head.starts_with("GET /end ")) return reply("200 OK", "", "end");
    return reply("302 Found", "Location: " + location + "\r\n", "");
  });
  const auto options = allowing({there.host()});
  const auto url = "http://" + there.host() + "/start";
  location = "/end";
  EXPECT_EQ(ask(url, options).body, "end");
  location = "http://" + there.host() + "/end";
  EXPECT_EQ(ask(url, options).body, "end");
  for (const auto& bad : {"http://" + forbidden.host() + "/", std::string("http://169.254.169.254/"),
                          std::string("file:///etc/passwd"), std::string("gopher://x/"), std::string()}) {
    location = bad;
    EXPECT_EQ(ask(url, options).outcome, Outcome::failed) << bad;
  }
  EXPECT_EQ(forbidden.heads().size(), 0u);
  location = "/again";
  const auto before = there.heads().size();
  EXPECT_EQ(ask(url, options).outcome, Outcome::failed);
  EXPECT_EQ(there.heads().size() - before, 6u) << "the first and five more";
}

TEST(Fetch, HttpsNeedsACertificateForTheName) {
  Answerer plain([](const std::string&) { return reply("200 OK", "", "open"); });
  EXPECT_EQ(ask("https://" + plain.host() + "/", allowing({plain.host()})).outcome, Outcome::failed);
}

}  // namespace
}  // namespace welkin::http
