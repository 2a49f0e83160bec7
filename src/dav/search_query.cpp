#include "dav/search_query.hpp"

#include <algorithm>
#include <array>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::dav {
namespace {

using Op = SearchTerm::Op;
using Truth = SearchTerm::Truth;
constexpr std::string_view kDav = "DAV:";
constexpr std::size_t kTermsMax = 100, kDepthMax = 32, kOrdersMax = 8, kLiteralBytesMax = 1024;

[[noreturn]] void refuse(const char* what) { throw Error(Errc::invalid, "bad_search", what); }
[[noreturn]] void cannot(const std::string& what) { throw Error(Errc::unprocessable, "bad_search", what); }

struct OpName {
  std::string_view name;
  Op op;
};
constexpr OpName kOps[] = {
    {"and", Op::both},
    {"or", Op::either},
    {"not", Op::inverse},
    {"eq", Op::eq},
    {"lt", Op::lt},
    {"lte", Op::lte},
    {"gt", Op::gt},
    {"gte", Op::gte},
    {"like", Op::like},
    {"contains", Op::contains},
    {"is-collection", Op::is_collection},
    {"is-defined", Op::is_defined},
};

struct FieldName {
  std::string_view name;
  SearchField field;
};
constexpr FieldName kFields[] = {{"displayname", SearchField::name},
                                 {"getcontenttype", SearchField::type},
                                 {"getcontentlength", SearchField::size},
                                 {"getlastmodified", SearchField::modified_at},
                                 {"creationdate", SearchField::created_at}};

SearchField field_of(const wire::XmlElement& holder) {
  const auto* prop = holder.child(kDav, "prop");
  if (prop == nullptr || prop->children.size() != 1) refuse("A condition of a search names one property");
  const auto& named = prop->children[0];
  for (const auto& known : kFields) {
    if (named.is(kDav, known.name)) return known.field;
  }
  cannot("This server does not search by the property " + named.name);
}

bool is_text(SearchField field) { return field == SearchField::name || field == SearchField::type; }

class Reader {
 public:
  SearchTerm term(const wire::XmlElement& element, std::size_t depth) {
    if (++terms_ > kTermsMax || depth > kDepthMax) cannot("The search has too many conditions");
    SearchTerm out;
    out.op = op_of(element);
    if (out.op == Op::both || out.op == Op::either || out.op == Op::inverse) {
      for (const auto& child : element.children) out.terms.push_back(term(child, depth + 1));
      if (out.terms.empty() || (out.op == Op::inverse && out.terms.size() > 1)) {
        refuse("A condition of the search holds too few or too many others");
      }
      return out;
    }
    if (out.op == Op::is_collection) return out;
    if (out.op == Op::contains) {
      out.text = literal(element.text, false);
      return out;
    }
    out.field = field_of(element);
    if (out.op == Op::is_defined) return out;
    value(element, out);
    return out;
  }

 private:
  static Op op_of(const wire::XmlElement& element) {
    for (const auto& known : kOps) {
      if (element.is(kDav, known.name)) return known.op;
    }
    cannot("This server does not know the search condition " + element.name);
  }

  static std::string literal(const std::string& text, bool exact) {
    if (text.size() > kLiteralBytesMax) cannot("A literal of the search is too long");
    const auto form = text::nfc(text);
    return exact ? form : text::fold(form);
  }

  static void value(const wire::XmlElement& element, SearchTerm& out) {
    const auto* held = element.child(kDav, "literal");
    if (held == nullptr) held = element.child(kDav, "typed-literal");
    if (held == nullptr) refuse("A condition of the search lacks its literal");
    const auto* caseless = element.attribute("", "caseless");
    if (caseless == nullptr) caseless = element.attribute(kDav, "caseless");
    out.exact = caseless != nullptr && text::iequals(*caseless, "no");
    if (is_text(out.field)) {
      out.text = literal(held->text, out.exact);
      return;
    }
    if (out.op == Op::like) cannot("Only texts are searched by like");
    const auto text = held->trimmed();
    std::optional<std::int64_t> number;
    if (out.field == SearchField::size) {
      number = text::signed_number(text);
    } else {
      number = times::from_rfc3339(text);
      if (!number) number = times::from_http_date(text);
    }
    if (!number) cannot("A literal of the search does not fit its property");
    out.number = *number;
  }

