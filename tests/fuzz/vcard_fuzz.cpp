// vCards from hostile hands: what was read can be written and read again, in either version, and then stays
// the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "welkin/core/error.hpp"
#include "welkin/wire/vcard.hpp"
#include "welkin/wire/vcard_facts.hpp"
#include "welkin/wire/vcard_filter.hpp"

using namespace welkin;

namespace {

std::string written(const wire::Card& card) {
  std::string out;
  wire::append_card(out, card);
  return out;
}

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<wire::Card> all;
  try {
    all = wire::parse_cards({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return 0;
  }
  const wire::CardFilter filter{
      true,
      {{"EMAIL",
        false,
        false,
        {{text::Matcher(text::Collation::unicode_casemap, text::MatchType::contains, "a"), false}},
        {}}}};
  for (const auto& card : all) {
    wire::describe_card(card);
    wire::passes(filter, card);
    for (const auto version : {wire::CardVersion::v3_0, wire::CardVersion::v4_0}) {
      const auto converted = wire::convert_card(card, version);
      check(converted.properties.size() + 50 >= card.properties.size());
      const auto once = written(converted);
      check(written(wire::parse_card(once)) == once);
    }
  }
  return 0;
}
