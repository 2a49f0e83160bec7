#include "dav/groupware/target.hpp"

#include "dav/groupware/refusal.hpp"
#include "welkin/collections/sharing.hpp"
#include "welkin/core/error.hpp"

namespace welkin::dav::groupware {

namespace {

/// Other principals exist for whom the directory shows them, and for whoever shares something with them.
Task<> find_other(const Services& services, const Caller& caller, Target& target) {
  auto directory = services.people.directory();
  if (target.spot.is_group()) {
    target.group = co_await directory.group(caller, target.spot.user);
    target.exists = target.group.has_value();
    co_return;
  }
  auto person = co_await directory.named(target.spot.user);
  if (!person) co_return;
  const bool may_see = co_await directory.may_see(caller, person->id);
  target.exists = may_see || co_await services.collections.sharing().are_related(caller, person->id);
  // Sharing something with a name is no way to its mail address.
  if (!may_see) person->email.clear();
  if (target.exists) target.person = std::move(person);
}

}  // namespace

Task<Target> find_target(const Services& services, const Caller& caller, Spot spot) {
  Target target;
  target.spot = std::move(spot);
  const auto kind = target.spot.kind;
  if (kind == kNothing) co_return target;
  if ((kind & (kRoot | kPrincipals | kHomes)) != 0) {
    target.exists = true;
    co_return target;
  }
  if (kind == kPrincipal && (target.spot.is_group() || target.spot.user != caller.name)) {
    co_await find_other(services, caller, target);
    co_return target;
  }
  if (target.spot.user != caller.name) co_return target;
  // Before it is looked at, so that it holds what the books hold.
  const bool is_birthdays =
      kind != kPrincipal && target.spot.collection_kind() == collections::Kind::calendar &&
      (kind == kCalendarHome || target.spot.collection.starts_with("contact-birthdays"));
  if (is_birthdays) co_await services.birthdays.catch_up(caller);
  if ((kind & (kPrincipal | kHome)) != 0) {
    target.exists = true;
    co_return target;
  }
  // Where nothing is sent there is no place for it.
  if ((kind == kOutbox || target.spot.is_in_inbox()) && !services.scheduling.is_on()) co_return target;
  if (kind == kOutbox) {
    target.exists = true;
    co_return target;
  }
  target.collection =
      co_await services.collections.find(caller, target.spot.collection_kind(), target.spot.collection);
  if (!target.collection || (kind & (kCollection | kInbox)) != 0) {
    target.exists = target.collection.has_value();
    co_return target;
  }
  target.object =
      co_await services.collections.objects().find(target.collection->sight(), target.spot.object);
  target.exists = target.object.has_value() && !target.spot.has_slash;
  co_return target;
}

Task<Target> require_target(const Services& services, const Caller& caller, Spot spot) {
  auto target = co_await find_target(services, caller, std::move(spot));
  if (!target.exists) throw Error(Errc::not_found, "not_found", "There is nothing at this address");
  co_return target;
}

void require_protocol(const Caller& caller, const Spot& spot) {
  std::int32_t wanted = protocols::kCaldav | protocols::kCarddav;
  if ((spot.kind & (kCalendarHome | kCalendar | kCalendarObject | kInbox | kOutbox)) != 0)
    wanted = protocols::kCaldav;
  if ((spot.kind & (kBookHome | kBook | kCardObject)) != 0) wanted = protocols::kCarddav;
  if (spot.is_for_nextcloud()) wanted |= protocols::kNextcloud;
  const bool has_none = (caller.protocol_mask & wanted) == 0;
  if (has_none || caller.root_limit || !caller.user) forbid_privilege(spot.href(), "d:read");
}

void require_write(const Target& target, std::string_view privilege) {
  const bool is_masked = target.object && target.object->masked;
  if (target.collection && (is_masked || !target.collection->may_write()))
    forbid_privilege((target.spot.kind & kObject) != 0 ? target.spot.parent().href() : target.spot.href(),
                     privilege);
}

}  // namespace welkin::dav::groupware
