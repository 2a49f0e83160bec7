#include "welkin/files/part_uploads.hpp"

#include <algorithm>

#include "files/node_store.hpp"
#include "files/part_store.hpp"
#include "files/refusals.hpp"
#include "files/trash_store.hpp"
#include "files/upload.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

std::string require_label(std::string name) {
  const bool sane = !name.empty() && name.size() <= PartUploads::kNameBytesMax && text::is_utf8(name) &&
                    name.find('/') == std::string::npos && name != "." && name != "..";
  if (!sane) throw Error(Errc::invalid, "bad_name", "an upload and its parts have names of 1 to 255 bytes");
  return name;
}

void require_user(const Caller& caller) {
  if (!caller.user) throw not_found();
  if ((caller.rights_mask & (rights::kCreate | rights::kUpdate)) == 0)
    throw Error(Errc::forbidden, "forbidden", "these credentials only read");
}

PartUpload require_upload(db::Tx& tx, const Caller& caller, const std::string& name) {
  auto found = store::find_part_upload(tx, caller.user, name);
  if (!found) throw not_found();
  return std::move(*found);
}

class RunningPart final : public PartSink {
 public:
  RunningPart(std::shared_ptr<UploadRoom> room, UploadId upload, std::int32_t number, std::string name,
              std::optional<std::uint64_t> size_hint)
      : room_(std::move(room)), upload_(upload), number_(number), name_(std::move(name)) {
    blobs::Store::SinkOptions options;
    options.size_hint = size_hint;
    options.upload = [id = upload_]() -> Task<UploadId> { co_return id; };
    options.part = number_;
    sink_ = room_->store.sink(std::move(options));
  }

  Task<> write(ByteView block) override { co_await sink_->write(block); }

  Task<bool> finish() override {
    const blobs::Sealed sealed = co_await sink_->seal();
    std::exception_ptr failure;
    bool is_new = false, is_certain = true;
    try {
      is_new = co_await room_->db.write([&](db::Tx& tx) {
        room_->store.record_part(tx, upload_, number_, sealed);
        return store::put_part(tx, upload_, name_, number_, sealed);
      });
    } catch (const Error& e) {
      failure = std::current_exception();
      is_certain = e.code() != Errc::unavailable;
      if (e.code() == Errc::gone) failure = std::make_exception_ptr(not_found());
    } catch (...) {
      failure = std::current_exception();
    }
    if (!failure) {
      room_->store.committed(sealed);
    } else {
      if (is_certain) room_->store.abandon(sealed);
      std::rethrow_exception(failure);
    }
    co_return is_new;
  }

 private:
  std::shared_ptr<UploadRoom> room_;
  UploadId upload_;
  std::int32_t number_;
  std::string name_;
  std::unique_ptr<blobs::Sink> sink_;
};

/// Digits at the beginning, without the zeros before them; the rest.
std::pair<std::string_view, std::string_view> number_of(std::string_view name) {
  const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
  auto number = name.substr(0, digits);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return {number, name.substr(digits)};
}

}  // namespace

bool part_comes_before(std::string_view a, std::string_view b) {
  const auto starts_with_digit = [](std::string_view s) { return !s.empty() && s[0] >= '0' && s[0] <= '9'; };
  if (starts_with_digit(a) != starts_with_digit(b)) return starts_with_digit(a);
  const auto [number_a, rest_a] = number_of(a);
  const auto [number_b, rest_b] = number_of(b);
  if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
  if (number_a != number_b) return number_a < number_b;
  return rest_a != rest_b ? rest_a < rest_b : a < b;
}

Task<bool> PartUploads::begin(Caller caller, std::string name, std::optional<std::uint64_t> total_bytes) {
  require_user(caller);
  name = require_label(std::move(name));
  room_->store.require_space();
  co_return co_await room_->db.write([&](db::Tx& tx) {
    return store::begin_part_upload(tx, caller, store::own_drive(tx, caller), name, total_bytes);
  });
}

