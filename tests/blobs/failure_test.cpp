#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "blobs/faulty_vfs.hpp"
#include "blobs/store_fixture.hpp"
#include "welkin/core/crypto.hpp"

// Disks that fail, lie, fill up, or hold things that do not belong there.
namespace welkin::blobs {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kKiB = 1 << 10, kMiB = 1 << 20;

class FailureTest : public StoreTest {
 protected:
  void open_faulty() {
    open([this](std::unique_ptr<Vfs> real) { return std::make_unique<FaultyVfs>(std::move(real), faults_); });
  }
  std::shared_ptr<VfsFaults> faults_ = std::make_shared<VfsFaults>();
};

auto failing(VfsError::Kind kind, int call = 1) {
  return [kind, left = std::make_shared<std::atomic<int>>(call)](const std::string& name) {
    if (--*left == 0) throw VfsError(kind, "injected: " + name);
  };
}

TEST_F(FailureTest, OneFailedFlushEndsWritingUntilAnOperatorHasLooked) {
  const Bytes kept = random_bytes(2 * kMiB, 1);
  const ContentId content = put(kept);
  const ContentId small = put(ByteView(kept).first(100));
  open_faulty();
  std::atomic<int> call = 0;
  faults_->sync_fails = [&] { return ++call == 3; };
  EXPECT_EQ(slug_of([&] { put(random_bytes(8 * kMiB, 2)); }), "store_read_only");
  EXPECT_FALSE(store().writable());
  EXPECT_FALSE(store().suspect_reason().empty());
  EXPECT_TRUE(soon([&] { return spool_files() == 0; }));

  const unsigned syncs = faults_->syncs, sync_dirs = faults_->sync_dirs;
  for (const std::size_t n : {std::size_t{0}, std::size_t{10}, 100 * kKiB, 3 * kMiB})
    EXPECT_EQ(slug_of([&] { put(random_bytes(n, 3)); }), "store_read_only") << n;
  forget(small);
  EXPECT_EQ(store().collect(), 0u);
  EXPECT_EQ(store().sweep(), 0u);
  EXPECT_EQ(faults_->syncs, syncs) << "nothing is flushed any more";
  EXPECT_EQ(faults_->sync_dirs, sync_dirs);
  EXPECT_TRUE(get(content) == kept) << "reading goes on";

  open();  // a new process, a sound disk
  EXPECT_FALSE(store().writable());
  EXPECT_EQ(slug_of([&] { put(kept); }), "store_read_only");
  EXPECT_TRUE(get(content) == kept);
  close();
  fs::remove(path() / "store.suspect");  // one of the two notes is lost with the disk
  open();
  EXPECT_FALSE(store().writable());

  const auto reason = Store::reset_suspect(db(), options());
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("fdatasync"), std::string::npos);
  EXPECT_FALSE(Store::reset_suspect(db(), options()));
  open();
  EXPECT_TRUE(store().writable());
  EXPECT_TRUE(get(put(random_bytes(8 * kMiB, 2))) == random_bytes(8 * kMiB, 2));
}

TEST_F(FailureTest, TheNoteOnDiskAloneIsEnough) {
  open_faulty();
  faults_->sync_fails = [] { return true; };
  EXPECT_EQ(slug_of([&] { put(random_bytes(100 * kKiB, 1)); }), "store_read_only");
  close();  // until then the note may still be on its way
  sql("delete from settings where key = 'store.suspect'");
  open();
  EXPECT_FALSE(store().writable());
}

TEST_F(FailureTest, AFailedFlushOfADirectoryIsAsBad) {
  open_faulty();
  faults_->sync_dir_fails = [] { return true; };
  EXPECT_EQ(slug_of([&] { put(random_bytes(100 * kKiB, 1)); }), "store_read_only");
  EXPECT_FALSE(store().writable());
  EXPECT_EQ(count("contents") + count("chunks"), 0);
}

