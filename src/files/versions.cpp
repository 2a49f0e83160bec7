#include "welkin/files/versions.hpp"

#include <algorithm>
#include <utility>

#include "files/node_store.hpp"
#include "files/refusals.hpp"
#include "files/version_store.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

constexpr std::int32_t kExpireRows = 2'000;  // looked at in one turn

Node require_changeable(db::Tx& tx, const Caller& caller, NodeId file) {
  auto found = store::require(tx, caller, file);
  if ((found.node.rights & rights::kUpdate) == 0) throw refusal("WF403", "forbidden", found.node.name);
  if (found.node.is_folder()) throw refusal("WI400", "not_a_file", found.node.name);
  return std::move(found.node);
}

std::string require_label(std::string label) {
  const bool control = std::any_of(label.begin(), label.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (label.size() > 255 || control || !text::is_utf8(label))
    throw Error(Errc::invalid, "bad_label", "a label is at most 255 bytes of text in one line");
  return label;
}

}  // namespace

Versions::Versions(db::Db& db, blobs::Store& store, const Config& config)
    : db_(db),
      store_(store),
      keep_days_(static_cast<std::int32_t>(config.versions_keep_days)),
      keep_min_(static_cast<std::int32_t>(config.versions_keep_min)) {}

Task<VersionPage> Versions::list(Caller caller, NodeId file, VersionId before, int limit) {
  limit = std::clamp(limit, 1, 1000);
  co_return co_await db_.read([&](db::Tx& tx) {
    VersionPage page;
    page.node = require_changeable(tx, caller, file);
    page.items = store::versions(tx, file, before, limit + 1);
    if (page.items.size() > static_cast<std::size_t>(limit)) {
      page.items.pop_back();
      page.next = page.items.back().id;
    }
    return page;
  });
}

Task<OpenedVersion> Versions::open(Caller caller, NodeId file, VersionId version) {
  // Contents outlive their last reference by the collector's grace, so the three need no common snapshot.
  co_return co_await db_.read([&](db::Tx& tx) {
    OpenedVersion opened;
    opened.node = require_changeable(tx, caller, file);
    auto [found, content] = store::require_version(tx, file, version);
    opened.version = std::move(found);
    opened.content = store_.view(tx, content);
    return opened;
  });
}

Task<> Versions::send(const OpenedVersion& opened, Slice slice, ByteSink& out) {
  co_await store_.send(opened.content, slice, out);
}

Task<Node> Versions::restore(Caller caller, NodeId file, VersionId version, Expect expect,
                             std::vector<db::Uuid> lock_tokens) {
  co_return co_await db_.write([&](db::Tx& tx) {
    store::restore_version(tx, caller, file, version, expect, lock_tokens);
    return store::require(tx, caller, file).node;
  });
}

Task<Version> Versions::label(Caller caller, NodeId file, VersionId version, std::string label) {
  label = require_label(std::move(label));
  co_return co_await db_.write([&](db::Tx& tx) {
    store::label_version(tx, caller, file, version, label);
    return store::require_version(tx, file, version).first;
  });
}

Task<> Versions::remove(Caller caller, NodeId file, VersionId version) {
  co_await db_.write([&](db::Tx& tx) { store::delete_version(tx, caller, file, version); });
}

bool Versions::expire_turn() {
  const auto step = db_.read_now([&](db::Tx& tx) {
    return store::expired_versions(tx, expiry_at_, keep_days_, keep_min_, kExpireRows);
  });
  for (const auto& [drive, ids] : step.expired)
    db_.write_now([&](db::Tx& tx) { store::expire_versions(tx, drive, ids, keep_days_, keep_min_); });
  expiry_at_ = step.last;
  return step.last != 0;
}

}  // namespace welkin::files
