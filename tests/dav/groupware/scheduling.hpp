#pragma once
#include "dav/groupware/groupware.hpp"
#include "welkin/wire/ical.hpp"

namespace welkin::tests {

/// alice, bob and carol with mail addresses, and the event they are invited to.
struct SchedulingBase : Groupware {
  explicit SchedulingBase(TestServer& on) : Groupware(on) {
    for (const auto* user : {&alice, &bob, &carol})
      server.sql("update users set email = '" + user->name +
                 "@example.org' where id = " + std::to_string(user->id.value));
  }
  TestUser carol = server.user(server.fresh("carol"));
  ApiClient carols = server.as(carol);
  std::string bob_home = "/dav/calendars/" + bob.name + "/",
              carol_home = "/dav/calendars/" + carol.name + "/";
  std::string bob_cal = bob_home + "personal/", carol_cal = carol_home + "personal/";
  std::string inbox = home + "inbox/", outbox = home + "outbox/", bob_inbox = bob_home + "inbox/";

  static std::string mail(const TestUser& user) { return "mailto:" + user.name + "@example.org"; }
  std::string people(const std::string& bobs_part = "PARTSTAT=NEEDS-ACTION;RSVP=TRUE",
                     const std::string& more = "") const {
    return " / ORGANIZER:" + mail(alice) + " / ATTENDEE;PARTSTAT=ACCEPTED:" + mail(alice) + " / ATTENDEE;" +
           bobs_part + ":" + mail(bob) + more;
  }
  /// F17, of whose times everything is far ahead.
  static constexpr const char* kSeries =
      "DTSTART:20360901T080000Z / DURATION:PT1H / RRULE:FREQ=WEEKLY;COUNT=3 / SUMMARY:plan";
  std::string uid = server.fresh("uid");
  std::string meeting(const std::string& who, const std::string& series = kSeries) const {
    return event(uid, series + who);
  }

  /// Names of what is in a collection.
  std::vector<std::string> members(ApiClient& as, const std::string& path) {
    auto hrefs =
        dav_answer(as.send("PROPFIND", path, {{"Depth", "1"}},
                           "<d:propfind xmlns:d=\"DAV:\"><d:prop><d:getetag/></d:prop></d:propfind>"))
            .hrefs();
    hrefs.erase(hrefs.begin());
    return hrefs;
  }
  /// The one object in a collection, read; nothing when there is none.
  wire::IcalComponent only(ApiClient& as, const std::string& path) {
    const auto all = members(as, path);
    EXPECT_EQ(all.size(), 1u) << path;
    if (all.empty()) return {};
    last = as.get(all.front());
    return wire::parse_ical(last.body);
  }
  static std::string partstat(const wire::IcalComponent& object, const TestUser& user,
                              std::size_t which = 0) {
    std::size_t n = 0;
    for (const auto& component : object.components) {
      if (component.name != "VEVENT" || n++ != which) continue;
      for (const auto& property : component.properties)
        if (property.name == "ATTENDEE" && property.value == mail(user))
          return std::string(property.parameter_value("PARTSTAT"));
    }
    return "(none)";
  }
  static std::string status(const wire::IcalComponent& object, const std::string& address) {
    for (const auto& component : object.components)
      for (const auto& property : component.properties)
        if ((property.name == "ATTENDEE" || property.name == "ORGANIZER") && property.value == address)
          return std::string(property.parameter_value("SCHEDULE-STATUS"));
    return "(none)";
  }
  static const wire::IcalComponent& event_in(const wire::IcalComponent& object, std::size_t which = 0) {
    std::size_t n = 0;
    for (const auto& component : object.components)
      if (component.name == "VEVENT" && n++ == which) return component;
    return object;
  }
  int put_as(ApiClient& as, const std::string& path, const std::string& body, HeaderList headers = {}) {
    headers.emplace_back("Content-Type", "text/calendar");
    return send(as, "PUT", path, std::move(headers), body);
  }
  /// One's own copy with another PARTSTAT.
  std::string answered(ApiClient& as, const std::string& path, const TestUser& user,
                       const std::string& word) {
    auto object = wire::parse_ical(as.get(path).body);
    for (auto& component : object.components)
      for (auto& property : component.properties)
        if (property.name == "ATTENDEE" && property.value == mail(user))
          property.set_parameter("PARTSTAT", word);
    std::string out;
    wire::append_ical(out, object);
    return out;
  }
  wire::IcalComponent parsed(ApiClient& as, const std::string& path) {
    last = as.get(path);
    EXPECT_EQ(last.status, 200) << path;
    return last.status == 200 ? wire::parse_ical(last.body) : wire::IcalComponent();
  }
};

struct Scheduling : SchedulingBase {
  Scheduling() : SchedulingBase(shared_server()) {}
};

}  // namespace welkin::tests