TEST_F(FailureTest, ADeviceErrorOnTheWritePathIsAsBad) {
  open_faulty();
  for (auto* hook : {&faults_->create, &faults_->write, &faults_->place}) {
    *hook = failing(VfsError::Kind::io);
    EXPECT_EQ(slug_of([&] { put(random_bytes(2 * kMiB, 1)); }), "store_read_only");
    EXPECT_FALSE(store().writable());
    close();  // the thread that met the failure may still be noting it: only a stopped store can be reset
    *hook = {};
    EXPECT_TRUE(Store::reset_suspect(db(), options()));
    open_faulty();
    EXPECT_TRUE(store().writable());
  }
  EXPECT_TRUE(soon([&] { return spool_files() == 0; }));
}

TEST_F(FailureTest, AFullDiskRefusesTheBodyAndNothingElse) {
  open_faulty();
  for (auto* hook : {&faults_->create, &faults_->write}) {
    for (const int call : {1, 2, 5}) {
      *hook = failing(VfsError::Kind::no_space, call);
      EXPECT_EQ(code_of([&] { put(random_bytes(9 * kMiB, 1), 64 * kKiB, 9 * kMiB); }), Errc::no_space)
          << call;
      *hook = {};
      EXPECT_TRUE(store().writable());
      EXPECT_TRUE(soon([&] { return spool_files() == 0 && chunk_files().empty(); }));
    }
  }
  EXPECT_TRUE(get(put(random_bytes(9 * kMiB, 1))) == random_bytes(9 * kMiB, 1));
}

TEST_F(FailureTest, AFullDiskInTheMiddleOfALongBodyLeavesOnlyWhatWasRecorded) {
  open_faulty();
  // In the fourth batch: it is written only once the second is durable, and by then the first is recorded.
  faults_->create = failing(VfsError::Kind::no_space, 3 * static_cast<int>(kBatchChunks) + 10);
  EXPECT_EQ(code_of([&] { put(random_bytes(300 * kMiB, 1)); }), Errc::no_space);
  faults_->create = {};
  const auto recorded = count("upload_chunks");
  EXPECT_GE(recorded, 64);
  EXPECT_TRUE(soon([&] { return spool_files() == 0 && std::cmp_equal(chunk_files().size(), recorded); }));
  sql("delete from uploads");  // carelessly: without queueing its chunks
  store().sweep();
  collect_all();
  EXPECT_TRUE(chunk_files().empty());
}

TEST_F(FailureTest, TheFloorIsKept) {
  options().disk_floor_bytes = 1ull << 60;
  open();
  EXPECT_EQ(code_of([&] { store().sink({.size_hint = 10 * kMiB, .upload = {}}); }), Errc::no_space);
  EXPECT_EQ(code_of([&] { store().sink({.size_hint = std::nullopt, .upload = {}}); }), Errc::no_space);
  options().disk_floor_bytes = 0;
  open();
  const auto free = store().space().free_bytes;
  EXPECT_EQ(code_of([&] { store().sink({.size_hint = free + 1, .upload = {}}); }), Errc::no_space);
  {
    const auto most = free / 10 * 9 - store().space().total_bytes / 50;
    const auto first = store().sink({.size_hint = most, .upload = {}});
    EXPECT_EQ(code_of([&] { store().sink({.size_hint = most, .upload = {}}); }), Errc::no_space)
        << "what the first announced is counted";
    EXPECT_NO_THROW(store().sink({.size_hint = 10 * kMiB, .upload = {}}))
        << "but an announcement alone does not take the disk from everybody";
  }
  EXPECT_NO_THROW(store().sink({.size_hint = free / 2, .upload = {}})) << "and given back";
}

TEST_F(FailureTest, ARefusedCallIsNoDeviceError) {
  open_faulty();
  for (auto* hook : {&faults_->create, &faults_->write}) {
    *hook = failing(VfsError::Kind::other);
    EXPECT_EQ(slug_of([&] { put(random_bytes(2 * kMiB, 1)); }), "busy");
    *hook = {};
    EXPECT_TRUE(store().writable());
  }
  const ContentId content = put(random_bytes(2 * kMiB, 1));
  faults_->open = failing(VfsError::Kind::other);
  EXPECT_EQ(slug_of([&] { get(content); }), "busy");
  faults_->open = {};
  EXPECT_TRUE(get(content) == random_bytes(2 * kMiB, 1));
}

