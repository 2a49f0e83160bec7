#pragma once
#include <functional>
#include <string>

#include "welkin/calendars/birthdays.hpp"
#include "welkin/calendars/scheduling.hpp"
#include "welkin/calendars/subscriptions.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/id.hpp"
#include "welkin/files/files.hpp"
#include "welkin/http/router.hpp"
#include "welkin/media/thumbnails.hpp"
#include "welkin/people/people.hpp"

namespace welkin::rest {

/// What the handlers call. Everything outlives the router.
struct Services {
  people::People& people;
  files::Files& files;
  const PublicIds& ids;
  const Config& config;
  const Clock& clock;
  collections::Collections& collections;
  calendars::Scheduling& scheduling;
  calendars::Birthdays& birthdays;
  calendars::Subscriptions& subscriptions;
  media::Thumbnails& thumbnails;
};

/// The small page for the first account, for a server without the web app, which has its own.
enum class OwnSetup { shown, none };

/// Adds every route below /api, /health and /ready, the set-up page, and the JSON answers for unknown ones.
/// `healthy` answers /ready: empty when all is well, else what is wrong ("database", "store read-only: ...").
void mount(http::Router& router, const Services& services, std::function<Task<std::string>()> healthy,
           OwnSetup setup = OwnSetup::shown);

}  // namespace welkin::rest
