#pragma once
#include <optional>
#include <string>

#include "welkin/core/bytes.hpp"
#include "welkin/db/db.hpp"
#include "welkin/people/devices.hpp"

/// Rows of `device_logins` and `one_time_tokens`. Only hashes of secrets come here.
namespace welkin::people::store {

struct NewDeviceLogin {
  Sha256 poll, page;
  std::string device, address;
  Micros now = 0, expires_at = 0;
};
/// @return false: too many wait already
bool insert_device_login(db::Tx& tx, const NewDeviceLogin& login, std::int64_t waiting_max);
std::optional<Devices::Waiting> waiting_device(db::Tx& tx, const Sha256& page, Micros now);
/// @return false: no such login that nobody has granted
bool grant_device(db::Tx& tx, const Sha256& page, UserId user, const std::string& login, Micros now);

struct GrantedDevice {
  UserId user;
  std::string login, device;
};
/// Whether such a login was granted, for the many times that the answer is no.
bool is_granted(db::Tx& tx, const Sha256& poll, Micros now);
/// Takes the row of a granted login whose user may still come in.
std::optional<GrantedDevice> take_granted(db::Tx& tx, const Sha256& poll, Micros now);

/// The account behind a standing, if that is still good.
struct Stood {
  Standing standing;
  std::string name;
  bool is_admin = false;
  std::vector<std::int64_t> groups;
  std::int32_t protocol_mask = protocols::kAll;
  bool read_only = false;
  NodeId folder;
};
std::optional<Stood> stood(db::Tx& tx, const Standing& standing, Micros now);

void insert_token(db::Tx& tx, const Sha256& hash, const Standing& standing, Purpose purpose, NodeId node,
                  Micros expires_at);
struct Token {
  Standing standing;
  NodeId node;
};
/// @param spend  removes it
std::optional<Token> token(db::Tx& tx, const Sha256& hash, Purpose purpose, Micros now, bool spend);

/// At most `rows` of each kind. @return true: more is waiting
bool prune_devices(db::Tx& tx, Micros now, std::int64_t rows);

}  // namespace welkin::people::store
