#include <array>
#include <nlohmann/json.hpp>

#include "nextcloud/web.hpp"
#include "welkin/core/error.hpp"
#include "welkin/people/directory.hpp"
#include "welkin/people/presence.hpp"

// Whether people are there, and what they say they are doing.
namespace welkin::nextcloud {
namespace {

using people::Presence;

/// Messages that all clients offer. `seconds`: for how long; 0: `end_of`, or for good.
struct Predefined {
  const char* id;
  const char* icon;
  const char* message;
  int seconds;
  const char* end_of;
};
constexpr std::array kPredefined = {
    Predefined{"meeting", "📅", "In a meeting", 3600, ""},
    Predefined{"commuting", "🚌", "On the way", 1800, ""},
    Predefined{"be-right-back", "⏳", "Back in a moment", 900, ""},
    Predefined{"remote-work", "🏡", "Working from home", 0, "day"},
    Predefined{"sick-leave", "🤒", "Out sick", 0, "day"},
    Predefined{"vacationing", "🌴", "On holiday", 0, ""},
};

const Predefined* predefined(const std::string& id) {
  for (const auto& known : kPredefined)
    if (known.id == id) return &known;
  return nullptr;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json seconds_or_null(const std::optional<Micros>& at) {
  return at ? Json(times::seconds(*at)) : Json(nullptr);
}

Json own_status(const Caller& caller, const Presence& p) {
  return {{"userId", caller.name},
          {"message", text_or_null(p.message)},
          {"messageId", text_or_null(p.message_id)},
          {"messageIsPredefined", !p.message_id.empty()},
          {"icon", text_or_null(p.icon)},
          {"clearAt", seconds_or_null(p.clear_at)},
          {"status", p.state},
          {"statusIsUserDefined", p.is_chosen}};
}

/// To others, who does not want to be seen is away for good.
Json public_status(const std::string& user, const Presence& p) {
  return {{"userId", user},
          {"message", text_or_null(p.message)},
          {"icon", text_or_null(p.icon)},
          {"clearAt", seconds_or_null(p.clear_at)},
          {"status", p.state == "invisible" ? "offline" : p.state}};
}

Task<> answer_own(Call& call) {
  const auto& caller = call.rq.caller();
  const auto presence = co_await call.services.people.presences().of(caller.user);
  if (!presence) throw Error(Errc::not_found, "no_status", "No status is set");
  co_await answer(call, own_status(caller, *presence));
}

/// PUT /user_status/status statusType=
Task<> choose(Call& call) {
  const auto params = co_await params_of(call.rq);
  co_await call.services.people.presences().choose(call.rq.caller().user, params.get("statusType"));
  co_await answer_own(call);
}

std::optional<Micros> clear_time(const Params& params) {
  const auto at = params.number("clearAt");
  if (!at) return std::nullopt;
  constexpr std::int64_t far_future = std::int64_t{1} << 40;
  if (*at < 0 || *at > far_future)
    throw Error(Errc::invalid, "bad_time", "The time to clear the message is not usable");
  return *at * 1'000'000;
}

/// PUT /user_status/message/custom statusIcon= message= clearAt=
Task<> say(Call& call) {
  const auto params = co_await params_of(call.rq);
  co_await call.services.people.presences().say(call.rq.caller().user, "", params.get("statusIcon"),
                                                params.get("message"), clear_time(params));
  co_await answer_own(call);
}

/// PUT /user_status/message/predefined messageId= clearAt=
Task<> say_predefined(Call& call) {
  const auto params = co_await params_of(call.rq);
  const auto* known = predefined(params.get("messageId"));
  if (!known) throw Error(Errc::invalid, "bad_message", "There is no such message");
  co_await call.services.people.presences().say(call.rq.caller().user, known->id, known->icon, known->message,
                                                clear_time(params));
  co_await answer_own(call);
}

Task<> say_nothing(Call& call) {
  co_await call.services.people.presences().say_nothing(call.rq.caller().user);
  co_await answer(call, Json::array());
}

/// PUT /heartbeat status=
Task<> heartbeat(Call& call) {
  const auto params = co_await params_of(call.rq);
  co_await call.services.people.presences().heard(call.rq.caller().user, params.get("status"));
  co_await answer_own(call);
}

Task<> list_predefined(Call& call) {
  Json list = Json::array();
  for (const auto& known : kPredefined) {
    Json clear_at = nullptr;
    if (known.seconds > 0) clear_at = {{"type", "period"}, {"time", known.seconds}};
    if (*known.end_of != '\0') clear_at = {{"type", "end-of"}, {"time", known.end_of}};
    list.push_back({{"id", known.id},
                    {"icon", known.icon},
                    {"message", known.message},
                    {"clearAt", std::move(clear_at)},
                    {"visible", true}});
  }
  co_await answer(call, list);
}

Task<> of_others(Call& call) {
  Json list = Json::array();
  auto found =
      co_await call.services.people.presences().of_others(call.services.people.directory(), call.rq.caller());
  for (const auto& [person, presence] : found) list.push_back(public_status(person.name, presence));
  co_await answer(call, list);
}

Task<> of_one(Call& call) {
  auto directory = call.services.people.directory();
  const auto person = co_await directory.named(call.rq.param("id"));
  std::optional<Presence> presence;
  if (person && co_await directory.may_see(call.rq.caller(), person->id))
    presence = co_await call.services.people.presences().of(person->id);
  if (!presence) throw Error(Errc::not_found, "no_status", "No status is set");
  co_await answer(call, public_status(person->name, *presence));
}

}  // namespace

void mount_user_status(OcsRoutes& ocs) {
  using http::Method;
  const std::string top = "/apps/user_status/api/v1";
  const auto add = [&](Method method, const char* path, const char* name, const char* action,
                       OcsHandler handler) {
    ocs.user(method, top + path, std::string("user_status.") + name, "presence", action, std::move(handler));
  };
  add(Method::get, "/user_status", "own", "read", answer_own);
  add(Method::put, "/user_status/status", "choose", "update", choose);
  add(Method::put, "/user_status/message/custom", "say", "update", say);
  add(Method::put, "/user_status/message/predefined", "say_predefined", "update", say_predefined);
  add(Method::del, "/user_status/message", "say_nothing", "update", say_nothing);
  add(Method::put, "/heartbeat", "heartbeat", "update", heartbeat);
  add(Method::get, "/predefined_statuses", "predefined", "read", list_predefined);
  add(Method::get, "/statuses", "others", "read", of_others);
  add(Method::get, "/statuses/{id}", "other", "read", of_one);
}

}  // namespace welkin::nextcloud
