#pragma once
#include <string>
#include <string_view>

namespace welkin::dav {

/// Appends `text` as character data or a quoted attribute value of XML or HTML. Characters that neither can
/// say (C0 controls but tab and line ends) become U+FFFD.
void append_escaped(std::string& out, std::string_view text);

}  // namespace welkin::dav
