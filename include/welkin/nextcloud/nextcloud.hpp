#pragma once
#include <string>

#include "welkin/dav/dav.hpp"
#include "welkin/media/thumbnails.hpp"

namespace welkin::nextcloud {

/// What the clients of Nextcloud are served with: the same tools that WebDAV has.
struct Services {
  people::People& people;
  files::Files& files;
  collections::Collections& collections;
  calendars::Scheduling& scheduling;
  const Config& config;
  const Clock& clock;
  calendars::Birthdays& birthdays;
  calendars::Subscriptions& subscriptions;
  media::Thumbnails& thumbnails;
};

/// What /status.php says, also while there is no database: clients then wait and take nothing for deleted.
std::string status_json(bool maintenance);

/// Adds every route that the desktop client, the apps and rclone look for under Nextcloud's addresses.
void mount(http::Router& router, const Services& services);

/// Below /remote.php: files, uploads in parts, trash, versions, calendars, contacts.
void mount_dav(http::Router& router, const Services& services);
/// Everything else: status.php, the login flow, OCS.
void mount_web(http::Router& router, const Services& services);

}  // namespace welkin::nextcloud
