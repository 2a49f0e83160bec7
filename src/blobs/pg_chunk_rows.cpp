#include "blobs/pg_chunk_rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "welkin/core/error.hpp"

namespace welkin::blobs {
namespace {

using db::Stmt;

constexpr std::size_t kRowsPerStatement = 10'000;
// A slice of this many bytes holds at most about 20,000 chunks.
constexpr std::int64_t kJoinSliceBytes = 20'000ll * kChunkBytesMin;

constexpr Stmt kLockUpload{"blobs.lock_upload", "select 1 from uploads where id = $1 for update"};
constexpr Stmt kDropUploadChunks{"blobs.drop_upload_chunks",
                                 "delete from upload_chunks where upload_id = $1"};

template <class Id>
std::vector<std::int64_t> keys(std::span<const Id> ids) {
  std::vector<std::int64_t> out(ids.size());
  std::transform(ids.begin(), ids.end(), out.begin(), [](Id id) { return id.value; });
  return out;
}

template <class Id>
std::vector<Id> ids(const db::Rows& rows) {
  std::vector<Id> out;
  out.reserve(static_cast<std::size_t>(rows.size()));
  for (const auto row : rows) out.push_back(row.id<Id>(0));
  return out;
}

Error upload_ended() { return {Errc::gone, "upload_ended", "the upload has ended"}; }

}  // namespace

// -- recording

std::vector<LiveChunk> PgChunkTx::find_live(std::span<const Sha256> hashes) {
  static constexpr Stmt kFindLive{"blobs.find_live", R"(
    select id, sha256 from chunks where sha256 = any($1) and state = 0 and not quarantined
     order by sha256 for key share)"};
  std::vector<Bytes> wanted;
  wanted.reserve(hashes.size());
  for (const auto& hash : hashes) wanted.push_back(to_bytes(hash));
  std::vector<LiveChunk> out;
  const auto rows = tx_.exec(kFindLive, wanted);
  for (const auto row : rows) out.push_back({row.id<ChunkId>(0), to_sha256(row.bytes(1))});
  return out;
}

std::vector<ChunkId> PgChunkTx::insert_live(std::span<const PlacedChunk> chunks) {
  static constexpr Stmt kInsertLive{"blobs.insert_live", R"(
    insert into chunks (id, sha256, size, crc32, stored_size)
    select id, sha256, size, crc32, size from unnest($1::bigint[], $2::bytea[], $3::int[], $4::int[])
           as c (id, sha256, size, crc32) order by sha256
    on conflict (sha256) where state = 0 and not quarantined do nothing
    returning id)"};
  std::vector<std::int64_t> id;
  std::vector<Bytes> sha256;
  std::vector<std::int32_t> size, crc32;
  for (const auto& chunk : chunks) {
    id.push_back(chunk.id.value);
    sha256.push_back(to_bytes(chunk.sha256));
    size.push_back(static_cast<std::int32_t>(chunk.size_bytes));
    crc32.push_back(static_cast<std::int32_t>(chunk.crc32));
  }
  try {
    return ids<ChunkId>(tx_.exec(kInsertLive, id, sha256, size, crc32));
  } catch (const db::SqlError& e) {
    if (e.unique_violation() && e.constraint() == "chunks_pkey") throw IdTaken();
    throw;
  }
}

std::vector<ContentId> PgChunkTx::insert_contents(std::span<const NewContent> contents) {
  // Rows come back in the order they went in; crc32 and size prove it.
  static constexpr Stmt kInsertContents{"blobs.insert_contents", R"(
    insert into contents (size, crc32, sha256, n_chunks, sha1)
    select size, crc32, nullif(sha256, ''::bytea), n_chunks, nullif(sha1, ''::bytea)
      from unnest($1::bigint[], $2::int[], $3::bytea[], $4::int[], $5::bytea[]) with ordinality
           as c (size, crc32, sha256, n_chunks, sha1, ord) order by ord
    returning id, size, crc32)"};
  static constexpr Stmt kInsertBodies{"blobs.insert_bodies", R"(
    insert into inline_bodies (content_id, body) select * from unnest($1::bigint[], $2::bytea[]))"};
  std::vector<std::int64_t> size;
  std::vector<std::int32_t> crc32, n_chunks;
  std::vector<Bytes> sha256, sha1;
  for (const auto& content : contents) {
    sha1.push_back(content.sha1);
    size.push_back(static_cast<std::int64_t>(content.size_bytes));
    crc32.push_back(static_cast<std::int32_t>(content.crc32));
    sha256.push_back(content.sha256 == Sha256{} ? Bytes() : to_bytes(content.sha256));
    n_chunks.push_back(static_cast<std::int32_t>(content.chunks));
  }
  const auto rows = tx_.exec(kInsertContents, size, crc32, sha256, n_chunks, sha1);
  std::vector<ContentId> out = ids<ContentId>(rows);
  std::vector<std::int64_t> inline_ids;
  std::vector<Bytes> bodies;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto row = rows[static_cast<int>(i)];
    if (out.size() != contents.size() || row.i64(1) != size[i] || row.i32(2) != crc32[i])
      throw std::logic_error("contents came back in another order");
    if (!contents[i].inline_body) continue;
    inline_ids.push_back(out[i].value);
    bodies.push_back(*contents[i].inline_body);
  }
  if (!bodies.empty()) tx_.exec(kInsertBodies, inline_ids, bodies);
  return out;
}

