#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "welkin/core/crypto.hpp"
#include "welkin/files/files.hpp"
#include "welkin/files/part_uploads.hpp"
#include "welkin/http/request.hpp"
#include "welkin/rest/rest.hpp"

/// Uploads that come in parts, as the two protocols of the API for them share it. Where a file goes is
/// written in the upload's address, so that nothing has to be kept but its parts; the address is worth
/// nothing to anybody else, since uploads are found among the caller's own, and what it says is checked like
/// any request's when the file is made.
namespace welkin::rest {

struct UploadTicket {
  std::string upload;  // its name in files::PartUploads
  NodeId folder;       // 0: a part of something, with no place of its own
  std::string filename, mime_type;
  std::uint64_t total_bytes = 0, chunk_bytes = 0;  // of all chunks but the last; 0: any
  bool overwrite = false;
};

/// A new name that nobody guesses.
std::string new_upload_name(std::string_view protocol);
std::string write_ticket(const UploadTicket& ticket);
/// @throws Error not_found when it is none of ours
UploadTicket read_ticket(std::string_view text);

/// What can be refused before a byte comes: place, name, size. @throws Error not_found, forbidden, invalid,
/// conflict, too_large
Task<> check_ticket(const Services& services, const Caller& caller, const UploadTicket& ticket);
/// Puts the parts together; the file is there, or nothing of it. @throws Error as PartUploads::finish
Task<files::Written> finish_ticket(const Services& services, const Caller& caller,
                                   const UploadTicket& ticket);

/// Copies the request's body into a part, at most `bytes_max` of it.
struct ReceivedPart {
  std::uint64_t bytes = 0;
  Bytes digest;               // when one was asked for
  std::exception_ptr broken;  // set: the body ended early, and `bytes` have come whole
};
Task<ReceivedPart> receive_part(http::Request& rq, files::PartSink& sink, std::uint64_t bytes_max,
                                std::optional<crypto::Digest> digest);

}  // namespace welkin::rest
