#include "welkin/files/search.hpp"

#include <algorithm>
#include <utility>

#include "files/search_store.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

constexpr int kPageMax = 1000, kSuggestMax = 20;

/// One blank between words, none around them, NFC as names are.
std::string tidied(const std::string& text) {
  if (text.size() > Search::kTextBytesMax || !text::is_utf8(text) || text.find('\0') != std::string::npos)
    throw Error(
        Errc::invalid, "bad_search",
        "What is searched for must be text of at most " + std::to_string(Search::kTextBytesMax) + " bytes");
  std::string out;
  for (const char c : text::nfc(text)) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

Task<SearchPage> Search::find(Caller caller, SearchQuery query) {
  query.text = tidied(query.text);
  query.limit = std::clamp(query.limit, 1, kPageMax);
  co_return co_await db_.snapshot([&](db::Tx& tx) { return store::search(tx, caller, query); });
}

Task<std::vector<SearchHit>> Search::suggest(Caller caller, std::string text, NodeId folder, int limit) {
  SearchQuery query;
  query.text = tidied(text);
  query.folder = folder;
  query.content = false;
  query.limit = std::clamp(limit, 1, kSuggestMax);
  if (query.text.empty()) co_return std::vector<SearchHit>();
  co_return (co_await find(std::move(caller), std::move(query))).items;
}

}  // namespace welkin::files
