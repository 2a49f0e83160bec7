#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "welkin/files/files.hpp"

namespace welkin::files {

struct UploadRoom;

/// A property that clients keep with a node. What it means is theirs; the name is a namespace and a local
/// name.
struct NodeProperty {
  NodeId node;
  std::string ns, name;
  std::string value;  // as it was given
};

struct PropertyPatch {
  struct Change {
    std::string ns, name;
    std::optional<std::string> value;  // unset: removed; it need not have been there
  };
  std::vector<Change> changes;  // in the order they are to happen
  std::optional<Micros> modified_at, created_at;
  std::optional<std::string> mime_type;  // files only
  Expect expect;
  std::vector<db::Uuid> lock_tokens;
};

/// Properties follow their node wherever it is moved, and end with it.
class Properties {
 public:
  static constexpr std::size_t kValueBytesMax = std::size_t{64} << 10;
  static constexpr std::int32_t kPerNodeMax = 200;
  static constexpr std::int32_t kBytesPerNodeMax = 256 << 10;

  explicit Properties(std::shared_ptr<UploadRoom> room) : room_(std::move(room)) {}

  /// Those of the given nodes (which the caller has been shown), in the order of nodes' ids.
  /// @param names  (namespace, name) of those that are wanted; empty: all
  Task<std::vector<NodeProperty>> of(std::vector<NodeId> nodes,
                                     std::vector<std::pair<std::string, std::string>> names);

  /// All of it or nothing. Changes neither the etag nor, unless told to, the time of a file.
  /// @throws Error not_found, forbidden, locked, precondition_failed; quota_exceeded `too_many_properties`
  Task<> patch(Caller caller, NodeId node, PropertyPatch patch);

  /// A new folder with properties from its start: both or neither. @throws Error as Files::create_folder and
  /// `patch`
  Task<Node> create_folder(Caller caller, NodeId parent, std::string name, PropertyPatch patch);

 private:
  std::shared_ptr<UploadRoom> room_;
};

}  // namespace welkin::files
