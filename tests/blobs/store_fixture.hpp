#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "blobs/layout.hpp"
#include "blobs/temp_dir.hpp"
#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/blobs/store.hpp"
#include "welkin/core/error.hpp"

namespace welkin::blobs {

/// Collects a body in memory, from spans and descriptors.
class MemorySink final : public ByteSink {
 public:
  Task<> write(ByteView bytes) override;
  Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override;
  Bytes body;
  std::size_t files = 0;  // write_file calls
};

Bytes random_bytes(std::size_t n, std::uint64_t seed);

/// A store over an emptied database and a directory of the test's own, and the little that callers of a store
/// do: a drive, nodes that refer to contents.
class StoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { db_ = std::make_unique<tests::TestDb>(); }
  static void TearDownTestSuite() { db_.reset(); }
  StoreTest();
  ~StoreTest() override;

  /// Opens it (again): with what `wrap` makes of the file layer.
  void open(const std::function<std::unique_ptr<Vfs>(std::unique_ptr<Vfs>)>& wrap = {});
  void close() { store_.reset(); }
  Store& store() { return *store_; }
  Store::Options& options() { return options_; }
  db::Db& db() { return db_->db(); }
  const std::string& db_url() { return db_->url(); }
  std::filesystem::path path() const { return dir_.path() / "data"; }

  /// The body through a sink, in pieces of `piece` bytes.
  Sealed seal(ByteView body, std::size_t piece = 64 << 10,
              std::optional<std::uint64_t> size_hint = std::nullopt);
  /// Sealed, recorded with a node, committed.
  ContentId put(ByteView body, std::size_t piece = 64 << 10,
                std::optional<std::uint64_t> size_hint = std::nullopt);
  ContentId record(const Sealed& sealed);
  Bytes get(ContentId content, std::optional<Slice> slice = std::nullopt);
  /// Deletes the node of a content and queues it.
  void forget(ContentId content);
  /// Turns of the collector until nothing is left to do.
  unsigned collect_all();
  UploadId new_upload();

  std::int64_t count(const std::string& table_and_where);
  void sql(const std::string& text) { db_->script(text); }
  std::vector<std::filesystem::path> chunk_files() const;
  std::size_t spool_files() const;
  /// Waits for background work: until `ready`, at most some seconds.
  static bool soon(const std::function<bool()>& ready);
  static std::string slug_of(const std::function<void()>& f);
  static Errc code_of(const std::function<void()>& f);

 private:
  static inline std::unique_ptr<tests::TestDb> db_;
  TempDir dir_;
  Store::Options options_;
  std::unique_ptr<Store> store_;
};

}  // namespace welkin::blobs
