#include "welkin/db/cluster.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "db/child.hpp"
#include "db/cluster_files.hpp"
#include "db/connection.hpp"
#include "db/server_life.hpp"
#include "support/run.hpp"
#include "support/temp_folder.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"
#include "welkin/db/migrate.hpp"

namespace welkin::db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using tests::Child;
using tests::TempFolder;
using Clock = std::chrono::steady_clock;

constexpr Stmt kSetting{"t.setting", "select current_setting($1)"};
constexpr Stmt kInsert{"t.insert", "insert into t values ($1)"};
constexpr Stmt kTimes{"t.times", "select count(*) from t where a = $1"};

/// Mostly without fsync, for speed; where it matters what a kill leaves behind, the real thing.
class Clusters : public ::testing::Test {
 protected:
  static Cluster::Options options(const std::string& directory, bool durable = false) {
    Cluster::Options o;
    o.directory = directory;
    o.durable = durable;
    o.run_as = tests::ordinary_user();
    return o;
  }
  std::string directory() const { return folder_.path() + "/pg"; }
  std::unique_ptr<Cluster> start() { return std::make_unique<Cluster>(options(directory())); }
  std::unique_ptr<Cluster> start_durable() { return std::make_unique<Cluster>(options(directory(), true)); }
  static PoolConfig pool(const Cluster& cluster) {
    PoolConfig c;
    c.url = cluster.url();
    return c;
  }
  static std::string setting(Db& db, const char* name) {
    return db.read_now([&](Tx& tx) { return tx.one(kSetting, name)[0].str(0); });
  }
  static bool eventually(const std::function<bool()>& what, Clock::duration limit = 30s) {
    for (const auto until = Clock::now() + limit; Clock::now() < until; std::this_thread::sleep_for(20ms)) {
      if (what()) return true;
    }
    return false;
  }
  TempFolder folder_;
};

TEST_F(Clusters, StartsOnNothingStopsAndStartsAgain) {
  EXPECT_EQ(Cluster::running_url(directory()), "");
  {
    const auto cluster = start_durable();
    EXPECT_TRUE(cluster->alive());
    EXPECT_EQ(Cluster::running_url(directory()), cluster->url());
    Db db(pool(*cluster));
    EXPECT_EQ(setting(db, "data_checksums"), "on");
    EXPECT_EQ(setting(db, "fsync"), "on");
    EXPECT_EQ(setting(db, "listen_addresses"), "");
    EXPECT_EQ(setting(db, "server_encoding"), "UTF8");
    EXPECT_EQ(setting(db, "jit"), "off");
    db.write_now([](Tx& tx) { tx.script("create table t (a int8); insert into t values (7)"); });
  }
  EXPECT_EQ(Cluster::running_url(directory()), "");
  EXPECT_FALSE(fs::exists(directory() + "/postmaster.pid"));
  const auto cluster = start_durable();
  Db db(pool(*cluster));
  EXPECT_EQ(db.read_now([](Tx& tx) { return tx.one(kTimes, std::int64_t{7})[0].i64(0); }), 1);
}

TEST_F(Clusters, SettingsAreRenewedAndTheOperatorsOwnAreKept) {
  start();
  std::ofstream(directory() + "/welkin.conf") << "work_mem = 1MB\n";
  std::ofstream(directory() + "/local.conf") << "work_mem = 3MB\nmax_connections = 33\n";
  fs::permissions(directory() + "/local.conf", fs::perms::all);
  const auto cluster = start();
  Db db(pool(*cluster));
  EXPECT_EQ(setting(db, "work_mem"), "3MB");
  EXPECT_EQ(setting(db, "max_connections"), "33");
  EXPECT_EQ(setting(db, "shared_buffers"), "128MB");
}

TEST_F(Clusters, SeveralRunSideBySide) {
  const Cluster one(options(folder_.path() + "/a")), two(options(folder_.path() + "/b"));
  Db first(pool(one)), second(pool(two));
  first.write_now([](Tx& tx) { tx.script("create table t (a int8)"); });
  EXPECT_THROW(second.write_now([](Tx& tx) { tx.exec(kInsert, std::int64_t{1}); }), SqlError);
}

