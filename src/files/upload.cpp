#include "files/upload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "files/lock_store.hpp"
#include "files/refusals.hpp"
#include "welkin/core/log.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

constexpr db::Stmt kMimeFind{"files.mime_find", "select id from mime_types where name = $1"};
// Numbers are given by hand, one maker at a time: an identity would lose one with every lost race, and there
// are 32767. The last are kept for types that the server itself knows, and nobody may bring more than a
// hundred.
constexpr db::Stmt kMimeLock{"files.mime_lock", "select pg_advisory_xact_lock(2, 1)"};
constexpr db::Stmt kMimeMake{"files.mime_make", R"(
    insert into mime_types (id, name, made_by) overriding system value
    select coalesce(max(id), 0) + 1, $1, nullif($3, 0) from mime_types
    having coalesce(max(id), 0) < case when $2 then 32000 else 30000 end
       and ($2 or (select count(*) from mime_types where made_by = nullif($3, 0)) < 100)
    on conflict (name) do nothing)"};
// A folder whose drive has room, where nothing is locked and the caller may write: what most small files
// find.
constexpr db::Stmt kOpenPlace{"files.open_place", R"(
  select n.drive_id from nodes n join drives d on d.id = n.drive_id
   cross join lateral gate(n.id, $2, $3, $4, $5, $6) g
   where n.id = $1 and n.kind = 2 and g.live and g.rights & 12 = 12
     and d.used_bytes + d.reserved_bytes + $7::bigint <= d.quota_bytes
     and not exists (select from locks l where l.drive_id = n.drive_id))"};
constexpr db::Stmt kBeginUpload{"files.begin_upload", "select begin_upload($1, $2, $3, $4, $5, $6)"};
constexpr db::Stmt kDropUpload{"files.drop_upload", "select drop_upload($1)"};

constexpr std::size_t kHeadBytes = 64;  // what choose_mime_type looks at

/// Where a body is going, as far as it was known before the body came.
struct Place {
  DriveId drive;
  NodeId parent;
  std::string name;
  std::optional<Node> old;
  std::uint64_t free_bytes = 0;  // of the drive's quota
};

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool holds(const Expect& expect, const std::optional<Node>& old) {
  switch (expect.kind) {
    case Expect::Kind::anything:
      return true;
    case Expect::Kind::must_be_new:
      return !old;
    case Expect::Kind::must_exist:
      return old.has_value();
    case Expect::Kind::etag_is:
      return old && contains(expect.etags, old->etag);
    case Expect::Kind::etag_is_not:
      return !old || !contains(expect.etags, old->etag);
  }
  return false;
}

std::string join(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ",")); }

Place place_of(db::Tx& tx, const Caller& caller, const UploadOptions& options) {
  Place place;
  const auto& target = options.target;
  if (target.file) {
    const auto found = store::require(tx, caller, target.file);
    if (found.node.is_folder()) throw refusal("WC409", "is_a_folder", found.node.name);
    place = {found.node.drive, found.node.parent, found.node.name, found.node};
  } else {
    const auto folder = store::find_writable(tx, caller, target.parent);
    if (!folder) throw not_found();
    if (!folder->node.is_folder()) throw Error(Errc::invalid, "not_a_folder", "this is not a folder");
    place = {folder->node.drive, folder->node.id, target.name, std::nullopt};
    if (const NodeId old = store::child(tx, folder->node.id, target.name)) {
      if (const auto found = store::find_writable(tx, caller, old)) place.old = found->node;
    } else if ((folder->node.rights & rights::kCreate) == 0) {
      throw refusal("WF403", "forbidden", target.name);
    }
  }
  return place;
}

void check_place(const Place& place, const UploadOptions& options) {
  if (place.old) {
    if (place.old->is_folder()) throw refusal("WC409", "is_a_folder", place.name);
    if (!options.overwrite) throw refusal("WC409", "exists", place.name);
    if ((place.old->rights & rights::kUpdate) == 0) throw refusal("WF403", "forbidden", place.name);
  }
  if (!holds(options.expect, place.old)) throw refusal("WP412", "precondition_failed", place.name);
}

/// Early checks only spare a client the sending of a body; one that is small and demands nothing is on its
/// way already, and its commit finds the rest. So one look decides whether it may come at all.
bool is_small_and_plain(const UploadOptions& options) {
  return !options.target.file && options.overwrite && options.expect.kind == Expect::Kind::anything &&
         options.size_hint && *options.size_hint <= blobs::kInlineBytesMax;
}

