#include "welkin/blobs/store.hpp"

#include <algorithm>
#include <limits>

#include "blobs/collector.hpp"
#include "blobs/crc32.hpp"
#include "blobs/impl.hpp"
#include "blobs/quarantine.hpp"
#include "blobs/reader.hpp"
#include "blobs/record.hpp"
#include "blobs/scrub.hpp"
#include "blobs/sink.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::blobs {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

metrics::Counter surplus_chunks("welkin_chunks_deduplicated_total", "chunks that were stored already");

/// `slice` cut to the content.
Slice clamp(Slice slice, std::uint64_t size_bytes) {
  slice.offset = std::min(slice.offset, size_bytes);
  slice.length = std::min(slice.length, size_bytes - slice.offset);
  return slice;
}

const std::vector<PlacedChunk>* chunks_of(const Sealed& body) {
  return std::get_if<std::vector<PlacedChunk>>(&body.body);
}

}  // namespace

Store::Store(db::Db& db, Options options) : Store(db, std::move(options), nullptr) {}
Store::Store(db::Db& db, Options options, std::unique_ptr<Vfs> vfs)
    : impl_(std::make_unique<Impl>(db, std::move(options), std::move(vfs))) {}
Store::~Store() = default;

std::unique_ptr<Sink> Store::sink(SinkOptions options) {
  impl_->health.require_writable();
  impl_->look_at_space();
  const std::uint64_t announced = options.size_hint.value_or(0);
  auto reservation = impl_->space.reserve(announced > kInlineBytesMax ? announced : 0);
  return std::make_unique<BodySink>(*impl_, std::move(options), std::move(reservation));
}

std::vector<ContentId> Store::record(db::Tx& tx, const std::vector<const Sealed*>& bodies) {
  if (bodies.empty()) return {};
  PgChunkTx rows(tx);
  return record_bodies(rows, *impl_->vfs, bodies);
}

void Store::record_part(db::Tx& tx, UploadId upload, std::int32_t part, const Sealed& body) {
  const auto* chunks = chunks_of(body);
  if (chunks == nullptr) return;  // nothing is in it
  std::uint64_t offset = body.size_bytes;
  for (const auto& chunk : *chunks) offset -= chunk.size_bytes;
  PgChunkTx rows(tx);
  body.outcome->surplus = record_batch(rows, *impl_->vfs, upload, part, offset, *chunks);
}

Sealed Store::joined(UploadId upload, std::span<const PartFacts> parts) {
  Sealed body;
  body.upload = upload;
  body.outcome = std::make_shared<Sealed::Outcome>();
  for (const auto& part : parts) {
    body.parts.push_back(part.part);
    body.size_bytes += part.size_bytes;
    body.crc32 = crc32_join(body.crc32, part.crc32, part.size_bytes);
  }
  if (body.size_bytes > 0) {
    body.body = std::vector<PlacedChunk>();
  } else {
    body.body = Bytes();
    body.sha256 = crypto::sha256(ByteView());
  }
  return body;
}

void Store::committed(const Sealed& body) {
  if (!body.outcome || body.outcome->surplus.empty()) return;
  surplus_chunks.add(body.outcome->surplus.size());
  impl_->remove_in_background(std::exchange(body.outcome->surplus, {}));
}

void Store::abandon(const Sealed& body) {
  if (const auto* chunks = chunks_of(body)) impl_->remove_in_background(*chunks);
}

namespace {

constexpr Slice kWhole{0, std::numeric_limits<std::uint64_t>::max()};

}  // namespace

ContentView Store::view(db::Tx& tx, ContentId content, std::optional<Slice> slice) {
  return load_view(tx, content, slice.value_or(kWhole));
}

void Store::add_view(db::Params& params, std::optional<Slice> slice) {
  blobs::add_view(params, slice.value_or(kWhole));
}

ContentView Store::view(const db::Row& row, int column, ContentId content) {
  return view_of(row, column, content);
}

Task<> Store::send(const ContentView& content, Slice slice, ByteSink& out) {
  slice = clamp(slice, content.size_bytes);
  if (slice.length == 0) co_return;
  if (!content.inline_body.empty()) {
    co_await out.write(ByteView(content.inline_body).subspan(slice.offset, slice.length));
    co_return;
  }
  ChunkReader reader(*impl_, content, slice);
  Bytes buffer;
  while (auto chunk = co_await reader.next()) {
    Slice piece = within(chunk->part, slice);
    if (chunk->file->descriptor() >= 0) {
      co_await out.write_file(chunk->file->descriptor(), piece.offset, piece.length);
      continue;
    }
    buffer.resize(kReadBytes);
    while (piece.length > 0) {
      const auto room = std::span(buffer).first(std::min<std::uint64_t>(piece.length, buffer.size()));
      const std::size_t n = co_await impl_->io.run(
          [&] { return read_loudly(*impl_, chunk->part.id, *chunk->file, piece.offset, room); });
      if (n == 0) throw Error(Errc::internal, "content_damaged", "a chunk ended early");
      co_await out.write(ByteView(buffer).first(n));
      piece = {piece.offset + n, piece.length - n};
    }
  }
}

Task<Bytes> Store::read_all(const ContentView& content, std::size_t bytes_max) {
  if (content.size_bytes > bytes_max) throw Error(Errc::too_large, "too_large", "the content is too large");
  if (!content.inline_body.empty()) co_return content.inline_body;
  Bytes body(static_cast<std::size_t>(content.size_bytes));
  if (body.empty()) co_return body;
  ChunkReader reader(*impl_, content, {0, content.size_bytes});
  while (auto chunk = co_await reader.next()) {
    const auto room = std::span(body).subspan(chunk->part.offset, chunk->part.size_bytes);
    const std::size_t n =
        co_await impl_->io.run([&] { return read_loudly(*impl_, chunk->part.id, *chunk->file, 0, room); });
    if (n != room.size()) throw Error(Errc::internal, "content_damaged", "a chunk ended early");
  }
  co_return body;
}

void Store::release(db::Tx& tx, UploadId upload) { PgChunkTx(tx).release_upload(upload); }

unsigned Store::collect(std::size_t batch_max) {
  const std::lock_guard lock(impl_->collecting);
  impl_->look_at_suspects();
  heal_some(impl_->db, impl_->ground, batch_max);
  collect_contents(impl_->ground, batch_max, impl_->options.gc_grace_seconds);
  return collect_chunks(impl_->ground, batch_max).chunks;
}

unsigned Store::sweep() {
  const std::lock_guard lock(impl_->sweeping);
  return impl_->sweeper.turn(impl_->now());
}

Store::ScrubStep Store::scrub(std::uint64_t bytes_max, unsigned again_after_days) {
  const std::lock_guard lock(impl_->scrubbing);
  return scrub_step(*impl_, bytes_max, again_after_days);
}

bool Store::writable() const { return impl_->health.writable(); }
std::string Store::suspect_reason() const { return impl_->health.reason(); }

Space Store::space() {
  impl_->look_at_space();
  return impl_->space.space();
}

void Store::require_space() {
  impl_->look_at_space();
  impl_->space.require_some();
}

void Store::close() { impl_->close(); }

}  // namespace welkin::blobs
