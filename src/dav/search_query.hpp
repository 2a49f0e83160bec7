#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dav/prop_request.hpp"
#include "welkin/dav/resource.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav {

/// What can be asked about in a search. Names are those of the tree.
enum class SearchField : std::uint8_t { name, type, size, modified_at, created_at };

/// A condition of DAV:where (RFC 5323 §5.5): true, false, or unknown when it asks about what a resource has
/// not.
struct SearchTerm {
  enum class Op : std::uint8_t {
    both,
    either,
    inverse,
    eq,
    lt,
    lte,
    gt,
    gte,
    like,
    contains,
    is_collection,
    is_defined
  };
  enum class Truth : std::uint8_t { no, unknown, yes };
  Op op = Op::both;
  std::vector<SearchTerm> terms;  // of both, either, inverse
  SearchField field = SearchField::name;
  std::string text;         // of name and type; folded unless `exact`
  std::int64_t number = 0;  // of size (bytes) and times (microseconds)
  bool exact = false;

  Truth of(const files::BrowseRow& row) const;
  /// What that may take, in microseconds or so: long texts are looked for at every place of a name.
  std::size_t cost() const;

 private:
  class Looked;
  Truth of(Looked& looked) const;
};

struct SearchOrder {
  SearchField field = SearchField::name;
  bool descending = false;
};

struct SearchQuery {
  PropRequest request;
  std::string scope;  // a URI or a path
  Depth depth = Depth::infinity;
  std::optional<SearchTerm> where;
  std::vector<SearchOrder> order;
  std::optional<std::size_t> limit;

  bool comes_before(const files::BrowseRow& a, const files::BrowseRow& b) const;
};

/// @param body  DAV:searchrequest
/// @throws Error invalid `bad_search`: not a DAV:basicsearch; unprocessable `bad_search`: an operator or a
/// property that this server cannot search by, or more than 100 of them, or more than 32 inside each other
SearchQuery read_search(const wire::XmlElement& body);

/// '%' any text, '_' one character, '\' takes the next as it is (RFC 5323 §5.13). Both folded alike.
bool is_like(std::string_view text, std::string_view pattern);

}  // namespace welkin::dav