TEST_F(Clusters, TwoOnOneDirectoryAreToldApart) {
  const auto cluster = start();
  try {
    start();
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("another Welkin"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(cluster->alive());
}

TEST_F(Clusters, ALongPathGetsAShortSocketFolder) {
  const std::string deep = folder_.path() + "/" + std::string(120, 'd');
  fs::create_directory(deep);
  std::string link;
  for (int i = 0; i < 2; ++i) {
    const Cluster cluster(options(deep + "/pg"));
    Db db(pool(cluster));
    EXPECT_EQ(setting(db, "fsync"), "off");
    const auto target = fs::read_symlink(deep + "/pg.run").string();
    EXPECT_TRUE(link.empty() || link == target) << "the second start made another folder";
    link = target;
  }
  fs::remove_all(link);
}

TEST_F(Clusters, AForeignFolderIsRefusedAndLeftAlone) {
  fs::create_directory(directory());
  std::ofstream(directory() + "/diary.txt") << "dear diary";
  EXPECT_THROW(start(), std::runtime_error);
  EXPECT_TRUE(fs::exists(directory() + "/diary.txt"));
}

TEST_F(Clusters, AnUnfinishedInitdbIsBegunAgain) {
  fs::create_directories(directory() + ".new/base");
  std::ofstream(directory() + ".new/PG_VERSION") << "15\n";
  fs::create_directory(directory());  // empty: made by somebody in advance
  EXPECT_TRUE(start()->alive());
  EXPECT_FALSE(fs::exists(directory() + ".new"));
}

TEST_F(Clusters, AFailureNamesTheLogAndWhatItSays) {
  start();
  std::ofstream(directory() + "/local.conf") << "no_such_setting = 1\n";
  fs::permissions(directory() + "/local.conf", fs::perms::all);
  const auto begun = Clock::now();
  try {
    start();
    FAIL();
  } catch (const std::runtime_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find(directory() + ".log"), std::string::npos) << what;
    EXPECT_NE(what.find("no_such_setting"), std::string::npos) << what;
  }
  EXPECT_LT(Clock::now() - begun, 20s);  // not taken for a predecessor that is still shutting down
}

TEST_F(Clusters, AnotherVersionsDirectoryIsNamed) {
  start();
  std::ofstream(directory() + "/PG_VERSION") << "9.1\n";
  try {
    start();
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("PostgreSQL 9.1"), std::string::npos) << e.what();
  }
}

TEST_F(Clusters, ABigLogMovesAside) {
  start();
  fs::resize_file(directory() + ".log", 9 << 20);
  const auto cluster = start();
  EXPECT_LT(fs::file_size(directory() + ".log"), 1u << 20);
  EXPECT_GT(fs::file_size(directory() + ".log.1"), 8u << 20);
}

TEST_F(Clusters, AStalePidFileIsNoServer) {
  start();
  std::ofstream(directory() + "/postmaster.pid") << "999999\n"
                                                 << directory() << "\n1\n5432\n/nowhere\n\n\nready\n";
  EXPECT_EQ(Cluster::running_url(directory()), "");
  std::ofstream(directory() + "/postmaster.pid") << "nonsense";
  EXPECT_EQ(Cluster::running_url(directory()), "");
  fs::remove(directory() + "/postmaster.pid");
}

// Every write that was answered is there, exactly once, however often the server dies under it.
TEST_F(Clusters, AKilledServerIsStartedAgainAndNothingAnsweredIsLost) {
  const auto cluster = start_durable();
  migrate(cluster->url(), {}, {});
  Db db(pool(*cluster));
  db.write_now([](Tx& tx) { tx.script("create table t (a int8)"); });
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> next{0};
  std::vector<std::thread> writers;
  std::mutex mutex;
  std::vector<std::int64_t> answered, refused, unknown;
  for (int w = 0; w < 6; ++w) {
    writers.emplace_back([&] {
      while (!stop) {
        const std::int64_t id = ++next;
        auto* outcome = &answered;
        try {
          db.write_now([&](Tx& tx) { tx.exec(kInsert, id); });
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), Errc::unavailable);
          outcome = std::string(e.slug()) == "unknown_commit" ? &unknown : &refused;
          std::this_thread::sleep_for(20ms);
        }
        const std::lock_guard lock(mutex);
        outcome->push_back(id);
      }
    });
  }
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(300ms);
    const int pid = cluster->pid();
    ASSERT_GT(pid, 0);
    kill(pid, round == 1 ? SIGQUIT : SIGKILL);
    ASSERT_TRUE(eventually([&] { return cluster->pid() != 0 && cluster->pid() != pid; }));
    const auto before = next.load();
    ASSERT_TRUE(eventually([&] {  // the pool heals by itself
      const std::lock_guard lock(mutex);
      return !answered.empty() && answered.back() > before;
    }));
  }
  stop = true;
  for (auto& writer : writers) writer.join();
  constexpr Stmt kAll{"t.all", "select a, count(*) from t group by a"};
  std::map<std::int64_t, std::int64_t> stored;
  for (const auto row : db.read_now([&](Tx& tx) { return tx.exec(kAll); })) stored[row.i64(0)] = row.i64(1);
  for (const auto id : answered) ASSERT_EQ(stored[id], 1) << id;
  for (const auto id : refused) ASSERT_EQ(stored[id], 0) << id;
  for (const auto id : unknown) ASSERT_LE(stored[id], 1) << id;
  EXPECT_GT(answered.size(), 100u);
}

