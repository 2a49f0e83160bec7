#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "welkin/calendars/birthdays.hpp"
#include "welkin/calendars/scheduling.hpp"
#include "welkin/calendars/subscriptions.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/core/config.hpp"
#include "welkin/files/files.hpp"
#include "welkin/http/router.hpp"
#include "welkin/people/people.hpp"

namespace welkin::dav {

struct Services {
  people::People& people;
  files::Files& files;
  collections::Collections& collections;
  calendars::Scheduling& scheduling;
  const Config& config;
  const Clock& clock;
  calendars::Birthdays& birthdays;
  calendars::Subscriptions& subscriptions;
};

/// Adds the routes below /webdav, /dav, /caldav, /carddav and /.well-known/.
void mount(http::Router& router, const Services& services);

/// Principals, calendars and address books below further addresses, "/x/dav" for instance.
/// @param protocols  of app passwords; one is enough to be let in
void mount_groupware(http::Router& router, const Services& services, const std::vector<std::string>& paths,
                     std::int32_t protocols);

}  // namespace welkin::dav
