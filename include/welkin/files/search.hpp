#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"
#include "welkin/files/files.hpp"

/// Finding nodes by name, type, time, size and words inside, everywhere the caller may read and nowhere else.
namespace welkin::files {

enum class SearchOrder : std::uint8_t { relevance, name, type, modified_at, created_at, size };

struct SearchQuery {
  /// Every word must be in the name, whatever its case and accents; or, with `content`, all of it in the text
  /// of the file ("quoted phrases", -without). "": the filters alone decide. Where no word has three letters,
  /// only `folder` itself (the caller's home, when unset), favourites and recent items are looked through.
  std::string text;
  NodeId folder;          // 0: everywhere
  bool recursive = true;  // false: `folder` itself only, without what is below its folders
  bool content = true;
  bool folders = true, files = true;
  // Filters of files: those that name a type or a size leave folders out.
  std::vector<std::string> extensions;             // "pdf", lower case, without the dot
  std::vector<std::string> mime_types;             // "image/png", or "image/" for all of them
  std::optional<std::int64_t> size_min, size_max;  // bytes, both included
  std::optional<Micros> modified_after, modified_before, created_after, created_before;  // both included
  SearchOrder order_by = SearchOrder::relevance;  // the best first; the others rise
  bool reverse = false;
  int limit = 50;
  std::string after;  // opaque `next` of the page before; what is none of ours begins anew
};

struct SearchHit {
  Node node;                   // as Files::node gives it
  std::int32_t relevance = 0;  // 100 the name itself ... 40 somewhere in the name; below 40 in the text only;
                               // 0 nothing was asked for but filters
};
struct SearchPage {
  std::vector<SearchHit> items;
  std::string next;  // "" on the last page
};

class Search {
 public:
  static constexpr std::size_t kTextBytesMax = 255;

  explicit Search(db::Db& db) : db_(db) {}

  /// @throws Error not_found for `folder`; invalid `bad_search` (text too long)
  Task<SearchPage> find(Caller caller, SearchQuery query);
  /// Names only, best first, for each letter typed.
  Task<std::vector<SearchHit>> suggest(Caller caller, std::string text, NodeId folder, int limit);

 private:
  db::Db& db_;
};

}  // namespace welkin::files
