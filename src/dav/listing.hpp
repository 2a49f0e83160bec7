#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "dav/facts.hpp"
#include "dav/row_writer.hpp"
#include "welkin/dav/resource.hpp"

namespace welkin::dav {

/// How many resources one answer may tell of when nobody said less.
inline constexpr std::size_t kRowsMax = 100'000;

/// A multistatus on its way out: resources are looked up a page at a time, written, and forgotten. The caller
/// has begun the reply.
class Listing {
 public:
  Listing(const TreeServices& services, http::Request& rq, http::Reply& rp, const PropRequest& request,
          const Preferences& preferences);

  struct Walk {
    bool deep = false;                // folders inside are walked too, each told before its members
    std::size_t rows_max = kRowsMax;  // only counted when `deep` or set to less
    bool into_mounts = true;  // false: of each is told that it must be synchronised by itself (RFC 6578 §3.3)
    std::string after;        // goes on behind this name; not with `deep`
    /// Which are told; the folder they lie in by its href. Unset: all.
    std::function<bool(const files::BrowseRow&, const std::string& folder)> wanted;
    std::size_t looked_at_max = kRowsMax;  // with `wanted`: units of `row_cost`
    std::size_t row_cost = 1;              // what `wanted` costs a row; one is about a microsecond
  };
  struct Walked {
    bool whole = true;  // false: a limit was reached
    std::string last;   // the name of the last one told
  };

  void begin();
  /// The resource that was asked for.
  Task<> own(const files::Node& node, const std::string& href);
  /// Members of a folder. @param href  the folder's
  Task<Walked> members(NodeId folder, std::int32_t rights, const std::string& href, const Walk& walk);
  /// Resources that were found otherwise, with their hrefs.
  Task<> some(std::span<const files::BrowseRow> rows, const std::vector<std::string>& hrefs, bool one_by_one);
  /// A resource that is no more.
  void gone(const std::string& href);
  /// That there would have been more (RFC 5323 §5.17, RFC 6578 §3.6).
  void more(const std::string& href);
  /// What the multistatus says beside its responses; XML.
  void append(std::string_view xml) { text_ += xml; }
  Task<> end();

 private:
  /// One that waits for its turn: its own name only, since a hundred thousand of them may lie a hundred deep.
  struct Folder {
    std::shared_ptr<const Folder> above;
    std::string name;  // of the first: its href
    NodeId id;
    std::int32_t rights;

    std::string href() const;
  };
  Task<bool> one_folder(const std::shared_ptr<const Folder>& folder, const Walk& walk, Walked& walked);
  /// Whether `wanted` may be asked about one more row; others have their turn in between.
  Task<bool> may_look(const Walk& walk);
  Task<> send();

  const TreeServices& services_;
  const Caller& caller_;
  http::Reply& rp_;
  Viewer viewer_;
  Facts facts_;
  RowWriter writer_;
  std::string text_;
  wire::Multistatus out_;
  files::BrowseWants wants_;
  std::deque<std::shared_ptr<const Folder>> waiting_;
  std::size_t rows_ = 0, looked_at_ = 0, since_turn_ = 0;
  bool first_sent_ = false;
};

}  // namespace welkin::dav
