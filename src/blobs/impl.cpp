#include "blobs/impl.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <stdexcept>

#include "blobs/posix_vfs.hpp"
#include "blobs/quarantine.hpp"
#include "blobs/store_settings.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/metrics.hpp"
#include "welkin/core/text.hpp"

namespace welkin::blobs {
namespace {

constexpr std::size_t kQueueMax = 8'192;  // a body has at most three jobs queued

metrics::Counter chunks_stored("welkin_chunks_stored_total", "chunk files made durable");
metrics::Counter bytes_stored("welkin_chunk_bytes_stored_total", "bytes in chunk files made durable");

constexpr db::Stmt kAnyChunk{"blobs.any_chunk", "select 1 from chunks limit 1"};

std::string new_uuid() {
  Bytes bytes(16);
  crypto::random_bytes(bytes);
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x40};
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};
  std::string out = text::hex(bytes);
  for (const std::size_t at : {8u, 13u, 18u, 23u}) out.insert(at, "-");
  return out;
}

std::size_t open_files_for_spool() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1 << 16;
  return std::max<std::size_t>(64, static_cast<std::size_t>(limit.rlim_cur) / 4);
}

}  // namespace

std::optional<std::string> Store::reset_suspect(db::Db& db, const Options& options) {
  auto reason = DataDir::suspect_reason(options.data_dir);
  auto known = db.write_now([](db::Tx& tx) {
    auto value = setting(tx, kStoreSuspectKey);
    drop_setting(tx, kStoreSuspectKey);
    return value;
  });
  DataDir::clear_suspect(options.data_dir);
  return reason ? reason : known;
}

void count_stored(std::size_t chunks, std::uint64_t bytes) {
  chunks_stored.add(chunks);
  bytes_stored.add(bytes);
}

Store::Impl::Impl(db::Db& database, Options wanted, std::unique_ptr<Vfs> given)
    : db(database),
      options(std::move(wanted)),
      clock(options.clock ? options.clock : &system_clock),
      data(options.data_dir),
      vfs(given ? std::move(given) : std::make_unique<PosixVfs>(options.data_dir)),
      rows(db),
      health([this](const std::string& reason) { note_suspicion(db, data.path(), reason); }),
      space(*vfs, options.disk_floor_bytes),
      open_files_max(open_files_for_spool()),
      io("blobs-io", std::max<std::size_t>(2, options.io_threads), kQueueMax),
      sync("blobs-sync", std::max<std::size_t>(1, options.sync_threads), kQueueMax),
      ground{*vfs,
             rows,
             health,
             living,
             [this](std::size_t n, const std::function<void(std::size_t)>& f) { fan_out(n, f); },
             [](const std::string& text) { log::warn("chunk store: {}", text); }},
      ids(rows),
      sweeper(ground, Sweeper::Limits{.orphan_seconds = options.orphan_seconds}) {
  check_store_id();
  recall_suspect();
  try_rename();
}

Store::Impl::~Impl() { close(); }

void Store::Impl::close() {
  // Work on the io pool hands on to the sync pool and back; what can no longer be handed on fails its body.
  io.join();
  sync.join();
}

void Store::Impl::check_store_id() {
  const auto on_disk = data.store_id();
  const auto [known, any_chunk] = db.write_now(
      [](db::Tx& tx) { return std::pair(setting(tx, kStoreIdKey), !tx.exec(kAnyChunk).empty()); });
  const std::string& path = data.path();
  if (on_disk && known) {
    if (*on_disk == *known) return;
    throw std::runtime_error("the data directory " + path + " belongs to another database (store " +
                             *on_disk + ", the database knows " + *known + ")");
  }
  // One side is new. It may be made to fit only while nothing hangs on the other: an empty database would
  // sweep away every chunk, an empty directory would lose them all.
  if (on_disk && !data.has_no_chunks())
    throw std::runtime_error("the data directory " + path +
                             " holds chunks of a store that this database does not know");
  if (known && any_chunk)
    throw std::runtime_error("the data directory " + path +
                             " is empty, but the database refers to chunks; is the right"
                             " directory mounted?");
  const std::string id = on_disk ? *on_disk : known ? *known : new_uuid();
  if (!on_disk) data.set_store_id(id);
  const auto kept = db.write_now([&](db::Tx& tx) {
    keep_setting(tx, kStoreIdKey, id);
    return *setting(tx, kStoreIdKey);
  });
  if (kept != id)
    throw std::runtime_error("another server is setting up this database with another data directory");
}

void Store::Impl::recall_suspect() {
  const auto reason = noted_suspicion(db, data.path());
  if (!reason) return;
  log::error("the chunk store is read-only, as it was before: {}", *reason);
  health.remember(*reason);
}

/// What every body needs must work: rename from the spool to blobs/ without replacing anything.
void Store::Impl::try_rename() {
  const std::string name = "trial";
  const Area spool{Area::Kind::spool, 0}, target{Area::Kind::blobs, 0};
  std::optional<VfsError> failure;
  try {
    vfs->remove(spool, name);
    vfs->remove(target, name);
    vfs->create(spool, name);
    vfs->place(name, target, name);
    vfs->remove(target, name);
  } catch (const VfsError& e) {
    failure = e;
  }
  if (!failure) return;
  switch (failure->kind()) {
    case VfsError::Kind::no_space:
      return;  // reading goes on
    case VfsError::Kind::io:
      health.suspect(failure->what());
      return;
    default:
      throw std::runtime_error("the data directory " + data.path() +
                               " cannot hold chunks: " + failure->what());
  }
}

void Store::Impl::fan_out(std::size_t n, const std::function<void(std::size_t)>& f) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    std::size_t next = 0, running = 0;
  };
  const auto shared = std::make_shared<Shared>();
  // `f` is touched only by those that got an index, and this call returns after all of them.
  const auto work = [shared, n, &f] {
    std::unique_lock lock(shared->mutex);
    while (shared->next < n) {
      const std::size_t i = shared->next++;
      ++shared->running;
      lock.unlock();
      f(i);
      lock.lock();
      --shared->running;
    }
    shared->done.notify_all();
  };
  for (std::size_t i = 1; i < std::min(n, sync.threads()); ++i) sync.post(work);
  work();
  std::unique_lock lock(shared->mutex);
  shared->done.wait(lock, [&] { return shared->next >= n && shared->running == 0; });
}

std::size_t Store::Impl::batch_chunks() const {
  return living.size() < open_files_max ? kBatchChunks : kBatchChunks / 8;
}

void Store::Impl::look_at_space() {
  if (space.is_stale()) io.post([this] { space.refresh(); });
}

void Store::Impl::remove_in_background(std::vector<PlacedChunk> chunks) {
  if (chunks.empty()) return;
  // When the queue is full they are left to the sweeper.
  io.post([this, chunks = std::move(chunks)] { remove_placed(ground, chunks); });
}

void Store::Impl::suspect_chunk(ChunkId id) {
  constexpr std::size_t suspects_max = 10'000;
  const std::lock_guard lock(suspects_mutex);
  if (suspects.size() < suspects_max) suspects.insert(id);
}

unsigned Store::Impl::look_at_suspects() {
  std::set<ChunkId> mine;
  {
    const std::lock_guard lock(suspects_mutex);
    mine.swap(suspects);
  }
  unsigned set = 0;
  for (const ChunkId id : mine) {
    if (!health.writable()) break;
    if (is_bad(db, *vfs, id) && set_aside(db, ground, id)) ++set;
  }
  return set;
}

}  // namespace welkin::blobs
