#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "files/archive_store.hpp"
#include "welkin/files/archives.hpp"

namespace welkin::files {

/// Puts the nodes of a snapshot into the order and under the names of an archive. Pure; add tops, then whole
/// levels of what is below, then build.
class ArchiveBuilder {
 public:
  struct Item {
    store::Leaf leaf;
    std::uint32_t parent = Archive::kTop;  // in items()
  };
  void add(store::Leaf leaf, std::uint32_t parent) { items_.push_back({std::move(leaf), parent}); }
  const std::vector<Item>& items() const { return items_; }

  /// Ends the builder.
  void build(Archive& out);

 private:
  void sort_children();
  void name_children(std::vector<std::uint32_t>& children);
  static void seal(Archive& out);

  std::vector<Item> items_;
  std::vector<std::vector<std::uint32_t>> below_;  // by item; the last: at the top
};

/// The name without what an unpacker could take for more than a name.
std::string archive_name(std::string_view name);
/// Names in use in one folder, folded, and the number to try next for each.
using TakenNames = std::unordered_map<std::string, int>;
/// The name itself, or "a (2).txt" of "a.txt" with the first free number; taken from then on.
std::string free_name(const std::string& name, Kind kind, TakenNames& taken);

}  // namespace welkin::files