// The trap that server_life is there for: after a crash the number of a transaction that left no trace is
// given to somebody else, and pg_xact_status speaks of him.
TEST_F(Clusters, ANumberUsedAgainAfterACrashIsNotBelieved) {
  const auto cluster = start();
  migrate(cluster->url(), {}, {});
  constexpr Stmt kBegin{"t.begin", "begin"}, kXid{"t.xid", "select pg_current_xact_id()"},
      kStatus{"t.status", "select pg_xact_status($1::text::xid8)"};
  const auto value = [](Connection& c, const Stmt& stmt, const Params& params = Params()) {
    c.queue(stmt, params);
    return c.results()[0];
  };
  auto lost = std::make_unique<Connection>(cluster->url(), SessionSettings{});
  const auto life = read_server_life(*lost);
  ASSERT_FALSE(life.empty());
  value(*lost, kBegin);
  const auto xid = value(*lost, kXid)[0].i64(0);
  EXPECT_EQ(outcome_of(*std::make_unique<Connection>(cluster->url(), SessionSettings{}), xid, life),
            Outcome::running);

  const int pid = cluster->pid();
  kill(pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return cluster->pid() != 0 && cluster->pid() != pid; }));
  Connection after(cluster->url(), SessionSettings{});
  for (int i = 0; i < 50 && value(after, kXid)[0].i64(0) < xid; ++i) {
  }
  ASSERT_EQ(value(after, kStatus, Params(std::to_string(xid)))[0].text(0), "committed");
  EXPECT_EQ(outcome_of(after, xid, life), Outcome::undecidable);
  EXPECT_NE(read_server_life(after), life);
}

TEST_F(Clusters, ACleanRestartIsTheSameLife) {
  std::string life;
  for (int i = 0; i < 2; ++i) {
    const auto cluster = start();
    migrate(cluster->url(), {}, {});
    Connection connection(cluster->url(), SessionSettings{});
    const auto now = read_server_life(connection);
    EXPECT_FALSE(now.empty());
    EXPECT_TRUE(life.empty() || life == now);
    life = now;
  }
}

/// A zombie that nobody has collected yet does not run.
bool running(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return (in >> number >> name >> state) && state != "Z";
}

TEST_F(Clusters, PostgresEndsWithAKilledParentAndTheNextStartWaitsForIt) {
  start();
  for (int round = 0; round < 3; ++round) {
    Child other({"cluster", directory()});
    ASSERT_TRUE(eventually([&] { return !Cluster::running_url(directory()).empty(); }));
    const auto postmaster = read_postmaster(directory());
    ASSERT_TRUE(postmaster);
    other.kill();
    const auto cluster = start();
    EXPECT_FALSE(running(postmaster->pid)) << "the old server still runs";
    Db db(pool(*cluster));
    EXPECT_EQ(setting(db, "fsync"), "off");
  }
}

TEST_F(Clusters, KilledAnywhereInTheFirstStart) {
  for (const auto after : {30ms, 150ms, 400ms, 700ms, 1200ms}) {
    Child other({"cluster", directory()});
    std::this_thread::sleep_for(after);
    other.kill();
  }
  const auto cluster = start();
  Db db(pool(*cluster));
  EXPECT_EQ(setting(db, "data_checksums"), "on");
}

}  // namespace
}  // namespace welkin::db
