#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/task.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {

/// What somebody proved himself by, small enough to keep by whatever outlives the request: a socket, a page,
/// a token.
struct Standing {
  UserId user;
  AppPasswordId app_password;   // set: it was this
  SessionId session;            // set: it was this
  std::int64_t generation = 0;  // of the account, when it was its own password
};
Standing standing_of(const Caller& caller);

/// What a one-time token is good for. Values are stored: never renumber.
enum class Purpose : std::int16_t {
  push = 1,       // opening a socket for live events
  edit_page = 2,  // opening the page that edits a file
  edit_save = 3,  // reading and writing that file, for as long as the page is used
};

/// Letting devices in: a device asks for two tokens, shows one to its owner as the address of a page, and
/// asks with the other until he has agreed there. Everything is a row, so that any server on the database can
/// answer.
class Devices {
 public:
  static constexpr unsigned kLoginSeconds = 1200;
  static constexpr std::int64_t kWaitingMax = 10'000;  // devices on their way in, of everybody
  /// What an app password of a device may be used for: everything but our own API, where it could make
  /// others.
  static constexpr std::int32_t kProtocols = protocols::kAll & ~protocols::kRest;

  Devices(db::Db& db, const Clock& clock) : db_(db), clock_(clock) {}

  struct Begun {
    std::string poll_token, page_token;  // 128 letters each
  };
  /// @param origin  its user agent names the device. @throws Error too_many_requests `too_many_logins`
  Task<Begun> begin(Origin origin);

  struct Waiting {
    std::string device, address;
    Micros created_at = 0;
    bool is_granted = false;
  };
  /// nullopt: there is no such login, or it has expired.
  Task<std::optional<Waiting>> waiting(std::string page_token);

  /// @param login  what the user typed as his name; "": his name. @throws Error not_found `no_such_login`;
  /// forbidden `session_required` when `caller` is not signed in by a session; conflict `already_granted`
  Task<> grant(Caller caller, std::string page_token, std::string login, Origin origin);

  struct Admitted {
    std::string login, app_password;
  };
  /// Makes the app password, called after the device, and forgets the login: of any number of callers at once
  /// one gets it. nullopt: not granted, expired, or fetched already. @throws Error conflict
  /// `too_many_app_passwords`
  Task<std::optional<Admitted>> poll(std::string poll_token, Origin origin);

  /// An app password for a device whose user proved himself by session or by the account's password. @throws
  /// Error forbidden `password_required` for an app password
  Task<std::string> app_password(Caller caller, std::string device, Origin origin);
  /// Ends the app password that `caller` came with. @throws Error forbidden `not_an_app_password`
  Task<> revoke_own(Caller caller, Origin origin);

  /// The caller as he is worth now; nullopt when what he proved himself by is good for nothing any more.
  Task<std::optional<Caller>> renew(Standing standing);

  struct Ticket {
    Caller caller;
    NodeId node;
  };
  Task<std::string> issue(Caller caller, Purpose purpose, NodeId node, unsigned seconds);
  /// Spends the token. nullopt: unknown, expired or spent, or its maker is not let in any more.
  Task<std::optional<Ticket>> redeem(std::string token, Purpose purpose);
  /// The same without spending it.
  Task<std::optional<Ticket>> look(std::string token, Purpose purpose);

 private:
  db::Db& db_;
  const Clock& clock_;
};

}  // namespace welkin::people
