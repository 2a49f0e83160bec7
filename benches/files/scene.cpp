#include "scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace welkin::files {
namespace {

constexpr int kSeedBytes = 5;

constexpr const char* kGrow = R"(
  with c as (select id, size from contents order by id limit 1),
  t as (select drive_id from nodes where id = {top}),
  d as (insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)
    select {top}, 1, 1, 1, t.drive_id, t.drive_id, 2, 'd' || i from t, generate_series(1, {folders}) i returning id),
  f as (insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)
    select d.id, c.id, c.size, 1, 1, 1, t.drive_id, t.drive_id, 1, 'file ' || i || '.txt'
      from d, c, t, generate_series(1, {each}) i)
  insert into folders (node_id, etag_seq, changed_at, bytes_below) select d.id, 1, 1, {each} * c.size from d, c;
  update folders set bytes_below = bytes_below + {bytes} where node_id in ({top}, {here}, {root});
  update drives set used_bytes = used_bytes + {bytes} where root_id = {root};
  analyze nodes; analyze folders;)";

}  // namespace

Scene::Scene() {
  alice = room.user("alice");
  root = room.root(alice);
  here = room.folder(alice, root, "here");
  there = room.folder(alice, root, "there");
  room.put(alice, root, "seed", std::string(kSeedBytes, 'x'));
}

Scene& Scene::instance() {
  static Scene all;
  return all;
}

DriveId Scene::drive() { return run(room.files->node(alice, root)).drive; }

NodeId Scene::tree(const std::string& name, int files, int each) {
  if (const auto at = trees_.find(name); at != trees_.end()) return at->second;
  const auto top = room.folder(alice, here, name);
  each = std::min(files, each);
  const int folders = files / each;
  room.sql(fmt::format(kGrow, fmt::arg("top", top.value), fmt::arg("here", here.value),
                       fmt::arg("root", root.value), fmt::arg("folders", folders), fmt::arg("each", each),
                       fmt::arg("bytes", folders * each * kSeedBytes)));
  return trees_.emplace(name, top).first->second;
}

NodeId Scene::chain(int depth) {
  if (const auto at = chains_.find(depth); at != chains_.end()) return at->second;
  NodeId folder = room.folder(alice, here, "chain " + std::to_string(depth));
  for (int i = 1; i < depth; ++i) folder = room.folder(alice, folder, std::to_string(i));
  return chains_.emplace(depth, room.put(alice, folder, "file", "x").node.id).first->second;
}

void arms_differ(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

}  // namespace welkin::files
