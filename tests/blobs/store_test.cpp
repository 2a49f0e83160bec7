#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "blobs/crc32.hpp"
#include "blobs/store_fixture.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::blobs {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kKiB = 1 << 10, kMiB = 1 << 20;

std::vector<PlacedChunk> chunks_of(const Sealed& s) { return std::get<std::vector<PlacedChunk>>(s.body); }

TEST_F(StoreTest, BodiesOfEverySizeComeBack) {
  const Bytes all = random_bytes(9 * kMiB, 1);
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{4097},
                              64 * kKiB - 1, 64 * kKiB, 64 * kKiB + 1, 256 * kKiB, 256 * kKiB + 1, kMiB - 1,
                              kMiB, kMiB + 1, 1280 * kKiB, 4 * kMiB, 4 * kMiB + 1, 9 * kMiB}) {
    const ByteView body = ByteView(all).first(n);
    const std::size_t pieces[] = {1000 + n / 50, 64 * kKiB, 3 * kMiB};
    for (const std::size_t piece : pieces) {
      for (const bool hinted : {false, true}) {
        const Sealed sealed = seal(body, piece, hinted ? std::optional(n) : std::nullopt);
        EXPECT_EQ(sealed.size_bytes, n);
        EXPECT_EQ(sealed.sha256, crypto::sha256(body)) << n;
        EXPECT_EQ(sealed.crc32, blobs::crc32(0, body)) << n;
        EXPECT_EQ(sealed.is_inline(), n <= kInlineBytesMax) << n;
        if (!sealed.is_inline()) {
          if (n <= kSingleChunkBytesMax) EXPECT_EQ(chunks_of(sealed).size(), 1u) << n;
          if (n > kChunkBytesMax) EXPECT_GT(chunks_of(sealed).size(), 1u) << n;
        }
        const ContentId content = record(sealed);
        store().committed(sealed);
        EXPECT_TRUE(get(content) == Bytes(body.begin(), body.end())) << n;
      }
    }
  }
  EXPECT_EQ(spool_files(), 0u);
}

TEST_F(StoreTest, ABodyOfManyBatchesHangsOnItsUploadAndIsJoined) {
  // Past two batches and what the pipeline holds in memory: however slow the disk, the body then waits for
  // its first batch to be durable, and asks for its upload.
  const Bytes body = random_bytes(200 * kMiB, 2);
  const Sealed sealed = seal(body, 200 * kKiB, body.size());
  ASSERT_TRUE(sealed.upload);
  EXPECT_EQ(sealed.sha256, crypto::sha256(body));
  EXPECT_EQ(sealed.crc32, blobs::crc32(0, body));
  const auto recorded = count("upload_chunks");
  EXPECT_GE(recorded, 64);
  const ContentId content = record(sealed);
  EXPECT_EQ(count("upload_chunks"), 0);
  EXPECT_EQ(count("content_chunks"), recorded + static_cast<std::int64_t>(chunks_of(sealed).size()));
  EXPECT_EQ(
      count("contents c where n_chunks = (select count(*) from content_chunks where content_id = c.id)"), 1);
  EXPECT_TRUE(get(content) == body);
}

TEST_F(StoreTest, WithoutAnUploadABodyOfManyBatchesIsRecordedAtItsEnd) {
  const Bytes body = random_bytes(80 * kMiB, 3);
  const Sealed sealed = tests::run([](Store& store, const Bytes& bytes) -> Task<Sealed> {
    const auto sink = store.sink({.size_hint = std::nullopt, .upload = {}});
    co_await sink->write(bytes);
    co_return co_await sink->seal();
  }(store(), body));
  EXPECT_FALSE(sealed.upload);
  EXPECT_GT(chunks_of(sealed).size(), kBatchChunks);
  EXPECT_TRUE(get(record(sealed)) == body);
}

TEST_F(StoreTest, PartsOfAnUploadAreJoinedInOrder) {
  const UploadId upload = new_upload();
  Bytes whole;
  for (int part = 3; part >= 0; --part) {
    const Bytes body = random_bytes(kMiB * 3 / 2 + 1000 * static_cast<std::size_t>(part),
                                    40 + static_cast<std::uint64_t>(part));
    const Sealed sealed = seal(body);
    db().write_now([&](db::Tx& tx) {
      // As an upload in parts does it: recorded under the upload, each part with offsets of its own.
      static constexpr db::Stmt kChunk{"test.chunk", R"(
        insert into chunks (id, sha256, size, crc32, stored_size) values ($1, $2, $3, $4, $3))"};
      static constexpr db::Stmt kRef{"test.ref", "insert into upload_chunks values ($1, $2, $3, $4)"};
      std::int64_t offset = 0;
      for (const auto& c : chunks_of(sealed)) {
        tx.exec(kChunk, c.id, c.sha256, static_cast<std::int32_t>(c.size_bytes),
                static_cast<std::int32_t>(c.crc32));
        tx.exec(kRef, upload, part, offset, c.id);
        offset += c.size_bytes;
      }
    });
    whole.insert(whole.begin(), body.begin(), body.end());
  }
  Sealed joined;
  joined.body = std::vector<PlacedChunk>();
  joined.upload = upload;
  joined.size_bytes = whole.size();
  joined.crc32 = blobs::crc32(0, whole);
  const ContentId content = record(joined);
  EXPECT_TRUE(get(content) == whole);
  EXPECT_EQ(count("contents where sha256 is null"), 1) << "not known yet";
  joined.size_bytes += 1;
  joined.upload = new_upload();
  EXPECT_EQ(slug_of([&] { record(joined); }), "store_fault") << "a missing part is noticed";
}

