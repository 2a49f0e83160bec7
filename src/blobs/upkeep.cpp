#include "welkin/blobs/upkeep.hpp"

#include <chrono>
#include <thread>

#include "blobs/collector.hpp"
#include "blobs/quarantine.hpp"
#include "blobs/sweeper.hpp"
#include "blobs/visitor.hpp"
#include "welkin/core/error.hpp"
#include "welkin/db/named_lock.hpp"

namespace welkin::blobs {
namespace {

using Steady = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(30);
constexpr std::size_t kBatch = 200;

db::NamedLock take(db::Db& db, const char* job) {
  for (const auto until = Steady::now() + kPatience;;) {
    if (auto lock = db::NamedLock::try_take(db, job)) return std::move(*lock);
    if (Steady::now() > until)
      throw Error(Errc::unavailable, "busy", std::string("the server is at it: ") + job, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Freed collect_now(db::Db& db, const std::string& data_dir, unsigned gc_grace_seconds, unsigned seconds) {
  Visitor visitor(db, data_dir, false);
  Ground& ground = visitor.ground;
  ground.health.require_writable();
  const auto until = Steady::now() + std::chrono::seconds(seconds);
  const auto sweeping = take(db, kSweepJob);
  const auto collecting = take(db, kCollectJob);

  Freed freed;
  Sweeper sweeper(ground, Sweeper::Limits{});
  const auto time_is_up = [&] {
    if (Steady::now() < until) return false;
    freed.more = true;
    return true;
  };
  do freed.orphans += sweeper.turn(SystemClock().now());
  while (!sweeper.round_is_done() && !time_is_up());
  freed.healed = heal_some(db, ground, kBatch);
  ground.rows.transaction([&](ChunkTx& tx) { freed.held = tx.held(); });
  while (!time_is_up()) {
    const unsigned contents = collect_contents(ground, kBatch, gc_grace_seconds);
    const auto chunks = collect_chunks(ground, kBatch);
    freed.contents += contents;
    freed.chunks += chunks.chunks;
    freed.bytes += chunks.bytes;
    if (contents == 0 && chunks.chunks == 0) break;
  }
  return freed;
}

}  // namespace welkin::blobs
