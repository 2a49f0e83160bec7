#include "welkin/people/devices.hpp"

#include "people/app_password_store.hpp"
#include "people/audit.hpp"
#include "people/device_store.hpp"
#include "people/impl.hpp"
#include "people/names.hpp"
#include "people/passwords.hpp"
#include "people/user_store.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::people {
namespace {

constexpr std::size_t kLoginTokenBytes = 96;  // 128 letters
constexpr std::size_t kOneTimeTokenBytes = 32;
constexpr std::size_t kDeviceBytesMax = 255;
constexpr std::size_t kAddressBytesMax = 64;
constexpr std::size_t kLoginBytesMax = 320;

/// A name for whatever called itself so.
std::string device_name(std::string_view user_agent) {
  auto name = clean_line(text::trim(user_agent), kDeviceBytesMax);
  return name.empty() ? "Unknown device" : name;
}

std::string insert_device_password(db::Tx& tx, UserId user, const std::string& device, const Origin& origin,
                                   Micros now) {
  store::lock_user(tx, user);
  auto secret = make_app_password();
  NewAppPassword wanted;
  wanted.label = device;
  wanted.protocol_mask = Devices::kProtocols;
  const auto row =
      store::insert_app_password(tx, user, wanted, app_password_prefix(secret), crypto::sha256(secret), now);
  audit(tx, origin,
        {.actor = user,
         .action = "app_password.create",
         .subject = std::to_string(row.id.value),
         .detail = {{"label", row.label}, {"via", "device"}}});
  return secret;
}

Caller caller_of(const store::Stood& stood) {
  Account account;
  account.id = stood.standing.user;
  account.name = stood.name;
  account.is_admin = stood.is_admin;
  account.groups = stood.groups;
  account.generation = stood.standing.generation;
  const auto how = stood.standing.app_password ? Credential::app_password
                   : stood.standing.session    ? Credential::session_bearer
                                               : Credential::account_password;
  Caller caller = people::caller_of(account, how);
  caller.app_password = stood.standing.app_password;
  caller.session = stood.standing.session;
  caller.protocol_mask = stood.protocol_mask;
  if (stood.read_only) caller.rights_mask = rights::kRead;
  caller.root_limit = stood.folder;
  return caller;
}

std::optional<Devices::Ticket> ticket(db::Tx& tx, const Sha256& hash, Purpose purpose, Micros now,
                                      bool spend) {
  const auto token = store::token(tx, hash, purpose, now, spend);
  if (!token) return std::nullopt;
  const auto stood = store::stood(tx, token->standing, now);
  if (!stood) return std::nullopt;
  return Devices::Ticket{caller_of(*stood), token->node};
}

}  // namespace

Standing standing_of(const Caller& caller) {
  return {caller.user, caller.app_password, caller.session, caller.generation};
}

Task<Devices::Begun> Devices::begin(Origin origin) {
  Begun begun{crypto::random_token(kLoginTokenBytes), crypto::random_token(kLoginTokenBytes)};
  store::NewDeviceLogin row{crypto::sha256(begun.poll_token),
                            crypto::sha256(begun.page_token),
                            device_name(origin.user_agent),
                            clean_line(origin.address, kAddressBytesMax),
                            clock_.now(),
                            0};
  row.expires_at = row.now + Micros{kLoginSeconds} * 1'000'000;
  const bool made =
      co_await db_.write([&](db::Tx& tx) { return store::insert_device_login(tx, row, kWaitingMax); });
  if (!made)
    throw Error(Errc::too_many_requests, "too_many_logins",
                "Too many devices are signing in; try again later", 60);
  co_return begun;
}

Task<std::optional<Devices::Waiting>> Devices::waiting(std::string page_token) {
  const auto hash = crypto::sha256(page_token);
  const auto now = clock_.now();
  co_return co_await db_.read([&](db::Tx& tx) { return store::waiting_device(tx, hash, now); });
}

