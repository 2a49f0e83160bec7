#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "dav/put.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/upload_headers.hpp"

namespace welkin::dav {
namespace {

constexpr std::string_view kType = "application/x-sabredav-partialupdate";
constexpr std::uint64_t kBlockBytes = 256 << 10;

/// Where the body of a PATCH goes, in the content of now. What lies from `end` on stays.
struct UpdateRange {
  std::uint64_t begin = 0, end = 0;
};

[[noreturn]] void refuse_range() {
  throw Error(Errc::range_not_satisfiable, "update_range",
              "X-Update-Range does not fit the file and the body");
}

UpdateRange update_range(std::string_view value, std::uint64_t size, std::uint64_t length) {
  value = text::trim(value);
  if (text::iequals(value, "append")) return {size, size};
  const auto require = [](bool well_formed) {
    if (!well_formed)
      throw Error(Errc::invalid, "bad_update_range",
                  "X-Update-Range is append, bytes=a-b, bytes=a- or bytes=-n");
  };
  require(value.size() > 6 && text::iequals(value.substr(0, 6), "bytes="));
  value.remove_prefix(6);
  const auto dash = value.find('-');
  require(dash != value.npos && value.size() > 1);
  const auto first = text::number(value.substr(0, dash));
  const auto last = text::number(value.substr(dash + 1));
  require((first || dash == 0) && (last || dash + 1 == value.size()));
  UpdateRange range;
  if (first) {
    range.begin = *first;
    if (last && (*last < *first || length == 0 || *last - *first != length - 1)) refuse_range();
  } else {
    if (*last > size) refuse_range();
    range.begin = size - *last;
  }
  if (range.begin > size || length > std::numeric_limits<std::uint64_t>::max() - range.begin) refuse_range();
  range.end = std::min(size, range.begin + length);
  return range;
}

/// Takes the old content into the new one.
class UploadSink final : public ByteSink {
 public:
  explicit UploadSink(files::Upload& upload) : upload_(upload) {}
  Task<> write(ByteView bytes) override { return upload_.write(bytes); }
  Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override {
    Bytes block;
    while (length > 0) {
      block.resize(std::min(length, kBlockBytes));
      const auto got = ::pread(fd, block.data(), block.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Error(Errc::internal, "content_damaged", "a stored chunk ended early");
      const auto bytes = static_cast<std::uint64_t>(got);
      co_await upload_.write(ByteView(block).first(bytes));
      offset += bytes;
      length -= bytes;
    }
  }

 private:
  files::Upload& upload_;
};

std::uint64_t require_length(const http::Request& rq) {
  auto type = rq.header("content-type");
  type = text::trim(type.substr(0, type.find(';')));
  if (!text::iequals(type, kType))
    throw Error(Errc::unsupported_media_type, "patch_type", "PATCH takes " + std::string(kType));
  if (!rq.headers().has("x-update-range"))
    throw Error(Errc::invalid, "bad_update_range", "X-Update-Range is missing");
  const auto length = rq.content_length();
  if (!length || !rq.headers().has("content-length"))
    throw Error(Errc::invalid, "length_required", "Content-Length is missing");
  return *length;
}

Task<files::Written> splice(Change& change, const files::Opened& old, UpdateRange range,
                            files::UploadOptions options) {
  auto& files = change.services.files;
  const auto upload = co_await files.begin_upload(change.rq.caller(), std::move(options));
  UploadSink sink(*upload);
  const auto size = old.content.size_bytes;
  if (range.begin > 0) co_await files.send(old, {0, range.begin}, sink);
  while (true) {
    const auto piece = co_await change.rq.read();
    if (piece.empty()) break;
    co_await upload->write(piece);
  }
  if (range.end < size) co_await files.send(old, {range.end, size - range.end}, sink);
  co_return co_await upload->finish();
}

}  // namespace

Task<> patch(Change& change) {
  auto& rq = change.rq;
  if (change.require_node().is_folder()) refuse_folder_content(change);
  http::require_plain_body(rq.headers());
  const auto length = require_length(rq);
  const auto wanted = co_await change.require_conditions();
  const auto old = co_await change.services.files.open(rq.caller(), change.at.node->id);
  const auto range = update_range(rq.header("x-update-range"), old.content.size_bytes, length);
  files::UploadOptions options;
  options.target = target_of(change);
  options.lock_tokens = change.submitted.tokens;
  options.mime_type = old.node.mime_type;
  options.size_hint = range.begin + length + (old.content.size_bytes - range.end);
  // What is kept was read from this very content.
  options.expect = {files::Expect::Kind::etag_is, {old.node.etag}};
  change.touch_target(false, false);
  allow_upload(change);
  std::optional<files::Written> written;
  try {
    written = co_await splice(change, old, range, std::move(options));
  } catch (const Error& e) {
    if (e.code() != Errc::precondition_failed || wanted.kind != files::Expect::Kind::anything) throw;
    throw Error(Errc::conflict, "changed_meanwhile", "The file was changed by somebody else meanwhile");
  }
  set_validators(change.rp, written->node);
  co_await change.rp.send(http::Status::no_content);
}

}  // namespace welkin::dav
