// TLS: versions, ALPN, resumption, both directions of bytes, certificates that change while the server runs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>

#include "http/test_server.hpp"
#include "support/certificate.hpp"
#include "support/temp_folder.hpp"

namespace welkin::test {
namespace {

class Tls : public ::testing::Test {
 protected:
  void SetUp() override {
    certificate = folder.path() + "/cert.pem";
    key = folder.path() + "/key.pem";
    make_certificate(certificate, key);
    server.config.tls_cert = certificate;
    server.config.tls_key = key;
  }

  HttpClient client(HttpClientOptions options = {}) {
    options.tls = true;
    if (options.ca_file.empty()) options.ca_file = certificate;
    return HttpClient(server.port(), options);
  }

  tests::TempFolder folder;
  std::string certificate;
  std::string key;
  TestServer server;
};

TEST_F(Tls, SpeaksBothVersionsAndNoOlderOnes) {
  server.start();
  auto newest = client();
  EXPECT_EQ(newest.get("/hello").body, "hello");
  EXPECT_EQ(newest.tls_version(), "TLSv1.3");
  auto older = client({.tls_version = TLS1_2_VERSION});
  EXPECT_EQ(older.get("/hello").body, "hello");
  EXPECT_EQ(older.tls_version(), "TLSv1.2");
  for (const int version : {TLS1_1_VERSION, TLS1_VERSION}) {
    auto old = client({.tls_version = version});
    EXPECT_THROW(old.connect(), std::runtime_error);
  }
}

TEST_F(Tls, AlpnIsHttp11) {
  server.start();
  auto both = client({.alpn = {"h2", "http/1.1"}});
  EXPECT_EQ(both.get("/hello").status, 200);
  EXPECT_EQ(both.alpn(), "http/1.1");
  auto none = client();
  EXPECT_EQ(none.get("/hello").status, 200);
  EXPECT_EQ(none.alpn(), "");
  auto h2_only = client({.alpn = {"h2"}});
  EXPECT_THROW(h2_only.connect(), std::runtime_error) << "no answer in a language that was not asked for";
}

TEST_F(Tls, SessionsAreResumed) {
  server.start();
  auto again = client();
  EXPECT_EQ(again.get("/hello").status, 200);
  EXPECT_FALSE(again.tls_resumed());
  again.connect();
  EXPECT_EQ(again.get("/hello").status, 200);
  EXPECT_TRUE(again.tls_resumed());
}

TEST_F(Tls, CarriesLargeBodiesBothWays) {
  std::string content(7'000'000, '\0');
  std::mt19937 random(2);
  for (auto& c : content) c = static_cast<char>(random());
  const auto file = folder.path() + "/file";
  std::ofstream(file, std::ios::binary) << content;
  server.get("/file", [&](http::Request&, http::Reply& rp) -> Task<> {
    const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    co_await rp.begin(http::Status::ok, "application/octet-stream", content.size());
    co_await rp.write_file(fd.get(), 0, content.size());
    co_await rp.end();
  });
  server.get("/secure", [](http::Request& rq, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::ok, "text/plain", (rq.is_secure() ? "secure " : "plain ") + rq.base_url());
  });
  server.start();
  auto c = client();
  EXPECT_TRUE(c.request("PUT", "/echo", {}, content).body == content);
  EXPECT_TRUE(c.get("/file").body == content);
  EXPECT_EQ(c.get("/secure", {{"Host", "h"}}).body, "secure https://h");
  for (int i = 0; i < 200; ++i) ASSERT_EQ(c.get("/hello").body, "hello");
}

TEST_F(Tls, EndsWithCloseNotify) {
  server.start();
  auto c = client();
  const auto answer = parse_response(c.raw("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(answer.body, "hello");
  EXPECT_TRUE(c.ended_cleanly());
}

TEST_F(Tls, ACutAnswerDoesNotEndWithCloseNotify) {
  server.get("/cut", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt);
    co_await rp.write("half");
    co_await rp.flush();
    throw std::runtime_error("cut");
  });
  server.start();
  auto c = client();
  c.raw("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(c.ended_cleanly());
}

TEST_F(Tls, ACertificateIsReplacedWhileConnectionsLive) {
  server.start();
  auto old = client();
  EXPECT_EQ(old.get("/hello").status, 200);
  const auto first = old.certificate_fingerprint();

  make_certificate(certificate, key);
  server.server().reload_tls();
  auto fresh = client();
  EXPECT_EQ(fresh.get("/hello").status, 200);
  const auto second = fresh.certificate_fingerprint();
  EXPECT_NE(second, first);
  EXPECT_EQ(old.get("/hello").status, 200);
  EXPECT_EQ(old.certificate_fingerprint(), first);

  const auto good = certificate + ".good";
  std::ofstream(good) << std::ifstream(certificate).rdbuf();
  std::ofstream(certificate) << "no certificate";
  server.server().reload_tls();
  auto later = client({.ca_file = good});
  EXPECT_EQ(later.get("/hello").status, 200);
  EXPECT_EQ(later.certificate_fingerprint(), second) << "a bad one leaves the old one in use";

  make_certificate(folder.path() + "/other.pem", key);  // a key that does not belong
  std::ofstream(certificate) << std::ifstream(good).rdbuf();
  server.server().reload_tls();
  auto last = client({.ca_file = good});
  EXPECT_EQ(last.get("/hello").status, 200);
  EXPECT_EQ(last.certificate_fingerprint(), second);
}

TEST_F(Tls, UnusableFilesAreNamedAtTheStart) {
  const auto starts = [&] { server.start(); };
  server.config.tls_key = "";
  EXPECT_THROW(starts(), std::runtime_error);
  server.config.tls_key = folder.path() + "/missing.pem";
  EXPECT_THROW(starts(), std::runtime_error);
  make_certificate(folder.path() + "/other.pem", folder.path() + "/other-key.pem");
  server.config.tls_key = folder.path() + "/other-key.pem";
  EXPECT_THROW(starts(), std::runtime_error);
  make_certificate(folder.path() + "/locked.pem", folder.path() + "/locked-key.pem", "password");
  server.config.tls_cert = folder.path() + "/locked.pem";
  server.config.tls_key = folder.path() + "/locked-key.pem";
  EXPECT_THROW(starts(), std::runtime_error) << "must not ask on a terminal";
}

TEST_F(Tls, PlainHttpOnTheTlsPortIsClosed) {
  server.start();
  HttpClient plain(server.port());
  const auto received = plain.raw("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(plain.closed_by_server());
  EXPECT_EQ(received.find("HTTP/"), received.npos);
  EXPECT_EQ(server.handled, 0u);
  EXPECT_EQ(client().get("/hello").status, 200);
}

TEST_F(Tls, AHandshakeThatStallsIsCut) {
  server.config.header_seconds = 1;
  server.start();
  HttpClient silent(server.port());
  silent.connect();
  silent.send(std::string("\x16\x03\x01", 3));
  EXPECT_TRUE(silent.closed_by_server());
  EXPECT_EQ(client().get("/hello").status, 200);
}

TEST_F(Tls, RefusesAndLingersLikePlain) {
  server.start();
  auto c = client();
  const auto refused = parse_response(c.raw("GET /hello HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_TRUE(c.closed_by_server());
  c.connect();
  c.send("PUT /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n" + std::string(500'000, 'x'));
  EXPECT_EQ(c.read_response().status, 404);
}

}  // namespace
}  // namespace welkin::test
