#include "blobs/scrub.hpp"

#include "blobs/quarantine.hpp"
#include "blobs/store_settings.hpp"
#include "welkin/blobs/scrubber.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"
#include "welkin/core/text.hpp"

namespace welkin::blobs {
namespace {

using db::Stmt;

constexpr std::int64_t kPage = 64;
// More failures of the device than this in one step are no matter of single chunks: the disk is to be looked
// at.
constexpr unsigned kDeviceFailuresMax = 3;

metrics::Counter chunks_read("welkin_scrub_chunks_total", "chunks read by the scrub");
metrics::Counter bytes_read("welkin_scrub_bytes_total", "bytes read by the scrub");
metrics::Counter damaged("welkin_scrub_damaged_total", "chunks the scrub found missing or damaged");
metrics::Counter device_failures("welkin_scrub_device_failures_total",
                                 "chunks the device could not give to the scrub");
metrics::Gauge finished_at("welkin_scrub_finished_seconds",
                           "when the scrub last came to the end of the store (Unix time)");

struct Page {
  std::vector<ChunkFile> due;
  std::int64_t cursor = 0;
};

Page next_page(db::Db& db, unsigned again_after_days) {
  static constexpr Stmt kDue{"scrub.due", R"(
    select id, sha256, size from chunks where id > $1 and state = 0 and not quarantined
       and (verified_at is null or verified_at < now() - make_interval(days => $2)) order by id limit $3)"};
  return db.read_now([&](db::Tx& tx) {
    Page page;
    if (const auto kept = setting(tx, kScrubCursorKey))
      page.cursor = static_cast<std::int64_t>(text::number(*kept).value_or(0));
    const auto rows = tx.exec(kDue, page.cursor, static_cast<std::int32_t>(again_after_days), kPage);
    for (const auto row : rows)
      page.due.push_back(
          {row.id<ChunkId>(0), to_sha256(row.bytes(1)), static_cast<std::uint64_t>(row.i32(2))});
    return page;
  });
}

void keep_progress(db::Db& db, std::int64_t cursor, const std::vector<std::int64_t>& good) {
  static constexpr Stmt kVerified{"scrub.verified",
                                  "update chunks set verified_at = now() where id = any($1) and state = 0"};
  db.write_now([&](db::Tx& tx) {
    if (!good.empty()) tx.exec(kVerified, good);
    set_setting(tx, kScrubCursorKey, std::to_string(cursor));
  });
}

void keep_end(db::Db& db, Micros now) {
  finished_at.set(times::seconds(now));
  db.write_now([&](db::Tx& tx) {
    drop_setting(tx, kScrubCursorKey);
    set_setting(tx, kScrubFinishedKey, times::rfc3339(now));
  });
}

}  // namespace

Store::ScrubStep scrub_step(Store::Impl& store, std::uint64_t bytes_max, unsigned again_after_days) {
  Store::ScrubStep step;
  if (!store.health.writable()) {
    step.idle = true;
    return step;
  }
  const Page page = next_page(store.db, again_after_days);
  if (page.due.empty()) {
    keep_end(store.db, store.now());
    step.idle = true;
    return step;
  }
  std::int64_t cursor = page.cursor;
  std::vector<std::int64_t> good;
  unsigned failures = 0;
  for (const auto& chunk : page.due) {
    if (step.bytes >= bytes_max) break;
    bool sound = false;
    try {
      sound = look_at(*store.vfs, area_of(chunk.id), chunk, true) == FileState::sound;
    } catch (const VfsError& e) {
      log::error("scrub of chunk {}: {}", chunk.name(), e.what());
      device_failures.add();
      if (e.kind() != VfsError::Kind::io || ++failures > kDeviceFailuresMax) {
        log::error("the scrub pauses: look at the disk of {}", store.data.path());
        step.idle = true;
        break;
      }
    }
    ++step.chunks;
    step.bytes += chunk.size_bytes;
    cursor = chunk.id.value;
    if (sound) {
      good.push_back(chunk.id.value);
    } else if (is_bad(store.db, *store.vfs, chunk.id) && set_aside(store.db, store.ground, chunk.id)) {
      ++step.damaged;
      const auto needed = store.db.read_now([&](db::Tx& tx) { return needed_by_chunk(tx, chunk.id); });
      log::error("the scrub found chunk {} missing or damaged; {}", chunk.name(),
                 needed.empty() ? "nothing needs it" : needed);
    }
  }
  chunks_read.add(step.chunks);
  bytes_read.add(step.bytes);
  damaged.add(step.damaged);
  keep_progress(store.db, cursor, good);
  return step;
}

// -- Scrubber

Scrubber::Scrubber(Store& store, Options options) : store_(store), options_(options) {}
Scrubber::~Scrubber() { stop(); }

void Scrubber::start() {
  if (options_.mib_per_second == 0 || thread_.joinable()) return;
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void Scrubber::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Scrubber::run() {
  constexpr std::chrono::milliseconds pause_when_idle = std::chrono::minutes(10);
  const std::uint64_t rate = std::uint64_t{options_.mib_per_second} << 20;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    std::chrono::milliseconds pause = pause_when_idle;
    try {
      const auto step = store_.scrub(rate / 2, options_.again_after_days);
      if (!step.idle) pause = std::chrono::milliseconds(step.bytes * 1000 / rate + 1);
    } catch (const std::exception& e) {
      log::error("the scrub pauses: {}", e.what());
    }
    lock.lock();
    wake_.wait_for(lock, pause, [&] { return stopping_; });
  }
}

}  // namespace welkin::blobs
