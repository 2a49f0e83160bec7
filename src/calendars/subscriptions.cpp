#include "welkin/calendars/subscriptions.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "calendars/derived_store.hpp"
#include "calendars/subscription_store.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::calendars {
namespace {

constexpr std::int32_t kLeaseSeconds = 600, kBackoffMax = 86'400, kFirstRetry = 900;
constexpr std::int32_t kPage = 200;
constexpr std::size_t kNameDigits = 32;

/// Sources that were subscribed together are not asked together for ever.
std::int32_t with_jitter(std::int32_t seconds) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return static_cast<std::int32_t>(seconds * std::uniform_real_distribution<>(1.0, 1.1)(random));
}

std::int32_t after_failures(std::int32_t failures, std::int32_t refresh_seconds) {
  const auto doubled = std::min(failures, 10);
  return std::max(std::min(kFirstRetry << doubled, kBackoffMax), std::min(refresh_seconds, kBackoffMax));
}

/// UIDs are no names: some hold slashes.
std::string name_of_uid(const std::string& uid) {
  const auto digest = crypto::sha256(uid);
  return text::hex(std::as_bytes(std::span(digest))).substr(0, kNameDigits) + ".ics";
}

struct Known {
  std::string name, content;
};

/// What stands there, by UID, and which content it has.
std::map<std::string, Known> known_objects(db::Tx& tx, collections::CollectionId calendar) {
  std::map<std::string, Known> out;
  std::string after;
  for (bool more = true; more;) {
    const auto page = store::kept_objects(tx, calendar, after, kPage);
    more = page.size() == static_cast<std::size_t>(kPage);
    for (const auto& kept : page) {
      after = kept.name;
      const auto read = read_feed(kept.data);
      out[kept.uid] = {kept.name, read && !read->empty() ? read->front().content : ""};
    }
  }
  return out;
}

/// Writes the difference.
void apply(db::Tx& tx, collections::CollectionId calendar, const std::vector<FeedObject>& objects) {
  auto known = known_objects(tx, calendar);
  std::set<std::string> staying;  // UIDs
  std::vector<const FeedObject*> strange;
  for (const auto& object : objects) {
    const auto at = known.find(object.uid);
    if (at == known.end()) {
      strange.push_back(&object);
      continue;
    }
    staying.insert(object.uid);
    if (at->second.content != object.content) store::put_derived(tx, calendar, at->second.name, object.data);
  }
  // Some sources give a new UID to the same thing each time they are asked.
  std::multimap<std::string, std::string> left;  // content: UID
  for (const auto& [uid, one] : known)
    if (!staying.contains(uid) && !one.content.empty()) left.emplace(one.content, uid);
  std::vector<const FeedObject*> fresh;
  for (const auto* object : strange) {
    const auto same = left.find(object->content);
    if (same == left.end()) {
      fresh.push_back(object);
      continue;
    }
    staying.insert(same->second);
    left.erase(same);
  }
  for (const auto& [uid, one] : known)
    if (!staying.contains(uid)) store::drop_derived(tx, calendar, one.name);
  for (const auto* object : fresh) store::put_derived(tx, calendar, name_of_uid(object->uid), object->data);
}

/// False: its owner's quota does not allow it, and nothing was written.
template <class F>
bool has_room(db::Db& db, const F& write) {
  try {
    db.write_now(write);
  } catch (const db::SqlError& e) {
    if (e.sqlstate() != "WQ507") throw;
    return false;
  }
  return true;
}

collections::Collection require_own(const collections::Collection& found) {
  if (found.access != collections::Access::own || found.origin != collections::Origin::subscription)
    throw Error(Errc::not_found, "not_found", "not found");
  return found;
}

}  // namespace

Task<collections::CollectionId> Subscriptions::create(Caller caller, collections::NewCollection wanted,
                                                      std::string source, std::int32_t refresh_seconds) {
  collections::Collections all(db_);
  refresh_seconds = std::clamp(refresh_seconds, kRefreshMin, kRefreshMax);
  // A crash between the two leaves an empty calendar of its owner's, nothing worse.
  const auto made = co_await all.create(caller, std::move(wanted));
  co_await db_.write([&](db::Tx& tx) { store::insert_subscription(tx, made, source, refresh_seconds); });
  co_return made;
}

Task<> Subscriptions::change(Caller caller, collections::CollectionId id, std::optional<std::string> source,
                             std::optional<std::int32_t> refresh_seconds) {
  require_own(co_await collections::Collections(db_).require(caller, id));
  if ((caller.rights_mask & rights::kUpdate) == 0)
    throw Error(Errc::forbidden, "forbidden", "you may not do this here");
  if (refresh_seconds) refresh_seconds = std::clamp(*refresh_seconds, kRefreshMin, kRefreshMax);
  co_await db_.write([&](db::Tx& tx) { store::update_subscription(tx, id, source, refresh_seconds); });
}

Task<Subscription> Subscriptions::find(Caller caller, collections::CollectionId id) {
  require_own(co_await collections::Collections(db_).require(caller, id));
  auto found = co_await db_.read([&](db::Tx& tx) { return store::subscription(tx, id); });
  if (!found) throw Error(Errc::not_found, "not_found", "not found");
  co_return *std::move(found);
}

bool Subscriptions::refresh_turn(const FetchFeed& fetch) {
  const auto due = db_.write_now([](db::Tx& tx) { return store::take_due(tx, kLeaseSeconds); });
  if (!due) return false;
  const auto answer = fetch(due->source, due->etag, due->last_modified);
  const auto next = with_jitter(due->refresh_seconds);
  std::string failure = answer.failure;
  if (answer.kind == FeedAnswer::Kind::unchanged) {
    db_.write_now([&](db::Tx& tx) { store::note_success(tx, *due, answer, std::nullopt, next); });
    return true;
  }
  if (answer.kind == FeedAnswer::Kind::body) {
    const auto hash = crypto::sha256(answer.body);
    const auto bytes = std::as_bytes(std::span(hash));
    const bool is_same = due->body_hash && std::equal(bytes.begin(), bytes.end(), due->body_hash->begin(),
                                                      due->body_hash->end());
    const auto objects = is_same ? std::optional<std::vector<FeedObject>>() : read_feed(answer.body);
    if (is_same || (objects && !objects->empty())) {
      const auto write = [&](db::Tx& tx) {
        if (!is_same) apply(tx, due->calendar, *objects);
        store::note_success(tx, *due, answer, hash, next);
      };
      if (has_room(db_, write)) return true;
      failure = "There is no room for what is at this address";
    } else {
      failure = objects ? "The calendar at this address is empty" : "What is at this address is no calendar";
    }
  }
  const auto later = with_jitter(after_failures(due->failures, due->refresh_seconds));
  db_.write_now([&](db::Tx& tx) { store::note_failure(tx, *due, failure, later); });
  return true;
}

}  // namespace welkin::calendars
