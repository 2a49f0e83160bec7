#include "support/test_server.hpp"

#include <boost/asio/post.hpp>
#include <filesystem>

#include "support/run.hpp"
#include "welkin/calendars/mask.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/dav.hpp"
#include "welkin/files/events.hpp"
#include "welkin/nextcloud/nextcloud.hpp"
#include "welkin/rest/rest.hpp"

namespace welkin::tests {
namespace {

constexpr unsigned kIoThreads = 2;

Config config_for(const std::string& directory, const std::string& url,
                  const std::function<void(Config&)>& adjust) {
  Config config;
  config.data_dir = directory;
  config.database_url = url;
  config.listen = "127.0.0.1:0";
  config.access_log = false;
  config.io_threads = kIoThreads;
  // Cheap, because the tests are not about the cost of guessing.
  config.argon2_memory_kib = 256;
  config.argon2_iterations = 1;
  config.login_attempts_per_minute = 100'000;
  config.disk_floor_bytes = 0;
  config.gc_grace_seconds = 3600;
  config.setup_token = "off";
  if (adjust) adjust(config);
  return config;
}

constexpr std::array<std::uint8_t, 16> kIdKey{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

Task<NodeId> upload(files::Files& files, Caller caller, NodeId parent, std::string name, std::string body) {
  files::UploadOptions options;
  options.target = {parent, std::move(name), {}};
  options.size_hint = body.size();
  const auto upload = co_await files.begin_upload(std::move(caller), std::move(options));
  if (!body.empty()) co_await upload->write(as_bytes(body));
  co_return (co_await upload->finish()).node.id;
}

}  // namespace

HttpResponse ApiClient::send(std::string_view method, std::string_view target, HeaderList headers,
                             std::string_view body) {
  if (!authorization_.empty()) headers.emplace_back("Authorization", authorization_);
  return http_.request(method, target, headers, body);
}

HttpResponse ApiClient::json(std::string_view method, std::string_view target, const std::string& body,
                             HeaderList headers) {
  headers.emplace_back("Content-Type", "application/json");
  return send(method, target, std::move(headers), body);
}

std::string basic(const std::string& user, const std::string& password) {
  return "Basic " + text::base64(as_bytes(user + ':' + password));
}

nlohmann::json json_of(const HttpResponse& response) {
  return nlohmann::json::parse(response.body, nullptr, false);
}

TestServer::TestServer(const std::function<void(Config&)>& adjust)
    : config(config_for(directory.path(), database.url(), adjust)), ids(kIdKey) {
  db::PoolConfig pool;
  pool.url = database.url();
  pool.connections = 4;
  pool.io_threads = kIoThreads;
  db = std::make_unique<db::Db>(pool);
  blobs::Store::Options options;
  options.data_dir = config.data_dir;
  options.disk_floor_bytes = config.disk_floor_bytes;
  options.gc_grace_seconds = config.gc_grace_seconds;
  options.io_threads = 2;
  options.sync_threads = 2;
  store = std::make_unique<blobs::Store>(*db, options);
  people = std::make_unique<people::People>(*db, config, clock);
  files = std::make_unique<files::Files>(*db, *store, config, clock);
  thumbnails = std::make_unique<media::Thumbnails>(*db, *store, *files, config);
  collections = std::make_unique<collections::Collections>(*db, calendars::masked);
  birthdays = std::make_unique<calendars::Birthdays>(*db);
  subscriptions = std::make_unique<calendars::Subscriptions>(*db);
  scheduling = std::make_unique<calendars::Scheduling>(*db, config, clock);
  rest::mount(router, {*people, *files, ids, config, clock, *collections, *scheduling, *birthdays, *subscriptions,
                        *thumbnails},
              [this]() -> Task<std::string> { co_return missing; });
  dav::mount(router, {*people, *files, *collections, *scheduling, config, clock, *birthdays, *subscriptions});
  nextcloud::mount(router,
                   {*people, *files, *collections, *scheduling, config, clock, *birthdays, *subscriptions, *thumbnails});

  io_ = std::make_unique<http::IoThreads>(kIoThreads);
  for (std::size_t i = 0; i < io_->size(); ++i) {
    auto& context = io_->at(i);
    boost::asio::post(context, [this, &context] { db->attach_pipeline(context); });
  }
  server_ = std::make_unique<http::Server>(*io_, config, router);
  port_ = server_->listen();
  io_->start();
}

TestServer::~TestServer() {
  files->events()->close();
  server_->drain(std::chrono::seconds(1));
  server_.reset();
  thumbnails->close();
  files->close();
  people->close();
  store->close();
  db->close();
  io_->stop_and_join();
}

std::string TestServer::fresh(const std::string& stem) { return stem + '-' + std::to_string(++users_); }

TestUser TestServer::user(const std::string& name, bool is_admin, std::int64_t quota_bytes) {
  TestUser out;
  out.name = name;
  out.password = "correct horse of " + name;
  people::People::NewUser wanted;
  wanted.name = name;
  wanted.password = out.password;
  wanted.is_admin = is_admin;
  wanted.quota_bytes = quota_bytes;
  out.id = run(people->create_user(wanted, UserId{}, {})).id;
  out.token = run(people->login(name, out.password, {})).access_token;
  out.caller = run(people->by_access_token(out.token, Credential::session_bearer)).value();
  return out;
}

NodeId TestServer::home(const TestUser& user) { return run(files->home(user.caller)).id; }

NodeId TestServer::folder(const TestUser& user, NodeId parent, const std::string& name) {
  return run(files->create_folder(user.caller, parent, name)).id;
}

NodeId TestServer::file(const TestUser& user, NodeId parent, const std::string& name,
                        const std::string& body) {
  return run(upload(*files, user.caller, parent, name, body));
}

std::int64_t TestServer::number(const std::string& query) {
  return db->read_now([&](db::Tx& tx) {
    const std::string name = "test." + std::to_string(std::hash<std::string>{}(query));
    const db::Stmt stmt{name.c_str(), query.c_str()};
    return tx.one(stmt)[0].i64(0);
  });
}

std::size_t TestServer::stored_files() const {
  std::size_t n = 0;
  for (const char* area : {"/blobs", "/spool"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(config.data_dir + area)) {
      if (entry.is_regular_file()) ++n;
    }
  }
  return n;
}

TestServer& shared_server() {
  static TestServer server;
  return server;
}

}  // namespace welkin::tests
