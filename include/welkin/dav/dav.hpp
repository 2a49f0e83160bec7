#pragma once
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

/// Adds the routes below /webdav.
void mount(http::Router& router, const Services& services);

}  // namespace welkin::dav
