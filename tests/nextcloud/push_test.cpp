// notify_push: what its socket says, to whom, and when it hangs up.
#include <chrono>
#include <thread>

#include "nextcloud/web_fixture.hpp"
#include "support/web_socket_client.hpp"
#include "welkin/files/events.hpp"

namespace welkin::tests {
namespace {

using test::WebSocketClient;
using testing::StartsWith;

struct Push : NextcloudWeb {
  WebSocketClient connect() {
    WebSocketClient socket(server.port(), {.timeout = std::chrono::seconds(30)});
    EXPECT_EQ(socket.open("/push/ws"), 101);
    return socket;
  }
  WebSocketClient signed_in(const std::string& name, const std::string& password) {
    auto socket = connect();
    socket.send_text(name);
    socket.send_text(password);
    EXPECT_EQ(socket.read_text(), "authenticated");
    return socket;
  }
};

TEST_F(Push, Check65SignsInByTwoMessagesAndTellsOfChanges) {
  auto socket = signed_in(alice.name, secret);
  file("one.txt", "1");
  EXPECT_EQ(socket.read_text(), "notify_file");
  auto wrong = connect();
  wrong.send_text(alice.name);
  wrong.send_text("nothing like it");
  EXPECT_EQ(wrong.read_text(), "err: Invalid credentials");
  EXPECT_NE(wrong.read_close(), 0u);
}

TEST_F(Push, Check65IsNotToldOfWhatIsOthers) {
  auto socket = signed_in(alice.name, secret);
  socket.send_text("listen notify_file_id");
  server.file(bob, server.home(bob), "of bob.txt", "1");
  const auto home = server.home(alice);
  server.file(alice, home, "mine.txt", "1");
  EXPECT_EQ(socket.read_text(), "notify_file_id [" + std::to_string(home.value) + "]");
}

TEST_F(Push, Check65ManyChangesAreFewFramesAndOneAfterTheLast) {
  auto socket = signed_in(alice.name, secret);
  socket.send_text("listen notify_file_id");
  const auto home = server.home(alice);
  const auto end = server.folder(alice, home, "end");
  constexpr int changes = 200;
  for (int i = 0; i < changes; ++i) server.file(alice, home, "f" + std::to_string(i), "x");
  server.file(alice, end, "last", "x");
  int frames = 0;
  for (bool told = false; !told; ++frames) {
    const auto frame = socket.read_text();
    ASSERT_THAT(frame, StartsWith("notify_file_id ["));
    for (const auto& id : json::parse(frame.substr(frame.find('[')))) told |= id == end.value;
  }
  EXPECT_LT(frames, changes / 4);
}

TEST_F(Push, Check66NamesWhatHasChangedToWhoAsksForIt) {
  auto socket = signed_in(alice.name, secret);
  socket.send_text("listen notify_file_id");
  socket.send_frame(0x89, "are you there");
  const auto pong = socket.read();
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->opcode, 10u);
  EXPECT_EQ(pong->payload, "are you there");
  const auto home = server.home(alice);
  server.file(alice, home, "two.txt", "1");
  EXPECT_EQ(socket.read_text(), "notify_file_id [" + std::to_string(home.value) + "]");
}

TEST_F(Push, Check66TellsOfWhatOthersDoInAShare) {
  const auto area = server.folder(bob, server.home(bob), "area");
  server.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(area.value) + ", " +
             std::to_string(alice.id.value) + ", 1)");
  auto socket = signed_in(alice.name, secret);
  server.file(bob, area, "shared.txt", "1");
  EXPECT_EQ(socket.read_text(), "notify_file");
}

TEST_F(Push, TicketsSignInWithoutAPasswordAndOnce) {
  const auto answer = client.send("POST", "/index.php/apps/notify_push/pre_auth");
  ASSERT_EQ(answer.status, 200);
  auto socket = connect();
  socket.send_text("");
  socket.send_text(answer.body);
  EXPECT_EQ(socket.read_text(), "authenticated");
  auto again = connect();
  again.send_text("");
  again.send_text(answer.body);
  EXPECT_EQ(again.read_text(), "err: Invalid credentials");
  EXPECT_EQ(nobody.send("POST", "/index.php/apps/notify_push/pre_auth").status, 401);
}

TEST_F(Push, AsksForAWebSocket) {
  EXPECT_EQ(nobody.get("/push/ws").status, 400);
  auto socket = connect();
  socket.send_frame(0x82, "binary");
  EXPECT_NE(socket.read_close(), 0u);
}

TEST_F(Push, SocketsOfOneUserAreBounded) {
  std::vector<WebSocketClient> sockets;
  bool refused = false;
  for (int i = 0; i < 20 && !refused; ++i) {
    auto socket = connect();
    socket.send_text(alice.name);
    socket.send_text(secret);
    refused = socket.read_text() != "authenticated";
    if (!refused) sockets.push_back(std::move(socket));
  }
  EXPECT_TRUE(refused);
  EXPECT_EQ(sockets.size(), files::EventHub::Limits().streams_of_user);
}

TEST(PushOfAServer, Check09HangsUpWhenTheCredentialsEnd) {
  TestServer server([](Config& config) { config.event_heartbeat_seconds = 1; });
  const auto alice = server.user("alice");
  const auto secret = run(server.people->devices().app_password(alice.caller, "test", {}));
  WebSocketClient socket(server.port());
  ASSERT_EQ(socket.open("/push/ws"), 101);
  socket.send_text("alice");
  socket.send_text(secret);
  ASSERT_EQ(socket.read_text(), "authenticated");
  ApiClient device(server.port(), basic("alice", secret));
  ASSERT_EQ(device.send("DELETE", "/ocs/v2.php/core/apppassword", {{"OCS-APIRequest", "true"}}).status, 200);
  EXPECT_EQ(socket.read_close(), 1008u);
}

TEST(PushOfAServer, SaysGoodbyeWhenItStops) {
  auto server = std::make_unique<TestServer>();
  const auto alice = server->user("alice");
  WebSocketClient socket(server->port()), waiting(server->port());
  ASSERT_EQ(socket.open("/push/ws"), 101);
  ASSERT_EQ(waiting.open("/push/ws"), 101);
  socket.send_text("alice");
  socket.send_text(alice.password);
  ASSERT_EQ(socket.read_text(), "authenticated");
  std::thread stopping([&] { server.reset(); });
  EXPECT_EQ(socket.read_close(), 1001u);
  EXPECT_EQ(waiting.read_close(), 1001u);
  socket.http().close();
  waiting.http().close();
  stopping.join();
}

}  // namespace
}  // namespace welkin::tests