TEST_F(StoreTest, RangesReadOnlyTheirChunks) {
  const Bytes body = random_bytes(12 * kMiB, 4);
  const ContentId content = put(body);
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) {
    Slice slice{random() % body.size(), 1 + random() % (2 * kMiB)};
    slice.length = std::min<std::uint64_t>(slice.length, body.size() - slice.offset);
    const auto view = db().read_now([&](db::Tx& tx) { return store().view(tx, content, slice); });
    MemorySink out;
    tests::run(store().send(view, slice, out));
    ASSERT_TRUE(std::ranges::equal(out.body, ByteView(body).subspan(slice.offset, slice.length)));
    EXPECT_EQ(out.files, view.parts.size());
  }
  // One view of the whole serves any slice, and a slice past the end gives what there is.
  const auto view = db().read_now([&](db::Tx& tx) { return store().view(tx, content); });
  MemorySink out;
  tests::run(store().send(view, {body.size() - 10, 1'000'000}, out));
  EXPECT_TRUE(std::ranges::equal(out.body, ByteView(body).last(10)));
  MemorySink none;
  tests::run(store().send(view, {body.size() + 5, 10}, none));
  EXPECT_TRUE(none.body.empty());
}

TEST_F(StoreTest, ListsLongerThanAViewAreLoadedAsTheyAreSent) {
  // Many references to the few chunks of one small body: a content of 5,000 chunks without writing 5 GiB.
  const Bytes body = random_bytes(70 * kKiB, 6);
  const ContentId content = put(body);
  sql(R"(insert into contents (size, crc32, n_chunks) select size * 5000, 0, 5000 from contents;
         insert into content_chunks select (select max(id) from contents), i * 71680, (select min(id) from chunks)
           from generate_series(0, 4999) i)");
  const ContentId large{content.value + 1};
  const auto view = db().read_now([&](db::Tx& tx) { return store().view(tx, large); });
  EXPECT_EQ(view.parts.size(), kViewPartsMax);
  struct Counting final : ByteSink {
    Task<> write(ByteView) override { co_return; }
    Task<> write_file(int, std::uint64_t, std::uint64_t length) override {
      bytes += length;
      co_return;
    }
    std::uint64_t bytes = 0;
  } out;
  tests::run(store().send(view, {0, view.size_bytes}, out));
  EXPECT_EQ(out.bytes, body.size() * 5000);
  // Any part of it, also one that begins behind what the view holds, or at its end, or in the middle of a
  // chunk.
  const std::uint64_t held = kViewPartsMax * body.size();
  for (const Slice slice :
       {Slice{held, 1}, Slice{held - 1, 2}, Slice{held + 100, body.size() * 300},
        Slice{body.size() * 4999 + 7, 10}, Slice{body.size() * 2500, body.size() * 2500}}) {
    out.bytes = 0;
    tests::run(store().send(view, slice, out));
    EXPECT_EQ(out.bytes, slice.length) << slice.offset;
  }
}

TEST_F(StoreTest, ReadAllRefusesWhatIsTooLarge) {
  const Bytes body = random_bytes(3 * kMiB, 7);
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, body.size()}) {
    const ContentId content = put(ByteView(body).first(n));
    const auto view = db().read_now([&](db::Tx& tx) { return store().view(tx, content); });
    EXPECT_TRUE(std::ranges::equal(tests::run(store().read_all(view, n)), ByteView(body).first(n)));
    if (n > 0) EXPECT_EQ(slug_of([&] { tests::run(store().read_all(view, n - 1)); }), "too_large");
  }
  EXPECT_EQ(code_of([&] { db().read_now([&](db::Tx& tx) { return store().view(tx, ContentId{99}); }); }),
            Errc::not_found);
}

TEST_F(StoreTest, TheSameBytesAreStoredOnce) {
  const Bytes body = random_bytes(3 * kMiB, 8);
  const ContentId first = put(body);
  const auto files = chunk_files();
  ASSERT_GT(files.size(), 1u);
  const ContentId second = put(body);
  EXPECT_NE(first, second);
  EXPECT_TRUE(soon([&] { return chunk_files() == files; })) << "the surplus files go";
  EXPECT_EQ(count("chunks"), static_cast<std::int64_t>(files.size()));
  EXPECT_EQ(count("chunks where state = 0"), static_cast<std::int64_t>(files.size()));
  EXPECT_TRUE(get(second) == body);
  forget(first);
  EXPECT_EQ(collect_all(), 0u) << "the other content needs every chunk";
  EXPECT_TRUE(get(second) == body);
}

