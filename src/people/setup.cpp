#include "people/audit.hpp"
#include "people/impl.hpp"
#include "people/names.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"

// The first account, and accounts that people make for themselves.
namespace welkin::people {
namespace {

constexpr const char* kTokenKey = "setup.token_sha256";
constexpr const char* kRegistrationKey = "registration.enabled";
constexpr const char* kNoToken = "off";
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kGoodTokenBytes = 16;
constexpr unsigned kHour = 3600;

// Any number that nothing else of ours locks.
constexpr db::Stmt kClaim{"people.claim_setup", "select pg_advisory_xact_lock(7310868735423578)"};
constexpr db::Stmt kForgetToken{"people.forget_setup_token", "delete from settings where key = $1"};

std::string digest(std::string_view token) {
  const Sha256 hash = crypto::sha256(token);
  return text::hex(std::as_bytes(std::span(hash)));
}

Error already_done() {
  return {Errc::forbidden, "already_initialized",
          "The server has been set up already; sign in as an administrator"};
}
Error bad_token() { return {Errc::forbidden, "bad_setup_token", "The set-up token is missing or not valid"}; }

}  // namespace

Task<People::Status> People::status() {
  const auto admins = co_await impl_->db.read([](db::Tx& tx) { return store::count_admins(tx); });
  co_return Status{.initialized = admins > 0, .admin_count = admins};
}

bool People::setup_needs_token() const { return impl_->config.setup_token != kNoToken; }

std::string People::setup_token_now() {
  auto& impl = *impl_;
  const std::string& configured = impl.config.setup_token;
  if (configured == kNoToken) return {};
  if (!impl.db.read_now([&](db::Tx& tx) { return impl.is_setup_open(tx); })) return {};
  if (!configured.empty()) {
    if (configured.size() < kGoodTokenBytes)
      log::warn("the configured set-up token is short and can be guessed");
    return configured;
  }
  std::string token = crypto::random_token(kTokenBytes);
  impl.db.write_now([&](db::Tx& tx) { impl.set_setting(tx, kTokenKey, digest(token)); });
  return token;
}

std::string People::Impl::setup_token_hash(db::Tx& tx) const {
  if (!config.setup_token.empty()) return digest(config.setup_token);
  return setting(tx, kTokenKey).value_or("");
}

Task<User> People::setup(std::string user_name, std::string email, std::string password, std::string token,
                         Origin origin) {
  auto& impl = *impl_;
  impl.count("setup", origin.limit_key, impl.config.setup_attempts_per_hour, kHour);
  const std::string given = digest(token);
  // One at a time, so that of many racers the others learn that they lost before they cost a hash each.
  const auto pass = co_await impl.turnstile.enter("#setup");
  struct Before {
    bool open;
    std::string token_hash;
  };
  // In one snapshot: a winner's commit in between would use the token up while the door still looks open.
  const auto before = co_await impl.db.snapshot(
      [&](db::Tx& tx) { return Before{impl.is_setup_open(tx), impl.setup_token_hash(tx)}; });
  if (!before.open) throw already_done();
  if (setup_needs_token() && !text::equal_secret(before.token_hash, given)) throw bad_token();

  // Everything is checked before anything is claimed: a bad field does not use the token up.
  store::NewRow row{.name = require_user_name(user_name),
                    .email = require_email(email),
                    .is_admin = true,
                    .quota_bytes = impl.config.default_quota_bytes};
  row.display_name = row.name;
  require_password(password, row.name);
  row.password_hash = co_await impl.hasher.hash(std::move(password));
  co_return co_await impl.make_first_admin(std::move(row), before.token_hash, std::move(origin));
}

Task<User> People::Impl::make_first_admin(store::NewRow row, std::string token_hash, Origin origin) {
  co_return co_await db.write([&](db::Tx& tx) {
    tx.exec(kClaim);  // across all nodes
    if (!is_setup_open(tx)) throw already_done();
    // A restart in between has made a new token, and the old link void.
    if (setup_token_hash(tx) != token_hash) throw bad_token();
    const UserId id = store::insert_user(tx, row);
    tx.exec(kForgetToken, kTokenKey);
    audit(tx, origin, {.actor = id, .action = "setup", .subject = row.name});
    return store::require_user(tx, id);
  });
}

Task<bool> People::registration_enabled() {
  auto& impl = *impl_;
  co_return co_await impl.db.read([&](db::Tx& tx) { return impl.setting(tx, kRegistrationKey) == "true"; });
}

Task<> People::set_registration(bool enabled, UserId actor, Origin origin) {
  auto& impl = *impl_;
  co_await impl.db.write([&](db::Tx& tx) {
    impl.set_setting(tx, kRegistrationKey, enabled ? "true" : "false");
    audit(tx, origin, {.actor = actor, .action = "settings.registration", .subject = enabled ? "on" : "off"});
  });
}

Task<User> People::register_user(std::string user_name, std::string email, std::string password,
                                 Origin origin) {
  auto& impl = *impl_;
  impl.count("setup", origin.limit_key, impl.config.setup_attempts_per_hour, kHour);
  if (!co_await registration_enabled())
    throw Error(Errc::forbidden, "registration_disabled", "Registration is disabled on this server");
  store::NewRow row{.name = require_user_name(user_name),
                    .email = require_email(email),
                    .quota_bytes = impl.config.default_quota_bytes};
  row.display_name = row.name;
  require_password(password, row.name);
  row.password_hash = co_await impl.hasher.hash(std::move(password));
  co_return co_await impl.db.write([&](db::Tx& tx) {
    const UserId id = store::insert_user(tx, row);
    audit(tx, origin, {.actor = id, .action = "user.register", .subject = row.name});
    return store::require_user(tx, id);
  });
}

}  // namespace welkin::people
