#include "welkin/files/files.hpp"

#include <algorithm>
#include <utility>

#include "files/listing.hpp"
#include "files/mime_names.hpp"
#include "files/node_store.hpp"
#include "files/refusals.hpp"
#include "files/trash_store.hpp"
#include "files/upload.hpp"
#include "welkin/files/archives.hpp"
#include "welkin/files/batch.hpp"
#include "welkin/files/browse.hpp"
#include "welkin/files/changes.hpp"
#include "welkin/files/events.hpp"
#include "welkin/files/favorites.hpp"
#include "welkin/files/locks.hpp"
#include "welkin/files/part_uploads.hpp"
#include "welkin/files/photos.hpp"
#include "welkin/files/properties.hpp"
#include "welkin/files/search.hpp"
#include "welkin/files/trash.hpp"
#include "welkin/files/versions.hpp"

namespace welkin::files {
namespace {

constexpr db::Stmt kMove{
    "files.move_node",
    "select created, moved from move_node($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
    "$13, $14, $15, $16)"};
constexpr db::Stmt kCopy{
    "files.copy_node",
    "select node_id, created from copy_node($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, "
    "$12, $13, $14, $15, $16)"};
constexpr db::Stmt kDriveOwner{"files.drive_owner",
                               "select u.id, u.name, coalesce(nullif(u.display_name, ''), u.name) from drives d"
                               " join users u on u.id = d.owner_id where d.id = $1"};
constexpr db::Stmt kExpired{"files.expired_uploads",
                            "select id from uploads where expires_at <= now() order by expires_at limit 100"};
constexpr db::Stmt kDropUpload{"files.drop_upload", "select drop_upload($1)"};

/// What move and copy check under the drive's lock, behind the gate's values.
void add_demands(db::Params& params, const Expect& expect, const std::vector<db::Uuid>& lock_tokens,
                 std::int32_t nodes_max) {
  params.add(static_cast<std::int16_t>(expect.kind))
      .add(store::own_etags(expect.etags))
      .add(lock_tokens)
      .add(store::kDepthMax)
      .add(nodes_max);
}

}  // namespace

struct Files::Impl {
  Impl(db::Db& db, blobs::Store& store, const Config& config, const Clock& clock)
      : db(db),
        store(store),
        nodes_max(static_cast<std::int32_t>(config.tree_nodes_max)),
        room(std::make_shared<UploadRoom>(db, store, clock, config.windows_names)),
        locks(room),
        properties(room),
        favorites(db),
        recent(db),
        search(db),
        part_uploads(room),
        photos(db),
        change_log(db),
        trash_bin(db, config, clock),
        versions(db, store, config),
        batches(db, trash_bin, nodes_max, config.windows_names),
        archives(db, store),
        types(db),
        events(std::make_shared<EventHub>(db)) {}
  db::Db& db;
  blobs::Store& store;
  std::int32_t nodes_max;
  std::shared_ptr<UploadRoom> room;
  Locks locks;
  Properties properties;
  Favorites favorites;
  Recent recent;
  Search search;
  PartUploads part_uploads;
  Photos photos;
  ChangeLog change_log;
  Trash trash_bin;
  Versions versions;
  Batches batches;
  Archives archives;
  MimeNames types;
  std::shared_ptr<EventHub> events;
};

Files::Files(db::Db& db, blobs::Store& store, const Config& config, const Clock& clock)
    : impl_(std::make_shared<Impl>(db, store, config, clock)) {}
Files::~Files() { close(); }

ChangeLog& Files::change_log() { return impl_->change_log; }
std::shared_ptr<EventHub> Files::events() { return impl_->events; }
Archives& Files::archives() { return impl_->archives; }
Locks& Files::locks() { return impl_->locks; }
Batches& Files::batches() { return impl_->batches; }
Trash& Files::trash_bin() { return impl_->trash_bin; }
Versions& Files::versions() { return impl_->versions; }
Properties& Files::properties() { return impl_->properties; }
Favorites& Files::favorites() { return impl_->favorites; }
Recent& Files::recent() { return impl_->recent; }
Search& Files::search() { return impl_->search; }
PartUploads& Files::part_uploads() { return impl_->part_uploads; }
Photos& Files::photos() { return impl_->photos; }

void Files::close() {
  impl_->events->close();
  impl_->room->cleaner.join();
}

Task<Node> Files::home(Caller caller) { co_return co_await by_path(std::move(caller), {}); }

Task<Node> Files::node(Caller caller, NodeId id) {
  const auto rows = co_await impl_->db.query(store::kFind, store::find_params(caller, id));
  co_return store::require_found(caller, rows).node;
}

Task<Node> Files::by_path(Caller caller, std::vector<std::string> names) {
  for (auto& name : names) name = require_name(name, Kind::file);
  const auto rows = co_await impl_->db.query(store::kFindPath, store::path_params(caller, names, 1));
  co_return store::require_found(caller, rows).node;
}

Task<Located> Files::locate(Caller caller, std::vector<std::string> names) {
  for (auto& name : names) name = require_name(name, Kind::file);
  const auto rows = co_await impl_->db.query(store::kFindPath, store::path_params(caller, names, 2));
  co_return store::located(caller, names, rows);
}

Task<std::vector<Node>> Files::ancestors(Caller caller, NodeId id) {
  co_return co_await impl_->db.read(
      [&](db::Tx& tx) { return store::ancestors(tx, caller, store::require(tx, caller, id)); });
}

Task<std::string> Files::path(Caller caller, NodeId id) {
  const auto rows = co_await impl_->db.query(store::kFind, store::find_params(caller, id));
  co_return *store::require_found(caller, rows).node.path;
}

Task<Page> Files::list(Caller caller, NodeId folder, ListQuery query) {
  query.limit = std::clamp(query.limit, 1, 1000);
  co_return co_await impl_->db.read(
      [&](db::Tx& tx) { return store::page(tx, caller, store::require_folder(tx, caller, folder), query); });
}

Browse Files::browse(const Caller& caller, NodeId folder, std::int32_t folder_rights,
                     const BrowseWants& wants, std::string after) {
  return {impl_->db, impl_->types, caller, folder, folder_rights, wants, std::move(after)};
}

Task<Files::DriveUse> Files::drive_use(DriveId drive) {
  const auto use = co_await impl_->db.read([&](db::Tx& tx) { return store::drive_use(tx, drive); });
  DriveUse out;
  out.used_bytes = static_cast<std::uint64_t>(use.used);
  const auto left = std::max<std::int64_t>(0, use.quota - use.used - use.reserved);
  out.free_bytes = std::min(static_cast<std::uint64_t>(left), impl_->store.space().free_bytes);
  co_return out;
}

Task<Files::DriveOwner> Files::drive_owner(DriveId drive) {
  const auto rows = co_await impl_->db.query(kDriveOwner, db::Params(static_cast<std::int32_t>(drive.value)));
  DriveOwner owner;
  if (rows.empty()) co_return owner;
  rows[0].id_into(0, owner.id);
  owner.name = rows[0].str(1);
  owner.display_name = rows[0].str(2);
  co_return owner;
}

Task<std::optional<Node>> Files::child(Caller caller, NodeId folder, std::string name) {
  co_return co_await impl_->db.read([&](db::Tx& tx) -> std::optional<Node> {
    const auto parent = store::require_folder(tx, caller, folder);
    const NodeId id = store::child(tx, parent.node.id, name);
    if (!id) return std::nullopt;
    auto found = store::find(tx, caller, id);
    if (!found) return std::nullopt;
    return std::move(found->node);
  });
}

Task<Opened> Files::open(Caller caller, NodeId id, std::optional<Slice> slice) {
  auto params = store::find_params(caller, id);
  blobs::Store::add_view(params, slice);
  const auto rows = co_await impl_->db.query(store::kOpen, std::move(params));
  Opened opened;
  opened.node = store::require_found(caller, rows).node;
  if (opened.node.is_folder()) throw Error(Errc::invalid, "is_a_folder", "this is a folder");
  opened.content = blobs::Store::view(rows[0], store::kFoundColumnCount, opened.node.content);
  co_return opened;
}

Task<> Files::send(const Opened& opened, Slice slice, ByteSink& out) {
  co_await impl_->store.send(opened.content, slice, out);
}

Task<Node> Files::create_folder(Caller caller, NodeId parent, std::string name,
                                std::vector<db::Uuid> lock_tokens) {
  name = require_new_name(name, Kind::folder, impl_->room->windows_names);
  impl_->store.require_space();
  co_return co_await impl_->db.write(
      [&](db::Tx& tx) { return store::create_folder(tx, caller, parent, name, lock_tokens); });
}

Task<Placed> Files::move(Caller caller, NodeId id, Move to) {
  co_return co_await impl_->db.write([&](db::Tx& tx) {
    // Told apart for the error's text only; the change itself decides again under the drive's lock.
    const auto before = store::require(tx, caller, id);
    std::optional<std::string> name;
    if (to.name) {
      name = require_name(*to.name, before.node.kind);
      if (*name != before.node.name) require_new_name(*name, before.node.kind, impl_->room->windows_names);
    }
    db::Params params(id, to.parent.value_or(NodeId{}), name, to.replace, caller.user);
    add_demands(store::add_gate(params, caller), to.expect, to.lock_tokens, impl_->nodes_max);
    params.add(to.succeed);
    Placed placed;
    NodeId moved;
    try {
      const auto rows = tx.one(kMove, params);
      placed.created = rows[0].boolean(0);
      rows[0].id_into(1, moved);
    } catch (const db::SqlError& e) {
      rethrow(e, name.value_or(before.node.name));
    }
    placed.node = store::require(tx, caller, moved).node;
    return placed;
  });
}

Task<Placed> Files::copy(Caller caller, NodeId id, Copy to) {
  impl_->store.require_space();
  co_return co_await impl_->db.write([&](db::Tx& tx) {
    const auto before = store::require(tx, caller, id);  // as in move
    const auto name = require_new_name(to.name, before.node.kind, impl_->room->windows_names);
    db::Params params(id, to.parent, name, to.children, to.replace, caller.user);
    add_demands(store::add_gate(params, caller), to.expect, to.lock_tokens, impl_->nodes_max);
    Placed placed;
    NodeId made;
    try {
      const auto rows = tx.one(kCopy, params);
      rows[0].id_into(0, made);
      placed.created = rows[0].boolean(1);
    } catch (const db::SqlError& e) {
      rethrow(e, name);
    }
    placed.node = store::require(tx, caller, made).node;
    return placed;
  });
}

Task<> Files::trash(Caller caller, NodeId id, Expect expect, std::vector<db::Uuid> lock_tokens) {
  co_await impl_->db.write([&](db::Tx& tx) { store::trash(tx, caller, id, expect, lock_tokens); });
}

Task<std::unique_ptr<Upload>> Files::begin_upload(Caller caller, UploadOptions options) {
  co_return co_await open_upload(impl_->room, std::move(caller), std::move(options));
}

bool Files::expire_uploads() {
  const auto due = impl_->db.read_now([](db::Tx& tx) {
    std::vector<std::int64_t> ids;
    for (const auto row : tx.exec(kExpired)) ids.push_back(row.i64(0));
    return ids;
  });
  for (const auto id : due) impl_->db.write_now([id](db::Tx& tx) { tx.exec(kDropUpload, id); });
  return due.size() == 100;
}

}  // namespace welkin::files
