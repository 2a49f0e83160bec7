#pragma once
#include <optional>
#include <string>
#include <vector>

#include "welkin/blobs/store.hpp"
#include "welkin/files/part_uploads.hpp"

namespace welkin::files::store {

/// nullopt: none of that name.
std::optional<PartUpload> find_part_upload(db::Tx& tx, UserId user, const std::string& name);
std::vector<PartUpload> part_uploads(db::Tx& tx, UserId user);
/// false: there is one of that name.
bool begin_part_upload(db::Tx& tx, const Caller& caller, DriveId drive, const std::string& name,
                       std::optional<std::uint64_t> total_bytes);
void load_parts(db::Tx& tx, PartUpload& upload);
/// What Store::joined needs, in the order of names.
std::vector<blobs::Store::PartFacts> facts_of_parts(db::Tx& tx, UploadId upload);

/// @return the number of the new part
std::int32_t begin_part(db::Tx& tx, UploadId upload, std::uint64_t size_bytes,
                        std::optional<std::uint64_t> total_bytes);
bool put_part(db::Tx& tx, UploadId upload, const std::string& name, std::int32_t part,
              const blobs::Sealed& body);
bool drop_part(db::Tx& tx, UploadId upload, const std::string& name);
void move_upload(db::Tx& tx, UploadId upload, DriveId drive);
void drop_upload(db::Tx& tx, UploadId upload);
void join_uploads(db::Tx& tx, UploadId into, const std::vector<std::int64_t>& from);

}  // namespace welkin::files::store