void PgChunkTx::insert_content_chunks(std::span<const ContentChunk> chunks) {
  static constexpr Stmt kInsertContentChunks{"blobs.insert_content_chunks", R"(
    insert into content_chunks (content_id, off, chunk_id)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[]))"};
  while (!chunks.empty()) {
    const auto slice = chunks.first(std::min(chunks.size(), kRowsPerStatement));
    chunks = chunks.subspan(slice.size());
    std::vector<std::int64_t> content, off, chunk;
    for (const auto& c : slice) {
      content.push_back(c.content.value);
      off.push_back(static_cast<std::int64_t>(c.offset));
      chunk.push_back(c.chunk.value);
    }
    tx_.exec(kInsertContentChunks, content, off, chunk);
  }
}

void PgChunkTx::insert_upload_chunks(UploadId upload, std::int32_t part,
                                     std::span<const std::uint64_t> offsets,
                                     std::span<const ChunkId> chunks) {
  static constexpr Stmt kInsertUploadChunks{"blobs.insert_upload_chunks", R"(
    insert into upload_chunks (upload_id, part, off, chunk_id)
    select $1::bigint, $2::int, off, chunk_id from unnest($3::bigint[], $4::bigint[]) as c (off, chunk_id))"};
  const std::vector<std::int64_t> off(offsets.begin(), offsets.end());
  try {
    tx_.exec(kInsertUploadChunks, upload.value, part, off, keys(chunks));
  } catch (const db::SqlError& e) {
    if (e.constraint() == "upload_chunks_upload_id_fkey") throw upload_ended();
    throw;
  }
}

