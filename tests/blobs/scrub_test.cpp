#include <fstream>

#include "blobs/faulty_vfs.hpp"
#include "blobs/store_fixture.hpp"
#include "welkin/blobs/check.hpp"
#include "welkin/blobs/scrubber.hpp"
#include "welkin/blobs/upkeep.hpp"

// Bytes that rot in silence: found, set aside, and whole again when somebody still has them.
namespace welkin::blobs {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMiB = 1 << 20;
constexpr std::uint64_t kAll = 1ull << 40;

class ScrubTest : public StoreTest {
 protected:
  void open_faulty() {
    open([this](std::unique_ptr<Vfs> real) { return std::make_unique<FaultyVfs>(std::move(real), faults_); });
  }
  static void flip(const fs::path& file) {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(100);
    f.write("rot", 3);
  }
  std::shared_ptr<VfsFaults> faults_ = std::make_shared<VfsFaults>();
};

TEST_F(ScrubTest, ReadsEachChunkOnceThenRests) {
  put(random_bytes(6 * kMiB, 1));
  const auto chunks = count("chunks");
  unsigned read = 0, steps = 0;
  for (auto step = store().scrub(kMiB); !step.idle; step = store().scrub(kMiB)) {
    read += step.chunks;
    EXPECT_LE(step.bytes, kMiB + kChunkBytesMax);
    ++steps;
  }
  EXPECT_EQ(read, chunks);
  EXPECT_GT(steps, 1u) << "bounded steps";
  EXPECT_EQ(count("chunks where verified_at is not null"), chunks);
  EXPECT_EQ(count("settings where key = 'scrub.finished'"), 1);
  EXPECT_EQ(store().scrub(kAll).chunks, 0u) << "nothing is due for a month";
  sql("update chunks set verified_at = now() - interval '31 days'");
  EXPECT_EQ(store().scrub(kAll).chunks, chunks);
}

TEST_F(ScrubTest, GoesOnWhereItWasAfterARestart) {
  put(random_bytes(6 * kMiB, 1));
  const auto first = store().scrub(1).chunks;
  ASSERT_EQ(first, 1u);
  sql("update chunks set verified_at = null");
  open();
  EXPECT_EQ(store().scrub(kAll).chunks, count("chunks") - 1);
}

TEST_F(ScrubTest, ARottenChunkIsSetAsideReadsFailAndTheNextUploadHeals) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body), other = put(random_bytes(kMiB, 2));
  const auto before = count("chunks");
  for (const auto& file : chunk_files()) flip(file);
  const auto step = store().scrub(kAll);
  EXPECT_EQ(step.damaged, 2u);
  EXPECT_EQ(count("chunks where quarantined"), 2);
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
  const ContentId again = put(body);
  EXPECT_EQ(count("chunks"), before + 1) << "the same bytes get a new chunk, not the rotten one";
  EXPECT_TRUE(get(again) == body);
  store().collect();
  EXPECT_TRUE(get(content) == body) << "healed";
  EXPECT_EQ(slug_of([&] { get(other); }), "content_damaged") << "still lost";
  collect_all();
  EXPECT_EQ(count("chunks where quarantined"), 1);
  EXPECT_TRUE(fs::exists(path() / "quarantine")) << "the bad file is kept while somebody needs it";
}

TEST_F(ScrubTest, AReaderThatMeetsDamageMakesTheCollectorLook) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  flip(chunk_files().front());
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
  EXPECT_EQ(count("chunks where quarantined"), 0);
  store().collect();
  EXPECT_EQ(count("chunks where quarantined"), 1);
  put(body);
  store().collect();
  EXPECT_TRUE(get(content) == body);
}

TEST_F(ScrubTest, ASoundChunkThatAReaderSuspectedStays) {
  const Bytes body = random_bytes(kMiB, 1);
  open_faulty();
  const ContentId content = put(body);
  faults_->read = [](const std::string&) { throw VfsError(VfsError::Kind::io, "read: EIO"); };
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged") << "loudly";
  faults_->read = {};
  store().collect();
  EXPECT_EQ(count("chunks where quarantined"), 0);
  EXPECT_TRUE(get(content) == body);
}