TEST_F(StoreTest, EqualChunksWithinOneBodyAreStoredOnce) {
  const Bytes body(10 * kMiB, std::byte{7});  // constant: cut at 4 MiB
  const ContentId content = put(body);
  EXPECT_EQ(count("content_chunks"), 3);
  EXPECT_EQ(count("chunks"), 2);
  EXPECT_TRUE(soon([&] { return chunk_files().size() == 2; }));
  EXPECT_TRUE(get(content) == body);
}

TEST_F(StoreTest, ManyBodiesAreRecordedAtOnceInOrder) {
  std::vector<Sealed> sealed;
  std::vector<Bytes> bodies;
  for (std::uint64_t i = 0; i < 40; ++i) {
    bodies.push_back(random_bytes(i % 5 == 0 ? 100 * kKiB : i * 10, i % 10));
    sealed.push_back(seal(bodies.back()));
  }
  std::vector<const Sealed*> all;
  for (const auto& s : sealed) all.push_back(&s);
  const auto contents = db().write_now([&](db::Tx& tx) {
    const auto ids = store().record(tx, all);
    for (const ContentId id : ids)
      tx.script(
          "insert into nodes (parent_id, content_id, drive_id, kind, mtime, etag_seq, etag_drive, "
          "created_at, name) values (1000000, " +
          std::to_string(id.value) + ", 1, 1, 0, 0, 1, 0, '" + std::to_string(id.value) + "')");
    return ids;
  });
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(get(contents[i]) == bodies[i]) << i;
  EXPECT_EQ(db().write_now([&](db::Tx& tx) { return store().record(tx, {}); }).size(), 0u);
}

TEST_F(StoreTest, RecordMayRunAgainAfterARollback) {
  const Bytes body = random_bytes(2 * kMiB, 9);
  const Sealed sealed = seal(body);
  EXPECT_THROW(db().write_now([&](db::Tx& tx) {
    store().record(tx, {&sealed});
    throw std::runtime_error("the caller gives up");
  }),
               std::runtime_error);
  EXPECT_EQ(count("chunks"), 0);
  const ContentId content = record(sealed);
  store().committed(sealed);
  EXPECT_TRUE(get(content) == body);
}

TEST_F(StoreTest, AnAbandonedBodyLeavesNoFile) {
  const Sealed sealed = seal(random_bytes(2 * kMiB, 10));
  EXPECT_FALSE(chunk_files().empty());
  store().abandon(sealed);
  EXPECT_TRUE(soon([&] { return chunk_files().empty(); }));
}

TEST_F(StoreTest, ASinkThatEndsEarlyLeavesNoFile) {
  for (const std::size_t n : {100 * kKiB, 3 * kMiB, 80 * kMiB}) {
    tests::run([](Store& store, Bytes body) -> Task<> {
      const auto sink = store.sink({.size_hint = 2 * body.size(), .upload = {}});
      co_await sink->write(body);
    }(store(), random_bytes(n, 11)));
    EXPECT_TRUE(soon([&] { return spool_files() == 0 && chunk_files().empty(); })) << n;
  }
}

TEST_F(StoreTest, RecordedBatchesOfAnEndedUploadAreCollected) {
  const Sealed sealed = seal(random_bytes(200 * kMiB, 12));
  ASSERT_TRUE(sealed.upload);
  db().write_now([&](db::Tx& tx) { store().release(tx, sealed.upload); });
  sql("delete from uploads");
  EXPECT_EQ(slug_of([&] { record(sealed); }), "upload_ended");
  store().abandon(sealed);
  EXPECT_GT(collect_all(), 60u);
  EXPECT_TRUE(soon([&] { return chunk_files().empty(); }));
  EXPECT_EQ(count("chunks") + count("chunk_gc"), 0);
}

TEST_F(StoreTest, ModesAreForTheOwnerAlone) {
  put(random_bytes(100 * kKiB, 13));
  for (const auto& entry : fs::recursive_directory_iterator(path())) {
    struct stat s{};
    ASSERT_EQ(::lstat(entry.path().c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 07777, S_ISDIR(s.st_mode) ? 0700u : 0600u) << entry.path();
  }
}

TEST_F(StoreTest, FilesLieWhereTheirIdSays) {
  put(random_bytes(5 * kMiB, 14));
  std::set<fs::path> directories;
  for (const auto& file : chunk_files()) {
    const auto name = parse_chunk_file_name(file.filename().string());
    char directory[4];
    std::snprintf(directory, sizeof directory, "%02x", area_of(name->id).directory);
    EXPECT_EQ(file.parent_path().filename(), directory);
    directories.insert(file.parent_path());
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(crypto::sha256(bytes), name->sha256);
  }
  EXPECT_EQ(directories.size(), 1u) << "one batch, one directory";
}

}  // namespace
}  // namespace welkin::blobs