TEST_F(FailureTest, ATakenNameIsAFault) {
  open_faulty();
  faults_->place = failing(VfsError::Kind::exists);
  EXPECT_EQ(slug_of([&] { put(random_bytes(2 * kMiB, 1)); }), "store_fault");
  EXPECT_EQ(count("chunks"), 0);
}

// -- reading

TEST_F(FailureTest, DamageIsNeverSentAsContent) {
  const Bytes body = random_bytes(9 * kMiB, 1);
  const ContentId content = put(body);
  const auto files = chunk_files();
  const auto damage = [&](const std::string& how, const std::function<void(const fs::path&)>& f) {
    for (std::size_t i : {std::size_t{0}, files.size() - 1}) {
      const fs::path spare = files[i].string() + ".spare";
      fs::copy_file(files[i], spare);
      f(files[i]);
      MemorySink out;
      const auto view = db().read_now([&](db::Tx& tx) { return store().view(tx, content); });
      EXPECT_EQ(slug_of([&] { tests::run(store().send(view, {0, body.size()}, out)); }), "content_damaged")
          << how;
      EXPECT_TRUE(std::ranges::equal(out.body, ByteView(body).first(out.body.size())))
          << how << ": wrong bytes went out";
      EXPECT_EQ(slug_of([&] { tests::run(store().read_all(view, body.size())); }), "content_damaged") << how;
      fs::remove_all(files[i]);
      fs::rename(spare, files[i]);
      EXPECT_TRUE(get(content) == body) << how;
    }
  };
  const auto flip = [](const fs::path& file) {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(12'345);
    const char c = static_cast<char>(f.get() ^ 1);
    f.seekp(12'345);
    f.put(c);
  };
  damage("flipped before it was ever read", flip);
  damage("flipped after it was seen good", flip);
  damage("missing", [](const fs::path& file) { fs::remove(file); });
  damage("shorter", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 1); });
  damage("longer", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) + 1); });
  damage("a link", [&](const fs::path& file) {
    fs::remove(file);
    fs::create_symlink(file.string() + ".spare", file);
  });
  damage("a folder", [](const fs::path& file) {
    fs::remove(file);
    fs::create_directory(file);
  });
  EXPECT_TRUE(store().writable()) << "a bad chunk does not stop writing";
}

TEST_F(FailureTest, AFifoInThePlaceOfAChunkHoldsNobody) {
  const ContentId content = put(random_bytes(kMiB, 1));
  const fs::path file = chunk_files().front();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(slug_of([&] { get(content); }), "");
}

TEST_F(FailureTest, DamageInTheDatabaseIsNoticed) {
  const ContentId content = put(random_bytes(5000, 1));
  sql("update inline_bodies set body = set_byte(body, 77, get_byte(body, 77) # 1)");
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
}

TEST_F(FailureTest, ADeviceErrorOnReadingDamagesOnlyThatRead) {
  const ContentId content = put(random_bytes(2 * kMiB, 1));
  open_faulty();
  faults_->read = failing(VfsError::Kind::io);
  EXPECT_EQ(slug_of([&] { get(content); }), "content_damaged");
  EXPECT_TRUE(store().writable());
  EXPECT_TRUE(get(content) == random_bytes(2 * kMiB, 1));
}

TEST_F(FailureTest, ARepairedContentIsFoundAtTheSecondLook) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  const auto view = db().read_now([&](db::Tx& tx) { return store().view(tx, content); });
  const fs::path broken = chunk_files().front();
  sql("update chunks set quarantined = true");
  fs::remove(broken);
  put(body);  // the same bytes come again, in a new incarnation
  sql("update content_chunks set chunk_id = (select max(id) from chunks) where content_id = " +
      std::to_string(content.value));
  MemorySink out;
  tests::run(store().send(view, {0, body.size()}, out));
  EXPECT_TRUE(out.body == body) << "the old view still leads to sound bytes";
}

// -- starting

TEST_F(FailureTest, AStoreOfAnotherDatabaseIsRefused) {
  put(random_bytes(100 * kKiB, 1));
  sql("update settings set value = '00000000-0000-4000-8000-000000000000' where key = 'store.id'");
  EXPECT_THROW(open(), std::runtime_error);
  sql("delete from settings where key = 'store.id'");
  EXPECT_THROW(open(), std::runtime_error) << "a database that knows nothing would sweep all chunks away";
  EXPECT_EQ(chunk_files().size(), 1u);
}

