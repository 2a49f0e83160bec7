#include "dav/groupware/book_query.hpp"

#include "dav/groupware/answer.hpp"
#include "dav/groupware/filter_text.hpp"
#include "dav/groupware/refusal.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/vcard_filter.hpp"

namespace welkin::dav::groupware {
namespace {

[[noreturn]] void refuse(const char* why) { throw Error(Errc::invalid, "bad_report", why); }
[[noreturn]] void refuse_filter() { forbid("A:supported-filter"); }

std::string name_of(const wire::XmlElement& filter) {
  const auto* name = filter.attribute("", "name");
  if (name == nullptr || name->empty()) refuse_filter();
  return upper_name(*name);
}

bool is_all_of(const wire::XmlElement& filter) {
  const auto* test = filter.attribute("", "test");
  if (test == nullptr || *test == "anyof") return false;
  if (*test != "allof") refuse_filter();
  return true;
}

wire::CardTextMatch read_match(const wire::XmlElement& element) {
  return {read_matcher(element, text::Collation::unicode_casemap, "A:", "A:supported-filter"),
          says_yes(element, "negate-condition")};
}

wire::CardParamFilter read_param(const wire::XmlElement& element) {
  wire::CardParamFilter out;
  out.name = name_of(element);
  if (element.children.size() > 1) refuse_filter();
  for (const auto& child : element.children) {
    if (child.is(kCarddav, "is-not-defined")) {
      out.is_not_defined = true;
    } else if (child.is(kCarddav, "text-match")) {
      out.match = read_match(child);
    } else {
      refuse_filter();
    }
  }
  return out;
}

wire::CardPropFilter read_prop(const wire::XmlElement& element) {
  wire::CardPropFilter out;
  out.name = name_of(element);
  out.all_of = is_all_of(element);
  for (const auto& child : element.children) {
    if (child.is(kCarddav, "is-not-defined")) {
      out.is_not_defined = true;
    } else if (child.is(kCarddav, "text-match")) {
      out.matches.push_back(read_match(child));
    } else if (child.is(kCarddav, "param-filter")) {
      out.parameters.push_back(read_param(child));
    } else {
      refuse_filter();
    }
  }
  if (out.is_not_defined && element.children.size() > 1) refuse_filter();
  return out;
}

wire::CardFilter read_filter(const wire::XmlElement& body) {
  const auto* filter = body.child(kCarddav, "filter");
  if (filter == nullptr) refuse("An addressbook-query has a filter, be it empty");
  wire::CardFilter out;
  out.all_of = is_all_of(*filter);
  for (const auto& child : filter->children) {
    if (!child.is(kCarddav, "prop-filter")) refuse_filter();
    out.properties.push_back(read_prop(child));
  }
  return out;
}

std::uint64_t read_limit(const wire::XmlElement& body) {
  const auto* limit = body.child(kCarddav, "limit");
  if (limit == nullptr) return UINT64_MAX;
  const auto* nresults = limit->child(kCarddav, "nresults");
  const auto number = nresults == nullptr ? std::nullopt : text::number(nresults->trimmed());
  if (!number) refuse("A limit holds a number of results");
  return *number;
}

/// Cards that cannot be read any more are found by no filter but the empty one.
bool is_wanted(const wire::CardFilter& filter, std::string_view data) {
  if (filter.properties.empty()) return true;
  try {
    return wire::passes(filter, wire::parse_card(data));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Task<> book_query(ReportRequest& request) {
  const auto& collection = *request.target.collection;
  const auto filter = read_filter(request.body);
  auto left = read_limit(request.body);
  const auto query = read_report_props(request.body);
  Answer answer(request.services, request.rq, request.rp, query, request.target.spot);
  co_await answer.begin();
  const auto href = request.target.spot.href();
  auto list = request.services.collections.objects().list(
      collection.sight(), {},
      {.times = (query.needs & needs::kTimes) != 0,
       .data = !filter.properties.empty() || (query.needs & needs::kData) != 0});
  bool is_cut = false;
  for (auto page = co_await list.next(); !page.empty() && !is_cut; page = co_await list.next()) {
    for (const auto& row : page) {
      if (!is_wanted(filter, row.data)) continue;
      is_cut = left == 0;
      if (is_cut) break;
      --left;
      answer.member(collection, href, row);
      co_await answer.send_if_long();
    }
    if (is_cut) break;
    co_await answer.send();
  }
  if (is_cut) answer.more(href);
  co_await answer.end();
}

}  // namespace welkin::dav::groupware
