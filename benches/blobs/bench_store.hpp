#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "support/test_db.hpp"
#include "welkin/blobs/store.hpp"

namespace welkin::blobs {

/// A store on a real disk (WELKIN_BENCH_DIR, else the temporary directory) and a migrated database.
class BenchStore {
 public:
  using Wrap = std::function<std::unique_ptr<Vfs>(std::unique_ptr<Vfs>)>;
  /// @param wrap  puts another file layer around the real one
  explicit BenchStore(const Wrap& wrap = {});
  ~BenchStore();
  Store& store() { return *store_; }
  db::Db& db() { return test_db_.db(); }
  std::filesystem::path path() const { return path_; }
  UploadId new_upload();
  /// Everything written so far is deleted; then some seconds pass, since ext4 makes files slowly right after.
  void clear();

 private:
  std::filesystem::path path_;
  tests::TestDb test_db_;
  std::unique_ptr<Store> store_;
};

/// `n` random bytes, the same for the same seed.
Bytes bench_bytes(std::size_t n, std::uint64_t seed);
/// Ends the process: a bench whose arms differ measures nothing.
[[noreturn]] void arms_differ(const std::string& what);

}  // namespace welkin::blobs
