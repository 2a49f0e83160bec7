#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "support/http_client.hpp"
#include "support/temp_folder.hpp"
#include "support/test_db.hpp"
#include "welkin/blobs/store.hpp"
#include "welkin/calendars/birthdays.hpp"
#include "welkin/calendars/scheduling.hpp"
#include "welkin/calendars/subscriptions.hpp"
#include "welkin/collections/collections.hpp"
#include "welkin/files/files.hpp"
#include "welkin/http/server.hpp"
#include "welkin/media/thumbnails.hpp"
#include "welkin/people/people.hpp"

namespace welkin::tests {

using test::HeaderList;
using test::HttpClient;
using test::HttpResponse;

struct TestUser {
  std::string name, password, token;  // token: a Bearer access token
  UserId id;
  Caller caller;  // for calls past the socket
};

/// Somebody at the other end of a socket, with one Authorization header.
class ApiClient {
 public:
  ApiClient(std::uint16_t port, std::string authorization)
      : http_(port), authorization_(std::move(authorization)) {}
  HttpResponse send(std::string_view method, std::string_view target, HeaderList headers = {},
                    std::string_view body = "");
  HttpResponse get(std::string_view target, HeaderList headers = {}) {
    return send("GET", target, std::move(headers));
  }
  /// With a JSON body.
  HttpResponse json(std::string_view method, std::string_view target, const std::string& body,
                    HeaderList headers = {});
  HttpClient& http() { return http_; }
  const std::string& authorization() const { return authorization_; }

 private:
  HttpClient http_;
  std::string authorization_;
};

std::string basic(const std::string& user, const std::string& password);
/// The body as JSON; discarded (is_discarded) when it is none.
nlohmann::json json_of(const HttpResponse& response);

/// A whole server in this process: a database and a data directory of its own, every route, a port nobody
/// else has. What only `app` does (private cluster, configuration, signals) is not here.
class TestServer {
 public:
  explicit TestServer(const std::function<void(Config&)>& adjust = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// Makes an account with a personal drive and signs it in. Names are made unique by the caller.
  TestUser user(const std::string& name, bool is_admin = false, std::int64_t quota_bytes = 0);
  /// A fresh user name for each test: `alice-17`.
  std::string fresh(const std::string& stem);
  ApiClient as(const TestUser& user) const { return {port_, "Bearer " + user.token}; }
  ApiClient nobody() const { return {port_, ""}; }

  std::string folder_id(NodeId id) const { return ids.encode(IdKind::folder, id.value); }
  std::string file_id(NodeId id) const { return ids.encode(IdKind::file, id.value); }
  NodeId home(const TestUser& user);
  NodeId folder(const TestUser& user, NodeId parent, const std::string& name);
  NodeId file(const TestUser& user, NodeId parent, const std::string& name, const std::string& body);
  /// Statements without results, and one number.
  void sql(const std::string& script) { database.script(script); }
  std::int64_t number(const std::string& query);
  /// Files below the data directory's blobs and spool, to see that nothing was left behind.
  std::size_t stored_files() const;

  TempFolder directory;
  TestDb database;
  Config config;
  SystemClock clock;
  PublicIds ids;
  std::unique_ptr<db::Db> db;
  std::unique_ptr<blobs::Store> store;
  std::unique_ptr<people::People> people;
  std::unique_ptr<files::Files> files;
  std::unique_ptr<media::Thumbnails> thumbnails;
  std::unique_ptr<collections::Collections> collections;
  std::unique_ptr<calendars::Birthdays> birthdays;
  std::unique_ptr<calendars::Subscriptions> subscriptions;
  std::unique_ptr<calendars::Scheduling> scheduling;
  http::Router router;
  std::string missing;  // what /ready shall say is wrong; "" nothing

 private:
  std::unique_ptr<http::IoThreads> io_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
  int users_ = 0;
};

/// The server that the tests of one binary share; each takes users of its own.
TestServer& shared_server();

}  // namespace welkin::tests
