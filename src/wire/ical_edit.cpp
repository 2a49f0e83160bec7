#include "welkin/wire/ical_edit.hpp"

#include "ical_scan.hpp"
#include "welkin/core/text.hpp"

namespace welkin::wire {

LineEditor::LineEditor(std::string_view text) {
  const auto unmarked = without_mark(text);
  mark_ = text.substr(0, text.size() - unmarked.size());
  const auto first_end = unmarked.find('\n');
  if (first_end != std::string_view::npos && (first_end == 0 || unmarked[first_end - 1] != '\r'))
    end_ = LineEnd::lf;
  LogicalLines lines(unmarked);
  std::vector<int> open;
  for (auto rest = lines.rest();; rest = lines.rest()) {
    const auto line = lines.next();
    if (!line) break;
    Entry entry;
    entry.raw = rest.substr(0, rest.size() - lines.rest().size());
    entry.unfolded = *line;
    const std::string_view unfolded = entry.unfolded;
    auto name = unfolded.substr(0, unfolded.find_first_of(":;"));
    if (const auto dot = name.rfind('.'); dot != std::string_view::npos) {
      entry.group = name.substr(0, dot);
      name.remove_prefix(dot + 1);
    }
    entry.name = upper(name);
    const auto colon = unfolded.find(':');
    const auto value = colon == std::string_view::npos ? std::string_view() : unfolded.substr(colon + 1);
    if (entry.name == "BEGIN") {
      entry.what = What::begin;
      entry.component = static_cast<int>(components_.size());
      components_.push_back({upper(text::trim(value)), open.empty() ? -1 : open.back()});
      open.push_back(entry.component);
    } else {
      entry.component = open.empty() ? -1 : open.back();
      if (entry.name == "END" && !open.empty()) {
        entry.what = What::end;
        open.pop_back();
      }
    }
    entries_.push_back(std::move(entry));
  }
}

std::vector<LineEditor::Line> LineEditor::lines(std::size_t component) const {
  std::vector<Line> out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& entry = entries_[i];
    if (entry.what == What::line && !entry.is_gone && entry.component == static_cast<int>(component))
      out.push_back({i, entry.group, entry.unfolded});
  }
  return out;
}

std::vector<LineEditor::Line> LineEditor::lines(std::size_t component, std::string_view name) const {
  auto out = lines(component);
  std::erase_if(out, [&](const Line& line) { return entries_[line.number].name != name; });
  return out;
}

void LineEditor::replace(std::size_t line, const IcalProperty& property) {
  entries_[line].raw = written(property);
}

void LineEditor::remove(std::size_t line) { entries_[line].is_gone = true; }

void LineEditor::set(std::size_t component, const IcalProperty& property) {
  const auto had = lines(component, property.name);
  if (had.empty()) return add(component, property);
  replace(had.front().number, property);
  for (std::size_t i = 1; i < had.size(); ++i) remove(had[i].number);
}

void LineEditor::remove_all(std::size_t component, std::string_view name) {
  for (const auto& line : lines(component, name)) remove(line.number);
}

void LineEditor::add(std::size_t component, const IcalProperty& property) {
  if (auto* last = last_line(component)) last->after += written(property);
}

void LineEditor::remove_component(std::size_t component) {
  for (auto& entry : entries_) {
    for (int at = entry.component; at >= 0; at = components_[static_cast<std::size_t>(at)].parent) {
      if (at != static_cast<int>(component)) continue;
      entry.is_gone = true;
      entry.before.clear();
      entry.after.clear();
    }
  }
}

void LineEditor::add_component(std::size_t into, const IcalComponent& made) {
  if (auto* end = edge(into, What::end)) end->before += written(made);
}

void LineEditor::insert_before(std::size_t component, const IcalComponent& made) {
  if (auto* begin = edge(component, What::begin)) begin->before += written(made);
}

std::string LineEditor::text() const {
  std::string out = mark_;
  for (const auto& entry : entries_) {
    out += entry.before;
    if (!entry.is_gone) out += entry.raw;
    out += entry.after;
  }
  return out;
}

std::string LineEditor::written(const IcalProperty& property) const {
  std::string out;
  append_ical(out, property, end_);
  return out;
}

std::string LineEditor::written(const IcalComponent& component) const {
  std::string out;
  append_ical(out, component, end_);
  return out;
}

LineEditor::Entry* LineEditor::edge(std::size_t component, What what) {
  for (auto& entry : entries_)
    if (entry.what == what && entry.component == static_cast<int>(component)) return &entry;
  return nullptr;
}

LineEditor::Entry* LineEditor::last_line(std::size_t component) {
  Entry* last = nullptr;
  for (auto& entry : entries_) {
    if (entry.component != static_cast<int>(component) || entry.what == What::end) continue;
    // Lines behind a component inside would be read all the same; ours stand before it.
    if (last == nullptr || entry.what == What::line) last = &entry;
  }
  return last;
}

}  // namespace welkin::wire
