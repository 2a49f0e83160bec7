#include "files/archive_builder.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

constexpr std::size_t kExtensionBytesMax = 16;
constexpr std::size_t kVersionBytes = 16;

void hash_number(crypto::Sha256Stream& hash, std::uint64_t value) {
  std::byte bytes[8];
  std::memcpy(bytes, &value, sizeof bytes);
  hash.update(bytes);
}

}  // namespace

std::string archive_name(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), ':', '_');  // drives and streams elsewhere
  std::replace(out.begin(), out.end(), '\\', '_');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::string free_name(const std::string& name, Kind kind, TakenNames& taken) {
  const auto [at, is_free] = taken.try_emplace(text::fold(name), 2);
  if (is_free) return name;
  std::size_t dot = kind == Kind::file ? name.rfind('.') : std::string::npos;
  if (dot == 0 || dot == std::string::npos || name.size() - dot > kExtensionBytesMax) dot = name.size();
  int number = at->second;  // many names can differ in case only: none is tried twice
  for (;; ++number) {
    std::string tried = name.substr(0, dot) + " (" + std::to_string(number) + ")" + name.substr(dot);
    if (!taken.try_emplace(text::fold(tried), 2).second) continue;
    taken[text::fold(name)] = number + 1;
    return tried;
  }
}

void ArchiveBuilder::sort_children() {
  below_.resize(items_.size() + 1);
  for (std::uint32_t i = 0; i < items_.size(); ++i)
    below_[items_[i].parent == Archive::kTop ? items_.size() : items_[i].parent].push_back(i);
  for (auto& children : below_) name_children(children);
}

void ArchiveBuilder::name_children(std::vector<std::uint32_t>& children) {
  std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto& x = items_[a].leaf;
    const auto& y = items_[b].leaf;
    return x.name != y.name ? x.name < y.name : x.id < y.id;  // in a selection names may be equal
  });
  TakenNames taken;
  for (const auto child : children) {
    auto& leaf = items_[child].leaf;
    leaf.name = free_name(archive_name(leaf.name), leaf.kind, taken);
  }
}

void ArchiveBuilder::build(Archive& out) {
  sort_children();
  out.entries_.reserve(items_.size());
  struct Turn {
    std::uint32_t item, parent;  // parent: an entry
  };
  std::vector<Turn> turns;
  const auto push = [&](const std::vector<std::uint32_t>& children, std::uint32_t parent) {
    for (auto child = children.rbegin(); child != children.rend(); ++child) turns.push_back({*child, parent});
  };
  push(below_.back(), Archive::kTop);
  while (!turns.empty()) {
    const auto [at, parent] = turns.back();
    turns.pop_back();
    const auto& leaf = items_[at].leaf;
    const auto index = static_cast<std::uint32_t>(out.entries_.size());
    if (parent == Archive::kTop) out.tops_.push_back({leaf.id, index});
    Archive::Entry entry;
    entry.content = leaf.content;
    entry.size_bytes = leaf.size_bytes;
    entry.modified_at = leaf.modified_at;
    entry.crc32 = leaf.crc32;
    entry.parent = parent;
    entry.name_at = static_cast<std::uint32_t>(out.names_.size());
    entry.name_bytes = static_cast<std::uint16_t>(leaf.name.size());
    entry.kind = leaf.kind;
    out.names_ += leaf.name;
    out.entries_.push_back(entry);
    push(below_[at], index);
  }
  out.names_.shrink_to_fit();
  seal(out);
}

/// Everything that decides about a byte of the archive goes in, with lengths, so that nothing can be read two
/// ways.
void ArchiveBuilder::seal(Archive& out) {
  crypto::Sha256Stream hash;
  hash.update(as_bytes(std::string_view("archive 1")));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto& e = out[i];
    hash_number(hash, static_cast<std::uint64_t>(e.content.value));
    hash_number(hash, e.size_bytes);
    hash_number(hash, static_cast<std::uint64_t>(e.modified_at));
    hash_number(hash, (static_cast<std::uint64_t>(e.crc32) << 32) | e.parent);
    hash_number(hash, (static_cast<std::uint64_t>(e.name_bytes) << 8) | static_cast<std::uint64_t>(e.kind));
    hash.update(as_bytes(out.name(i)));
  }
  const auto digest = hash.finish();
  out.version_ = text::hex(std::as_bytes(std::span(digest)).first(kVersionBytes));
}

}  // namespace welkin::files