std::uint64_t PgChunkTx::join_upload(UploadId upload, std::span<const std::int32_t> parts,
                                     ContentId content) {
  static constexpr Stmt kPartSizes{"blobs.part_sizes", R"(
    select u.part, sum(c.size)::bigint, count(*) from upload_chunks u join chunks c on c.id = u.chunk_id
      left join unnest($2::int[]) with ordinality as w (part, ord) on w.part = u.part
     where u.upload_id = $1 and ($2::int[] = '{}' or w.ord is not null)
     group by u.part, w.ord order by w.ord, u.part)"};
  static constexpr Stmt kGiveUp{"blobs.give_up_parts", R"(
    insert into chunk_gc (chunk_id) select distinct u.chunk_id from upload_chunks u
     where u.upload_id = $1 and not exists (select from unnest($2::int[]) as w (part) where w.part = u.part)
     on conflict do nothing)"};
  static constexpr Stmt kJoin{"blobs.join_upload", R"(
    insert into content_chunks (content_id, off, chunk_id)
    select $1::bigint, s.base + u.off, u.chunk_id
      from unnest($3::int[], $4::bigint[], $5::bigint[], $6::bigint[]) as s (part, low, high, base)
      join upload_chunks u on u.upload_id = $2 and u.part = s.part and u.off >= s.low and u.off < s.high)"};
  static constexpr Stmt kCount{"blobs.count_joined",
                               "update contents set n_chunks = n_chunks + $2::int where id = $1"};
  if (tx_.exec(kLockUpload, upload).empty()) throw upload_ended();

  std::vector<std::int32_t> part;
  std::vector<std::int64_t> low, high, base;
  std::int64_t slice_bytes = 0, total = 0, chunks = 0;
  const auto flush = [&] {
    if (!part.empty()) tx_.exec(kJoin, content, upload, part, low, high, base);
    part.clear(), low.clear(), high.clear(), base.clear();
    slice_bytes = 0;
  };
  const std::vector<std::int32_t> wanted(parts.begin(), parts.end());
  for (const auto row : tx_.exec(kPartSizes, upload, wanted)) {
    const std::int64_t bytes = row.i64(1);
    // A part is split where a slice is full, so that no statement runs long; parts may be small and many.
    for (std::int64_t at = 0; at < bytes; at += kJoinSliceBytes) {
      part.push_back(row.i32(0));
      low.push_back(at);
      high.push_back(std::min(bytes, at + kJoinSliceBytes));
      base.push_back(total);
      slice_bytes += high.back() - at;
      if (slice_bytes >= kJoinSliceBytes || part.size() >= kRowsPerStatement) flush();
    }
    total += bytes;
    chunks += row.i64(2);
  }
  flush();
  if (!wanted.empty()) tx_.exec(kGiveUp, upload, wanted);
  tx_.exec(kDropUploadChunks, upload);
  tx_.exec(kCount, content, static_cast<std::int32_t>(chunks));
  return static_cast<std::uint64_t>(total);
}

// -- collecting contents

std::vector<ContentId> PgChunkTx::due_contents(unsigned grace_seconds, std::size_t limit) {
  static constexpr Stmt kDue{"blobs.due_contents", R"(
    select content_id from content_gc where since <= now() - make_interval(secs => $1::int)
     order by since limit $2 for update skip locked)"};
  return ids<ContentId>(
      tx_.exec(kDue, static_cast<std::int32_t>(grace_seconds), static_cast<std::int64_t>(limit)));
}

std::vector<ContentId> PgChunkTx::lock_contents(std::span<const ContentId> contents) {
  static constexpr Stmt kLock{
      "blobs.lock_contents", "select id from contents where id = any($1) order by id for update skip locked"};
  return ids<ContentId>(tx_.exec(kLock, keys(contents)));
}

std::vector<ContentId> PgChunkTx::referenced_contents(std::span<const ContentId> contents) {
  static constexpr Stmt kReferenced{"blobs.referenced_contents", R"(
    select id from unnest($1::bigint[]) as c (id)
     where exists (select from nodes n where n.content_id = c.id)
        or exists (select from versions v where v.content_id = c.id))"};
  return ids<ContentId>(tx_.exec(kReferenced, keys(contents)));
}

std::vector<ContentId> PgChunkTx::missing_contents(std::span<const ContentId> contents) {
  static constexpr Stmt kMissing{"blobs.missing_contents", R"(
    select id from unnest($1::bigint[]) as c (id) where not exists (select from contents where contents.id = c.id))"};
  return ids<ContentId>(tx_.exec(kMissing, keys(contents)));
}

void PgChunkTx::delete_contents(std::span<const ContentId> contents) {
  static constexpr Stmt kQueueChunks{"blobs.queue_content_chunks", R"(
    insert into chunk_gc (chunk_id) select distinct chunk_id from content_chunks where content_id = any($1)
     order by chunk_id on conflict (chunk_id) do update set since = excluded.since where chunk_gc.attempts = 0)"};
  static constexpr Stmt kDelete{"blobs.delete_contents", "delete from contents where id = any($1)"};
  const auto doomed = keys(contents);
  tx_.exec(kQueueChunks, doomed);
  tx_.exec(kDelete, doomed);
  unqueue_contents(contents);
}

