#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "blobs/store_fixture.hpp"

// kill -9 of a process that stores, deletes and collects as fast as it can, ten times. This binary is its own
// victim: with WELKIN_KILL_URL in the environment it is the writing process.
namespace welkin::blobs {
namespace {

constexpr int kWriters = 4, kAcknowledgements = 3;  // the second is a descriptor
constexpr db::Stmt kNode{"test.kill_node", R"(
  insert into nodes (parent_id, content_id, drive_id, kind, mtime, etag_seq, etag_drive, created_at, name)
  values (1000000, $1, 1, 1, 0, 0, 1, 0, gen_random_uuid()::text))"};
constexpr db::Stmt kDelete{"test.kill_delete", "delete from nodes where content_id = $1"};
constexpr db::Stmt kQueue{"test.kill_queue",
                          "insert into content_gc (content_id) values ($1) on conflict do nothing"};

/// 1 B to 3 MiB, as many small as large.
std::size_t size_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return std::min<std::size_t>(3 << 20, 1ull << random() % 22) + random() % 1000;
}

Bytes body_of(std::uint64_t seed) { return random_bytes(size_of(seed), seed); }

Task<Sealed> pour(Store& store, const Bytes& body) {
  const auto sink = store.sink({.size_hint = std::nullopt, .upload = {}});
  co_await sink->write(body);
  co_return co_await sink->seal();
}

void say(const std::string& line) {
  if (::write(kAcknowledgements, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    std::_Exit(3);
}

void write_for_ever(db::Db& db, Store& store, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ContentId> mine;
  while (true) {
    const std::uint64_t body_seed = random() % 3 == 0 ? random() % 8 : random();  // some bodies meet
    const Sealed sealed = tests::run(pour(store, body_of(body_seed)));
    const ContentId content = db.write_now([&](db::Tx& tx) {
      const ContentId id = store.record(tx, {&sealed}).front();
      tx.exec(kNode, id);
      return id;
    });
    store.committed(sealed);
    say("stored " + std::to_string(content.value) + " " + std::to_string(body_seed) + "\n");
    mine.push_back(content);
    if (mine.size() < 4 || random() % 2 == 0) continue;
    const ContentId gone = mine.front();
    mine.erase(mine.begin());
    say("deletes " + std::to_string(gone.value) + " 0\n");
    db.write_now([&](db::Tx& tx) {
      tx.exec(kDelete, gone);
      tx.exec(kQueue, gone);
    });
  }
}

int be_the_victim() {
  db::Db db(db::PoolConfig{.url = std::getenv("WELKIN_KILL_URL"), .connections = kWriters + 1});
  Store::Options options;
  options.data_dir = std::getenv("WELKIN_KILL_DATA");
  options.disk_floor_bytes = 0;
  options.gc_grace_seconds = 0;
  options.orphan_seconds = 2;
  Store store(db, options);
  std::vector<std::thread> threads;
  const auto seed = std::strtoull(std::getenv("WELKIN_KILL_SEED"), nullptr, 10);
  for (int i = 0; i < kWriters; ++i)
    threads.emplace_back([&, i] { write_for_ever(db, store, seed * 100 + static_cast<std::uint64_t>(i)); });
  while (true) {
    store.collect();
    store.sweep();
  }
}

class KillTest : public StoreTest {
 protected:
  /// Lets the victim live until it has acknowledged a few and `more` has passed. @return all it said
  std::string live(std::uint64_t seed, std::chrono::milliseconds more) {
    int pipe[2];
    EXPECT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    const std::string environment[] = {"WELKIN_KILL_URL=" + db_url(), "WELKIN_KILL_DATA=" + path().string(),
                                       "WELKIN_KILL_SEED=" + std::to_string(seed),
                                       "ASAN_OPTIONS=detect_leaks=0"};
    std::vector<char*> env;
    for (const auto& e : environment) env.push_back(const_cast<char*>(e.c_str()));
    env.push_back(nullptr);
    char name[] = "blobs_kill_victim";
    char* const arguments[] = {name, nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], kAcknowledgements);
    pid_t victim = 0;
    EXPECT_EQ(::posix_spawn(&victim, "/proc/self/exe", &actions, nullptr, arguments, env.data()), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);

    std::string said;
    std::atomic<bool> ended = false;
    std::thread reader([&] {
      char buffer[4096];
      for (ssize_t n; (n = ::read(pipe[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<std::size_t>(n));
      ended = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(400) + more);
    ::kill(victim, SIGKILL);
    int status = 0;
    ::waitpid(victim, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
    reader.join();
    ::close(pipe[0]);
    return said;
  }
};

TEST_F(KillTest, NothingAcknowledgedIsLost) {
  std::map<std::int64_t, std::uint64_t> stored;  // content, seed of its body
  std::mt19937_64 random(1);
  std::size_t acknowledged = 0;
  for (std::uint64_t cycle = 1; cycle <= 10; ++cycle) {
    close();
    std::vector<std::int64_t> fresh;
    std::istringstream said(live(cycle, std::chrono::milliseconds(random() % 300)));
    std::string what;
    std::int64_t content;
    std::uint64_t seed;
    while (said >> what >> content >> seed) {
      if (what == "stored") {
        stored[content] = seed;
        fresh.push_back(content);
        ++acknowledged;
      } else {
        stored.erase(content);  // may be gone or not
      }
    }
    open();
    for (const auto id : fresh)
      if (stored.contains(id))
        ASSERT_TRUE(get(ContentId{id}) == body_of(stored[id])) << "cycle " << cycle << ", content " << id;
    if (cycle % 5 != 0) continue;
    // What was never acknowledged is whole, or it is not there.
    std::vector<std::int64_t> all;
    db().read_now([&](db::Tx& tx) {
      static constexpr db::Stmt kAll{"test.kill_all",
                                     "select content_id from nodes where content_id is not null"};
      for (const auto row : tx.exec(kAll)) all.push_back(row.i64(0));
    });
    for (const auto id : all) ASSERT_NO_THROW(get(ContentId{id})) << "cycle " << cycle << ", content " << id;
  }
  EXPECT_GT(acknowledged, 20u);
  RecordProperty("acknowledged", static_cast<int>(acknowledged));

  options().orphan_seconds = 0;
  open();
  for (int i = 0; i < 2; ++i) {
    store().sweep();
    collect_all();
  }
  EXPECT_EQ(spool_files(), 0u);
  EXPECT_EQ(static_cast<std::int64_t>(chunk_files().size()), count("chunks"));
  for (const auto& [id, body_seed] : stored) ASSERT_TRUE(get(ContentId{id}) == body_of(body_seed));
}

}  // namespace
}  // namespace welkin::blobs

int main(int argc, char** argv) {
  if (std::getenv("WELKIN_KILL_URL")) return welkin::blobs::be_the_victim();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
