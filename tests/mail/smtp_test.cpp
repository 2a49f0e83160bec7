#include "welkin/mail/smtp.hpp"

#include <gtest/gtest.h>

#include "support/certificate.hpp"
#include "support/smtp_server.hpp"
#include "support/temp_folder.hpp"
#include "welkin/core/bytes.hpp"
#include "welkin/core/text.hpp"

namespace welkin::mail {
namespace {

using test::SmtpServer;
using Kind = Outcome::Kind;
using namespace std::chrono_literals;

const std::string kMail = "Subject: x\r\n\r\n.dots\r\n..\r\nend\r\n";

Relay relay(const SmtpServer& server, Tls tls = Tls::none) {
  Relay out;
  out.host = "127.0.0.1";
  out.port = server.port();
  out.tls = tls;
  out.from = "cloud@example.org";
  out.timeout = 5s;
  return out;
}

struct Smtp : ::testing::Test {
  tests::TempFolder folder;
  std::string certificate = folder.path() + "/cert.pem", key = folder.path() + "/key.pem";
  void SetUp() override { test::make_certificate(certificate, key); }
  SmtpServer::Options with_tls() const {
    SmtpServer::Options out;
    out.certificate_file = certificate;
    out.key_file = key;
    return out;
  }
};

TEST_F(Smtp, AMailArrivesAsItIs) {
  const SmtpServer server;
  const auto outcome = send(relay(server), "ext@elsewhere.example", kMail);
  ASSERT_EQ(outcome.kind, Kind::sent) << outcome.reason;
  ASSERT_EQ(server.mails().size(), 1u);
  EXPECT_EQ(server.mails()[0].from, "<cloud@example.org>");
  EXPECT_EQ(server.mails()[0].to, "<ext@elsewhere.example>");
  EXPECT_EQ(server.mails()[0].data, kMail);
}

TEST_F(Smtp, TlsIsWhatWasAskedForOrNothingIsSaid) {
  auto options = with_tls();
  options.starttls = true;
  options.user = "u";
  options.password = text::base64(as_bytes(std::string("\0u\0secret", 9)));
  const SmtpServer server(options);
  auto to = relay(server, Tls::starttls);
  to.user = "u";
  to.password = "secret";
  auto outcome = send(to, "a@b.example", kMail);
  EXPECT_EQ(outcome.kind, Kind::later) << "nobody vouches for the certificate";
  EXPECT_TRUE(server.mails().empty());
  for (const auto& line : server.lines()) EXPECT_EQ(line.find("AUTH"), std::string::npos);
  to.ca_file = certificate;
  outcome = send(to, "a@b.example", kMail);
  ASSERT_EQ(outcome.kind, Kind::sent) << outcome.reason;
  EXPECT_TRUE(server.mails().at(0).secret);
  // A name that the certificate does not have.
  to.host = "127.0.0.2";
  EXPECT_EQ(send(to, "a@b.example", kMail).kind, Kind::later);

  const SmtpServer open;
  auto without = relay(open, Tls::starttls);
  outcome = send(without, "a@b.example", kMail);
  EXPECT_EQ(outcome.kind, Kind::later) << "a relay without STARTTLS is none to talk to";
  EXPECT_TRUE(open.mails().empty());
}

TEST_F(Smtp, WordsBeforeTlsAreNotTheRelays) {
  auto options = with_tls();
  options.starttls = true;
  options.before_tls = "250 injected";
  const SmtpServer server(options);
  auto to = relay(server, Tls::starttls);
  to.ca_file = certificate;
  EXPECT_EQ(send(to, "a@b.example", kMail).kind, Kind::later);
  EXPECT_TRUE(server.mails().empty());
}

TEST_F(Smtp, TlsFromTheFirstByteAndTheOtherWayToSignIn) {
  auto options = with_tls();
  options.implicit_tls = true;
  options.user = "u";
  options.auth = "LOGIN";
  options.password = text::base64(as_bytes(std::string_view("secret")));
  const SmtpServer server(options);
  auto to = relay(server, Tls::implicit);
  to.ca_file = certificate;
  to.user = "u";
  to.password = "secret";
  const auto outcome = send(to, "a@b.example", kMail);
  ASSERT_EQ(outcome.kind, Kind::sent) << outcome.reason;
  EXPECT_EQ(server.mails().at(0).user, text::base64(as_bytes(std::string_view("u"))));
  to.password = "wrong";
  EXPECT_EQ(send(to, "a@b.example", kMail).kind, Kind::later) << "the operator can put it right";
}

TEST_F(Smtp, WhatTheRelaySaysDecides) {
  SmtpServer server;
  server.set_rcpt_reply("550 no such user");
  auto outcome = send(relay(server), "a@b.example", kMail);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_EQ(outcome.reason, "550 no such user");
  server.set_rcpt_reply("451 try later");
  EXPECT_EQ(send(relay(server), "a@b.example", kMail).kind, Kind::later);
  EXPECT_TRUE(server.mails().empty());
  SmtpServer::Options options;
  options.greeting = "HTTP/1.1 400 Bad Request";
  const SmtpServer other(options);
  EXPECT_EQ(send(relay(other), "a@b.example", kMail).kind, Kind::later);
  auto nowhere = relay(server);
  nowhere.port = 1;
  EXPECT_EQ(send(nowhere, "a@b.example", kMail).kind, Kind::later);
}

TEST_F(Smtp, NoCommandHidesInAnAddress) {
  const SmtpServer server;
  EXPECT_EQ(send(relay(server), "a@b.example>\r\nRCPT TO:<victim@example.org", kMail).kind, Kind::refused);
  EXPECT_TRUE(server.lines().empty()) << "nobody was called";
}

}  // namespace
}  // namespace welkin::mail
