#include "welkin/http/range.hpp"

#include <algorithm>
#include <optional>

#include "http/ascii.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::http {
namespace {

// More than this many specs are not even read: nobody needs them, and joining is quadratic.
constexpr std::size_t kSpecsMax = 256;

struct Spec {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;  // without `first`: the length of a suffix
};

/// A number that may be larger than 64 bits: then it lies beyond any body, which is all that matters.
std::optional<std::uint64_t> position(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
  return text::number(digits).value_or(UINT64_MAX);
}

std::optional<Spec> parse_spec(std::string_view s) {
  const auto dash = s.find('-');
  if (dash == s.npos) return std::nullopt;
  const auto left = ascii::trim(s.substr(0, dash));
  const auto right = ascii::trim(s.substr(dash + 1));
  Spec out;
  if (!left.empty() && !(out.first = position(left))) return std::nullopt;
  if (!right.empty() && !(out.last = position(right))) return std::nullopt;
  if (!out.first && !out.last) return std::nullopt;
  if (out.first && out.last && *out.last < *out.first) return std::nullopt;
  return out;
}

/// nullopt: no byte of the body is in it.
std::optional<Slice> slice_of(const Spec& spec, std::uint64_t size_bytes) {
  if (!spec.first) {
    const auto length = std::min(*spec.last, size_bytes);
    if (length == 0) return std::nullopt;
    return Slice{size_bytes - length, length};
  }
  if (*spec.first >= size_bytes) return std::nullopt;
  const auto last = std::min(spec.last.value_or(UINT64_MAX), size_bytes - 1);
  return Slice{*spec.first, last - *spec.first + 1};
}

/// Joins slices that overlap or touch; a joined one stands where the first of its parts stood.
std::vector<Slice> joined(const std::vector<Slice>& slices) {
  std::vector<Slice> out;
  for (Slice add : slices) {
    std::size_t at = out.size();
    for (std::size_t i = out.size(); i-- > 0;) {
      auto& old = out[i];
      if (add.offset > old.offset + old.length || old.offset > add.offset + add.length) continue;
      const auto begin = std::min(add.offset, old.offset);
      const auto end = std::max(add.offset + add.length, old.offset + old.length);
      add = {begin, end - begin};
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
      at = i;
    }
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), add);
  }
  return out;
}

}  // namespace

std::vector<Slice> parse_range(std::string_view value, std::uint64_t size_bytes) {
  const auto equals = value.find('=');
  if (equals == value.npos || !ascii::iequals(ascii::trim(value.substr(0, equals)), "bytes")) return {};
  std::vector<Spec> specs;
  bool malformed = false;
  ascii::each_element(value.substr(equals + 1), [&](std::string_view element) {
    const auto spec = malformed || specs.size() > kSpecsMax ? std::nullopt : parse_spec(element);
    if (spec)
      specs.push_back(*spec);
    else
      malformed = true;
  });
  // Of an empty body there is no part, and all of it is what a player that asks for everything wants.
  if (malformed || specs.empty() || size_bytes == 0) return {};
  std::vector<Slice> slices;
  for (const auto& spec : specs)
    if (const auto slice = slice_of(spec, size_bytes)) slices.push_back(*slice);
  if (slices.empty())
    throw Error(Errc::range_not_satisfiable, "range", "no byte of the requested range is in the body");
  slices = joined(slices);
  if (slices.size() > kRangesMax) return {};
  return slices;
}

bool if_range_holds(const Fields& headers, std::string_view etag, std::optional<Micros> last_modified) {
  if (!headers.has("if-range")) return true;
  const auto value = headers.get("if-range");
  if (value.starts_with('"')) return !etag.starts_with("W/") && value == etag;
  if (value.starts_with("W/")) return false;
  const auto date = times::from_http_date(value);
  return date && last_modified && times::seconds(*date) == times::seconds(*last_modified);
}

std::string content_range(const Slice& slice, std::uint64_t size_bytes) {
  return "bytes " + std::to_string(slice.offset) + "-" + std::to_string(slice.offset + slice.length - 1) +
         "/" + std::to_string(size_bytes);
}

}  // namespace welkin::http
