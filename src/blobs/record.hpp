#pragma once
#include <vector>

#include "blobs/ground.hpp"

namespace welkin::blobs {

/// What became of placed chunks in a transaction, in the order given: the row that stands for each hash, and
/// the files that nobody needs once the transaction has committed because their hash was there already.
struct Resolved {
  std::vector<ChunkId> ids;
  std::vector<PlacedChunk> surplus;
};

/// Makes sure that a live row exists for every hash and locks it until the transaction ends; `chunks` are
/// durable. A dying row is never taken up again: its hash gets a new row with a new file.
///
/// After inserting a row it looks whether the file of that row is still there: an upload that slept between
/// naming and recording its file may find that the sweeper took it for an orphan.
/// @throws Error unavailable `body_expired` then: the body must be sent again
Resolved resolve_chunks(ChunkTx& tx, Vfs& vfs, std::span<const PlacedChunk> chunks);

/// Contents, bodies, chunks and references for `bodies`, one content each, in order. Sets the surplus of each
/// body for `surplus_of`.
std::vector<ContentId> record_bodies(ChunkTx& tx, Vfs& vfs, std::span<const Sealed* const> bodies);

/// Records one full batch of a body under its upload, so that long bodies hold few files and nothing gets
/// old.
/// @return files to remove after the commit. @throws Error gone `upload_ended`
/// @param offset  of the first chunk in part `part`
std::vector<PlacedChunk> record_batch(ChunkTx& tx, Vfs& vfs, UploadId upload, std::int32_t part,
                                      std::uint64_t offset, std::span<const PlacedChunk> chunks);

}  // namespace welkin::blobs
