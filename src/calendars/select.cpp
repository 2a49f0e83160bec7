#include "calendars/select.hpp"

#include <algorithm>

namespace welkin::calendars {

wire::IcalComponent select(const wire::IcalComponent& component, const CompSelection& selection) {
  const bool names_nothing = !selection.all_properties && !selection.all_components &&
                             selection.properties.empty() && selection.components.empty();
  if (names_nothing) return component;
  wire::IcalComponent out{component.name, {}, {}};
  for (const auto& property : component.properties) {
    const auto asked = std::find_if(selection.properties.begin(), selection.properties.end(),
                                    [&](const auto& each) { return each.name == property.name; });
    if (asked == selection.properties.end() && !selection.all_properties) continue;
    out.properties.push_back(property);
    if (asked != selection.properties.end() && asked->no_value) out.properties.back().value.clear();
  }
  for (const auto& below : component.components) {
    const auto asked = std::find_if(selection.components.begin(), selection.components.end(),
                                    [&](const auto& each) { return each.name == below.name; });
    if (asked != selection.components.end()) {
      out.components.push_back(select(below, *asked));
    } else if (selection.all_components) {
      out.components.push_back(below);
    }
  }
  return out;
}

}  // namespace welkin::calendars
