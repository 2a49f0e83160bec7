#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/task.hpp"
#include "welkin/files/files.hpp"

/// Files that come in parts, in any order and over days. Parts are stored like any body, as chunks; putting
/// them together joins lists and reads and moves no byte.
namespace welkin::files {

struct UploadRoom;

struct UploadPart {
  std::string name;  // as the client calls it
  std::uint64_t size_bytes = 0;
  Micros stored_at = 0;
};

/// What a client calls an upload is his user's alone.
struct PartUpload {
  UploadId id;
  std::string name;
  std::optional<std::uint64_t> total_bytes;  // announced
  Micros touched_at = 0;                     // by the last part
  std::uint64_t stored_bytes = 0;
  std::vector<UploadPart> parts;  // in the order they are put together: numbers by value, then other names
};

/// A part on its way in. Whatever had its name stays until `finish`.
class PartSink {
 public:
  virtual ~PartSink() = default;
  /// @throws Error quota_exceeded, no_space as soon as it is known
  virtual Task<> write(ByteView block) = 0;
  /// On stable storage. @return whether the name is new. @throws Error not_found: the upload has ended
  virtual Task<bool> finish() = 0;
};

/// Errors: not_found for an upload that is not there, and for callers that are no user.
class PartUploads {
 public:
  static constexpr std::int32_t kPartsMax = 10'000, kPerUserMax = 1'000;
  static constexpr std::size_t kNameBytesMax = 255;
  static constexpr std::int32_t kSecondsMax = 86'400;  // after the last part

  explicit PartUploads(std::shared_ptr<UploadRoom> room) : room_(std::move(room)) {}

  /// @param total_bytes  is reserved against the quota of the caller's drive
  /// @return false: there is one of that name already
  /// @throws Error invalid `bad_name`; forbidden `too_many_uploads`; quota_exceeded
  Task<bool> begin(Caller caller, std::string name, std::optional<std::uint64_t> total_bytes);
  Task<PartUpload> get(Caller caller, std::string name);
  /// Without their parts.
  Task<std::vector<PartUpload>> list(Caller caller);
  Task<> drop(Caller caller, std::string name);

  /// @param size_hint  of this part; @param total_bytes  of the whole, when the client says it only now
  /// @throws Error invalid `bad_name`, `too_many_parts`; quota_exceeded
  Task<std::unique_ptr<PartSink>> put(Caller caller, std::string upload, std::string part,
                                      std::optional<std::uint64_t> size_hint,
                                      std::optional<std::uint64_t> total_bytes);
  Task<> drop_part(Caller caller, std::string upload, std::string part);

  /// `from`, in this order, become part of `into` and end. Their parts must be called by the offsets at which they
  /// begin, and are called by those in the whole then. @throws Error not_found; invalid `twice`, `too_many_parts`
  Task<> join(Caller caller, std::string into, std::vector<std::string> from);

  /// Puts the parts together and ends the upload; both happen or neither does. Of two at once one finds
  /// nothing any more. @param options  as of begin_upload; its size_hint is what the whole has to be
  /// @throws Error not_found; invalid `wrong_total`; what begin_upload throws
  Task<Written> finish(Caller caller, std::string upload, UploadOptions options);

 private:
  std::shared_ptr<UploadRoom> room_;
};

/// Whether part `a` comes before part `b`.
bool part_comes_before(std::string_view a, std::string_view b);

}  // namespace welkin::files
