#include "dav/groupware/filter_text.hpp"

#include "dav/groupware/refusal.hpp"

namespace welkin::dav::groupware {

std::string upper_name(std::string_view name) {
  std::string out(name);
  for (auto& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

text::Matcher read_matcher(const wire::XmlElement& element, text::Collation fallback,
                           const std::string& prefix, std::string_view bad_type) {
  auto collation = fallback;
  if (const auto* named = element.attribute("", "collation"); named != nullptr && *named != "default") {
    const auto known = text::collation_named(*named);
    if (!known) forbid(prefix + "supported-collation");
    collation = *known;
  }
  auto type = text::MatchType::contains;
  if (const auto* named = element.attribute("", "match-type")) {
    const auto known = text::match_type_named(*named);
    if (!known) forbid(bad_type);
    type = *known;
  }
  return text::Matcher(collation, type, element.text);
}

bool says_yes(const wire::XmlElement& element, std::string_view attribute) {
  const auto* value = element.attribute("", attribute);
  return value != nullptr && *value == "yes";
}

}  // namespace welkin::dav::groupware
