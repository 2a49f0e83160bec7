#include "welkin/files/events.hpp"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "files/event_store.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"
#include "welkin/core/text.hpp"
#include "welkin/core/waker.hpp"

namespace welkin::files {
namespace {

metrics::Gauge g_streams("welkin_event_streams", "Streams of live events that are open");

constexpr std::int64_t kDrivesMax = 200;  // that one subscriber follows
constexpr std::size_t kPositionBytesMax = 16'384;

struct Place {
  std::int64_t epoch = 0, seq = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
using Places = std::map<std::int64_t, Place>;  // by drive

std::string text_of(const Places& places) {
  std::string out;
  for (const auto& [drive, place] : places)
    out += fmt::format("{}{:x}.{:x}.{:x}", out.empty() ? "" : "_", drive, place.epoch, place.seq);
  return out;
}

std::optional<std::int64_t> hex_number(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || value < 0)
    return std::nullopt;
  return value;
}

/// What cannot be read is no position: the subscriber is told to look at everything.
Places places_of(std::string_view text) {
  Places out;
  if (text.empty() || text.size() > kPositionBytesMax) return out;
  for (const auto part : text::split(text, '_')) {
    const auto fields = text::split(part, '.');
    if (fields.size() != 3) return {};
    const auto drive = hex_number(fields[0]), epoch = hex_number(fields[1]), seq = hex_number(fields[2]);
    if (!drive || !epoch || !seq) return {};
    out[*drive] = {*epoch, *seq};
  }
  return out;
}

}  // namespace

struct EventHub::Subscriber {
  Waker waker;
  Caller caller;      // the stream's coroutine only
  bool lost = false;  // something before the beginning cannot be told; the same
  mutable std::mutex mutex;
  Places told;  // both under the mutex
  bool behind = false;
};

struct EventHub::Impl {
  Impl(db::Db& of, Limits to) : db(of), limits(to) {}
  db::Db& db;
  Limits limits;
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::shared_ptr<Subscriber>> subscribers;
  bool closed = false;
  std::thread thread;

  void look();
  void look_until_closed();
};

/// Wakes whoever follows a drive that has moved.
void EventHub::Impl::look() {
  std::vector<std::shared_ptr<Subscriber>> all;
  {
    const std::lock_guard lock(mutex);
    all.assign(subscribers.begin(), subscribers.end());
  }
  std::set<std::int64_t> followed;
  for (const auto& s : all) {
    const std::lock_guard lock(s->mutex);
    for (const auto& [drive, place] : s->told) followed.insert(drive);
  }
  if (followed.empty()) return;
  const std::vector<std::int64_t> drives(followed.begin(), followed.end());
  const auto states = db.read_now([&](db::Tx& tx) { return store::drive_states(tx, drives); });
  Places now;
  for (const auto& state : states) now[state.drive] = {state.epoch, state.seq};
  for (const auto& s : all) {
    {
      const std::lock_guard lock(s->mutex);
      if (s->behind) continue;
      s->behind = std::any_of(s->told.begin(), s->told.end(), [&](const auto& told) {
        const auto at = now.find(told.first);
        return at != now.end() && at->second != told.second;
      });
      if (!s->behind) continue;
    }
    s->waker.wake();
  }
}

void EventHub::Impl::look_until_closed() {
  ::pthread_setname_np(::pthread_self(), "welkin-events");
  bool failed = false;
  for (;;) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return closed || !subscribers.empty(); });
      if (changed.wait_for(lock, limits.interval, [&] { return closed; })) return;
    }
    try {
      look();
      failed = false;
    } catch (const std::exception& e) {
      if (!std::exchange(failed, true)) log::warn("live events wait for the database: {}", e.what());
    }
  }
}

EventHub::EventHub(db::Db& db, Limits limits) : impl_(std::make_unique<Impl>(db, limits)) {}
EventHub::~EventHub() { close(); }

void EventHub::close() {
  std::set<std::shared_ptr<Subscriber>> all;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closed = true;
    all = impl_->subscribers;
  }
  impl_->changed.notify_all();
  for (const auto& s : all) s->waker.wake();
  if (impl_->thread.joinable()) impl_->thread.join();
}

