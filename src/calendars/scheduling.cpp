#include "welkin/calendars/scheduling.hpp"

#include <algorithm>

#include "calendars/scheduling_change.hpp"
#include "calendars/scheduling_store.hpp"
#include "welkin/core/error.hpp"

namespace welkin::calendars {
namespace {

namespace members = collections::members;

void require_person(const Caller& caller) {
  if (!caller.user || caller.root_limit) throw Error(Errc::not_found, "not_found", "not found");
}

}  // namespace

Task<Scheduling::Stored> Scheduling::put(Caller caller, collections::Collection calendar,
                                         collections::Objects::NewObject object, Seen seen) {
  require_person(caller);
  const auto uploaded = wire::parse_ical(object.data);
  const auto now = times::seconds(clock_.now());
  co_return co_await db_.write(
      [&](db::Tx& tx) { return Change(tx, config_, now, caller).put(calendar.id, object, uploaded, seen); });
}

Task<> Scheduling::remove(Caller caller, collections::Collection calendar, std::string name,
                          collections::Expect expect, std::optional<db::Uuid> tag, bool tells) {
  require_person(caller);
  const auto now = times::seconds(clock_.now());
  co_await db_.write(
      [&](db::Tx& tx) { Change(tx, config_, now, caller).remove(calendar.id, name, expect, tag, tells); });
}

Task<collections::Objects::Written> Scheduling::transfer(Caller caller, collections::Objects::Transfer what) {
  require_person(caller);
  const auto now = times::seconds(clock_.now());
  co_return co_await db_.write([&](db::Tx& tx) { return Change(tx, config_, now, caller).transfer(what); });
}

Task<> Scheduling::remove_calendar(Caller caller, collections::CollectionId id, std::string state) {
  require_person(caller);
  const auto now = times::seconds(clock_.now());
  co_await db_.write(
      [&](db::Tx& tx) { Change(tx, config_, now, caller).remove_calendar(id, state, is_on()); });
}

Task<std::string> Scheduling::default_calendar(Caller caller) {
  require_person(caller);
  co_return co_await db_.read([&](db::Tx& tx) { return store::default_path(tx, caller.user); });
}

Task<> Scheduling::set_default_calendar(Caller caller, std::string path) {
  require_person(caller);
  const bool done = co_await db_.write([&](db::Tx& tx) { return store::set_default(tx, caller.user, path); });
  if (!done)
    throw Error(Errc::forbidden, "valid_schedule_default_calendar_url",
                "Invitations go to a calendar of one's own that takes events");
}

}  // namespace welkin::calendars