void PgChunkTx::unqueue_contents(std::span<const ContentId> contents) {
  static constexpr Stmt kUnqueue{"blobs.unqueue_contents",
                                 "delete from content_gc where content_id = any($1)"};
  if (!contents.empty()) tx_.exec(kUnqueue, keys(contents));
}

void PgChunkTx::postpone_contents(std::span<const ContentId> contents) {
  static constexpr Stmt kPostpone{"blobs.postpone_contents",
                                  "update content_gc set since = now() where content_id = any($1)"};
  tx_.exec(kPostpone, keys(contents));
}

// -- collecting chunks

bool PgChunkTx::held() {
  static constexpr Stmt kHeld{"blobs.held", R"(
    select 1 from settings where key = 'gc.hold_until' and value::timestamptz > now())"};
  return !tx_.exec(kHeld).empty();
}

std::vector<ChunkId> PgChunkTx::due_chunks(std::size_t limit) {
  static constexpr Stmt kDue{"blobs.due_chunks", R"(
    select chunk_id from chunk_gc where not parked and since <= now()
     order by since limit $1 for update skip locked)"};
  return ids<ChunkId>(tx_.exec(kDue, static_cast<std::int64_t>(limit)));
}

std::vector<DoomedChunk> PgChunkTx::lock_chunks(std::span<const ChunkId> chunks) {
  static constexpr Stmt kLock{"blobs.lock_chunks", R"(
    select id, sha256, quarantined, stored_size from chunks where id = any($1)
     order by id for update skip locked)"};
  std::vector<DoomedChunk> out;
  const auto rows = tx_.exec(kLock, keys(chunks));
  for (const auto row : rows)
    out.push_back({row.id<ChunkId>(0), to_sha256(row.bytes(1)), row.boolean(2),
                   static_cast<std::uint64_t>(row.i32(3))});
  return out;
}

std::vector<ChunkId> PgChunkTx::referenced_chunks(std::span<const ChunkId> chunks) {
  static constexpr Stmt kReferenced{"blobs.referenced_chunks", R"(
    select id from unnest($1::bigint[]) as c (id)
     where exists (select from content_chunks r where r.chunk_id = c.id)
        or exists (select from upload_chunks r where r.chunk_id = c.id))"};
  return ids<ChunkId>(tx_.exec(kReferenced, keys(chunks)));
}

std::vector<ChunkId> PgChunkTx::missing_chunks(std::span<const ChunkId> chunks) {
  static constexpr Stmt kMissing{"blobs.missing_chunks", R"(
    select id from unnest($1::bigint[]) as c (id) where not exists (select from chunks where chunks.id = c.id))"};
  return ids<ChunkId>(tx_.exec(kMissing, keys(chunks)));
}

void PgChunkTx::set_dying(std::span<const ChunkId> chunks) {
  static constexpr Stmt kSetDying{"blobs.set_dying",
                                  "update chunks set state = 1 where id = any($1) and state = 0"};
  if (!chunks.empty()) tx_.exec(kSetDying, keys(chunks));
}

void PgChunkTx::unqueue_chunks(std::span<const ChunkId> chunks) {
  static constexpr Stmt kUnqueue{"blobs.unqueue_chunks", "delete from chunk_gc where chunk_id = any($1)"};
  if (!chunks.empty()) tx_.exec(kUnqueue, keys(chunks));
}

void PgChunkTx::delete_dying(std::span<const ChunkId> chunks) {
  static constexpr Stmt kDelete{"blobs.delete_dying", "delete from chunks where id = any($1) and state = 1"};
  tx_.exec(kDelete, keys(chunks));
  unqueue_chunks(chunks);
}

void PgChunkTx::postpone_chunks(std::span<const ChunkId> chunks) {
  static constexpr Stmt kPostpone{"blobs.postpone_chunks", R"(
    update chunk_gc set attempts = attempts + 1, parked = attempts + 1 >= 10,
           since = now() + least(interval '1 minute' * power(2, attempts), interval '1 day')
     where chunk_id = any($1))"};
  tx_.exec(kPostpone, keys(chunks));
}

