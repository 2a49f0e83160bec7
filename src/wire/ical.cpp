#include "welkin/wire/ical.hpp"

#include <algorithm>

#include "content_line.hpp"
#include "ical_scan.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::wire {
namespace {

[[noreturn]] void bad(std::size_t line, const std::string& why) {
  throw Error(Errc::forbidden, "valid_calendar_data",
              "The calendar data cannot be read: line " + std::to_string(line) + ": " + why);
}

bool is_large(std::string_view name) { return name == "ATTACH" || name == "IMAGE" || name == "PHOTO"; }

class Reader {
 public:
  Reader(std::string_view text, const IcalLimits& limits) : lines_(text), limits_(limits) {}

  std::vector<IcalComponent> read() {
    while (const auto line = lines_.next()) {
      if (line->empty()) continue;
      if (const char* why = text_fault(*line)) bad(lines_.number(), why);
      if (++count_ > limits_.lines_max) bad(lines_.number(), "there are too many lines");
      IcalProperty property = property_of(*line);
      if (property.name == "BEGIN") {
        begin(upper(text::trim(property.value)));
      } else if (property.name == "END") {
        end(upper(text::trim(property.value)));
      } else if (open_.empty()) {
        bad(lines_.number(), "it stands outside of VCALENDAR");
      } else {
        open_.back().properties.push_back(std::move(property));
      }
    }
    if (!open_.empty()) bad(lines_.number(), "the text ends inside of " + open_.back().name);
    return std::move(done_);
  }

 private:
  IcalProperty property_of(std::string_view line) {
    ContentLine read;
    if (const char* why = read_content_line(line, {limits_.parameters_max}, read)) bad(lines_.number(), why);
    if (line.size() > limits_.line_bytes_max && !is_large(read.name)) bad(lines_.number(), "it is too long");
    return {std::move(read.name), std::move(read.parameters), std::string(read.value)};
  }

  void begin(std::string name) {
    if (name.empty() || name.size() > 255) bad(lines_.number(), "BEGIN without a name");
    if (open_.empty() && name != "VCALENDAR") bad(lines_.number(), "this is no VCALENDAR");
    if (open_.size() >= limits_.depth_max) bad(lines_.number(), "components are nested too deeply");
    open_.emplace_back().name = std::move(name);
  }

  void end(const std::string& name) {
    if (open_.empty() || open_.back().name != name)
      bad(lines_.number(), "END does not close what BEGIN opened");
    IcalComponent closed = std::move(open_.back());
    open_.pop_back();
    (open_.empty() ? done_ : open_.back().components).push_back(std::move(closed));
  }

  LogicalLines lines_;
  const IcalLimits& limits_;
  std::vector<IcalComponent> open_, done_;
  std::size_t count_ = 0;
};

}  // namespace

const IcalParameter* IcalProperty::parameter(std::string_view called) const {
  for (const auto& each : parameters)
    if (each.name == called) return &each;
  return nullptr;
}

std::string_view IcalProperty::parameter_value(std::string_view called) const {
  const auto* found = parameter(called);
  return found && !found->values.empty() ? std::string_view(found->values.front()) : std::string_view();
}

void IcalProperty::set_parameter(std::string_view called, std::string value_text) {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](auto& p) { return p.name == called; });
  if (value_text.empty()) {
    std::erase_if(parameters, [&](auto& p) { return p.name == called; });
  } else if (found != parameters.end()) {
    found->values.assign(1, std::move(value_text));
  } else {
    auto& made = parameters.emplace_back();
    made.name = called;
    made.values.push_back(std::move(value_text));
  }
}

const IcalProperty* IcalComponent::property(std::string_view called) const {
  for (const auto& each : properties)
    if (each.name == called) return &each;
  return nullptr;
}

IcalProperty* IcalComponent::property(std::string_view called) {
  return const_cast<IcalProperty*>(std::as_const(*this).property(called));
}

std::string_view IcalComponent::value(std::string_view called) const {
  const auto* found = property(called);
  return found ? std::string_view(found->value) : std::string_view();
}

std::string IcalComponent::text(std::string_view called) const { return ical_unescape(value(called)); }

std::size_t IcalComponent::count(std::string_view called) const {
  return static_cast<std::size_t>(
      std::count_if(properties.begin(), properties.end(), [&](const auto& p) { return p.name == called; }));
}

void IcalComponent::remove(std::string_view called) {
  std::erase_if(properties, [&](const auto& p) { return p.name == called; });
}

void IcalComponent::set(std::string_view called, std::string value_on_the_wire) {
  if (auto* first = property(called)) {
    const auto at = first - properties.data();
    properties.erase(std::remove_if(properties.begin() + at + 1, properties.end(),
                                    [&](const auto& p) { return p.name == called; }),
                     properties.end());
    properties[static_cast<std::size_t>(at)].parameters.clear();
    properties[static_cast<std::size_t>(at)].value = std::move(value_on_the_wire);
    return;
  }
  auto& made = properties.emplace_back();
  made.name = called;
  made.value = std::move(value_on_the_wire);
}

std::vector<IcalComponent> parse_icals(std::string_view text, const IcalLimits& limits) {
  if (text.size() > limits.bytes_max)
    throw Error(Errc::forbidden, "max_resource_size", "The calendar data is too large");
  return Reader(without_mark(text), limits).read();
}

IcalComponent parse_ical(std::string_view text, const IcalLimits& limits) {
  auto all = parse_icals(text, limits);
  if (all.size() != 1)
    throw Error(Errc::forbidden, "valid_calendar_data",
                all.empty() ? "There is no VCALENDAR in it" : "There is more than one VCALENDAR in it");
  return std::move(all.front());
}

void append_ical(std::string& out, const IcalProperty& property, LineEnd end) {
  std::string line = property.name;
  for (const auto& parameter : property.parameters) {
    line += ';';
    line += parameter.name;
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      line += i == 0 ? '=' : ',';
      append_parameter_value(line, parameter.values[i]);
    }
  }
  line += ':';
  line += property.value;
  append_folded(out, line, end == LineEnd::crlf ? "\r\n" : "\n");
}

void append_ical(std::string& out, const IcalComponent& component, LineEnd end) {
  const std::string_view eol = end == LineEnd::crlf ? "\r\n" : "\n";
  append_folded(out, "BEGIN:" + component.name, eol);
  for (const auto& property : component.properties) append_ical(out, property, end);
  for (const auto& below : component.components) append_ical(out, below, end);
  append_folded(out, "END:" + component.name, eol);
}

std::string ical_unescape(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\' || i + 1 == value.size()) {
      out += value[i];
      continue;
    }
    const char next = value[i + 1];
    if (next == 'n' || next == 'N') {
      out += '\n';
    } else if (next == '\\' || next == ';' || next == ',' || next == ':' || next == '"') {
      out += next;
    } else {
      out += '\\';
      continue;
    }
    ++i;
  }
  return out;
}

std::string ical_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '\r') continue;
    if (c == '\\' || c == ';' || c == ',') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<std::string_view> ical_list(std::string_view value) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      ++i;
    } else if (value[i] == ',') {
      out.push_back(value.substr(from, i - from));
      from = i + 1;
    }
  }
  out.push_back(value.substr(from));
  return out;
}

}  // namespace welkin::wire
