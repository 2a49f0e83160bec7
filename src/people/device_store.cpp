#include "people/device_store.hpp"

namespace welkin::people::store {
namespace {

constexpr db::Stmt kInsertLogin{"people.insert_device_login", R"(
  insert into device_logins (poll_hash, page_hash, device, address, created_at, expires_at)
  select $1, $2, $3, $4, to_timestamp($5 / 1e6), to_timestamp($6 / 1e6)
   where (select count(*) from device_logins where expires_at > to_timestamp($5 / 1e6)) < $7)"};
constexpr db::Stmt kWaiting{"people.waiting_device", R"(
  select device, address, created_at, user_id is not null from device_logins
   where page_hash = $1 and expires_at > to_timestamp($2 / 1e6))"};
constexpr db::Stmt kGrant{"people.grant_device", R"(
  update device_logins set user_id = $2, login = $3
   where page_hash = $1 and user_id is null and expires_at > to_timestamp($4 / 1e6))"};
constexpr db::Stmt kIsGranted{"people.is_device_granted", R"(
  select 1 from device_logins where poll_hash = $1 and user_id is not null and expires_at > to_timestamp($2 / 1e6))"};
constexpr db::Stmt kTakeGranted{"people.take_granted_device", R"(
  delete from device_logins d using users u
   where d.poll_hash = $1 and u.id = d.user_id and d.expires_at > to_timestamp($2 / 1e6) and not u.is_disabled
  returning u.id, d.login, d.device)"};

// An app password, a session, or the account as it was when its password was right.
constexpr db::Stmt kStood{"people.standing", R"(
  select u.name, u.is_admin, array(select m.group_id from group_members m where m.user_id = u.id),
         a.protocol_mask, a.read_only, a.folder_id
    from users u
    left join app_passwords a on a.id = $2 and a.user_id = u.id and a.revoked_at is null
                             and (a.expires_at is null or a.expires_at > to_timestamp($5 / 1e6))
    left join sessions s on s.id = $3 and s.user_id = u.id and s.ends_at > to_timestamp($5 / 1e6)
   where u.id = $1 and not u.is_disabled and u.deleting_since is null
     and case when $2 <> 0 then a.id is not null when $3 <> 0 then s.id is not null else u.access_gen = $4 end)"};

constexpr db::Stmt kInsertToken{"people.insert_one_time_token", R"(
  insert into one_time_tokens (hash, purpose, user_id, app_password_id, session_id, access_gen, node_id, expires_at)
  values ($1, $2, $3, nullif($4, 0), nullif($5, 0), $6, $7, to_timestamp($8 / 1e6)))"};
#define WELKIN_TOKEN " where hash = $1 and purpose = $2 and expires_at > to_timestamp($3 / 1e6)"
#define WELKIN_TOKEN_COLUMNS " user_id, app_password_id, session_id, access_gen, node_id"
constexpr db::Stmt kToken{"people.one_time_token",
                          "select" WELKIN_TOKEN_COLUMNS " from one_time_tokens" WELKIN_TOKEN};
constexpr db::Stmt kSpendToken{
    "people.spend_one_time_token",
    "delete from one_time_tokens" WELKIN_TOKEN " returning" WELKIN_TOKEN_COLUMNS};

constexpr db::Stmt kPruneLogins{"people.prune_device_logins", R"(
  delete from device_logins where poll_hash in (select poll_hash from device_logins
    where expires_at <= to_timestamp($1 / 1e6) limit $2 for update skip locked))"};
constexpr db::Stmt kPruneTokens{"people.prune_one_time_tokens", R"(
  delete from one_time_tokens where hash in (select hash from one_time_tokens
    where expires_at <= to_timestamp($1 / 1e6) limit $2 for update skip locked))"};

}  // namespace

bool insert_device_login(db::Tx& tx, const NewDeviceLogin& login, std::int64_t waiting_max) {
  return tx.exec(kInsertLogin, login.poll, login.page, login.device, login.address, login.now,
                 login.expires_at, waiting_max)
             .affected() == 1;
}

std::optional<Devices::Waiting> waiting_device(db::Tx& tx, const Sha256& page, Micros now) {
  const auto rows = tx.exec(kWaiting, page, now);
  if (rows.empty()) return std::nullopt;
  return Devices::Waiting{rows[0].str(0), rows[0].str(1), rows[0].timestamp(2), rows[0].boolean(3)};
}

bool grant_device(db::Tx& tx, const Sha256& page, UserId user, const std::string& login, Micros now) {
  return tx.exec(kGrant, page, user, login, now).affected() == 1;
}

bool is_granted(db::Tx& tx, const Sha256& poll, Micros now) { return !tx.exec(kIsGranted, poll, now).empty(); }

std::optional<GrantedDevice> take_granted(db::Tx& tx, const Sha256& poll, Micros now) {
  const auto rows = tx.exec(kTakeGranted, poll, now);
  if (rows.empty()) return std::nullopt;
  return GrantedDevice{rows[0].id<UserId>(0), rows[0].str(1), rows[0].str(2)};
}

std::optional<Stood> stood(db::Tx& tx, const Standing& standing, Micros now) {
  const auto rows = tx.exec(kStood, standing.user, standing.app_password, standing.session,
                            standing.generation, now);
  if (rows.empty()) return std::nullopt;
  Stood out;
  out.standing = standing;
  out.name = rows[0].str(0);
  out.is_admin = rows[0].boolean(1);
  out.groups = rows[0].i64_array(2);
  if (standing.app_password) {
    out.protocol_mask = rows[0].i32(3);
    out.read_only = rows[0].boolean(4);
    out.folder = rows[0].id<NodeId>(5);
  }
  return out;
}

void insert_token(db::Tx& tx, const Sha256& hash, const Standing& standing, Purpose purpose, NodeId node,
                  Micros expires_at) {
  tx.exec(kInsertToken, hash, static_cast<std::int16_t>(purpose), standing.user, standing.app_password,
          standing.session, standing.generation, node, expires_at);
}

std::optional<Token> token(db::Tx& tx, const Sha256& hash, Purpose purpose, Micros now, bool spend) {
  const auto rows = tx.exec(spend ? kSpendToken : kToken, hash, static_cast<std::int16_t>(purpose), now);
  if (rows.empty()) return std::nullopt;
  Token out;
  out.standing.user = rows[0].id<UserId>(0);
  out.standing.app_password = rows[0].id<AppPasswordId>(1);
  out.standing.session = rows[0].id<SessionId>(2);
  out.standing.generation = rows[0].i64(3);
  out.node = rows[0].id<NodeId>(4);
  return out;
}

bool prune_devices(db::Tx& tx, Micros now, std::int64_t rows) {
  const auto logins = tx.exec(kPruneLogins, now, rows).affected();
  const auto tokens = tx.exec(kPruneTokens, now, rows).affected();
  return logins == rows || tokens == rows;
}

}  // namespace welkin::people::store
