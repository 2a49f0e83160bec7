#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "rest/api.hpp"
#include "welkin/files/events.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

struct SseEvent {
  std::string id, name;
  json data;
};

/// A client of one stream: reads events as they come.
class EventReader {
 public:
  EventReader(std::uint16_t port, const std::string& authorization, const std::string& last_id = "",
              const std::string& headers = "", int receive_buffer_bytes = 0)
      : http_(port, {.receive_buffer_bytes = receive_buffer_bytes}) {
    http_.connect();
    http_.send("GET /api/events HTTP/1.1\r\nHost: x\r\n" +
               (authorization.empty() ? "" : "Authorization: " + authorization + "\r\n") + headers +
               (last_id.empty() ? "" : "Last-Event-ID: " + last_id + "\r\n") + "\r\n");
    while (text_.find("\r\n\r\n") == std::string::npos && more()) {
    }
    const auto end = text_.find("\r\n\r\n");
    head = text_.substr(0, end);
    text_.erase(0, end == std::string::npos ? text_.size() : end + 4);
  }
  int status() const { return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0; }

  /// The next event, comments left out. An empty name: the stream has ended (then `ended` says so), or
  /// nothing came.
  SseEvent next() {
    for (const int before = beats; beats < before + kBeatsMax;) {
      const auto end = body_.find("\n\n");
      if (end == std::string::npos) {
        if (!decode() && !more()) return {};
        continue;
      }
      const std::string block = body_.substr(0, end);
      body_.erase(0, end + 2);
      SseEvent event;
      for (const auto line : text::split(block, '\n')) {
        if (line.starts_with(':')) ++beats;
        if (line.starts_with("id: ")) event.id = line.substr(4);
        if (line.starts_with("event: ")) event.name = line.substr(7);
        if (line.starts_with("data: ")) event.data = json::parse(line.substr(6));
      }
      if (!event.name.empty()) return event;
    }
    return {};
  }
  /// Reads until every one of `folders` was named. @return the last id; "" when the stream ended before
  std::string wait_for(std::set<std::string> folders) {
    while (!folders.empty()) {
      const auto event = next();
      if (event.name.empty()) return "";
      last = event.id;
      if (!event.data.contains("folders")) continue;
      for (const auto& id : event.data["folders"]) {
        seen.insert(id.get<std::string>());
        folders.erase(id.get<std::string>());
      }
    }
    return last;
  }

  std::string head, last;
  std::set<std::string> seen;
  int beats = 0;
  bool ended = false;  // as announced, not torn off

 private:
  static constexpr int kBeatsMax = 60;
  bool more() {
    const auto piece = http_.read_some();
    text_ += piece;
    return !piece.empty();
  }
  /// Takes one whole chunk out of the transfer coding.
  bool decode() {
    const auto line = text_.find("\r\n");
    if (line == std::string::npos) return false;
    const auto size = std::stoul(text_.substr(0, line), nullptr, 16);
    ended = size == 0;
    if (ended || text_.size() < line + 2 + size + 2) return false;
    body_ += text_.substr(line + 2, size);
    text_.erase(0, line + 2 + size + 2);
    return true;
  }
  HttpClient http_;
  std::string text_, body_;
};

struct Events : ::testing::Test {
  // A heartbeat of a second, so that what hangs on it can be waited for.
  static TestServer& own_server() {
    static TestServer server([](Config& config) { config.event_heartbeat_seconds = 1; });
    return server;
  }
  TestServer& server = own_server();
  TestUser alice = server.user(server.fresh("alice"));
  NodeId root = server.home(alice);

  EventReader listen(const TestUser& user, const std::string& last_id = "") {
    return {server.port(), "Bearer " + user.token, last_id};
  }
  std::string id(NodeId folder) { return server.folder_id(folder); }
};

TEST_F(Events, TellWhichFoldersChange) {
  const auto a = server.folder(alice, root, "a"), b = server.folder(alice, root, "b");
  auto reader = listen(alice);
  ASSERT_EQ(reader.status(), 200);
  EXPECT_NE(reader.head.find("text/event-stream"), std::string::npos);
  EXPECT_NE(reader.head.find("no-transform"), std::string::npos);
  const auto ready = reader.next();
  EXPECT_EQ(ready.name, "ready");
  EXPECT_FALSE(ready.id.empty());
  const auto file = server.file(alice, a, "f", "x");
  EXPECT_NE(reader.wait_for({id(a)}), "");
  EXPECT_FALSE(reader.seen.contains(id(b)));
  files::Files::Move move;
  move.parent = b;
  run(server.files->move(alice.caller, file, move));
  EXPECT_NE(reader.wait_for({id(a), id(b)}), "");
  server.folder(alice, root, "new");
  EXPECT_NE(reader.wait_for({id(root)}), "");
}