bool may_be_new(const std::string& name, bool windows_names) {
  try {
    require_new_name(name, Kind::file, windows_names);
    return true;
  } catch (const Error&) {
    return false;  // unless there is a file of this name already
  }
}

Task<std::optional<Place>> open_place(UploadRoom& room, const Caller& caller, const UploadOptions& options) {
  if (!is_small_and_plain(options) || !may_be_new(options.target.name, room.windows_names))
    co_return std::nullopt;
  db::Params params(options.target.parent);
  store::add_gate(params, caller).add(static_cast<std::int64_t>(*options.size_hint));
  const auto rows = co_await room.db.query(kOpenPlace, std::move(params));
  if (rows.empty()) co_return std::nullopt;
  Place place;
  place.drive = rows[0].id<DriveId>(0);
  place.parent = options.target.parent;
  place.name = options.target.name;
  co_return place;
}

/// Everything that can be known before a byte is read.
Task<Place> checked_place(UploadRoom& room, const Caller& caller, const UploadOptions& options) {
  co_return co_await room.db.read([&](db::Tx& tx) {
    Place at = place_of(tx, caller, options);
    check_place(at, options);
    if (!at.old) require_new_name(options.target.name, Kind::file, room.windows_names);
    if (store::is_locked(tx, caller, at.old ? at.old->id : at.parent, !at.old, options.lock_tokens))
      throw refusal("WL423", "locked", at.name);
    const auto use = store::drive_use(tx, at.drive);
    at.free_bytes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, use.quota - use.used - use.reserved));
    if (options.size_hint) {
      const auto size = static_cast<std::int64_t>(std::min<std::uint64_t>(*options.size_hint, INT64_MAX));
      if (size > use.quota - use.used - use.reserved) throw refusal("WQ507", "quota_exceeded", at.name);
    }
    return at;
  });
}

class RunningUpload final : public Upload {
 public:
  RunningUpload(std::shared_ptr<UploadRoom> room, Caller caller, UploadOptions options, Place place)
      : room_(std::move(room)),
        caller_(std::move(caller)),
        options_(std::move(options)),
        place_(std::move(place)) {}

  ~RunningUpload() override {
    sink_.reset();
    if (!upload_ || finished_) return;
    const auto give_up = [room = room_.get(), id = upload_] {
      room->db.write_now([id](db::Tx& tx) { tx.exec(kDropUpload, id); });
    };
    if (!room_->cleaner.post(give_up)) log::warn("an abandoned upload is left to its expiry");
  }

  Task<> begin() {
    if (options_.size_hint && *options_.size_hint >= kReserveFromBytes)
      co_await make_row(*options_.size_hint);
    blobs::Store::SinkOptions sink;
    sink.size_hint = options_.size_hint;
    sink.upload = [this] { return row(); };
    sink_ = room_->store.sink(std::move(sink));
  }

  Task<> write(ByteView block) override {
    if (head_.size() < kHeadBytes) head_ += as_text(block).substr(0, kHeadBytes - head_.size());
    co_await sink_->write(block);
    // A body of unknown length has nothing reserved: look when it passes what was free when last looked at,
    // and now and then, instead of filling the disk first.
    const std::uint64_t size = sink_->size_bytes();
    if (!options_.size_hint && (size > place_.free_bytes || size >= checked_bytes_ + (64 << 20))) {
      checked_bytes_ = size;
      co_await require_quota(size);
    }
  }

  Task<Written> finish() override {
    blobs::Sealed sealed = co_await sink_->seal();
    sealed.sha1 = options_.sha1;
    if (options_.sha256 && *options_.sha256 != sealed.sha256) {
      room_->store.abandon(sealed);
      throw Error(Errc::invalid, "digest_mismatch", "the body does not have the announced digest");
    }
    std::string mime = choose_mime_type(options_.mime_type, as_bytes(head_), place_.name);
    Commit commit;
    commit.caller = &caller_;
    commit.drive = place_.drive;
    commit.parent = options_.target.file ? NodeId{} : place_.parent;
    commit.file = options_.target.file;
    commit.name = place_.name;
    commit.body = &sealed;
    commit.upload = upload_;
    commit.modified_at = options_.modified_at.value_or(room_->clock.now());
    commit.mime = co_await room_->mime_id(caller_, mime);
    if (commit.mime == 0) mime = kUnknownMimeType;
    commit.expect = static_cast<std::int16_t>(options_.expect.kind);
    commit.etags = joined_etags(options_.expect);
    commit.tokens = joined_tokens(options_.lock_tokens);
    commit.overwrite = options_.overwrite;
    const Committed done = co_await room_->gatherer.commit(commit);
    finished_ = true;
    co_return Written{made_node(caller_, commit, mime, done), done.created};
  }

