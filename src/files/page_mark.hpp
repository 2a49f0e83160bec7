#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/node_store.hpp"

/// Pages of nodes that lie all over the drives, each of which the gate has to be asked about: candidates come
/// in order, some at a time, until a page is full of what the caller may read.
namespace welkin::files::store {

/// How candidates are ordered: an SQL expression over node `n` and its `folders` row `f`, then the node's id.
struct PageOrder {
  std::string key;
  bool is_text;  // else bigint
  bool descends;
  const char* direction() const { return descends ? "desc" : "asc"; }
  const char* type() const { return is_text ? "text collate \"C\"" : "bigint"; }
  /// " and (key, id) > ($7, $8)"
  std::string goes_on_after(int key_parameter) const;
};
/// Keys that keep folders in front, whichever way the rest goes. @param key  of text
PageOrder folders_first(const std::string& key, bool descends);
/// The folded name behind another key.
inline constexpr const char* kNameKey = "chr(1) || fold_name(n.name)";
inline constexpr const char* kTypeKey =
    "coalesce((select t.name from mime_types t where t.id = n.mime), '') || chr(1) || fold_name(n.name)";
inline constexpr const char* kModifiedKey = "coalesce(f.changed_at, n.mtime)";
inline constexpr const char* kSizeKey = "coalesce(f.bytes_below, n.size)";

/// Where a page ended. Opaque to clients; it holds only what they have been shown.
struct PageMark {
  std::string key;
  std::int64_t id = 0;
};
/// Adds the key and the id.
db::Params& add_mark(db::Params& params, const PageOrder& order, const PageMark& mark);

struct Candidate {
  Node node;
  std::int64_t number = 0;  // what the statement says beside the node
};
struct CandidatePage {
  std::vector<Candidate> items;
  std::string next;
};
struct CandidateQuery {
  PageOrder order;
  std::string signature;  // marks of other lists and orders are not ours
  int limit = 50;
  std::string after;
  /// Rows of kFoundColumns, a number, the key.
  std::function<db::Rows(const std::optional<PageMark>& after, std::int64_t candidates)> fetch;
  std::function<bool(const Found&)> keep;  // empty: all that can be read
};
CandidatePage take_page(const Caller& caller, const CandidateQuery& query);

/// Statements that are few and named by what varies; their texts are made once and live as long as the
/// process.
db::Stmt named_stmt(const std::string& name, const std::function<std::string()>& text);

}  // namespace welkin::files::store
