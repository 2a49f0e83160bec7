#include "app/serve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>

#include "app/command.hpp"
#include "app/data_lock.hpp"
#include "app/feed_fetcher.hpp"
#include "app/metrics_route.hpp"
#include "app/privileges.hpp"
#include "app/signals.hpp"
#include "app/waiting_room.hpp"
#include "welkin/blobs/scrubber.hpp"
#include "welkin/blobs/store.hpp"
#include "welkin/blobs/upkeep.hpp"
#include "welkin/calendars/birthdays.hpp"
#include "welkin/calendars/mailer.hpp"
#include "welkin/calendars/mask.hpp"
#include "welkin/calendars/scheduling.hpp"
#include "welkin/calendars/subscriptions.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/collections/upkeep.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/run_task.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/dav.hpp"
#include "welkin/db/cluster.hpp"
#include "welkin/db/db.hpp"
#include "welkin/db/migrate.hpp"
#include "welkin/files/changes.hpp"
#include "welkin/files/events.hpp"
#include "welkin/files/files.hpp"
#include "welkin/files/locks.hpp"
#include "welkin/files/trash.hpp"
#include "welkin/files/versions.hpp"
#include "welkin/http/router.hpp"
#include "welkin/http/server.hpp"
#include "welkin/jobs/scheduler.hpp"
#include "welkin/media/reader.hpp"
#include "welkin/media/thumbnails.hpp"
#include "welkin/nextcloud/nextcloud.hpp"
#include "welkin/people/people.hpp"
#include "welkin/rest/rest.hpp"
#include "welkin/web/web.hpp"

namespace welkin::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kDatabaseRetryMax = 15s;

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

/// What the configuration left to us.
Config with_sizes(Config config) {
  if (config.io_threads == 0) config.io_threads = std::max(1u, cores() / 2);
  if (config.database_connections == 0) config.database_connections = std::clamp(cores() * 2, 4u, 8u);
  return config;
}

/// Brings the schema up to date. A database that is not there yet is waited for, in the open: the waiting
/// room answers.
/// @return false when a signal ended the wait
bool prepare_database(const std::string& url, Config& config, Signals& signals,
                      std::unique_ptr<WaitingRoom>& room) {
  for (std::chrono::milliseconds pause = 500ms;;
       pause = std::min<std::chrono::milliseconds>(pause * 2, kDatabaseRetryMax)) {
    try {
      db::migrate(url, db::bundled_migrations(), db::bundled_functions());
      return true;
    } catch (const Error& e) {
      if (e.code() != Errc::unavailable) throw;
      log::warn("the database is not there yet ({}); trying again in {} ms", e.what(), pause.count());
    }
    if (!room) {
      room = std::make_unique<WaitingRoom>(config);
      const auto [host, port] = parse_address(config.listen);
      const auto shown = host.find(':') != std::string::npos ? "[" + host + "]" : host;
      if (port == 0) config.listen = fmt::format("{}:{}", shown, room->port());
    }
    if (signals.wait(pause) == Signals::Event::stop) return false;
  }
}