TEST_F(ScrubTest, AChunkTheDeviceCannotGiveIsSetAside) {
  open_faulty();
  const ContentId content = put(random_bytes(kMiB, 1));
  faults_->read = [](const std::string&) { throw VfsError(VfsError::Kind::io, "read: EIO"); };
  EXPECT_EQ(store().scrub(kAll).damaged, 1u);
  EXPECT_EQ(count("chunks where quarantined"), 1);
  faults_->read = {};
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
  // It was the cable: an operator brings it back.
  std::vector<std::string> kinds;
  Inspection inspection(db(), {.data_dir = path().string(), .repair = true, .grace_seconds = 0},
                        [&](const Finding& f) { kinds.push_back(f.kind); });
  check_bytes(inspection);
  EXPECT_EQ(kinds, std::vector<std::string>{"chunk.sound_again"});
  EXPECT_EQ(get(content).size(), kMiB);
}

TEST_F(ScrubTest, AFailingDeviceIsNoMatterOfSingleChunks) {
  open_faulty();
  put(random_bytes(20 * kMiB, 1));
  ASSERT_GT(count("chunks"), 8);
  faults_->read = [](const std::string&) { throw VfsError(VfsError::Kind::io, "read: EIO"); };
  EXPECT_TRUE(store().scrub(kAll).idle);
  EXPECT_LE(count("chunks where quarantined"), 3);
}

TEST_F(ScrubTest, ASuspectStoreIsLeftAlone) {
  open_faulty();
  put(random_bytes(kMiB, 1));
  faults_->sync_fails = [] { return true; };
  EXPECT_NE(slug_of([&] { put(random_bytes(kMiB, 2)); }), "");
  EXPECT_TRUE(store().scrub(kAll).idle);
  EXPECT_EQ(count("chunks where verified_at is not null"), 0);
}

TEST_F(ScrubTest, RunsInTheBackgroundAndStopsAtOnce) {
  put(random_bytes(3 * kMiB, 1));
  Scrubber scrubber(store(), {.mib_per_second = 10'000});
  scrubber.start();
  EXPECT_TRUE(soon([&] { return count("settings where key = 'scrub.finished'") == 1; }));
  scrubber.stop();
  EXPECT_EQ(count("chunks where verified_at is null"), 0);
  sql("update chunks set verified_at = null; delete from settings where key like 'scrub.%'");
  Scrubber off(store(), {.mib_per_second = 0});
  off.start();
  off.stop();
  EXPECT_EQ(count("chunks where verified_at is not null"), 0);
}

// -- the collector from a command

TEST_F(ScrubTest, ACommandCollectsBesideAStoreInUse) {
  const ContentId kept = put(random_bytes(kMiB, 1));
  forget(put(random_bytes(3 * kMiB, 2)));
  forget(put(random_bytes(100, 2)));
  const auto freed = collect_now(db(), path().string(), 0, 60);
  EXPECT_EQ(freed.contents, 2u);
  EXPECT_GT(freed.chunks, 0u);
  EXPECT_EQ(freed.bytes, 3 * kMiB);
  EXPECT_FALSE(freed.more);
  EXPECT_EQ(chunk_files().size(), 1u);
  EXPECT_EQ(get(kept).size(), kMiB);
  EXPECT_EQ(collect_now(db(), path().string(), 0, 60).bytes, 0u);
}

TEST_F(ScrubTest, ACommandRespectsGraceHoldsAndSuspicion) {
  forget(put(random_bytes(kMiB, 1)));
  EXPECT_EQ(collect_now(db(), path().string(), 3600, 60).contents, 0u);
  sql("insert into settings values ('gc.hold_until', (now() + interval '1 hour')::text)");
  const auto held = collect_now(db(), path().string(), 0, 60);
  EXPECT_TRUE(held.held);
  EXPECT_EQ(held.bytes, 0u);
  sql("delete from settings where key = 'gc.hold_until'; insert into settings values ('store.suspect', "
      "'test')");
  EXPECT_EQ(slug_of([&] { collect_now(db(), path().string(), 0, 60); }), "store_read_only");
}

}  // namespace
}  // namespace welkin::blobs
