#include "blobs/sim/world.hpp"

#include <algorithm>
#include <set>

#include "blobs/collector.hpp"
#include "blobs/crc32.hpp"
#include "blobs/record.hpp"
#include "blobs/sweeper.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::blobs::sim {
namespace {

// Small enough that a page is 16 bytes and a body a few chunks.
constexpr Cutting kCutting{.min = 16, .avg = 32, .max = 48, .strict_bits = 3, .loose_bits = 1};
constexpr std::size_t kBatch = 2;
constexpr Sweeper::Limits kSweep{.orphan_seconds = 86'400, .names = 1'000, .rows = 1'000, .directories = 4};

Bytes random_bytes(Random& random, std::size_t n) {
  Bytes out(n);
  for (auto& b : out) b = static_cast<std::byte>(random.next());
  return out;
}

}  // namespace

World::World(std::uint64_t seed, Fault fault)
    : fibers_(seed), vfs_(fibers_, fault), rows_(fibers_, vfs_, fault) {
  Random& random = fibers_.random();
  // Few bodies, so that they meet; each shares its beginning with the one before.
  for (auto n = 1 + random.below(4); n > 0; --n) {
    Bytes body;
    if (!bodies_.empty())
      body.assign(bodies_.back().begin(), bodies_.back().begin() + bodies_.back().size() / 2);
    const Bytes tail = random_bytes(random, 20 + random.below(60));
    body.insert(body.end(), tail.begin(), tail.end());
    bodies_.push_back(std::move(body));
  }
  SimVfs::Rates rates;
  if (random.one_in(4)) rates.sync = 20;
  if (random.one_in(8)) rates.space = 20;
  if (random.one_in(8)) rates.remove = 8;
  vfs_.set_rates(rates);
  if (random.one_in(8)) rows_.set_lost_answers(10);
  rows_.on_commit = [this] { check_rows(); };
  start_process();
}

void World::broken(const std::string& what) {
  if (!broken_) broken_ = what;
}

/// What a process has in memory.
void World::start_process() {
  health_ = std::make_unique<Health>();
  living_ = std::make_unique<LivingSpool>();
  ids_ = std::make_unique<ChunkIds>(rows_);
  ground_ = std::make_unique<Ground>(
      Ground{vfs_, rows_, *health_, *living_,
             [this](std::size_t n, const std::function<void(std::size_t)>& f) {
               const std::size_t first = n == 0 ? 0 : fibers_.random().below(n);
               for (std::size_t i = 0; i < n; ++i) f((first + i) % n);
             },
             [this](const std::string& text) { fibers_.note("    warning: " + text); }});
}

// -- actors

Sealed World::write_body(const Bytes& body, ChunkWriter& writer) {
  Sealed sealed;
  sealed.size_bytes = body.size();
  sealed.sha256 = crypto::sha256(body);
  sealed.outcome = std::make_shared<Sealed::Outcome>();
  std::uint64_t recorded = 0;
  for (std::size_t at = 0; at < body.size();) {
    const auto piece = std::min<std::size_t>(body.size() - at, 1 + fibers_.random().below(64));
    const std::size_t taken = writer.write(ByteView(body).subspan(at, piece));
    at += taken;
    if (taken == piece) continue;
    const auto placed = make_durable(*ground_, writer.take_batch());
    if (!sealed.upload) rows_.run([&](SimTx& tx) { sealed.upload = tx.insert_upload(); });
    std::vector<PlacedChunk> surplus;
    rows_.transaction(
        [&](ChunkTx& tx) { surplus = record_batch(tx, vfs_, sealed.upload, 0, recorded, placed); });
    for (const auto& chunk : placed) recorded += chunk.size_bytes;
    remove_placed(*ground_, surplus);
  }
  writer.end();
  sealed.body = make_durable(*ground_, writer.take_batch());
  sealed.crc32 = writer.crc32();
  return sealed;
}

std::int64_t World::record(const Sealed& sealed, const Bytes& body) {
  std::int64_t node = 0;
  rows_.run([&](SimTx& tx) {
    const Sealed* one = &sealed;
    const ContentId content = record_bodies(tx, vfs_, std::span(&one, 1)).front();
    content_bytes_[content.value] = body;
    node = tx.insert_node(content);
    if (sealed.upload) tx.end_upload(sealed.upload);
  });
  return node;
}

std::optional<std::int64_t> World::upload(const Bytes& body) {
  const auto cuts = body.size() <= 32 ? ChunkWriter::Cuts::none : ChunkWriter::Cuts::by_content;
  Sealed sealed;
  bool unknown = false;
  try {
    ChunkWriter writer(*ground_, *ids_, cuts, kCutting, kBatch);
    sealed = write_body(body, writer);
    const auto node = record(sealed, body);
    nodes_[node] = {body};  // acknowledged
    fibers_.note("    acknowledged node " + std::to_string(node));
    remove_placed(*ground_, sealed.outcome->surplus);
    return node;
  } catch (const Error& e) {
    fibers_.note(std::string("    refused: ") + e.slug());
    unknown = std::string_view(e.slug()) == "unknown_commit";
  }
  // A certain rollback: nobody refers to what was placed last.
  if (!unknown && !sealed.is_inline())
    remove_placed(*ground_, std::get<std::vector<PlacedChunk>>(sealed.body));
  return std::nullopt;
}

void World::upload_and_maybe_delete(int who) {
  Random& random = fibers_.random();
  for (auto turns = 1 + random.below(2); turns > 0; --turns) {
    const auto node = upload(bodies_[random.below(bodies_.size())]);
    if (!node || random.one_in(3)) continue;
    nodes_[*node].deletion_begun = true;
    bool lost = false;
    try {
      rows_.run([&](SimTx& tx) { tx.delete_node(*node); });
    } catch (const Error&) {
      lost = true;
    }
    if (lost) fibers_.note("    deletion unknown, actor " + std::to_string(who));
  }
}

void World::spawn_actors() {
  for (int who = 0; who < 3; ++who)
    fibers_.spawn("upload" + std::to_string(who), [this, who] {
      try {
        upload_and_maybe_delete(who);
      } catch (const std::runtime_error& e) {
        broken(std::string("an upload fails: ") + e.what());
      }
    });
  fibers_.spawn("collect", [this] {
    for (auto turns = 1 + fibers_.random().below(3); turns > 0; --turns) {
      try {
        collect_contents(*ground_, 8, 0);
        collect_chunks(*ground_, 8);
      } catch (const Error& e) {
        fibers_.note(std::string("    collector: ") + e.slug());
      }
    }
  });
  fibers_.spawn("sweep", [this] {
    Sweeper sweeper(*ground_, kSweep);
    for (auto turns = 1 + fibers_.random().below(2); turns > 0; --turns) {
      try {
        sweeper.turn(SimVfs::kNow);
      } catch (const Error& e) {
        fibers_.note(std::string("    sweeper: ") + e.slug());
      }
    }
  });
}

std::optional<std::string> World::run() {
  Random& random = fibers_.random();
  const auto crashes = 1 + random.below(3);
  for (std::uint64_t i = 0; i < crashes && !broken_; ++i) {
    spawn_actors();
    const bool stopped = fibers_.run(1 + random.below(random.one_in(2) ? 100 : 400));
    rows_.roll_back_all();
    // Without a power cut only the process died: what the kernel holds stays.
    if (random.below(10) < 7) {
      fibers_.note(stopped ? "-- power cut" : "-- power cut at rest");
      vfs_.power_cut();
    } else {
      fibers_.note("-- kill -9");
    }
    start_process();
    check_contents();
  }
  if (!broken_) settle();
  return broken_;
}

/// Peace: everything that is to go goes, and only that.
void World::settle() {
  vfs_.set_rates({});
  vfs_.age_all();
  rows_.set_lost_answers(0);
  fibers_.spawn("settle", [this] {
    std::vector<UploadId> uploads;
    for (auto& [id, upload] : rows_.uploads) uploads.push_back(UploadId{id});
    for (const UploadId id : uploads) rows_.run([&](SimTx& tx) { tx.end_upload(id); });
    for (auto& [id, row] : rows_.chunk_queue)
      if (row.committed) row.committed->attempts = 0;  // an operator takes parked ones up again
    Sweeper sweeper(*ground_, kSweep);
    for (int i = 0; i < 2; ++i) {
      sweeper.turn(SimVfs::kNow);
      collect_contents(*ground_, 100, 0);
      collect_chunks(*ground_, 100);
    }
  });
  fibers_.run(0);
  check_contents();
  if (broken_) return;
  check_nothing_left();
  vfs_.power_cut();  // deletions need not be durable, what stays must be
  check_contents();
}

// -- promises

/// Between transactions: whatever is referred to is live.
void World::check_rows() {
  const auto check = [&](auto& table, const char* what) {
    for (auto& [id, row] : table) {
      if (!row.committed) continue;
      for (const auto& [offset, chunk] : row.committed->chunks) {
        const auto found = rows_.chunks.find(chunk.value);
        const bool live =
            found != rows_.chunks.end() && found->second.committed && !found->second.committed->dying;
        if (!live)
          broken(std::string(what) + " " + std::to_string(id) + " refers to a chunk that is not live");
      }
    }
  };
  check(rows_.contents, "content");
  check(rows_.uploads, "upload");
}

void World::check_content(std::int64_t id, const ContentRow& content) {
  Bytes body;
  for (const auto& [offset, chunk] : content.chunks) {
    const auto& row = rows_.chunks[chunk.value].committed;
    if (!row) return broken("content " + std::to_string(id) + ": a chunk row is missing");
    const auto bytes = vfs_.peek(area_of(chunk), chunk_file_name(row->sha256, chunk));
    if (!bytes) return broken("content " + std::to_string(id) + ": a chunk file is missing");
    if (crypto::sha256(*bytes) != row->sha256)
      return broken("content " + std::to_string(id) + ": a chunk file is damaged");
    if (offset != body.size()) return broken("content " + std::to_string(id) + ": a gap");
    body.insert(body.end(), bytes->begin(), bytes->end());
  }
  if (body != content_bytes_.at(id)) broken("content " + std::to_string(id) + ": other bytes");
}

void World::check_contents() {
  check_rows();
  if (broken_) return;
  // Also what was never acknowledged: it is whole or it is not there.
  for (auto& [id, content] : rows_.contents)
    if (content.committed) check_content(id, *content.committed);
  for (auto& [node, known] : nodes_) {
    if (known.deletion_begun) continue;
    const auto found = rows_.nodes.find(node);
    if (found == rows_.nodes.end() || !found->second.committed)
      return broken("acknowledged node " + std::to_string(node) + " is gone");
    const auto content = found->second.committed->content.value;
    if (!rows_.contents[content].committed) return broken("node " + std::to_string(node) + " has no content");
    if (content_bytes_.at(content) != known.body)
      return broken("node " + std::to_string(node) + ": other bytes");
  }
}

/// After the settling: every file and row has its use.
void World::check_nothing_left() {
  std::set<std::string> wanted;
  for (auto& [id, content] : rows_.contents)
    if (content.committed)
      for (const auto& [offset, chunk] : content.committed->chunks)
        wanted.insert(
            chunk_file_name(rows_.chunks[chunk.value].committed.value_or(ChunkRow()).sha256, chunk));
  for (const auto& name : vfs_.names(Area::Kind::blobs))
    if (!wanted.contains(name)) broken("file " + name + " is left over");
  for (const auto& name : vfs_.names(Area::Kind::spool)) broken("spool file " + name + " is left over");
  std::size_t rows = 0;
  for (auto& [id, chunk] : rows_.chunks) rows += chunk.committed ? 1 : 0;
  if (rows != wanted.size()) broken("chunk rows are left over");
}

}  // namespace welkin::blobs::sim
