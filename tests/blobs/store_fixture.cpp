#include "blobs/store_fixture.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "blobs/posix_vfs.hpp"

namespace welkin::blobs {

namespace fs = std::filesystem;

Task<> MemorySink::write(ByteView bytes) {
  body.insert(body.end(), bytes.begin(), bytes.end());
  co_return;
}

Task<> MemorySink::write_file(int fd, std::uint64_t offset, std::uint64_t length) {
  ++files;
  const std::size_t at = body.size();
  body.resize(at + length);
  const auto n = ::pread(fd, body.data() + at, length, static_cast<off_t>(offset));
  if (n != static_cast<ssize_t>(length)) throw std::runtime_error("a file ended early");
  co_return;
}

Bytes random_bytes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes out(n + 8);
  for (std::size_t i = 0; i < n; i += 8) {
    const std::uint64_t word = random();
    std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  out.resize(n);
  return out;
}

StoreTest::StoreTest() {
  options_.data_dir = path().string();
  options_.disk_floor_bytes = 0;
  options_.gc_grace_seconds = 0;
  options_.orphan_seconds = 0;
  sql(R"(truncate drives, nodes, contents, chunks, content_gc, chunk_gc, settings, known_damage cascade;
         insert into drives (id, kind) overriding system value values (1, 2);
         insert into nodes (id, drive_id, kind, mtime, etag_seq, etag_drive, created_at, name)
         values (1000000, 1, 2, 0, 0, 1, 0, '');
         update drives set root_id = 1000000;)");
  open();
}

StoreTest::~StoreTest() = default;

void StoreTest::open(const std::function<std::unique_ptr<Vfs>(std::unique_ptr<Vfs>)>& wrap) {
  close();
  if (!wrap) {
    store_ = std::make_unique<Store>(db(), options_);
    return;
  }
  store_ = std::make_unique<Store>(db(), options_, wrap(std::make_unique<PosixVfs>(options_.data_dir)));
}

namespace {

Task<Sealed> pour(Store& store, Store::SinkOptions options, ByteView body, std::size_t piece) {
  const auto sink = store.sink(std::move(options));
  while (!body.empty()) {
    const ByteView part = body.first(std::min(piece, body.size()));
    body = body.subspan(part.size());
    co_await sink->write(part);
  }
  Sealed sealed = co_await sink->seal();
  EXPECT_EQ(sink->size_bytes(), sealed.size_bytes);
  co_return sealed;
}

}  // namespace

UploadId StoreTest::new_upload() {
  return db().write_now([](db::Tx& tx) {
    static constexpr db::Stmt kInsert{"test.upload", R"(
      insert into uploads (drive_id, parent_id, expires_at, name) values (1, 1000000, now() + interval '1 day', 'x')
      returning id)"};
    return tx.one(kInsert)[0].id<UploadId>(0);
  });
}

Sealed StoreTest::seal(ByteView body, std::size_t piece, std::optional<std::uint64_t> size_hint) {
  Store::SinkOptions options;
  options.size_hint = size_hint;
  options.upload = [this]() -> Task<UploadId> { co_return new_upload(); };
  return tests::run(pour(*store_, std::move(options), body, piece));
}

ContentId StoreTest::record(const Sealed& sealed) {
  return db().write_now([&](db::Tx& tx) {
    static constexpr db::Stmt kNode{"test.node", R"(
      insert into nodes (parent_id, content_id, drive_id, kind, mtime, etag_seq, etag_drive, created_at, name)
      values (1000000, $1, 1, 1, 0, 0, 1, 0, gen_random_uuid()::text))"};
    const ContentId content = store_->record(tx, {&sealed}).front();
    tx.exec(kNode, content);
    return content;
  });
}

ContentId StoreTest::put(ByteView body, std::size_t piece, std::optional<std::uint64_t> size_hint) {
  const Sealed sealed = seal(body, piece, size_hint);
  const ContentId content = record(sealed);
  store_->committed(sealed);
  return content;
}

Bytes StoreTest::get(ContentId content, std::optional<Slice> slice) {
  const auto view = db().read_now([&](db::Tx& tx) { return store_->view(tx, content, slice); });
  MemorySink out;
  tests::run(store_->send(view, slice.value_or(Slice{0, view.size_bytes}), out));
  return out.body;
}

void StoreTest::forget(ContentId content) {
  const auto id = std::to_string(content.value);
  sql("delete from nodes where content_id = " + id + "; insert into content_gc (content_id) values (" + id +
      ") on conflict do nothing");
}

unsigned StoreTest::collect_all() {
  unsigned total = 0;
  while (const unsigned n = store_->collect()) total += n;
  return total;
}

std::int64_t StoreTest::count(const std::string& table_and_where) {
  const std::string text = "select count(*) from " + table_and_where;
  return db().read_now([&](db::Tx& tx) {
    const db::Stmt stmt{text.c_str(), text.c_str()};
    return tx.one(stmt)[0].i64(0);
  });
}

std::vector<fs::path> StoreTest::chunk_files() const {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(path() / "blobs"))
    if (parse_chunk_file_name(entry.path().filename().string())) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t StoreTest::spool_files() const {
  const fs::directory_iterator all(path() / "spool");
  return static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
}

bool StoreTest::soon(const std::function<bool()>& ready) {
  for (int i = 0; i < 1'000; ++i) {
    if (ready()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string StoreTest::slug_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.slug();
  } catch (const std::exception& e) {
    return std::string("not an Error: ") + e.what();
  }
  return "";
}

Errc StoreTest::code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  throw std::runtime_error("no Error");
}

}  // namespace welkin::blobs
