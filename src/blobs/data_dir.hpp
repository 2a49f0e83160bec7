#pragma once
#include <optional>
#include <string>

#include "welkin/core/bytes.hpp"

namespace welkin::blobs {

/// The data directory as the store finds it at start: makes what is missing, durably and for the owner's eyes
/// only, and keeps others out while it lives.
class DataDir {
 public:
  /// @throws std::runtime_error with a text for the operator: not a directory, a link where a directory
  /// should be,
  ///         spool and blobs on different file systems, or in use by another process
  explicit DataDir(std::string path);

  const std::string& path() const { return path_; }
  /// The id in `store.id`; nullopt when there is none. @throws std::runtime_error when it is no id
  std::optional<std::string> store_id() const;
  void set_store_id(const std::string& id);
  /// False as soon as one directory of blobs/ holds anything.
  bool has_no_chunks() const;

  // Why nothing may be written any more, kept over restarts; the directory need not be open for these.
  static std::optional<std::string> suspect_reason(const std::string& path);
  /// @return false when it could not be made durable
  static bool set_suspect(const std::string& path, const std::string& reason);
  static void clear_suspect(const std::string& path);

 private:
  void make_tree();
  void check_file_system() const;
  void lock();

  std::string path_;
  Fd root_, lock_;
};

}  // namespace welkin::blobs
