#pragma once
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/metrics.hpp"
#include "welkin/core/text.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {

using tests::run;

inline Config cheap_config() {
  Config config;
  config.argon2_memory_kib = 64;
  config.argon2_iterations = 1;
  config.login_attempts_per_minute = 100'000;
  config.refresh_attempts_per_minute = 100'000;
  config.setup_attempts_per_hour = 100'000;
  return config;
}

inline const Origin kHere{
    .address = "192.0.2.7", .limit_key = "192.0.2.7", .user_agent = "test/1", .request_id = "r-1"};
inline const std::string kSecret = "correct horse battery";

/// The database of this process, emptied for each test: much quicker than a clone for each.
inline tests::TestDb& empty_database() {
  static tests::TestDb test;
  test.script(
      "alter table audit drop constraint if exists closed;"
      "truncate users, groups, settings, login_failures, audit, drives, contents, content_gc cascade");
  return test;
}

/// People in a database, and a clock that stands until it is moved.
struct World {
  explicit World(Config config_in = cheap_config())
      : config(std::move(config_in)), people(test.db(), config, clock) {}

  User user(const std::string& name, bool is_admin = false, const std::string& email = "") {
    return run(people.create_user({.name = name,
                                   .password = kSecret,
                                   .email = email,
                                   .display_name = "",
                                   .is_admin = is_admin,
                                   .quota_bytes = {}},
                                  {}, kHere));
  }
  Tokens login(const std::string& name, const std::string& password = kSecret) {
    return run(people.login(name, password, kHere));
  }
  std::optional<Caller> bearer(const std::string& token) {
    return run(people.by_access_token(token, Credential::session_bearer));
  }
  Caller session_of(const std::string& name) { return bearer(login(name).access_token).value(); }
  std::optional<Caller> basic(const std::string& name, const std::string& password,
                              std::int32_t protocol = protocols::kWebdav) {
    return run(people.by_basic(name, password, protocol, kHere));
  }
  std::int64_t number(const std::string& sql) {
    return test.db().read_now([&](db::Tx& tx) { return tx.exec(statement(sql))[0].i64(0); });
  }
  std::string text(const std::string& sql) {
    return test.db().read_now([&](db::Tx& tx) { return tx.exec(statement(sql))[0].str(0); });
  }
  std::int64_t audits(const std::string& action) {
    return number("select count(*) from audit where action = '" + action + "'");
  }

  tests::TestDb& test = empty_database();
  Config config;
  ManualClock clock{1'900'000'000'000'000};
  People people;

 private:
  /// Connections know statements by name, for as long as the process lives.
  static db::Stmt statement(const std::string& sql) {
    static std::map<std::string, std::string> names;
    const auto at = names.try_emplace(sql, "test." + std::to_string(names.size())).first;
    return {at->second.c_str(), at->first.c_str()};
  }
};

/// "forbidden bad_credentials" of what a call throws; "ok" when it does not.
template <class F>
std::string outcome(F f) {
  try {
    f();
    return "ok";
  } catch (const Error& e) {
    switch (e.code()) {
      case Errc::invalid:
        return std::string("invalid ") + e.slug();
      case Errc::unauthenticated:
        return std::string("unauthenticated ") + e.slug();
      case Errc::forbidden:
        return std::string("forbidden ") + e.slug();
      case Errc::not_found:
        return std::string("not_found ") + e.slug();
      case Errc::conflict:
        return std::string("conflict ") + e.slug();
      case Errc::too_many_requests:
        return std::string("too_many ") + e.slug();
      case Errc::unavailable:
        return std::string("unavailable ") + e.slug();
      default:
        return std::string("other ") + e.slug();
    }
  }
}

/// Runs all of them at once on one io thread. @return how often each outcome came
template <class T>
std::map<std::string, int> at_once(std::vector<Task<T>> tasks) {
  // Kept one call longer: a thread of a pool may still be leaving the call that woke it (see run.hpp).
  static thread_local std::unique_ptr<boost::asio::io_context> last;
  auto io = std::make_unique<boost::asio::io_context>(1);
  std::map<std::string, int> outcomes;
  const auto note = [&](std::exception_ptr e) {
    ++outcomes[outcome([&] {
      if (e) std::rethrow_exception(e);
    })];
  };
  for (auto& task : tasks) {
    if constexpr (std::is_void_v<T>) {
      boost::asio::co_spawn(*io, std::move(task), note);
    } else {
      boost::asio::co_spawn(*io, std::move(task), [&](std::exception_ptr e, const T&) { note(e); });
    }
  }
  io->run();
  last = std::move(io);
  return outcomes;
}

/// How often this process ran Argon2.
inline std::int64_t hashes() {
  const std::string all = metrics::render();
  const std::string name = "\nwelkin_password_hashes_total ";
  const auto at = all.find(name);
  if (at == std::string::npos) return -1;
  const auto begin = at + name.size();
  return static_cast<std::int64_t>(text::number(all.substr(begin, all.find('\n', begin) - begin)).value());
}

}  // namespace welkin::people
