#include "db/link.hpp"

#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pqxx/except.hxx>

#include "db/failure.hpp"

namespace welkin::db {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kConnectLimit = std::chrono::milliseconds(1000);

// libpqxx keeps the handle of its policy to itself; it leaves here while the constructor runs.
thread_local PGconn* made = nullptr;

// connect_timeout of the connection string, which libpq leaves to those who connect without blocking.
std::chrono::milliseconds connect_limit(PGconn* connection) {
  std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(PQconninfo(connection),
                                                                         &PQconninfoFree);
  for (auto* o = options.get(); o != nullptr && o->keyword != nullptr; ++o) {
    if (std::strcmp(o->keyword, "connect_timeout") != 0 || o->val == nullptr) continue;
    const long seconds = std::strtol(o->val, nullptr, 10);
    if (seconds > 0) return std::chrono::seconds(seconds);
  }
  return kConnectLimit;
}

PGconn* start(const std::string& url) {
  // Later keywords win, so the string of the operator overrides all of these.
  const char* const keywords[] = {"fallback_application_name",
                                  "keepalives_idle",
                                  "keepalives_interval",
                                  "keepalives_count",
                                  "tcp_user_timeout",
                                  "dbname",
                                  nullptr};
  const char* const values[] = {"welkin", "30", "10", "3", "30000", url.c_str(), nullptr};
  return PQconnectStartParams(keywords, values, 1);
}

bool finish(PGconn* connection) {
  if (connection == nullptr || PQstatus(connection) == CONNECTION_BAD) return false;
  const auto deadline = Clock::now() + connect_limit(connection);
  auto state = PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (state == PGRES_POLLING_FAILED || left <= 0) return false;
    pollfd waiting{PQsocket(connection),
                   static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    if (poll(&waiting, 1, static_cast<int>(left)) > 0) state = PQconnectPoll(connection);
  }
  return true;
}

}  // namespace

LinkPolicy::handle LinkPolicy::do_startconnect(handle orig) {
  if (orig != nullptr && PQstatus(orig) == CONNECTION_OK) return orig;  // libpqxx asks before every use
  if (started_) throw pqxx::broken_connection("connection closed");
  started_ = true;
  PGconn* const connection = start(options());
  if (!finish(connection)) {
    std::string why = connection != nullptr ? PQerrorMessage(connection) : "out of memory";
    PQfinish(connection);
    if (why.empty()) why = "no answer within the time limit";
    throw pqxx::broken_connection(why.substr(0, why.find('\n')));
  }
  made = connection;
  return connection;
}

namespace {
const std::string& armed(const std::string& url) {
  made = nullptr;
  return url;
}
}  // namespace

Link::Link(const std::string& url) try : basic_connection_base(armed(url)), raw_(made) {
  made = nullptr;
  PQsetNoticeProcessor(raw_, [](void*, const char*) {}, nullptr);
} catch (const pqxx::failure& e) {
  throw ConnectionLost(e.what());
}

}  // namespace welkin::db
