#pragma once
#include <string>

#include "welkin/core/collation.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::dav::groupware {

/// ASCII letters in upper case: names of components, properties and parameters.
std::string upper_name(std::string_view name);

/// What the filters of RFC 4791 §9.7.5 and RFC 6352 §10.5.4 call a text-match.
/// @param prefix  "C:" or "A:", of the preconditions. @throws Refusal supported-collation, `bad_type`
text::Matcher read_matcher(const wire::XmlElement& element, text::Collation fallback,
                           const std::string& prefix, std::string_view bad_type);
/// Whether an attribute says "yes".
bool says_yes(const wire::XmlElement& element, std::string_view attribute);

}  // namespace welkin::dav::groupware
