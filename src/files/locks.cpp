#include "welkin/files/locks.hpp"

#include <algorithm>
#include <span>

#include "files/lock_store.hpp"
#include "files/node_store.hpp"
#include "files/refusals.hpp"
#include "files/upload.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

/// Leaves the transaction that made a file for a lock which then could not be had.
struct Conflicting {
  std::vector<Lock> locks;
};

std::optional<Lock> find_token(std::vector<Lock> locks, const db::Uuid& token) {
  for (auto& lock : locks) {
    if (lock.token == token) return std::move(lock);
  }
  return std::nullopt;
}

Lock require_token(db::Tx& tx, const Caller& caller, NodeId node, const db::Uuid& token) {
  auto lock = find_token(store::covering_locks(tx, caller, node), token);
  if (!lock) throw not_found();
  return std::move(*lock);
}

}  // namespace

Task<std::vector<Lock>> Locks::covering(Caller caller, NodeId node) {
  co_return co_await room_->db.read([&](db::Tx& tx) { return store::covering_locks(tx, caller, node); });
}

Task<std::vector<Lock>> Locks::on(Caller caller, std::vector<NodeId> nodes) {
  if (nodes.empty()) co_return std::vector<Lock>();
  co_return co_await room_->db.read([&](db::Tx& tx) { return store::locks_on(tx, caller, nodes); });
}

Task<bool> Locks::any_in_drive_of(NodeId node) {
  const auto rows = co_await room_->db.query(store::kAnyInDrive, db::Params(node));
  co_return rows[0].boolean(0);
}

Task<LockResult> Locks::lock(Caller caller, NodeId node, LockRequest request) {
  const auto token = new_lock_token();
  co_return co_await room_->db.write([&](db::Tx& tx) {
    LockResult result;
    result.conflicts = store::insert_lock(tx, caller, node, rights::kUpdate, token, request);
    if (result.conflicts.empty()) result.lock = require_token(tx, caller, node, token);
    return result;
  });
}

Task<LockResult> Locks::lock_new(Caller caller, NodeId parent, std::string name, LockRequest request,
                                 std::vector<db::Uuid> lock_tokens) {
  name = require_new_name(name, Kind::file, room_->windows_names);
  const auto token = new_lock_token();
  const auto sink = room_->store.sink({.size_hint = 0, .upload = {}});
  const blobs::Sealed empty = co_await sink->seal();
  Commit commit;
  commit.caller = &caller;
  commit.parent = parent;
  commit.name = name;
  commit.body = &empty;
  commit.modified_at = room_->clock.now();
  const std::string mime = choose_mime_type("", {}, name);
  commit.mime = co_await room_->mime_id(caller, mime);
  commit.expect = static_cast<std::int16_t>(Expect::Kind::must_be_new);
  commit.tokens = joined_tokens(lock_tokens);
  LockResult result;
  std::exception_ptr failure;
  try {
    result = co_await room_->db.write([&](db::Tx& tx) {
      LockResult made;
      const auto folder = store::find_writable(tx, caller, parent);
      if (!folder) throw not_found();
      commit.drive = folder->node.drive;
      const auto done = room_->gatherer.commit_in(tx, commit);
      made.made = made_node(caller, commit, mime, done);
      // Who may fill a folder but not change what is in it still locks what he has just made.
      auto against = store::insert_lock(tx, caller, done.node, 0, token, request);
      if (!against.empty()) throw Conflicting{std::move(against)};
      store::mark_born(tx, done.node, done.seq);
      made.lock = find_token(store::locks_on(tx, caller, {done.node}), token);
      return made;
    });
  } catch (Conflicting& e) {
    result.conflicts = std::move(e.locks);
  } catch (...) {
    failure = std::current_exception();
  }
  if (result.lock) {
    room_->store.committed(empty);
  } else {
    room_->store.abandon(empty);
  }
  if (failure) std::rethrow_exception(failure);
  co_return result;
}

Task<Lock> Locks::refresh(Caller caller, NodeId node, db::Uuid token, std::optional<std::uint32_t> seconds) {
  co_return co_await room_->db.write([&](db::Tx& tx) {
    store::require(tx, caller, node);
    if (!store::refresh_lock(tx, caller, node, token, seconds)) {
      throw Error(Errc::precondition_failed, "lock_token_matches_request_uri",
                  "no lock of yours with that token covers this");
    }
    return require_token(tx, caller, node, token);
  });
}

Task<> Locks::unlock(Caller caller, NodeId node, db::Uuid token, bool may_break) {
  co_await room_->db.write([&](db::Tx& tx) {
    const auto found = store::require(tx, caller, node);
    const auto lock = find_token(store::covering_locks(tx, caller, node), token);
    if (!lock) {
      throw Error(Errc::conflict, "lock_token_matches_request_uri", "no lock with that token covers this");
    }
    const auto rights = lock->root == node ? found.node.rights : 0;
    if (!lock->mine && !(may_break && (rights & rights::kManage) != 0))
      throw Error(Errc::forbidden, "not_lock_owner", "somebody else made this lock");
    store::delete_lock(tx, token);
  });
}

Task<std::vector<Lock>> Locks::blocking(Caller caller, Touch touch, std::vector<db::Uuid> lock_tokens) {
  co_return co_await room_->db.read(
      [&](db::Tx& tx) { return store::blocking_locks(tx, caller, touch, lock_tokens); });
}

bool Locks::expire() {
  return room_->db.write_now([](db::Tx& tx) { return store::expire_locks(tx); });
}

bool Locks::put_away_unwritten(std::uint32_t older_than_seconds) {
  return room_->db.write_now([&](db::Tx& tx) { return store::put_away_unwritten(tx, older_than_seconds); });
}

// --- tokens

namespace {
constexpr std::string_view kScheme = "opaquelocktoken:";
constexpr std::size_t kDashes[] = {8, 13, 18, 23};
}  // namespace

db::Uuid new_lock_token() {
  db::Uuid token;
  crypto::random_bytes(std::as_writable_bytes(std::span(token)));
  token[6] = static_cast<std::uint8_t>((token[6] & 0x0f) | 0x40);  // RFC 9562 §5.4: version 4
  token[8] = static_cast<std::uint8_t>((token[8] & 0x3f) | 0x80);
  return token;
}

std::string lock_token_uri(const db::Uuid& token) {
  std::string digits = text::hex(std::as_bytes(std::span(token)));
  for (const auto at : kDashes) digits.insert(at, "-");
  return std::string(kScheme) + digits;
}

std::optional<db::Uuid> parse_lock_token(std::string_view uri) {
  if (uri.size() != kScheme.size() + 36 || !text::iequals(uri.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  std::string digits(uri.substr(kScheme.size()));
  for (std::size_t i = std::size(kDashes); i-- > 0;) {
    if (digits[kDashes[i]] != '-') return std::nullopt;
    digits.erase(kDashes[i], 1);
  }
  const auto bytes = text::from_hex(digits);
  if (!bytes || bytes->size() != std::tuple_size_v<db::Uuid>) return std::nullopt;
  db::Uuid token;
  std::transform(bytes->begin(), bytes->end(), token.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return token;
}

}  // namespace welkin::files