TEST_F(FailureTest, AnEmptyDirectoryIsRefusedWhenChunksAreKnown) {
  put(random_bytes(100 * kKiB, 1));
  close();
  fs::rename(path(), path().string() + ".elsewhere");
  EXPECT_THROW(open(), std::runtime_error);
  fs::remove_all(path());
  fs::rename(path().string() + ".elsewhere", path());
  EXPECT_NO_THROW(open());
}

TEST_F(FailureTest, AHalfMadeStoreIsFinished) {
  close();
  sql("delete from settings where key = 'store.id'");  // stopped between the two
  EXPECT_NO_THROW(open());
  close();
  fs::remove(path() / "store.id");
  EXPECT_NO_THROW(open());
  close();
  std::ofstream(path() / "store.id") << "nonsense\n";
  EXPECT_THROW(open(), std::runtime_error);
}

TEST_F(FailureTest, OneProcessAtATime) {
  EXPECT_THROW(Store(db(), options()), std::runtime_error);
  EXPECT_NO_THROW(open());
}

TEST_F(FailureTest, PlantedLinksAreRefusedAtStart) {
  close();
  const fs::path outside = path().parent_path() / "outside";
  fs::create_directories(outside);
  for (const char* name : {"spool", "blobs", "quarantine", "blobs/3f"}) {
    fs::rename(path() / name, path().parent_path() / "kept");
    fs::create_directory_symlink(outside, path() / name);
    EXPECT_THROW(open(), std::runtime_error) << name;
    fs::remove(path() / name);
    fs::rename(path().parent_path() / "kept", path() / name);
  }
  EXPECT_NO_THROW(open());
  EXPECT_TRUE(fs::is_empty(outside));
}

TEST_F(FailureTest, SpoolAndBlobsMustAllowRenames) {
  faults_->place = [](const std::string& name) {
    throw VfsError(VfsError::Kind::other, "rename " + name + ": EXDEV");
  };
  EXPECT_THROW(open_faulty(), std::runtime_error);
}

TEST_F(FailureTest, AFullOrReadOnlyDiskStillServesReads) {
  const Bytes body = random_bytes(kMiB, 1);
  const ContentId content = put(body);
  faults_->create = failing(VfsError::Kind::no_space);
  open_faulty();
  EXPECT_TRUE(store().writable());
  EXPECT_TRUE(get(content) == body);
  faults_->create = failing(VfsError::Kind::io);
  open_faulty();
  EXPECT_FALSE(store().writable());
  EXPECT_TRUE(get(content) == body);
}

TEST_F(FailureTest, ThingsThatDoNotBelongThereAreLeftAlone) {
  const fs::path outside = path().parent_path() / "victim";
  std::ofstream(outside) << "precious";
  const std::string name = std::string(64, 'a') + ".4a";  // as a chunk of directory 01 is called
  fs::create_symlink(outside, path() / "blobs" / "01" / name);
  fs::create_symlink(outside, path() / "spool" / "5.part");
  ASSERT_EQ(::mkfifo((path() / "spool" / "6.part").c_str(), 0600), 0);
  std::ofstream(path() / "blobs" / "01" / "notes.txt") << "x";
  std::ofstream(path() / "blobs" / "02" / name) << "in the wrong directory";
  store().sweep();
  collect_all();
  std::ifstream in(outside);
  std::string text;
  in >> text;
  EXPECT_EQ(text, "precious");
  EXPECT_TRUE(fs::exists(path() / "blobs" / "01" / "notes.txt"));
  EXPECT_TRUE(fs::exists(path() / "blobs" / "02" / name));
}

TEST_F(FailureTest, AClosedStoreRefusesWork) {
  const ContentId small = put(random_bytes(10, 1)), large = put(random_bytes(kMiB, 1));
  store().close();
  EXPECT_EQ(slug_of([&] { put(random_bytes(kMiB, 2)); }), "busy");
  EXPECT_EQ(slug_of([&] { get(large); }), "busy");
  EXPECT_EQ(get(small).size(), 10u);
}

}  // namespace
}  // namespace welkin::blobs