// -- sweeping

void PgChunkTx::adopt_orphans(std::span<const Orphan> orphans) {
  static constexpr Stmt kAdopt{"blobs.adopt_orphans", R"(
    insert into chunks (id, sha256, size, crc32, state, stored_size)
    select id, sha256, size, 0, 1, size from unnest($1::bigint[], $2::bytea[], $3::int[]) as c (id, sha256, size)
     order by id on conflict do nothing)"};
  static constexpr Stmt kQueue{"blobs.queue_orphans", R"(
    insert into chunk_gc (chunk_id) select unnest($1::bigint[]) on conflict do nothing)"};
  std::vector<std::int64_t> id;
  std::vector<Bytes> sha256;
  std::vector<std::int32_t> size;
  for (const auto& orphan : orphans) {
    id.push_back(orphan.name.id.value);
    sha256.push_back(to_bytes(orphan.name.sha256));
    size.push_back(static_cast<std::int32_t>(std::min<std::uint64_t>(orphan.size_bytes, kChunkBytesMax)));
  }
  tx_.exec(kAdopt, id, sha256, size);
  tx_.exec(kQueue, id);
}

ChunkId PgChunkTx::queue_forgotten_chunks(ChunkId after, std::size_t limit) {
  static constexpr Stmt kLast{"blobs.page_of_chunks", R"(
    select max(id) from (select id from chunks where id > $1 order by id limit $2) page)"};
  static constexpr Stmt kQueue{"blobs.queue_forgotten_chunks", R"(
    insert into chunk_gc (chunk_id) select id from chunks c where id > $1 and id <= $2
       and not exists (select from content_chunks r where r.chunk_id = c.id)
       and not exists (select from upload_chunks r where r.chunk_id = c.id) on conflict do nothing)"};
  const auto last = tx_.one(kLast, after, static_cast<std::int64_t>(limit))[0].id<ChunkId>(0);
  if (last) tx_.exec(kQueue, after, last);
  return last;
}

ContentId PgChunkTx::queue_forgotten_contents(ContentId after, std::size_t limit) {
  static constexpr Stmt kLast{"blobs.page_of_contents", R"(
    select max(id) from (select id from contents where id > $1 order by id limit $2) page)"};
  static constexpr Stmt kQueue{"blobs.queue_forgotten_contents", R"(
    insert into content_gc (content_id) select id from contents c where id > $1 and id <= $2
       and not exists (select from nodes n where n.content_id = c.id)
       and not exists (select from versions v where v.content_id = c.id) on conflict do nothing)"};
  const auto last = tx_.one(kLast, after, static_cast<std::int64_t>(limit))[0].id<ContentId>(0);
  if (last) tx_.exec(kQueue, after, last);
  return last;
}

void PgChunkTx::release_upload(UploadId upload) {
  static constexpr Stmt kQueue{"blobs.queue_upload_chunks", R"(
    insert into chunk_gc (chunk_id) select distinct chunk_id from upload_chunks where upload_id = $1
     order by chunk_id on conflict (chunk_id) do update set since = excluded.since where chunk_gc.attempts = 0)"};
  if (tx_.exec(kLockUpload, upload).empty()) return;
  tx_.exec(kQueue, upload);
  tx_.exec(kDropUploadChunks, upload);
}

// -- transactions

void PgChunkRows::transaction(const std::function<void(ChunkTx&)>& f) {
  db_.write_now([&](db::Tx& tx) {
    PgChunkTx rows(tx);
    f(rows);
  });
}

ChunkId PgChunkRows::next_ids() {
  static constexpr Stmt kNext{"blobs.next_ids", "select nextval('chunk_ids')"};
  // In a transaction of its own: its end flushes the sequence, so no restart hands these ids out again.
  return db_.write_now([](db::Tx& tx) { return tx.one(kNext)[0].id<ChunkId>(0); });
}

}  // namespace welkin::blobs