  std::size_t terms_ = 0;
};

std::optional<std::int64_t> number_of(const files::BrowseRow& row, SearchField field) {
  switch (field) {
    case SearchField::size:
      if (row.is_folder()) return std::nullopt;
      return static_cast<std::int64_t>(row.size_bytes);
    // Shown in whole seconds, so compared in whole seconds.
    case SearchField::modified_at:
      return times::seconds(row.modified_at) * 1'000'000;
    case SearchField::created_at:
      return times::seconds(row.created_at) * 1'000'000;
    default:
      return std::nullopt;
  }
}

std::optional<std::string_view> text_of(const files::BrowseRow& row, SearchField field) {
  if (field == SearchField::name) return row.name;
  if (field == SearchField::type && !row.is_folder()) return row.mime_type;
  return std::nullopt;
}

Truth truth(bool holds) { return holds ? Truth::yes : Truth::no; }

template <class T>
Truth compare(Op op, const T& a, const T& b) {
  switch (op) {
    case Op::eq:
      return truth(a == b);
    case Op::lt:
      return truth(a < b);
    case Op::lte:
      return truth(a <= b);
    case Op::gt:
      return truth(a > b);
    case Op::gte:
      return truth(a >= b);
    default:
      return Truth::unknown;
  }
}

std::size_t character_bytes(std::string_view text, std::size_t at) {
  std::size_t n = 1;
  while (at + n < text.size() && (static_cast<unsigned char>(text[at + n]) & 0xC0) == 0x80) ++n;
  return n;
}

int order_of(const files::BrowseRow& a, const files::BrowseRow& b, SearchField field) {
  if (is_text(field)) {
    const auto left = text_of(a, field), right = text_of(b, field);
    if (!left || !right) return static_cast<int>(left.has_value()) - static_cast<int>(right.has_value());
    return left->compare(*right);
  }
  const auto left = number_of(a, field), right = number_of(b, field);
  if (!left || !right) return static_cast<int>(left.has_value()) - static_cast<int>(right.has_value());
  return *left < *right ? -1 : static_cast<int>(*left > *right);
}

std::vector<SearchOrder> read_order(const wire::XmlElement& orderby) {
  std::vector<SearchOrder> out;
  for (const auto& order : orderby.children) {
    if (!order.is(kDav, "order")) continue;
    if (out.size() == kOrdersMax) cannot("The search orders by too many properties");
    out.push_back({field_of(order), order.child(kDav, "descending") != nullptr});
  }
  return out;
}

}  // namespace

bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0;
  std::size_t star = std::string_view::npos, resume = 0;  // the last '%', and where its text may go on to
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      star = p++;
      resume = t;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '_') {
      t += character_bytes(text, t);
      ++p;
      continue;
    }
    const std::size_t escaped = p < pattern.size() && pattern[p] == '\\' && p + 1 < pattern.size() ? 1 : 0;
    if (p < pattern.size() && pattern[p + escaped] == text[t]) {
      p += escaped + 1;
      ++t;
      continue;
    }
    if (star == std::string_view::npos) return false;
    p = star + 1;
    t = ++resume;
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

/// A row, and what of it was folded already: a hundred terms may ask for the same.
class SearchTerm::Looked {
 public:
  explicit Looked(const files::BrowseRow& row) : row(row) {}
  const std::string& folded(SearchField field, std::string_view value) {
    auto& kept = field == SearchField::name ? name_ : type_;
    if (!kept) kept = text::fold(value);
    return *kept;
  }
  const files::BrowseRow& row;

 private:
  std::optional<std::string> name_, type_;
};

SearchTerm::Truth SearchTerm::of(const files::BrowseRow& row) const {
  Looked looked(row);
  return of(looked);
}

