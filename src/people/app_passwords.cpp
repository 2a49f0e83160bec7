#include "people/app_password_store.hpp"
#include "people/audit.hpp"
#include "people/impl.hpp"
#include "people/names.hpp"
#include "people/passwords.hpp"
#include "welkin/core/error.hpp"

namespace welkin::people {

Task<std::pair<AppPassword, std::string>> People::create_app_password(Caller caller, NewAppPassword wanted,
                                                                      Origin origin) {
  auto& impl = *impl_;
  require_session(caller);
  const Micros now = impl.clock.now();
  wanted.label = require_label(wanted.label);
  if (wanted.protocol_mask == 0 || (wanted.protocol_mask & ~protocols::kAll) != 0)
    throw Error(Errc::invalid, "bad_scopes", "An app password needs at least one known protocol");
  if (wanted.expires_at && *wanted.expires_at <= now)
    throw Error(Errc::invalid, "bad_expiry", "The end of an app password must be in the future");
  std::string secret = make_app_password();
  auto made = co_await impl.db.write([&](db::Tx& tx) {
    store::lock_user(tx, caller.user);
    auto row = store::insert_app_password(tx, caller.user, wanted, app_password_prefix(secret),
                                          crypto::sha256(secret), now);
    audit(tx, origin,
          {.actor = caller.user,
           .action = "app_password.create",
           .subject = std::to_string(row.id.value),
           .detail = {{"label", row.label}}});
    return row;
  });
  co_return std::pair(std::move(made), std::move(secret));
}

Task<std::vector<AppPassword>> People::app_passwords(Caller caller) {
  require_session(caller);
  co_return co_await impl_->db.read([&](db::Tx& tx) { return store::app_passwords_of(tx, caller.user); });
}

Task<> People::revoke_app_password(Caller caller, AppPasswordId id, Origin origin) {
  auto& impl = *impl_;
  require_session(caller);
  const Micros now = impl.clock.now();
  co_await impl.db.write([&](db::Tx& tx) {
    const auto label = store::revoke_app_password(tx, id, caller.user, now);
    if (!label) throw Error(Errc::not_found, "no_such_app_password", "App password not found");
    audit(tx, origin,
          {.actor = caller.user,
           .action = "app_password.revoke",
           .subject = std::to_string(id.value),
           .detail = {{"label", *label}}});
  });
}

}  // namespace welkin::people
