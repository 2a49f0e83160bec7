#include "bench_store.hpp"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "blobs/posix_vfs.hpp"

namespace welkin::blobs {

BenchStore::BenchStore(const Wrap& wrap) {
  const char* wanted = std::getenv("WELKIN_BENCH_DIR");
  const std::filesystem::path base =
      wanted ? std::filesystem::path(wanted) : std::filesystem::temp_directory_path();
  std::string pattern = (base / "welkin-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) arms_differ("no directory to measure in");
  path_ = pattern;
  test_db_.script(R"(
    insert into drives (id, kind) overriding system value values (1, 2);
    insert into nodes (id, drive_id, kind, mtime, etag_seq, etag_drive, created_at, name)
    values (1000000, 1, 2, 0, 0, 1, 0, '');)");
  Store::Options options;
  options.data_dir = (path_ / "data").string();
  options.gc_grace_seconds = 0;
  options.orphan_seconds = 0;
  store_ = std::make_unique<Store>(db(), options);
  if (!wrap) return;
  store_.reset();  // it has made the directories
  store_ = std::make_unique<Store>(db(), options, wrap(std::make_unique<PosixVfs>(options.data_dir)));
}

BenchStore::~BenchStore() {
  store_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

UploadId BenchStore::new_upload() {
  static constexpr db::Stmt kInsert{"bench.upload", R"(
    insert into uploads (drive_id, parent_id, expires_at, name) values (1, 1000000, now() + interval '1 day', 'x')
    returning id)"};
  return db().write_now([](db::Tx& tx) { return tx.one(kInsert)[0].id<UploadId>(0); });
}

void BenchStore::clear() {
  test_db_.script("delete from uploads; delete from contents;");
  store_->sweep();
  while (store_->collect(1000) > 0) {
  }
  std::this_thread::sleep_for(std::chrono::seconds(4));
}

Bytes bench_bytes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes out(n);
  for (std::size_t i = 0; i + 8 <= n; i += 8) {
    const std::uint64_t word = random();
    std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

void arms_differ(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

}  // namespace welkin::blobs