std::size_t SearchTerm::cost() const {
  // A pattern that almost matches everywhere is compared to its end at every place.
  std::size_t all = op == Op::like || op == Op::contains ? 1 + text.size() * text.size() / 64 : 1;
  for (const auto& term : terms) all += term.cost();
  return all;
}

SearchTerm::Truth SearchTerm::of(Looked& looked) const {
  const auto& row = looked.row;
  switch (op) {
    case Op::both:
    case Op::either: {
      const auto decisive = op == Op::both ? Truth::no : Truth::yes;
      auto all = op == Op::both ? Truth::yes : Truth::no;
      for (const auto& term : terms) {
        const auto one = term.of(looked);
        if (one == decisive) return decisive;
        if (one == Truth::unknown) all = Truth::unknown;
      }
      return all;
    }
    case Op::inverse: {
      const auto one = terms[0].of(looked);
      return one == Truth::unknown ? one : truth(one == Truth::no);
    }
    case Op::is_collection:
      return truth(row.is_folder());
    case Op::contains:
      return truth(looked.folded(SearchField::name, row.name).find(text) != std::string::npos);
    case Op::is_defined:
      return truth(is_text(field) ? text_of(row, field).has_value() : number_of(row, field).has_value());
    default:
      break;
  }
  if (!is_text(field)) {
    const auto value = number_of(row, field);
    return value ? compare(op, *value, number) : Truth::unknown;
  }
  const auto value = text_of(row, field);
  if (!value) return Truth::unknown;
  const auto form = exact ? *value : std::string_view(looked.folded(field, *value));
  if (op == Op::like) return truth(is_like(form, text));
  return compare(op, form, std::string_view(text));
}

bool SearchQuery::comes_before(const files::BrowseRow& a, const files::BrowseRow& b) const {
  for (const auto& by : order) {
    const int sign = order_of(a, b, by.field);
    if (sign != 0) return by.descending ? sign > 0 : sign < 0;
  }
  return false;
}

SearchQuery read_search(const wire::XmlElement& body) {
  const auto* search = body.is(kDav, "searchrequest") ? body.child(kDav, "basicsearch") : nullptr;
  if (search == nullptr) refuse("The body is no DAV:searchrequest with a DAV:basicsearch");
  SearchQuery query;
  const auto* select = search->child(kDav, "select");
  const auto* prop = select == nullptr ? nullptr : select->child(kDav, "prop");
  if (prop == nullptr && (select == nullptr || select->child(kDav, "allprop") == nullptr)) {
    refuse("A search selects properties");
  }
  query.request = prop == nullptr ? read_propfind(std::nullopt, kPlainAllProp) : read_prop(*prop);
  const auto* from = search->child(kDav, "from");
  const auto* scope = from == nullptr ? nullptr : from->child(kDav, "scope");
  const auto* href = scope == nullptr ? nullptr : scope->child(kDav, "href");
  if (href == nullptr) refuse("A search has one scope");
  query.scope = href->trimmed();
  if (const auto* depth = scope->child(kDav, "depth")) {
    const auto value = depth->trimmed();
    if (value != "0" && value != "1" && !text::iequals(value, "infinity"))
      refuse("A depth is 0, 1 or infinity");
    query.depth = value == "0" ? Depth::zero : value == "1" ? Depth::one : Depth::infinity;
  }
  if (const auto* where = search->child(kDav, "where")) {
    if (where->children.size() != 1) refuse("DAV:where holds one condition");
    query.where = Reader().term(where->children[0], 1);
  }
  if (const auto* orderby = search->child(kDav, "orderby")) query.order = read_order(*orderby);
  if (const auto* limit = search->child(kDav, "limit")) {
    const auto* results = limit->child(kDav, "nresults");
    query.limit = results == nullptr ? std::nullopt : text::number(results->trimmed());
    if (!query.limit) refuse("A limit names its nresults");
  }
  query.request.needs |= needs::kMimeType;
  return query;
}

}  // namespace welkin::dav
