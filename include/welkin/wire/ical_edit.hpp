#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/wire/ical.hpp"

namespace welkin::wire {

/// Changes single content lines of an iCalendar or vCard text; every other octet stays as it is, folds and
/// line ends too. For text that was read before (parse_ical, parse_card); of other text it makes what it can.
class LineEditor {
 public:
  /// A component, in the order of their BEGIN.
  struct Component {
    std::string name;  // upper case
    int parent = -1;   // -1: none
  };
  /// A content line that stands in a component itself. Numbers hold until something is added.
  struct Line {
    std::size_t number;
    std::string group, text;  // unfolded, without its line end
  };

  explicit LineEditor(std::string_view text);

  const std::vector<Component>& components() const { return components_; }
  /// @param name  upper case, without a group
  std::vector<Line> lines(std::size_t component, std::string_view name) const;
  /// Every line of it.
  std::vector<Line> lines(std::size_t component) const;

  void replace(std::size_t line, const IcalProperty& property);
  void remove(std::size_t line);
  /// In place of the first line of its name, else behind the others; further ones go.
  void set(std::size_t component, const IcalProperty& property);
  void remove_all(std::size_t component, std::string_view name);
  /// Behind the component's own lines.
  void add(std::size_t component, const IcalProperty& property);

  void remove_component(std::size_t component);
  /// At its end, behind the components it has.
  void add_component(std::size_t into, const IcalComponent& made);
  /// Before it begins.
  void insert_before(std::size_t component, const IcalComponent& made);

  std::string text() const;

 private:
  enum class What : unsigned char { begin, end, line };
  struct Entry {
    What what = What::line;
    int component = -1;
    bool is_gone = false;
    std::string group, name;
    std::string raw;            // with its line end
    std::string unfolded;       //
    std::string before, after;  // what was added at this place
  };
  std::string written(const IcalProperty& property) const;
  std::string written(const IcalComponent& component) const;
  Entry* edge(std::size_t component, What what);
  /// The last line of a component itself, or its BEGIN.
  Entry* last_line(std::size_t component);

  std::string mark_;
  LineEnd end_ = LineEnd::crlf;
  std::vector<Component> components_;
  std::vector<Entry> entries_;
};

}  // namespace welkin::wire