TEST_F(Events, GoOnWhereTheyBrokeOff) {
  const auto a = server.folder(alice, root, "a"), b = server.folder(alice, root, "b");
  std::string last;
  {
    auto reader = listen(alice);
    reader.next();
    server.file(alice, a, "1", "x");
    last = reader.wait_for({id(a)});
  }
  server.file(alice, b, "2", "x");
  auto again = listen(alice, last);
  again.next();
  EXPECT_NE(again.wait_for({id(b)}), "");
  EXPECT_FALSE(again.seen.contains(id(a)));  // was told before
  // A place that is unknown, of before a restore or forgotten: look at everything.
  for (const std::string& bad :
       {std::string("nonsense"), std::string("1.1.0"), std::string(20'000, 'f'), "0_" + last}) {
    auto lost = listen(alice, bad);
    lost.next();
    EXPECT_EQ(lost.next().name, "resync") << bad.substr(0, 40);
  }
}

TEST_F(Events, ReachWhoMayReadAndNobodyElse) {
  const auto bob = server.user(server.fresh("bob")), carol = server.user(server.fresh("carol"));
  const auto shared = server.folder(alice, root, "shared"), secret = server.folder(alice, root, "private");
  const auto grant = [&](const TestUser& whom) {
    server.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(shared.value) +
               ", " + std::to_string(whom.id.value) +
               ", 1); update nodes set flags = 1 where id = " + std::to_string(shared.value));
  };
  grant(bob);
  auto reader = listen(bob), other = listen(carol);
  reader.next();
  const auto before = other.next().id;
  server.file(alice, secret, "s", "x");
  server.file(alice, shared, "f", "x");
  EXPECT_NE(reader.wait_for({id(shared)}), "");
  EXPECT_EQ(reader.seen, std::set<std::string>{id(shared)});
  grant(carol);  // learnt with the heartbeat
  const auto event = other.next();
  EXPECT_EQ(event.name, "resync");
  EXPECT_NE(event.id, before);
  server.file(alice, shared, "g", "x");
  EXPECT_NE(other.wait_for({id(shared)}), "");
  EXPECT_EQ(other.seen, std::set<std::string>{id(shared)});
}

TEST_F(Events, AFolderPasswordHearsOfItsFolderOnly) {
  const auto inside = server.folder(alice, root, "inside"), outside = server.folder(alice, root, "outside");
  people::NewAppPassword wanted;
  wanted.label = "test";
  wanted.protocol_mask = protocols::kAll;
  wanted.folder = inside;
  const auto password = run(server.people->create_app_password(alice.caller, wanted, {})).second;
  EventReader reader(server.port(), basic(alice.name, password));
  reader.next();
  server.file(alice, outside, "f", "x");
  server.file(alice, inside, "f", "x");
  EXPECT_NE(reader.wait_for({id(inside)}), "");
  EXPECT_EQ(reader.seen, std::set<std::string>{id(inside)});
}

TEST_F(Events, EndWithTheSessionOrTheAccount) {
  const auto bob = server.user(server.fresh("bob"));
  auto session = listen(alice), account = listen(bob);
  session.next();
  account.next();
  run(server.people->logout(alice.caller, {}));
  EXPECT_EQ(session.next().name, "");
  EXPECT_TRUE(session.ended);
  run(server.people->set_disabled(bob.id, true, UserId{}, {}));
  EXPECT_EQ(account.next().name, "");
  EXPECT_TRUE(account.ended);
  EXPECT_EQ(listen(alice).status(), 401);
}

TEST_F(Events, AreForThoseWhoAreSignedIn) {
  EXPECT_EQ(EventReader(server.port(), "").status(), 401);
  EXPECT_EQ(EventReader(server.port(), "Bearer " + std::string(43, 'a')).status(), 401);
  EventReader by_cookie(server.port(), "", "", "Cookie: welkin_access=" + alice.token + "\r\n");
  EXPECT_EQ(by_cookie.status(), 200);
  EXPECT_EQ(server.as(alice).send("HEAD", "/api/events").status, 200);
}

TEST_F(Events, AreBoundedForEveryUser) {
  std::vector<std::unique_ptr<EventReader>> open;
  for (int i = 0; i < 16; ++i) {
    open.push_back(std::make_unique<EventReader>(server.port(), "Bearer " + alice.token));
    ASSERT_EQ(open.back()->status(), 200) << i;
    open.back()->next();
  }
  EXPECT_EQ(listen(alice).status(), 429);
  EXPECT_EQ(listen(server.user(server.fresh("bob"))).status(), 200);
  const auto folder = server.folder(alice, root, "d");
  server.file(alice, folder, "f", "x");
  for (auto& reader : open) EXPECT_NE(reader->wait_for({id(folder)}), "");
}

TEST_F(Events, TooMuchToNameIsAResync) {
  const auto top = server.folder(alice, root, "top");
  auto reader = listen(alice);
  reader.next();
  server.sql(
      "with f as (insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, "
      "name) select " +
      std::to_string(top.value) +
      ", 0, 1, 0, drive_id, drive_id, 2, g::text from nodes, generate_series(1, 300) g where id = " +
      std::to_string(top.value) +
      " returning id, drive_id), d as (update drives set seq = seq + 1 where root_id = " +
      std::to_string(root.value) +
      " returning id, seq) insert into changes (drive_id, seq, node_id, parent_id, op) select d.id, d.seq, "
      "f.id, f.id, 1 "
      "from f, d");
  EXPECT_EQ(reader.next().name, "resync");
  server.file(alice, top, "after", "x");
  EXPECT_NE(reader.wait_for({id(top)}), "");
}

// What another server on the same database writes is heard as well: only the database speaks.
TEST_F(Events, ComeFromOtherServersToo) {
  const auto folder = server.folder(alice, root, "d");
  auto reader = listen(alice);
  reader.next();
  db::PoolConfig pool;
  pool.url = server.database.url();
  db::Db other_db(pool);
  {
    files::Files other(other_db, *server.store, server.config, server.clock);
    run(other.create_folder(alice.caller, folder, "from elsewhere"));
    EXPECT_NE(reader.wait_for({id(folder)}), "");
    other.close();
  }
  other_db.close();
}

// Whoever takes nothing is let go of after `write_stall_seconds`, however much there would be to tell. Until
// then nothing is kept for him but his place in the log, so that the server does not grow with what he
// leaves.
TEST(EventsOfASlowReader, EndAndHoldNoMemory) {
  const auto* const full = std::getenv("WELKIN_TEST_FULL");
  if (full == nullptr || *full == '\0')
    GTEST_SKIP() << "fills the system's buffers of 16 sockets first: two minutes";
  TestServer server([](Config& config) {
    config.event_heartbeat_seconds = 1;
    config.write_stall_seconds = 1;
  });
  const auto alice = server.user("alice");
  const auto home = std::to_string(server.home(alice).value);
  std::vector<std::unique_ptr<EventReader>> slow;
  for (int i = 0; i < 16; ++i) {  // all that one user may have
    slow.push_back(std::make_unique<EventReader>(server.port(), "Bearer " + alice.token, "", "", 4096));
    ASSERT_EQ(slow.back()->next().name, "ready");
  }
  server.sql(
      "with f as (insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, "
      "name) "
      "select id, 0, 1, 0, drive_id, drive_id, 2, g::text from nodes, generate_series(1, 190) g where id = " +
      home + " returning id) insert into folders (node_id, etag_seq, changed_at) select id, 1, 1 from f");
  const auto another = [&] { return EventReader(server.port(), "Bearer " + alice.token).status(); };
  ASSERT_EQ(another(), 429);
  const auto resident_kib = [] {
    std::ifstream statm("/proc/self/statm");
    long size = 0, resident = 0;
    statm >> size >> resident;
    return resident * 4;
  };
  const long before = resident_kib();
  long told = 0, most = before;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (another() == 429 && std::chrono::steady_clock::now() < end) {
    // A change in every one of the folders: about 8 KB for each stream.
    server.sql("with d as (update drives set seq = seq + 1 where root_id = " + home +
               " returning id, seq) insert into changes (drive_id, seq, node_id, parent_id, op) select d.id, "
               "d.seq, n.id, "
               "n.id, 1 from d, nodes n where n.parent_id = " +
               home);
    told += 16 * 8;
    most = std::max(most, resident_kib());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(another(), 200) << "slow readers were kept";
  EXPECT_LT(most - before, 64 << 10) << told << " KiB were told";
}

TEST(EventsAtTheEnd, StreamsEndAtOnce) {
  auto server = std::make_unique<TestServer>();
  const auto alice = server->user("alice");
  EventReader reader(server->port(), "Bearer " + alice.token);
  EXPECT_EQ(reader.next().name, "ready");
  std::thread stop([&] { server.reset(); });
  EXPECT_EQ(reader.next().name, "");
  EXPECT_TRUE(reader.ended);  // within the client's patience, which is less than a heartbeat
  stop.join();
}

}  // namespace
}  // namespace welkin::tests
