#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/blobs/store.hpp"
#include "welkin/core/error.hpp"
#include "welkin/files/files.hpp"

namespace welkin::files {

using tests::run;
using tests::TestDb;

/// Files on a database and a store of their own.
class Room {
 public:
  Room();
  ~Room();

  Caller user(const std::string& name, std::int64_t quota_bytes = 0);
  NodeId root(const Caller& caller);
  NodeId folder(const Caller& caller, NodeId parent, const std::string& name);
  Written put(const Caller& caller, NodeId parent, const std::string& name, const std::string& body);
  Written put(const Caller& caller, UploadOptions options, const std::string& body);
  std::string get(const Caller& caller, NodeId id);
  void sql(const std::string& script);
  std::int64_t number(const std::string& query);
  /// Sum of the sizes of live files, versions and trash that the drive should have counted, and folder sums
  /// that are wrong. Both are zero in a sound drive.
  std::int64_t wrong_folder_sums();
  std::int64_t miscounted_bytes();

  TestDb database;
  Config config;
  SystemClock clock;
  std::filesystem::path directory;
  std::unique_ptr<blobs::Store> store;
  std::unique_ptr<Files> files;
};

/// The slug of the Error `f` ends with; "" when it ends well.
template <class F>
std::string refusal_of(F f) {
  try {
    run(f());
  } catch (const Error& e) {
    return e.slug();
  }
  return "";
}

}  // namespace welkin::files