Task<> Devices::grant(Caller caller, std::string page_token, std::string login, Origin origin) {
  require_session(caller);
  const auto hash = crypto::sha256(page_token);
  const auto now = clock_.now();
  auto shown = clean_line(text::trim(login), kLoginBytesMax);
  if (shown.empty()) shown = caller.name;
  co_await db_.write([&](db::Tx& tx) {
    const auto waiting = store::waiting_device(tx, hash, now);
    if (!waiting) throw Error(Errc::not_found, "no_such_login", "This login has expired");
    if (!store::grant_device(tx, hash, caller.user, shown, now))
      throw Error(Errc::conflict, "already_granted", "This device has been let in already");
    audit(tx, origin,
          {.actor = caller.user,
           .action = "device.grant",
           .subject = waiting->device,
           .detail = {{"address", waiting->address}}});
  });
}

Task<std::optional<Devices::Admitted>> Devices::poll(std::string poll_token, Origin origin) {
  const auto hash = crypto::sha256(poll_token);
  const auto now = clock_.now();
  if (!co_await db_.read([&](db::Tx& tx) { return store::is_granted(tx, hash, now); }))
    co_return std::nullopt;
  co_return co_await db_.write([&](db::Tx& tx) -> std::optional<Admitted> {
    const auto granted = store::take_granted(tx, hash, now);
    if (!granted) return std::nullopt;
    return Admitted{granted->login, insert_device_password(tx, granted->user, granted->device, origin, now)};
  });
}

Task<std::string> Devices::app_password(Caller caller, std::string device, Origin origin) {
  if (caller.credential == Credential::app_password)
    throw Error(Errc::forbidden, "password_required", "An app password cannot make another one");
  const auto now = clock_.now();
  const auto label = device_name(device);
  co_return co_await db_.write(
      [&](db::Tx& tx) { return insert_device_password(tx, caller.user, label, origin, now); });
}

Task<> Devices::revoke_own(Caller caller, Origin origin) {
  if (caller.credential != Credential::app_password)
    throw Error(Errc::forbidden, "not_an_app_password", "Only an app password can be given up like this");
  const auto now = clock_.now();
  co_await db_.write([&](db::Tx& tx) {
    const auto label = store::revoke_app_password(tx, caller.app_password, caller.user, now);
    if (!label) throw Error(Errc::not_found, "no_such_app_password", "App password not found");
    audit(tx, origin,
          {.actor = caller.user,
           .action = "app_password.revoke",
           .subject = std::to_string(caller.app_password.value),
           .detail = {{"label", *label}, {"via", "device"}}});
  });
}

Task<std::optional<Caller>> Devices::renew(Standing standing) {
  const auto now = clock_.now();
  const auto stood = co_await db_.read([&](db::Tx& tx) { return store::stood(tx, standing, now); });
  if (!stood) co_return std::nullopt;
  co_return caller_of(*stood);
}

Task<std::string> Devices::issue(Caller caller, Purpose purpose, NodeId node, unsigned seconds) {
  auto token = crypto::random_token(kOneTimeTokenBytes);
  const auto hash = crypto::sha256(token);
  const auto expires = clock_.now() + Micros{seconds} * 1'000'000;
  co_await db_.write(
      [&](db::Tx& tx) { store::insert_token(tx, hash, standing_of(caller), purpose, node, expires); });
  co_return token;
}

Task<std::optional<Devices::Ticket>> Devices::redeem(std::string token, Purpose purpose) {
  const auto hash = crypto::sha256(token);
  const auto now = clock_.now();
  co_return co_await db_.write([&](db::Tx& tx) { return ticket(tx, hash, purpose, now, true); });
}

Task<std::optional<Devices::Ticket>> Devices::look(std::string token, Purpose purpose) {
  const auto hash = crypto::sha256(token);
  const auto now = clock_.now();
  co_return co_await db_.read([&](db::Tx& tx) { return ticket(tx, hash, purpose, now, false); });
}

}  // namespace welkin::people
