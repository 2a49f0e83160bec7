#pragma once
#include <map>
#include <string>

#include "files/room.hpp"

namespace welkin::files {

/// A drive with trees of any size in it, for the benches of files. Rows of trees are put in by the set, as a
/// sound drive would have them.
class Scene {
 public:
  Scene();
  static Scene& instance();

  /// A folder below `here` with `files` files in it, `each` of them in every folder. Made once for each name.
  NodeId tree(const std::string& name, int files, int each);
  /// A chain of `depth` folders below `here` with one file at its end, "1/2/.../file". Made once. @return the
  /// file
  NodeId chain(int depth);
  DriveId drive();
  /// A new name, each time.
  std::string fresh(const std::string& prefix) { return prefix + " " + std::to_string(++made_); }

  Room room;
  Caller alice;
  NodeId root, here, there;

 private:
  std::map<std::string, NodeId> trees_;
  std::map<int, NodeId> chains_;
  int made_ = 0;
};

/// Ends the process: a bench whose arms differ measures nothing.
[[noreturn]] void arms_differ(const std::string& what);

}  // namespace welkin::files
