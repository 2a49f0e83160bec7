#include "welkin/http/web_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "http/test_server.hpp"
#include "support/certificate.hpp"
#include "support/temp_folder.hpp"
#include "support/web_socket_client.hpp"
#include "welkin/http/router.hpp"

namespace welkin::test {
namespace {

using http::WebSocket;
using namespace std::chrono_literals;
using testing::HasSubstr;

/// Says everything back, in capitals' place; "bye" ends it.
Task<> echo(WebSocket& socket) {
  for (;;) {
    const auto message = co_await socket.receive(60s);
    if (message.what == WebSocket::What::closed) co_return;
    if (message.data == "bye") co_return;
    if (message.data == "fail") throw std::runtime_error("asked to");
    co_await socket.send_text("you said " + message.data);
  }
}

struct Sockets : testing::Test {
  TestServer server;
  std::atomic<int> ended{0};

  void serve(http::WebSocketLimits limits = {}, std::function<Task<>(WebSocket&)> talk = echo) {
    server.get("/ws", [this, limits, talk](http::Request& rq, http::Reply& rp) -> Task<> {
      struct End {
        std::atomic<int>& count;
        ~End() { ++count; }
      } const end{ended};
      co_await http::serve_web_socket(rq, rp, limits, talk);
    });
    server.start();
  }
};

TEST_F(Sockets, ConverseOverAnUpgradedConnection) {
  serve();
  WebSocketClient client(server.port());
  ASSERT_EQ(client.open("/ws"), 101);
  EXPECT_THAT(client.head, HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  client.send_text("one");
  EXPECT_EQ(client.read_text(), "you said one");
  client.send_frame(0x89, "payload");
  const auto pong = client.read();
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->opcode, 10u);
  EXPECT_EQ(pong->payload, "payload");
  client.send_frame(0x01, "in ");
  client.send_frame(0x80, "pieces");
  EXPECT_EQ(client.read_text(), "you said in pieces");
  client.send_text("bye");
  EXPECT_EQ(client.read_close(), 1000u);
  EXPECT_TRUE(client.http().closed_by_server());
}

TEST_F(Sockets, AnswerACloseWithAClose) {
  serve();
  WebSocketClient client(server.port());
  ASSERT_EQ(client.open("/ws"), 101);
  client.send_frame(0x88, "\x03\xe9");
  EXPECT_EQ(client.read_close(), 1000u);
  EXPECT_TRUE(client.http().closed_by_server());
}

TEST_F(Sockets, TellWhyTheyHangUp) {
  serve();
  for (const auto& [bytes, code] :
       {std::pair{std::string("\x81\x01x"), 1002u},
        {std::string("\x81\x84", 2) + std::string(4, '\0') + "\xff\xff\xff\xff", 1007u},
        {std::string("\x82\xff\x00\x00\x00\x00\x7f\x00\x00\x00", 10) + "abcd", 1009u}}) {
    WebSocketClient client(server.port());
    ASSERT_EQ(client.open("/ws"), 101);
    client.send_bytes(bytes);
    EXPECT_EQ(client.read_close(), code);
  }
  WebSocketClient client(server.port());
  ASSERT_EQ(client.open("/ws"), 101);
  client.send_text("fail");
  EXPECT_EQ(client.read_close(), 1011u);
  // The server lives on.
  WebSocketClient other(server.port());
  ASSERT_EQ(other.open("/ws"), 101);
}

TEST_F(Sockets, RefuseWhatIsNoHandshakeAsAnOrdinaryError) {
  serve();
  const HeaderList good = {{"Connection", "Upgrade"},
                           {"Upgrade", "websocket"},
                           {"Sec-WebSocket-Version", "13"},
                           {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
  for (std::size_t without = 0; without < good.size(); ++without) {
    auto headers = good;
    headers.erase(headers.begin() + static_cast<std::ptrdiff_t>(without));
    auto client = server.client();
    EXPECT_EQ(client.get("/ws", headers).status, 400) << good[without].first;
    EXPECT_EQ(client.get("/ws", headers).status, 400) << "the connection goes on";
  }
  auto headers = good;
  headers[2].second = "8";
  EXPECT_EQ(server.client().get("/ws", headers).status, 400);
}

TEST_F(Sockets, PingWhoIsSilentAndLetGoWhoStaysSo) {
  serve({.silence = 300ms});
  WebSocketClient silent(server.port());
  ASSERT_EQ(silent.open("/ws"), 101);
  const auto ping = silent.read();
  ASSERT_TRUE(ping);
  EXPECT_EQ(ping->opcode, 9u);
  silent.send_frame(0x8a, "");  // once it answers, so it is pinged again
  const auto again = silent.read();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->opcode, 9u);
  EXPECT_EQ(silent.read_close(), 1001u);
}

TEST_F(Sockets, ReceiveNothingInALimitedTimeAndGoOn) {
  serve({}, [](WebSocket& socket) -> Task<> {
    const auto message = co_await socket.receive(100ms);
    co_await socket.send_text(message.what == WebSocket::What::nothing ? "nothing" : "something");
    co_await socket.send_text((co_await socket.receive(60s)).data);
  });
  WebSocketClient client(server.port());
  ASSERT_EQ(client.open("/ws"), 101);
  EXPECT_EQ(client.read_text(), "nothing");
  client.send_text("late");
  EXPECT_EQ(client.read_text(), "late");
}

TEST_F(Sockets, AreUsedByTwoAtOnce) {
  serve({}, [](WebSocket& socket) -> Task<> {
    int heard = 0;
    const auto listen = [](WebSocket& s, int& n) -> Task<> {
      while ((co_await s.receive(60s)).what == WebSocket::What::text) ++n;
    };
    const auto speak = [](WebSocket& s, int& n) -> Task<> {
      for (int i = 0; i < 200; ++i) co_await s.send_text("number " + std::to_string(i));
      co_await s.send_text("heard " + std::to_string(n));
    };
    co_await http::side_by_side(listen(socket, heard), speak(socket, heard));
  });
  WebSocketClient client(server.port());
  ASSERT_EQ(client.open("/ws"), 101);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(client.read_text(), "number " + std::to_string(i));
  EXPECT_THAT(client.read_text(), HasSubstr("heard"));
  client.http().close();
  server.stop();
  EXPECT_EQ(ended, 1);
}

TEST_F(Sockets, SayGoodbyeWhenTheServerStops) {
  serve();
  WebSocketClient client(server.port());
  ASSERT_EQ(client.open("/ws"), 101);
  client.send_text("one");
  EXPECT_EQ(client.read_text(), "you said one");
  std::thread stopping([&] { server.stop(); });
  EXPECT_EQ(client.read_close(), 1001u);
  client.http().close();
  stopping.join();
  EXPECT_EQ(ended, 1);
}

TEST_F(Sockets, AreEncryptedLikeEverythingElse) {
  const tests::TempFolder folder;
  server.config.tls_cert = folder.path() + "/cert.pem";
  server.config.tls_key = folder.path() + "/key.pem";
  make_certificate(server.config.tls_cert, server.config.tls_key);
  serve({}, [](WebSocket& socket) -> Task<> {
    const auto listen = [](WebSocket& s) -> Task<> {
      while ((co_await s.receive(60s)).what == WebSocket::What::text) co_await s.send_text("heard");
    };
    const auto speak = [](WebSocket& s) -> Task<> {
      for (int i = 0; i < 300; ++i) co_await s.send_text(std::string(100, 'x'));
    };
    co_await http::side_by_side(listen(socket), speak(socket));
  });
  WebSocketClient client(server.port(), {.tls = true});
  ASSERT_EQ(client.open("/ws"), 101);
  for (int i = 0; i < 50; ++i) client.send_text("one");
  int heard = 0, spoken = 0;
  for (int i = 0; i < 350; ++i) {
    const auto text = client.read_text();
    heard += text == "heard" ? 1 : 0;
    spoken += text == std::string(100, 'x') ? 1 : 0;
  }
  EXPECT_EQ(heard, 50);
  EXPECT_EQ(spoken, 300);
  client.http().close();
  server.stop();
  EXPECT_EQ(ended, 1);
}

TEST_F(Sockets, EndWithTheirClients) {
  serve();
  {
    WebSocketClient client(server.port());
    ASSERT_EQ(client.open("/ws"), 101);
  }
  server.stop();
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace welkin::test
