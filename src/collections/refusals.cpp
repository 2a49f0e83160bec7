#include "collections/refusals.hpp"

#include <array>

namespace welkin::collections {
namespace {

struct Refusal {
  std::string_view raised;  // as raised in SQL
  Errc code;
  const char* slug;
  const char* text;
};
constexpr std::array kRefusals{
    Refusal{"not_found", Errc::not_found, "not_found", "not found"},
    Refusal{"forbidden", Errc::forbidden, "forbidden", "you may not do this here"},
    Refusal{"precondition_failed", Errc::precondition_failed, "precondition_failed",
            "the resource is not in the state the request asks for"},
    Refusal{"exists", Errc::conflict, "exists", "there is a collection of this name"},
    Refusal{"too_many_collections", Errc::quota_exceeded, "too_many_collections",
            "there are too many collections already"},
    Refusal{"share_with_owner", Errc::invalid, "share_with_owner", "it is the owner's already"},
    Refusal{"too_many_shares", Errc::quota_exceeded, "too_many_shares",
            "this is shared with too many people already"},
    Refusal{"not_a_calendar", Errc::invalid, "not_a_calendar", "only calendars can be published"},
    Refusal{"too_many_properties", Errc::quota_exceeded, "too_many_properties",
            "there is no room for more properties here"},
    Refusal{"quota_exceeded", Errc::quota_exceeded, "quota_not_exceeded",
            "there is no room left for whoever owns the collection"},
    Refusal{"collection_gone", Errc::conflict, "collection_gone",
            "the collection it was in is deleted itself: restore that first"},
    Refusal{"uid_conflict", Errc::conflict, "uid_conflict",
            "another object of the collection has its UID by now"},
    Refusal{"supported_component", Errc::conflict, "supported_component",
            "the collection does not take objects of its kind any more"},
};

}  // namespace

void rethrow(const db::SqlError& e) {
  if (e.sqlstate().starts_with('W'))
    for (const auto& known : kRefusals)
      if (known.raised == e.message()) throw Error(known.code, known.slug, known.text);
  throw e;
}

void require_person(const Caller& caller) {
  if (!caller.user || caller.root_limit) throw Error(Errc::not_found, "not_found", "not found");
}

}  // namespace welkin::collections