/// The key of public ids: made once, kept in the database.
PublicIds public_ids(people::People& people) {
  const auto stored = people.setting_or_make("public_id_key", [] {
    std::array<std::byte, 16> key;
    crypto::random_bytes(key);
    return text::hex(key);
  });
  const auto bytes = text::from_hex(stored);
  std::array<std::uint8_t, 16> key{};
  if (!bytes || bytes->size() != key.size())
    throw StartError("the key of public ids in the database is damaged");
  std::transform(bytes->begin(), bytes->end(), key.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return PublicIds(key);
}

Task<std::string> what_is_wrong(db::Db& db, const blobs::Store& store) {
  if (!co_await db.healthy()) co_return "database";
  if (!store.writable()) co_return "store read-only: " + store.suspect_reason();
  co_return "";
}

void add_jobs(jobs::Scheduler& jobs, db::Db& db, blobs::Store& store, files::Files& files,
              people::People& people, calendars::Birthdays& birthdays, media::Thumbnails& thumbnails,
              media::Reader& reader) {
  jobs.every(blobs::kCollectJob, 60s, [&store] { return store.collect() > 0; });
  jobs.every(blobs::kSweepJob, 3600s, [&store] { return store.sweep() > 0; });
  jobs.every("files.expire_uploads", 300s, [&files] { return files.expire_uploads(); });
  jobs.every("files.prune_changes", 600s, [&files] { return files.change_log().prune(); });
  jobs.every("files.expire_locks", 300s, [&files] { return files.locks().expire(); });
  jobs.every("files.put_away_unwritten", 3600s, [&files] { return files.locks().put_away_unwritten(); });
  jobs.every("files.purge_trash", 600s, [&files] { return files.trash_bin().purge_turn(); });
  jobs.every("files.expire_versions", 21600s, [&files] { return files.versions().expire_turn(); });
  jobs.every("media.read", 15s, [&reader] { return reader.turn(); });
  jobs.every("media.sweep_thumbnails", 21600s, [&thumbnails] { return thumbnails.sweep_turn(); });
  jobs.every("collections.purge_trash", 3600s, [&db] { return collections::purge_trash(db); });
  jobs.every("calendars.birthdays", 60s, [&birthdays] { return birthdays.catch_up_turn(); });
  jobs.every("calendars.purge_inboxes", 3600s, [&db] { return calendars::purge_inboxes(db); });
  jobs.every("people.prune", 600s, [&people] { return people.prune(); });
}

/// host:port as it can be asked for: the addresses that mean "every one" become loopback.
std::string reachable_address(const Config& config, std::uint16_t port) {
  const auto host = parse_address(config.listen).first;
  if (host == "0.0.0.0") return fmt::format("127.0.0.1:{}", port);
  if (host == "::") return fmt::format("[::1]:{}", port);
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

/// What the person at the terminal needs: where it is, and once, how to begin.
void greet(const Config& config, const std::string& address, people::People& people) {
  const auto own = fmt::format("{}://{}", config.tls_cert.empty() ? "http" : "https", address);
  const auto base = config.base_url.empty() ? own : config.base_url;
  fmt::print("Welkin {} is ready: {}", WELKIN_VERSION, base);
  if (base != own) fmt::print(" (listening on {})", own);
  fmt::print("\n");
  if (!run_task(people.status()).initialized) {
    const auto token = people.setup_token_now();
    fmt::print("Make the first account here: {}/setup{}{}\n", base, token.empty() ? "" : "#token=", token);
  }
  std::fflush(stdout);
}

/// SIGHUP: certificates, and how much is logged. Nothing else changes without a restart.
void reload(const Config& config, http::Server& server) {
  log::info("reloading certificates and log settings");
  try {
    configure_log(load_config(environment_of_process(), config.data_dir).config);
  } catch (const ConfigError& e) {
    log::error("the configuration is not usable, the log stays as it is: {}", e.what());
  }
  server.reload_tls();
}

void run_until_signal(Signals& signals, const std::function<void()>& on_reload) {
  while (true) {
    const auto event = signals.wait(1h);
    if (event == Signals::Event::stop) return;
    if (event == Signals::Event::reload) on_reload();
  }
}

/// /metrics on an address of its own: its own router, so that nothing else can be reached there.
struct MetricsServer {
  MetricsServer(http::IoThreads& io, const Config& config, const std::function<void()>& refresh)
      : config_(config) {
    config_.listen = config.metrics_listen;
    config_.base_url.clear();
    config_.allowed_hosts.clear();
    config_.tls_cert.clear();
    config_.tls_key.clear();
    config_.access_log = false;
    mount_metrics(router_, "", refresh);
    server_ = std::make_unique<http::Server>(io, config_, router_);
  }
  std::string listen() { return reachable_address(config_, server_->listen()); }
  void drain() { server_->drain(1s); }

 private:
  Config config_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;
};

/// Runs once, at the latest when the scope is left.
class AtExit {
 public:
  explicit AtExit(std::function<void()> run) : run_(std::move(run)) {}
  ~AtExit() { now(); }
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
  void now() {
    if (run_) std::exchange(run_, nullptr)();
  }

 private:
  std::function<void()> run_;
};

}  // namespace

/// Builds the server from the ground up; destructors take it apart in reverse. An object may use only what is
/// declared above it, so lifetime reads top to bottom.
int serve() {
  const auto loaded = begin_command(DataDir::make);
  Config config = with_sizes(loaded.config);
  configure_log(config);
  for (const auto& warning : loaded.warnings) log::warn("{}", warning);

  Signals signals;
  auto lock = DataLock::wait(config.data_dir, "serve", 60s);
  // A cluster of our own starts PostgreSQL again when it dies; requests meanwhile are answered 503.
  const auto cluster = config.database_url.empty() ? start_cluster(config) : nullptr;
  const auto url = cluster ? cluster->url() : config.database_url;
  std::unique_ptr<WaitingRoom> waiting;
  if (!prepare_database(url, config, signals, waiting)) return 0;

  const SystemClock clock;
  http::IoThreads io(config.io_threads);
  db::Db db({.url = url, .connections = config.database_connections, .io_threads = config.io_threads});
  blobs::Store store(db, {.data_dir = config.data_dir,
                          .disk_floor_bytes = config.disk_floor_bytes,
                          .gc_grace_seconds = config.gc_grace_seconds});
  people::People people(db, config, clock);
  files::Files files(db, store, config, clock);
  media::Thumbnails thumbnails(db, store, files, config);
  media::Reader reader(db, store, config);
  collections::Collections collections(db, calendars::masked);
  calendars::Birthdays birthdays(db);
  calendars::Subscriptions subscriptions(db);
  calendars::Scheduling scheduling(db, config, clock);
  const PublicIds ids = public_ids(people);

  const std::function<void()> refresh = refresh_process_gauges;
  http::Router router;
  const rest::Services services{people,      files,      ids,       config,        clock,
                                collections, scheduling, birthdays, subscriptions, thumbnails};
  rest::mount(
      router, services, [&db, &store] { return what_is_wrong(db, store); },
      web::is_built() ? rest::OwnSetup::none : rest::OwnSetup::shown);
  web::mount(router);
  const dav::Services dav_services{people, files, collections, scheduling,
                                   config, clock, birthdays,   subscriptions};
  dav::mount(router, dav_services);
  nextcloud::mount(
      router, {people, files, collections, scheduling, config, clock, birthdays, subscriptions, thumbnails});
  if (!config.metrics_token.empty()) mount_metrics(router, config.metrics_token, refresh);

  for (std::size_t i = 0; i < io.size(); ++i) {
    boost::asio::post(io.at(i), [&db, &context = io.at(i)] { db.attach_pipeline(context); });
  }
  http::Server server(io, config, router);
  std::optional<MetricsServer> metrics_server;
  if (!config.metrics_listen.empty()) metrics_server.emplace(io, config, refresh);
  calendars::Mailer mailer(db, config);
  jobs::Scheduler jobs(db);
  add_jobs(jobs, db, store, files, people, birthdays, thumbnails, reader);
  FeedFetcher fetcher(db, config, subscriptions);
  blobs::Scrubber scrubber(
      store, {.mib_per_second = config.scrub_mib_per_second, .again_after_days = config.scrub_days});

  // A port that is taken is found out when threads run already: what they use must outlive them then, too.
  AtExit stop([&] {
    files.events()->close();  // streams without an end are not waited for
    scrubber.stop();
    mailer.stop();
    reader.stop();
    jobs.stop();
    fetcher.stop();
    thumbnails.close();
    files.close();
    people.close();
    store.close();
    db.close();
    io.stop_and_join();
  });
  io.start();
  waiting.reset();  // it has the address
  const auto address = reachable_address(config, server.listen());
  if (metrics_server) log::info("metrics on http://{}/metrics", metrics_server->listen());
  jobs.start();
  fetcher.start();
  mailer.start();
  scrubber.start();
  lock.announce(address, !config.tls_cert.empty());
  greet(config, address, people);

  run_until_signal(signals, [&] { reload(config, server); });

  log::info("stopping");
  files.events()->close();
  server.drain(std::chrono::seconds(config.shutdown_seconds));
  if (metrics_server) metrics_server->drain();
  stop.now();
  log::info("stopped");
  return 0;
}

}  // namespace welkin::app