Task<PartUpload> PartUploads::get(Caller caller, std::string name) {
  if (!caller.user) throw not_found();
  co_return co_await room_->db.read([&](db::Tx& tx) {
    auto upload = require_upload(tx, caller, name);
    store::load_parts(tx, upload);
    return upload;
  });
}

Task<std::vector<PartUpload>> PartUploads::list(Caller caller) {
  if (!caller.user) throw not_found();
  co_return co_await room_->db.read([&](db::Tx& tx) { return store::part_uploads(tx, caller.user); });
}

Task<> PartUploads::drop(Caller caller, std::string name) {
  require_user(caller);
  co_await room_->db.write([&](db::Tx& tx) { store::drop_upload(tx, require_upload(tx, caller, name).id); });
}

Task<std::unique_ptr<PartSink>> PartUploads::put(Caller caller, std::string upload, std::string part,
                                                 std::optional<std::uint64_t> size_hint,
                                                 std::optional<std::uint64_t> total_bytes) {
  require_user(caller);
  part = require_label(std::move(part));
  UploadId id;
  std::int32_t number = 0;
  co_await room_->db.write([&](db::Tx& tx) {
    id = require_upload(tx, caller, upload).id;
    number = store::begin_part(tx, id, size_hint.value_or(0), total_bytes);
  });
  co_return std::make_unique<RunningPart>(room_, id, number, std::move(part), size_hint);
}

Task<> PartUploads::drop_part(Caller caller, std::string upload, std::string part) {
  require_user(caller);
  co_await room_->db.write([&](db::Tx& tx) {
    if (!store::drop_part(tx, require_upload(tx, caller, upload).id, part)) throw not_found();
  });
}

Task<> PartUploads::join(Caller caller, std::string into, std::vector<std::string> from) {
  require_user(caller);
  std::vector<std::string> names = from;
  names.push_back(into);
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end())
    throw Error(Errc::invalid, "twice", "an upload can become a part once only");
  co_await room_->db.write([&](db::Tx& tx) {
    std::vector<std::int64_t> ids;
    for (const auto& name : from) ids.push_back(require_upload(tx, caller, name).id.value);
    store::join_uploads(tx, require_upload(tx, caller, into).id, ids);
  });
}

Task<Written> PartUploads::finish(Caller caller, std::string upload, UploadOptions options) {
  require_user(caller);
  if (!options.target.file) options.target.name = require_name(options.target.name, Kind::file);
  auto place = co_await place_of_upload(*room_, caller, options);
  const std::string mime = choose_mime_type(options.mime_type, {}, place.name);
  Commit commit;
  commit.caller = &caller;
  commit.drive = place.drive;
  commit.parent = options.target.file ? NodeId{} : place.parent;
  commit.file = options.target.file;
  commit.name = place.name;
  commit.modified_at = options.modified_at.value_or(room_->clock.now());
  commit.mime = co_await room_->mime_id(caller, mime);
  commit.expect = static_cast<std::int16_t>(options.expect.kind);
  commit.etags = joined_etags(options.expect);
  commit.tokens = joined_tokens(options.lock_tokens);
  commit.overwrite = options.overwrite;
  blobs::Sealed body;
  Committed done;
  try {
    // In a transaction of its own: what is refused leaves the parts as they were.
    done = co_await room_->db.write([&](db::Tx& tx) {
      const auto found = require_upload(tx, caller, upload);
      store::move_upload(tx, found.id, place.drive);
      body = blobs::Store::joined(found.id, store::facts_of_parts(tx, found.id));
      if (options.size_hint && *options.size_hint != body.size_bytes)
        throw Error(Errc::invalid, "wrong_total", "the parts do not make up the announced size");
      commit.body = &body;
      commit.upload = found.id;
      return room_->gatherer.commit_in(tx, commit);
    });
  } catch (const Error& e) {
    if (e.code() == Errc::gone) throw not_found();
    throw;
  }
  Written out;
  out.created = done.created;
  out.node = made_node(caller, commit, mime, done);
  co_return out;
}

}  // namespace welkin::files
