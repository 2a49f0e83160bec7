#include "welkin/http/conditional.hpp"

#include "http/ascii.hpp"

namespace welkin::http {
namespace {

constexpr std::size_t kEtagsMax = 256;

std::string_view opaque(std::string_view tag) { return tag.starts_with("W/") ? tag.substr(2) : tag; }

/// One entity-tag at the front of `s` (RFC 9110 §8.8.3), taken off. Empty: malformed.
std::string_view take_etag(std::string_view& s) {
  const std::size_t open = s.starts_with("W/") ? 2 : 0;
  if (s.size() < open + 2 || s[open] != '"') return {};
  const auto close = s.find('"', open + 1);
  if (close == s.npos) return {};
  for (const char c : s.substr(open + 1, close - open - 1))
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return {};
  const auto tag = s.substr(0, close + 1);
  s.remove_prefix(close + 1);
  return tag;
}

EtagList require_etags(const Fields& headers, std::string_view name) {
  auto list = parse_etags(headers.joined(name));
  if (!list) throw Error(Errc::invalid, "bad_precondition", std::string(name) + " is no list of entity tags");
  return std::move(*list);
}

/// Dates with more precision than a second cannot be said in HTTP: whole seconds are compared.
bool modified_after(Micros last_modified, Micros date) {
  return times::seconds(last_modified) > times::seconds(date);
}

}  // namespace

std::optional<EtagList> parse_etags(std::string_view value) {
  EtagList out;
  auto rest = ascii::trim(value);
  if (rest == "*") {
    out.any = true;
    return out;
  }
  while (!rest.empty()) {
    if (rest.front() == ',') {  // empty list elements are allowed (§5.6.1.2)
      rest = ascii::trim(rest.substr(1));
      continue;
    }
    const auto tag = take_etag(rest);
    if (tag.empty() || out.tags.size() == kEtagsMax) return std::nullopt;
    out.tags.emplace_back(tag);
    rest = ascii::trim(rest);
    if (!rest.empty() && rest.front() != ',') return std::nullopt;
  }
  if (out.tags.empty()) return std::nullopt;
  return out;
}

bool strong_match(const EtagList& list, std::string_view etag) {
  if (etag.empty() || etag.starts_with("W/")) return list.any && !etag.empty();
  if (list.any) return true;
  for (const auto& tag : list.tags)
    if (tag == etag) return true;
  return false;
}

bool weak_match(const EtagList& list, std::string_view etag) {
  if (etag.empty()) return false;
  if (list.any) return true;
  for (const auto& tag : list.tags)
    if (opaque(tag) == opaque(etag)) return true;
  return false;
}

Precondition evaluate(Method method, const Fields& headers, std::string_view etag,
                      std::optional<Micros> last_modified) {
  const bool exists = !etag.empty();
  if (headers.has("if-match")) {
    if (!strong_match(require_etags(headers, "if-match"), etag)) return Precondition::failed;
  } else if (exists && last_modified && headers.has("if-unmodified-since")) {
    const auto date = times::from_http_date(headers.get("if-unmodified-since"));
    if (date && modified_after(*last_modified, *date)) return Precondition::failed;
  }
  const bool reads = method == Method::get || method == Method::head;
  if (headers.has("if-none-match")) {
    if (weak_match(require_etags(headers, "if-none-match"), etag))
      return reads ? Precondition::not_modified : Precondition::failed;
  } else if (exists && last_modified && reads && headers.has("if-modified-since")) {
    const auto date = times::from_http_date(headers.get("if-modified-since"));
    if (date && !modified_after(*last_modified, *date)) return Precondition::not_modified;
  }
  return Precondition::proceed;
}

}  // namespace welkin::http
