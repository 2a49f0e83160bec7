#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/collections/import.hpp"
#include "welkin/wire/ical.hpp"
#include "welkin/wire/ical_split.hpp"

/// Calendars as files of many objects: written, and taken apart.
namespace welkin::calendars {

/// Joins objects into one VCALENDAR, each time zone once.
class CalendarJoiner {
 public:
  /// @param name  shown by programs that subscribe
  void begin(std::string& out, std::string_view name);
  /// What cannot be read any more is left out. @return whether it was written
  /// @param change  called with each component before it is written
  bool add(std::string& out, std::string_view data,
           const std::function<void(wire::IcalComponent&)>& change = nullptr);
  void end(std::string& out);

 private:
  std::set<std::string> zones_;
};

/// A file of many objects on its way in: the components of one UID become one object with the zones they name
/// and their octets as they were. A component without UID gets one that is made of it, so that the same file
/// gives the same objects again.
class CalendarFile {
 public:
  static constexpr std::size_t kObjectBytesMax = std::size_t{10} << 20;
  /// Components wait for others of their UID until the file ends, so this much is held.
  static constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

  CalendarFile();
  /// @throws Error too_large `body_too_large` when more than kFileBytesMax are to be held; invalid
  /// `too_many_objects` when there are more than can be told of
  void feed(std::string_view piece);
  /// @throws Error invalid `no_calendar` when it held none
  void finish();

  struct Object {
    std::string uid, title;
    std::size_t line;
    std::string data;
  };
  bool has_more() const { return at_ < groups_.size(); }
  /// After finish, one after another, in the order of the file.
  Object next();

  const std::vector<collections::Skipped>& skipped() const { return skipped_; }

 private:
  struct Part {
    std::string text;
    std::size_t line;
    std::set<std::string> zones;  // TZIDs it names
  };
  struct Group {
    std::string uid, title;
    std::vector<Part> parts;
  };
  void take(wire::ComponentSplitter::Piece piece);
  void skip(const wire::ComponentSplitter::Piece& piece, std::string slug, std::string reason);
  void add(wire::ComponentSplitter::Piece piece, const wire::IcalComponent& component);

  wire::ComponentSplitter splitter_;
  std::size_t held_bytes_ = 0;
  std::map<std::string, std::string> zones_;
  std::vector<Group> groups_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // by kind and UID
  std::size_t at_ = 0;
  std::vector<collections::Skipped> skipped_;
};

/// Whether two objects say the same, whatever wraps and orders them: what an export gives back is what was
/// put in.
bool say_the_same(std::string_view one, std::string_view other);

}  // namespace welkin::calendars
