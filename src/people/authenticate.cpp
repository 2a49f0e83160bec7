#include "people/app_password_store.hpp"
#include "people/attempt_store.hpp"
#include "people/impl.hpp"
#include "people/names.hpp"
#include "people/passwords.hpp"
#include "welkin/core/error.hpp"

// Who a request is from: one indexed look-up through the io thread's pipelined connection.
namespace welkin::people {
namespace {

constexpr std::size_t kTokenLetters = 43;  // 256 bits in base64url
constexpr unsigned kBasicTriesFactor = 3;  // of login_attempts_per_minute: several devices share an address

constexpr db::Stmt kByAccessToken{"people.by_access_token", R"(
  select k.n, s.id, s.last_used_at, least(s.access_expires_at, s.ends_at), u.id, u.name, u.is_admin,
         array(select m.group_id from group_members m where m.user_id = u.id)
    from unnest($1::bytea[]) with ordinality k (hash, n)
    join sessions s on s.access_hash = k.hash join users u on u.id = s.user_id
   where not u.is_disabled)"};

Task<std::optional<Caller>> nobody() { co_return std::nullopt; }

}  // namespace

Task<std::optional<Caller>> People::by_access_token(std::string_view token, Credential how) {
  auto& impl = *impl_;
  if (token.size() != kTokenLetters) co_return std::nullopt;
  const auto found = co_await impl.db.look_up(kByAccessToken, crypto::sha256(token));
  const Micros now = impl.clock.now();
  if (!found || (**found).timestamp(3) <= now) co_return std::nullopt;
  const db::Row row = **found;
  Account account;
  account.id = row.id<UserId>(4);
  account.name = row.str(5);
  account.is_admin = row.boolean(6);
  account.groups = row.i64_array(7);
  Caller caller = caller_of(account, how);
  caller.session = row.id<SessionId>(1);
  if (now - row.timestamp(2) >= Touches::kEvery) impl.touches.session(caller.session, now);
  co_return caller;
}

Task<std::optional<Caller>> People::by_basic(std::string_view user, std::string_view password,
                                             std::int32_t protocol, Origin origin) {
  std::string login = login_key(user);
  // The two kinds of secrets differ in form, so that one never counts as a wrong try of the other.
  if (looks_like_app_password(password)) return impl_->by_app_password(std::move(login), password, protocol);
  if (!impl_->config.dav_account_passwords || protocol == protocols::kRest) return nobody();
  return impl_->by_account_password(std::move(login), std::string(password), std::move(origin));
}

Task<std::optional<Caller>> People::Impl::by_app_password(std::string login, std::string_view secret,
                                                          std::int32_t protocol) {
  const Micros now = clock.now();
  const auto rows = co_await db.query(store::app_password_lookup(),
                                      db::Params(crypto::sha256(secret), now, login, protocol));
  if (rows.empty()) co_return std::nullopt;
  const auto found = store::found_app_password(rows[0]);
  Account account;
  account.id = found.user;
  account.name = found.user_name;
  account.groups = found.groups;
  Caller caller = caller_of(account, Credential::app_password);
  caller.app_password = found.id;
  caller.protocol_mask = found.protocol_mask;
  if (found.read_only) caller.rights_mask = rights::kRead;
  caller.root_limit = found.folder;
  if (!found.last_used_at || now - *found.last_used_at >= Touches::kEvery)
    touches.app_password(found.id, now);
  co_return caller;
}

Task<std::optional<Caller>> People::Impl::by_account_password(std::string login, std::string password,
                                                              Origin origin) {
  if (login.empty() || password.empty()) co_return std::nullopt;
  const Sha256 key = memory.key(login, password);

  // Every request reads the account, so that whatever changed there counts at once.
  std::optional<Account> account;
  const auto recall = [&](const db::Rows& rows) {
    account.reset();
    if (!rows.empty()) account = store::account(rows[0]);
    return memory.recall(key, account ? account->id : UserId{}, account ? account->generation : 0,
                         clock.now());
  };
  const auto answer = [&](CredentialMemory::Answer what) -> std::optional<Caller> {
    if (what != CredentialMemory::Answer::right || !account->may_use_password() || account->second_factor)
      return std::nullopt;
    return caller_of(*account, Credential::account_password);
  };
  auto known = recall(co_await db.query(store::account_by(login), db::Params(login)));
  if (known == CredentialMemory::Answer::unknown) {
    const auto pass = co_await turnstile.enter(login);
    known = recall(
        co_await db.query(store::account_by(login), db::Params(login)));  // the one before us may have asked
    if (known == CredentialMemory::Answer::unknown) {
      const std::string address = origin.limit_key;
      count("basic", address, config.login_attempts_per_minute * kBasicTriesFactor, 60);
      auto tried = co_await try_password(login, password);
      const bool right = tried.account && !tried.account->second_factor;
      if (right) {
        uncount("basic", address);
        co_await db.write([&](db::Tx& tx) { store::clear_attempts(tx, login); });
        account = std::move(tried.account);
      } else {
        co_await note_failure(login, tried.locks, "basic", std::move(origin));
      }
      memory.remember(key, account ? account->id : UserId{}, account ? account->generation : 0, right,
                      clock.now());
      known = right ? CredentialMemory::Answer::right : CredentialMemory::Answer::wrong;
    }
  }
  co_return answer(known);
}

}  // namespace welkin::people