Task<std::unique_ptr<EventHub::Stream>> EventHub::subscribe(std::shared_ptr<EventHub> hub, Caller caller,
                                                            std::string since) {
  auto& impl = *hub->impl_;
  const auto subscriber = std::make_shared<Subscriber>();
  subscriber->caller = std::move(caller);
  {
    const std::lock_guard lock(impl.mutex);
    if (impl.closed) throw Error(Errc::unavailable, "closing", "the server is stopping", 5);
    const auto own = std::count_if(impl.subscribers.begin(), impl.subscribers.end(),
                                   [&](const auto& s) { return s->caller.user == subscriber->caller.user; });
    if (impl.subscribers.size() >= impl.limits.streams ||
        static_cast<std::size_t>(own) >= impl.limits.streams_of_user)
      throw Error(Errc::too_many_requests, "too_many_streams", "too many streams of events are open", 30);
    if (!impl.thread.joinable()) impl.thread = std::thread([&impl] { impl.look_until_closed(); });
    impl.subscribers.insert(subscriber);
  }
  impl.changed.notify_all();
  auto stream = std::make_unique<Stream>(hub, subscriber);  // from here on its end takes the subscriber out
  const auto before = places_of(since);
  const auto states = co_await impl.db.read(
      [&](db::Tx& tx) { return store::seen_drives(tx, subscriber->caller, kDrivesMax); });
  const std::lock_guard lock(subscriber->mutex);
  for (const auto& state : states) {
    const auto at = before.find(state.drive);
    const bool known = at != before.end() && at->second.epoch == state.epoch && at->second.seq <= state.seq &&
                       at->second.seq >= state.pruned_seq;
    if (!known && !since.empty()) subscriber->lost = true;
    subscriber->told[state.drive] = known ? at->second : Place{state.epoch, state.seq};
    subscriber->behind |= known && at->second.seq < state.seq;
  }
  if (!since.empty() && before.size() != states.size()) subscriber->lost = true;  // drives came or went
  if (subscriber->behind || subscriber->lost) subscriber->waker.wake();
  co_return stream;
}

EventHub::Stream::Stream(std::shared_ptr<EventHub> hub, std::shared_ptr<Subscriber> subscriber)
    : hub_(std::move(hub)), subscriber_(std::move(subscriber)) {
  g_streams.add(1);
}

EventHub::Stream::~Stream() {
  g_streams.add(-1);
  const std::lock_guard lock(hub_->impl_->mutex);
  hub_->impl_->subscribers.erase(subscriber_);
}

void EventHub::Stream::wake() { subscriber_->waker.wake(); }

std::string EventHub::Stream::position() const {
  const std::lock_guard lock(subscriber_->mutex);
  return text_of(subscriber_->told);
}

Task<EventBatch> EventHub::Stream::next(std::chrono::milliseconds limit) {
  auto& impl = *hub_->impl_;
  auto& s = *subscriber_;
  EventBatch batch;
  co_await s.waker.wait(limit);
  Places told;
  {
    const std::lock_guard lock(impl.mutex);
    batch.ended = impl.closed;
  }
  {
    const std::lock_guard lock(s.mutex);
    batch.resync = std::exchange(s.lost, false);
    if (batch.ended || !s.behind) co_return batch;
    told = s.told;
  }
  std::set<NodeId> folders;
  // Numbers first, rows after: what comes between is told the next time.
  co_await impl.db.read([&](db::Tx& tx) {
    std::vector<std::int64_t> drives;
    for (const auto& [drive, place] : told) drives.push_back(drive);
    for (const auto& state : store::drive_states(tx, drives)) {
      auto& place = told[state.drive];
      if (place == Place{state.epoch, state.seq}) continue;
      if (place.epoch != state.epoch || place.seq < state.pruned_seq) {
        batch.resync = true;
      } else {
        const auto touched =
            store::touched_folders(tx, s.caller, state.drive, place.seq, state.seq, kRowsMax, kFoldersMax);
        batch.resync |= touched.too_much;
        for (const auto id : touched.folders) folders.insert(NodeId{id});
      }
      place = {state.epoch, state.seq};
    }
  });
  batch.resync |= folders.size() > kFoldersMax;
  if (!batch.resync) batch.folders.assign(folders.begin(), folders.end());
  const std::lock_guard lock(s.mutex);
  s.told = std::move(told);
  s.behind = false;
  co_return batch;
}

Task<EventBatch> EventHub::Stream::refresh(Caller caller) {
  auto& s = *subscriber_;
  s.caller = std::move(caller);
  const auto states =
      co_await hub_->impl_->db.read([&](db::Tx& tx) { return store::seen_drives(tx, s.caller, kDrivesMax); });
  EventBatch batch;
  const std::lock_guard lock(s.mutex);
  Places told;
  for (const auto& state : states) {
    const auto at = s.told.find(state.drive);
    if (at == s.told.end()) batch.resync = true;
    told[state.drive] = at == s.told.end() ? Place{state.epoch, state.seq} : at->second;
  }
  batch.resync |= told.size() != s.told.size();
  s.told = std::move(told);
  co_return batch;
}

}  // namespace welkin::files
