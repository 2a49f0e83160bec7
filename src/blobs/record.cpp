#include "blobs/record.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "welkin/core/error.hpp"

namespace welkin::blobs {
namespace {

constexpr int kRounds = 16;

Error body_expired() {
  return {Errc::unavailable, "body_expired", "the body waited too long between arriving and being recorded",
          1};
}

bool by_hash(const PlacedChunk& a, const PlacedChunk& b) {
  return a.sha256 != b.sha256 ? a.sha256 < b.sha256 : a.id < b.id;
}

/// `wanted` (ascending, each hash once) minus those that have a row in `rows` now.
void take_found(std::vector<PlacedChunk>& wanted, const std::map<Sha256, ChunkId>& rows) {
  std::erase_if(wanted, [&](const PlacedChunk& c) { return rows.contains(c.sha256); });
}

void insert_missing(ChunkTx& tx, Vfs& vfs, const std::vector<PlacedChunk>& wanted,
                    std::map<Sha256, ChunkId>& rows) {
  std::vector<ChunkId> inserted;
  bool taken = false;
  try {
    inserted = tx.insert_live(wanted);
  } catch (const IdTaken&) {
    taken = true;
  }
  if (taken) throw body_expired();
  const std::unordered_set<ChunkId> ours(inserted.begin(), inserted.end());
  for (const auto& chunk : wanted) {
    if (!ours.contains(chunk.id)) continue;
    if (!vfs.exists(area_of(chunk.id), chunk_file_name(chunk.sha256, chunk.id))) throw body_expired();
    rows.emplace(chunk.sha256, chunk.id);
  }
}

}  // namespace

Resolved resolve_chunks(ChunkTx& tx, Vfs& vfs, std::span<const PlacedChunk> chunks) {
  std::vector<PlacedChunk> wanted(chunks.begin(), chunks.end());
  // Everybody locks and inserts in the order of hashes. Of equal chunks within these the oldest stands for
  // all.
  std::sort(wanted.begin(), wanted.end(), by_hash);
  const auto last =
      std::unique(wanted.begin(), wanted.end(), [](auto& a, auto& b) { return a.sha256 == b.sha256; });
  wanted.erase(last, wanted.end());

  std::map<Sha256, ChunkId> rows;
  for (int round = 0; !wanted.empty(); ++round) {
    if (round == kRounds)
      throw Error(Errc::unavailable, "busy", "the same bytes are stored by many at once", 1);
    std::vector<Sha256> hashes(wanted.size());
    std::transform(wanted.begin(), wanted.end(), hashes.begin(), [](auto& c) { return c.sha256; });
    for (const auto& live : tx.find_live(hashes)) rows.emplace(live.sha256, live.id);
    take_found(wanted, rows);
    if (wanted.empty()) break;
    insert_missing(tx, vfs, wanted, rows);
    take_found(wanted, rows);
  }

  Resolved out;
  out.ids.reserve(chunks.size());
  for (const auto& chunk : chunks) {
    const ChunkId id = rows.at(chunk.sha256);
    out.ids.push_back(id);
    if (id != chunk.id) out.surplus.push_back(chunk);
  }
  return out;
}

std::vector<PlacedChunk> record_batch(ChunkTx& tx, Vfs& vfs, UploadId upload, std::int32_t part,
                                      std::uint64_t offset, std::span<const PlacedChunk> chunks) {
  Resolved resolved = resolve_chunks(tx, vfs, chunks);
  std::vector<std::uint64_t> offsets;
  offsets.reserve(chunks.size());
  for (const auto& chunk : chunks) {
    offsets.push_back(offset);
    offset += chunk.size_bytes;
  }
  tx.insert_upload_chunks(upload, part, offsets, resolved.ids);
  return std::move(resolved.surplus);
}

namespace {

const std::vector<PlacedChunk>& chunks_of(const Sealed& body) {
  return std::get<std::vector<PlacedChunk>>(body.body);
}

NewContent describe(const Sealed& body) {
  return {.size_bytes = body.size_bytes,
          .crc32 = body.crc32,
          .sha256 = body.sha256,
          .chunks = body.is_inline() ? 0 : chunks_of(body).size(),
          .inline_body = std::get_if<Bytes>(&body.body),
          .sha1 = body.sha1};
}

}  // namespace

std::vector<ContentId> record_bodies(ChunkTx& tx, Vfs& vfs, std::span<const Sealed* const> bodies) {
  std::vector<PlacedChunk> chunks;
  std::vector<NewContent> contents;
  for (const Sealed* body : bodies) {
    contents.push_back(describe(*body));
    if (!body->is_inline()) chunks.insert(chunks.end(), chunks_of(*body).begin(), chunks_of(*body).end());
  }
  const Resolved resolved = resolve_chunks(tx, vfs, chunks);
  const std::vector<ContentId> ids = tx.insert_contents(contents);

  std::vector<ContentChunk> references;
  references.reserve(chunks.size());
  std::size_t at = 0;  // in resolved.ids
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i]->is_inline()) continue;
    std::uint64_t offset =
        bodies[i]->upload ? tx.join_upload(bodies[i]->upload, bodies[i]->parts, ids[i]) : 0;
    std::vector<PlacedChunk> surplus;
    for (const auto& chunk : chunks_of(*bodies[i])) {
      references.push_back({ids[i], offset, resolved.ids[at]});
      if (resolved.ids[at] != chunk.id) surplus.push_back(chunk);
      offset += chunk.size_bytes;
      ++at;
    }
    if (offset != bodies[i]->size_bytes)
      throw Error(Errc::internal, "store_fault", "chunks of a body are missing");
    if (bodies[i]->outcome) bodies[i]->outcome->surplus = std::move(surplus);
  }
  tx.insert_content_chunks(references);
  return ids;
}

}  // namespace welkin::blobs
