#include <atomic>
#include <fstream>
#include <thread>

#include "blobs/faulty_vfs.hpp"
#include "blobs/store_fixture.hpp"

// What leaves the disk, and what must not.
namespace welkin::blobs {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kKiB = 1 << 10, kMiB = 1 << 20;

class CollectTest : public StoreTest {
 protected:
  void open_faulty() {
    open([this](std::unique_ptr<Vfs> real) { return std::make_unique<FaultyVfs>(std::move(real), faults_); });
  }
  /// Everything due now: forgotten rows, orphans, queues.
  void settle() {
    store().sweep();
    collect_all();
    store().sweep();
    collect_all();
  }
  std::shared_ptr<VfsFaults> faults_ = std::make_shared<VfsFaults>();
};

TEST_F(CollectTest, ADeletedContentLeavesTheDisk) {
  const ContentId large = put(random_bytes(3 * kMiB, 1)), small = put(random_bytes(10, 1));
  const auto files = chunk_files().size();
  forget(large);
  forget(small);
  EXPECT_EQ(collect_all(), files);
  EXPECT_TRUE(chunk_files().empty());
  EXPECT_EQ(count("contents") + count("inline_bodies") + count("content_chunks") + count("chunks"), 0);
  EXPECT_EQ(count("content_gc") + count("chunk_gc"), 0);
}

TEST_F(CollectTest, NothingGoesWithinTheGrace) {
  options().gc_grace_seconds = 3600;
  open();
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  forget(content);
  EXPECT_EQ(collect_all(), 0u);
  EXPECT_TRUE(get(content) == body) << "a reader that began before goes on";
  sql("update content_gc set since = now() - interval '3601 seconds'");
  EXPECT_EQ(collect_all(), 1u);
}

TEST_F(CollectTest, AQueueRowIsAHintOnly) {
  const ContentId used = put(random_bytes(kMiB, 1)), version = put(random_bytes(kMiB, 2));
  const auto id = std::to_string(version.value);
  sql("insert into versions (node_id, content_id, size, mtime) select id, " + id +
      ", 0, 0 from nodes where content_id = " + std::to_string(used.value) +
      "; delete from nodes where content_id = " + id);
  sql("insert into content_gc select id from contents; insert into chunk_gc (chunk_id) select id from "
      "chunks");
  EXPECT_EQ(collect_all(), 0u);
  EXPECT_EQ(count("content_gc") + count("chunk_gc"), 0) << "they just leave the queue";
  EXPECT_TRUE(get(used) == random_bytes(kMiB, 1));
  EXPECT_TRUE(get(version) == random_bytes(kMiB, 2));
}

TEST_F(CollectTest, HintsForWhatIsGoneAreDropped) {
  sql("insert into content_gc values (4711); insert into chunk_gc (chunk_id) values (4711)");
  EXPECT_EQ(collect_all(), 0u);
  EXPECT_EQ(count("content_gc") + count("chunk_gc"), 0);
}

TEST_F(CollectTest, SomethingUnforeseenThatRefersToAContentHoldsUpOnlyThatOne) {
  sql("create table unforeseen (content_id bigint references contents)");
  const ContentId held = put(random_bytes(10, 1)), other = put(random_bytes(kMiB, 2));
  sql("insert into unforeseen values (" + std::to_string(held.value) + ")");
  forget(held);
  forget(other);
  EXPECT_EQ(collect_all(), 1u);
  EXPECT_EQ(get(held).size(), 10u);
  EXPECT_EQ(count("content_gc"), 1) << "kept for later";
  sql("drop table unforeseen");
  collect_all();
  EXPECT_EQ(count("contents"), 0);
}

TEST_F(CollectTest, AHoldStopsTheDisk) {
  forget(put(random_bytes(kMiB, 1)));
  sql("insert into settings values ('gc.hold_until', (now() + interval '1 hour')::text)");
  EXPECT_EQ(collect_all(), 0u);
  EXPECT_EQ(chunk_files().size(), 1u);
  sql("update settings set value = (now() - interval '1 second')::text where key = 'gc.hold_until'");
  EXPECT_EQ(collect_all(), 1u) << "a hold ends by itself";
}

TEST_F(CollectTest, AFileThatCannotBeRemovedIsTriedLaterAndLaterThenParked) {
  open_faulty();
  forget(put(random_bytes(kMiB, 1)));
  faults_->remove = [](const std::string& name) {
    throw VfsError(VfsError::Kind::other, "unlink " + name + ": EPERM");
  };
  for (int attempt = 1; attempt <= 10; ++attempt) {
    EXPECT_EQ(store().collect(), 0u);
    EXPECT_EQ(count("chunk_gc where attempts = " + std::to_string(attempt)), 1) << attempt;
    EXPECT_EQ(count("chunk_gc where since > now()"), 1);
    EXPECT_EQ(store().collect(), 0u) << "not before its time";
    sql("update chunk_gc set since = now()");
  }
  EXPECT_EQ(count("chunk_gc where parked and attempts = 10"), 1);
  EXPECT_EQ(count("chunks where state = 1"), 1);
  store().collect();
  EXPECT_EQ(count("chunk_gc where attempts = 10"), 1) << "parked ones rest";
  faults_->remove = {};
  sql("update chunk_gc set parked = false");
  EXPECT_EQ(store().collect(), 1u);
  EXPECT_EQ(count("chunk_gc") + count("chunks"), 0);
}

TEST_F(CollectTest, ADyingChunkIsNeverUsedAgain) {
  const Bytes body = random_bytes(kMiB, 1);
  open_faulty();
  forget(put(body));
  faults_->remove = [](const std::string& name) { throw VfsError(VfsError::Kind::other, "unlink " + name); };
  store().collect();
  ASSERT_EQ(count("chunks where state = 1"), 1);
  faults_->remove = {};
  const ContentId again = put(body);
  EXPECT_EQ(count("chunks"), 2) << "the same bytes get a new row and a new file";
  EXPECT_EQ(chunk_files().size(), 2u);
  sql("update chunk_gc set since = now()");
  EXPECT_EQ(collect_all(), 1u);
  EXPECT_TRUE(get(again) == body);
}

TEST_F(CollectTest, ACollectorThatStoppedHalfWayGoesOn) {
  const Bytes body = random_bytes(5 * kMiB, 1);
  forget(put(body));
  const auto files = chunk_files();
  // Stopped after `dying` was committed and one file was gone.
  sql("delete from content_chunks; delete from contents; delete from content_gc; update chunks set state = 1;"
      "insert into chunk_gc (chunk_id) select id from chunks");
  fs::remove(files.front());
  EXPECT_EQ(collect_all(), files.size());
  EXPECT_EQ(count("chunks") + count("chunk_gc"), 0);
  EXPECT_TRUE(chunk_files().empty());
}

TEST_F(CollectTest, OrphansAndForgottenRowsAreFound) {
  const Bytes body = random_bytes(2 * kMiB, 1);
  const ContentId kept = put(body);
  const auto files = chunk_files();
  const Sealed lost = seal(random_bytes(2 * kMiB, 2));  // neither recorded nor abandoned: its process died
  ASSERT_GT(chunk_files().size(), files.size());
  const ContentId forgotten = put(random_bytes(2 * kMiB, 3));
  sql("delete from nodes where content_id = " + std::to_string(forgotten.value));  // and no hint
  std::ofstream(path() / "spool" / "7f.part") << "left over";
  EXPECT_GT(store().sweep(), 1u);
  EXPECT_EQ(spool_files(), 0u);
  settle();
  EXPECT_EQ(chunk_files(), files);
  EXPECT_TRUE(get(kept) == body);
  EXPECT_EQ(count("chunks"), static_cast<std::int64_t>(files.size()));
}

TEST_F(CollectTest, YoungFilesAreNotSwept) {
  ManualClock clock(SystemClock().now());
  options().orphan_seconds = 86'400;
  options().clock = &clock;
  open();
  const Sealed waiting = seal(random_bytes(2 * kMiB, 2));
  std::ofstream(path() / "spool" / "7f.part") << "left over";
  EXPECT_EQ(store().sweep(), 0u);
  clock.advance(std::chrono::hours(23));
  EXPECT_EQ(store().sweep(), 0u);
  clock.advance(std::chrono::hours(2));
  EXPECT_GT(store().sweep(), 1u);
  EXPECT_EQ(spool_files(), 0u);
  close();
  options().clock = nullptr;
}

TEST_F(CollectTest, ALivingSinkKeepsItsSpoolFiles) {
  const Bytes body = random_bytes(20 * kMiB, 2);
  const Sealed sealed = tests::run([](auto& test, Bytes bytes) -> Task<Sealed> {
    const auto sink = test.store().sink({.size_hint = bytes.size(), .upload = {}});
    co_await sink->write(ByteView(bytes).first(10 * kMiB));
    EXPECT_TRUE(soon([&] { return test.spool_files() > 2; }));
    const auto before = test.spool_files();
    test.store().sweep();  // everything counts as old here
    EXPECT_GE(test.spool_files(), before);
    co_await sink->write(ByteView(bytes).subspan(10 * kMiB));
    co_return co_await sink->seal();
  }(*this, body));
  EXPECT_TRUE(get(record(sealed)) == body);
}

TEST_F(CollectTest, ABodyThatSleptTooLongIsRefusedNotLost) {
  const Bytes body = random_bytes(3 * kMiB, 2);
  const Sealed slept = seal(body);
  store().sweep();  // its files get dying rows
  EXPECT_EQ(slug_of([&] { record(slept); }), "body_expired") << "the row is there";
  collect_all();  // and the files go
  EXPECT_TRUE(chunk_files().empty());
  EXPECT_EQ(slug_of([&] { record(slept); }), "body_expired") << "the file is missing";
  EXPECT_EQ(count("chunks") + count("contents"), 0);
  EXPECT_TRUE(get(put(body)) == body);
}

TEST_F(CollectTest, AReaderInTheMiddleGetsAllOrAnError) {
  const Bytes body = random_bytes(12 * kMiB, 2);
  for (int round = 0; round < 6; ++round) {
    const ContentId content = put(body);
    // Deletes everything (grace 0) after the reader got its first chunk.
    struct Cruel final : ByteSink {
      explicit Cruel(std::function<void()> f) : after_first(std::move(f)) {}
      Task<> write(ByteView) override { co_return; }
      Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override {
        co_await memory.write_file(fd, offset, length);
        if (after_first) std::exchange(after_first, {})();
      }
      MemorySink memory;
      std::function<void()> after_first;
    } out([&] {
      forget(content);
      collect_all();
    });
    const auto view = db().read_now([&](db::Tx& tx) { return store().view(tx, content); });
    const std::string slug = slug_of([&] { tests::run(store().send(view, {0, body.size()}, out)); });
    EXPECT_TRUE(std::ranges::equal(out.memory.body, ByteView(body).first(out.memory.body.size())));
    EXPECT_EQ(slug.empty(), out.memory.body.size() == body.size()) << slug;
    EXPECT_TRUE(chunk_files().empty());
  }
}

/// Uploads and deletions of the same few bodies by many, a collector and a sweeper that find everything old
/// enough.
TEST_F(CollectTest, StormsOfTheSameBytesLoseNothing) {
  constexpr int kWriters = 4, kRounds = 40;
  std::vector<Bytes> bodies;
  for (std::uint64_t i = 0; i < 5; ++i) bodies.push_back(random_bytes(70 * kKiB + 300 * kKiB * i, i));
  std::atomic<int> writers_left = kWriters, refused = 0, wrong = 0, stored = 0;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w)
    threads.emplace_back([&, w] {
      std::mt19937 random(static_cast<unsigned>(w));
      std::vector<std::pair<ContentId, std::size_t>> mine;
      for (int i = 0; i < kRounds; ++i) {
        const std::size_t which = random() % bodies.size();
        ContentId content;
        // Refused when the sweeper was faster, which it cannot be in a day; sent again, as a client would.
        while (!content)
          if (slug_of([&] { content = put(bodies[which]); }) != "") ++refused;
        ++stored;
        mine.emplace_back(content, which);
        for (const auto& [id, body] : mine)
          if (random() % 4 == 0 && get(id) != bodies[body]) ++wrong;
        while (mine.size() > random() % 4) {
          forget(mine.front().first);
          mine.erase(mine.begin());
        }
      }
      for (const auto& [id, body] : mine)
        if (get(id) != bodies[body]) ++wrong;
      --writers_left;
    });
  threads.emplace_back([&] {
    while (writers_left > 0) {
      store().collect();
      std::this_thread::yield();
    }
  });
  threads.emplace_back([&] {
    while (writers_left > 0) {
      store().sweep();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(stored, kWriters * kRounds);
  settle();
  EXPECT_EQ(count("chunks where state <> 0"), 0);
  EXPECT_EQ(count("chunks c where not exists (select from content_chunks where chunk_id = c.id)"), 0);
  EXPECT_EQ(static_cast<std::int64_t>(chunk_files().size()), count("chunks"));
  RecordProperty("refused", refused.load());
}

}  // namespace
}  // namespace welkin::blobs
