#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/dav/dav.hpp"

namespace welkin::dav {

/// How the tree of files is shown at an address. The verbs are the same everywhere; what differs is here.
struct Tree {
  std::vector<std::string> mount{"webdav"};  // segments; "{user}" stands for the caller's name
  std::string routes = "dav";                // what the names of its routes begin with
  std::string principals = "/dav/principals/";
  std::int32_t protocols = protocols::kWebdav;  // one of them is enough
  /// Sync clients that were made for another server: its headers, its names of errors, its allprop, and
  /// Destinations that were never encoded.
  bool for_nextcloud = false;
  std::string instance_id;                            // oc:id ends with it; "" where nobody has one
  std::function<bool(std::string_view)> has_preview;  // whether pictures are made of a type; unset: of none

  /// "/remote.php/dav/files/{user}", for routes.
  std::string pattern() const;
  /// The same for one user, percent-encoded.
  std::string path_of(std::string_view user) const;
};

/// What the verbs of one tree work with.
struct TreeServices : Services {
  Tree tree;
};

/// Adds the routes of a tree: all verbs, OPTIONS, and the answers below its address that no route gives.
void mount_tree(http::Router& router, const Services& services, Tree tree);

/// SEARCH from above a tree: the scope names a folder in it, by its href or as "/files/{user}/...".
http::Handler search_from_above(const Services& services, Tree tree);

/// oc:id: the node's number in at least eight digits, and the installation's name.
std::string client_id(const Tree& tree, NodeId node);

/// The name of this installation in ids that clients keep: made once, and never changed.
std::string instance_id(people::People& people);

}  // namespace welkin::dav