 private:
  Task<UploadId> row() {
    if (!upload_) co_await make_row(std::nullopt);
    co_return upload_;
  }

  Task<> make_row(std::optional<std::uint64_t> total) {
    std::optional<std::int64_t> bytes;
    if (total) bytes = static_cast<std::int64_t>(*total);
    upload_ = co_await room_->db.write([&](db::Tx& tx) {
      try {
        return tx
            .one(kBeginUpload, caller_.user, static_cast<std::int32_t>(place_.drive.value), place_.parent,
                 place_.name, bytes, kUploadSeconds)[0]
            .id<UploadId>(0);
      } catch (const db::SqlError& e) {
        rethrow(e, place_.name);
      }
    });
  }

  Task<> require_quota(std::uint64_t more) {
    const auto use = co_await room_->db.read([&](db::Tx& tx) { return store::drive_use(tx, place_.drive); });
    if (use.used + use.reserved > use.quota - static_cast<std::int64_t>(more))
      throw refusal("WQ507", "quota_exceeded", place_.name);
  }

  std::shared_ptr<UploadRoom> room_;
  Caller caller_;
  UploadOptions options_;
  Place place_;
  std::unique_ptr<blobs::Sink> sink_;
  std::string head_;
  UploadId upload_;
  std::uint64_t checked_bytes_ = 0;
  bool finished_ = false;
};

}  // namespace

std::string joined_tokens(const std::vector<db::Uuid>& tokens) {
  std::vector<std::string> texts;
  texts.reserve(tokens.size());
  for (const auto& token : tokens) texts.push_back(text::hex(std::as_bytes(std::span(token))));
  return join(texts);
}

std::string joined_etags(const Expect& expect) { return join(store::own_etags(expect.etags)); }

Task<UploadPlace> place_of_upload(UploadRoom& room, const Caller& caller, const UploadOptions& options) {
  auto free_of_size = options;
  free_of_size.size_hint.reset();  // it is reserved already
  auto place = co_await checked_place(room, caller, free_of_size);
  co_return UploadPlace{place.drive, place.parent, std::move(place.name)};
}

Node made_node(const Caller& caller, const Commit& commit, const std::string& mime, const Committed& done) {
  Node n;
  n.id = done.node;
  n.parent = done.parent;
  n.drive = commit.drive;
  n.name = done.name;
  n.size_bytes = commit.body->size_bytes;
  n.modified_at = commit.modified_at;
  n.created_at = done.created_at;
  n.etag = store::etag_text(commit.drive.value, done.seq, done.node.value);
  n.mime_type = mime;
  n.content = done.content;
  if (commit.body->sha256 != Sha256{}) n.sha256 = commit.body->sha256;
  n.sha1 = commit.body->sha1;
  n.author = caller.user;
  n.author_name = caller.name;
  n.creator = done.creator;
  n.rights = done.rights;
  return n;
}

Task<std::int16_t> UploadRoom::mime_id(const Caller& caller, std::string type) {
  {
    const std::lock_guard lock(mime_mutex);
    if (const auto at = mime_ids.find(type); at != mime_ids.end()) co_return at->second;
  }
  const auto id = co_await db.write([&](db::Tx& tx) -> std::int16_t {
    auto rows = tx.exec(kMimeFind, type);
    if (rows.empty()) {
      tx.exec(kMimeLock);
      tx.exec(kMimeMake, type, is_known_mime_type(type), caller.user);
      rows = tx.exec(kMimeFind, type);
    }
    // Types beyond what one may bring read as application/octet-stream.
    return rows.empty() ? std::int16_t{0} : rows[0].i16(0);
  });
  if (id != 0) {
    const std::lock_guard lock(mime_mutex);
    mime_ids.emplace(std::move(type), id);
  }
  co_return id;
}

Task<std::unique_ptr<Upload>> open_upload(std::shared_ptr<UploadRoom> room, Caller caller,
                                          UploadOptions options) {
  if (!options.target.file) options.target.name = require_name(options.target.name, Kind::file);
  auto place = co_await open_place(*room, caller, options);
  if (!place) place = co_await checked_place(*room, caller, options);
  auto upload = std::make_unique<RunningUpload>(std::move(room), std::move(caller), std::move(options),
                                                std::move(*place));
  co_await upload->begin();
  co_return upload;
}

}  // namespace welkin::files
