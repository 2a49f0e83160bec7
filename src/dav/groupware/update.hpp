#pragma once
#include <vector>

#include "dav/groupware/live.hpp"

namespace welkin::dav::groupware {

/// The instructions of a PROPPATCH, MKCALENDAR or extended MKCOL, judged one by one before anything is
/// changed.
struct Update {
  struct Named {
    std::string ns, name;
    int status = 200;
    std::string_view condition;  // children of DAV:error, "" for none
  };
  std::vector<Named> named;  // each property once, in the order of the request
  std::vector<collections::PropertyChange> changes;
  bool fails = false;

  /// An inbox's C:schedule-default-calendar-URL, as it was given: kept elsewhere.
  std::optional<std::string> default_calendar;

  /// One that was found wanting later; the others fall with it.
  void fail(std::string_view name, int status, std::string_view condition);
  void fail_last(int status, std::string_view condition);
  /// One of `named`; the others fall with it.
  void fail_one(std::string_view ns, std::string_view name, int status, std::string_view condition);
  /// What is set of a subscription: its address, and how often it is asked.
  std::optional<std::string> source() const;
  std::optional<std::int32_t> refresh_seconds() const;
  /// The propstats, one a status and condition.
  void write(wire::Multistatus& out) const;

  // What only the making of a collection may say.
  std::optional<std::int16_t> components;
  std::optional<unsigned> type;  // kCalendar, kBook; kNothing: what we do not make
  bool subscribed = false;       // a calendar that is kept like an address
};

/// @param kind  of what is changed. @throws Error invalid `bad_propertyupdate`
Update read_update(const wire::XmlElement& update, Kind kind);
/// @param root  C:mkcalendar or d:mkcol. @param kind  of what would be made at the address
Update read_making(const wire::XmlElement& root, Kind kind);

}  // namespace welkin::dav::groupware
