#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/id.hpp"

namespace welkin::media {

/// Small pictures on disk: a file each, by content and size; what a client brought also by node. May be lost
/// and made anew, so nothing is flushed; a file that is not a whole JPEG counts as none.
class PictureCache {
 public:
  struct Key {
    ContentId content;
    NodeId node;  // 0: made by the server, good for every file with this content
    int pixels = 0;
  };
  /// @param directory  made when it is not there; what an earlier server was working at is removed
  explicit PictureCache(std::string directory);

  std::optional<std::string> read(const Key& key) const;
  /// Moves `file`, which lies below the directory, to its place. @return false: the disk refused
  bool take(const Key& key, const std::string& file) const;
  /// Remembers for a week that nothing can be made of a content.
  void set_hopeless(ContentId content) const;
  bool is_hopeless(ContentId content) const;

  /// For one job, removed with everything in it when it ends.
  class WorkFolder {
   public:
    explicit WorkFolder(const std::string& parent);  // @throws std::system_error
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    std::string path(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

   private:
    std::string path_;
  };
  WorkFolder work_folder() const { return WorkFolder(directory_ + "/work"); }

  static constexpr unsigned kFolders = 256;
  /// Contents that have anything in one of the kFolders.
  std::vector<ContentId> contents_in(unsigned folder) const;
  void remove(ContentId content) const;

 private:
  std::string folder_of(ContentId content) const;
  std::string path_of(const Key& key) const;
  std::string hopeless_path(ContentId content) const;
  std::string directory_;
};

}  // namespace welkin::media
