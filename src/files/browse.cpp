#include "welkin/files/browse.hpp"

#include <algorithm>

#include "files/browse_store.hpp"
#include "files/mime_names.hpp"
#include "files/node_store.hpp"

namespace welkin::files {

struct Browse::Impl {
  Impl(db::Db& d, MimeNames& m, Caller c, NodeId f, std::int32_t r, BrowseWants w, std::string a)
      : db(d),
        types(m),
        caller(std::move(c)),
        folder(f),
        folder_rights(r),
        wants(w),
        after(std::move(a)),
        told(w.digests || w.author),
        members(
            db, told ? store::kMembersTold : store::kMembers,
            [this](const db::Row* last) {
              auto params = place();
              if (told) params.add(wants.digests).add(wants.author);
              return std::move(params.add(last == nullptr ? std::string_view(after) : store::name_of(*last)));
            },
            {.first_rows = 32, .page_rows = 512}) {}

  db::Params place() const {
    db::Params params(folder);
    store::add_gate(params, caller);
    return params;
  }

  Task<> load_mounts() {
    mounts_loaded = true;
    if (!caller.user) co_return;
    auto params = place();
    params.add(caller.user).add(wants.digests).add(wants.author);
    mounts = co_await db.query(store::kMounted, std::move(params));
    co_await learn_types(mounts);
    while (mounts_done < mounts.size() && store::name_of(mounts[mounts_done]) <= after) ++mounts_done;
  }

  Task<> learn_types(const db::Rows& page) {
    if (!wants.mime_type) co_return;
    std::vector<std::int16_t> ids;  // of neighbours that differ: mostly a few
    for (const auto row : page)
      if (const auto id = store::type_of(row); id != 0 && (ids.empty() || ids.back() != id))
        ids.push_back(id);
    if (auto unknown = types.unknown(ids); !unknown.empty()) co_await types.learn(std::move(unknown));
  }

  BrowseRow& add(const db::Row& row, bool is_told) {
    auto& r = rows.emplace_back(store::browse_row_of(row, folder_rights, is_told));
    if (wants.mime_type && !r.is_folder()) r.mime_type = types.name(store::type_of(row));
    return r;
  }

  void add_mount(const db::Row& row) { add(row, true).is_mount = true; }

  /// Adds the mounts that come before `name`; one that a member of the same name hides is passed over.
  void mounts_before(std::string_view name) {
    for (; mounts_done < mounts.size(); ++mounts_done) {
      const auto mount = mounts[mounts_done];
      if (store::name_of(mount) > name) return;
      if (store::name_of(mount) < name) add_mount(mount);
    }
  }

  db::Db& db;
  MimeNames& types;
  Caller caller;
  NodeId folder;
  std::int32_t folder_rights;
  BrowseWants wants;
  std::string after;
  bool told;  // the members' rows have digests and authors
  db::PageStream members;
  db::Rows mounts;
  int mounts_done = 0;
  bool mounts_loaded = false, ended = false;
  std::optional<db::Rows> page;  // what the views of `rows` look at
  std::vector<BrowseRow> rows;
};

Browse::Browse(db::Db& db, MimeNames& types, Caller caller, NodeId folder, std::int32_t folder_rights,
               BrowseWants wants, std::string after)
    : impl_(std::make_unique<Impl>(db, types, std::move(caller), folder, folder_rights, wants,
                                   std::move(after))) {}
Browse::~Browse() = default;
Browse::Browse(Browse&&) noexcept = default;

Task<> Browse::start() { return impl_->members.start(); }

Task<std::span<const BrowseRow>> Browse::next() {
  auto& s = *impl_;
  s.rows.clear();
  if (!s.mounts_loaded) {
    co_await s.members.start();
    co_await s.load_mounts();
  }
  while (s.rows.empty() && !s.ended) {
    s.page = co_await s.members.next();
    if (s.page) {
      co_await s.learn_types(*s.page);
      s.rows.reserve(static_cast<std::size_t>(s.page->size()) + 8);
      for (const auto row : *s.page) {
        if (s.mounts_done < s.mounts.size()) s.mounts_before(store::name_of(row));
        if ((s.add(row, s.told).rights & rights::kRead) == 0) s.rows.pop_back();
      }
      continue;
    }
    s.ended = true;
    for (; s.mounts_done < s.mounts.size(); ++s.mounts_done) {
      s.add_mount(s.mounts[s.mounts_done]);
    }
  }
  co_return std::span<const BrowseRow>(s.rows);
}

BrowseRow browse_row(const Node& node) {
  BrowseRow r;
  r.id = node.id;
  r.drive = node.drive;
  r.kind = node.kind;
  r.name = node.name;
  r.size_bytes = node.size_bytes;
  r.modified_at = node.modified_at;
  r.created_at = node.created_at;
  r.mime_type = node.mime_type;
  r.author_name = node.author_name;
  if (node.sha256) r.sha256 = std::as_bytes(std::span(*node.sha256));
  r.sha1 = node.sha1;
  r.rights = node.rights;
  r.has_properties = node.has_properties;
  r.etag_length = static_cast<std::uint8_t>(std::min(node.etag.size(), r.etag_text.size()));
  std::copy_n(node.etag.begin(), r.etag_length, r.etag_text.begin());
  return r;
}

}  // namespace welkin::files
