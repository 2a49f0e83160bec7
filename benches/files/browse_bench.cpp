// All members of a folder of 10,000, in pages, as PROPFIND asks for them.
//   BEFORE  a join for folders' own numbers, a look-up for the type of every row, thirteen values and more a
//   row AFTER   Browse: six values a row; what is mostly the same is null, a type is its number in the
//   dictionary
// Both must tell the same of every row. The types are asked for, as allprop does.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "files/browse_store.hpp"
#include "files/node_store.hpp"
#include "scene.hpp"
#include "support/run.hpp"
#include "welkin/files/browse.hpp"

namespace welkin::files {
namespace {

constexpr int kFiles = 10'000;

constexpr db::Stmt kJoined{
    "bench.members_joined",
    "select n.id, n.drive_id, n.kind, n.flags, case when n.kind = 2 then f.bytes_below else n.size end,"
    " case when n.kind = 2 then f.changed_at else n.mtime end, n.created_at,"
    " case when n.kind = 2 then n.drive_id else n.etag_drive end,"
    " case when n.kind = 2 then f.etag_seq else n.etag_seq end,"
    " case when n.kind = 1 then (select m.name from mime_types m where m.id = n.mime) end,"
    " case when n.flags & 1 = 1 then (select g.rights from gate(n.id, $2, $3, $4, $5, $6) g) else $7 end, "
    "n.name"
    " from nodes n left join lateral (select x.etag_seq, x.changed_at, x.bytes_below from folders x"
    "  where x.node_id = case when n.kind = 2 then n.id end offset 0) f on true"
    " where n.parent_id = $1 and n.name > $8 order by n.name limit $9"};

void tell(std::string* out, std::int64_t id, std::int64_t drive, bool folder, std::uint64_t size,
          Micros modified, Micros created, std::string_view etag, std::string_view type, std::int32_t rights,
          std::string_view name) {
  if (out != nullptr)
    *out += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", id, drive, folder, size, modified, created, etag,
                        type, rights, name);
}

Task<std::size_t> joined(Scene& scene, NodeId folder, std::string* out) {
  db::PageStream pages(scene.room.database.db(), kJoined,
                       [&](const db::Row* last) {
                         db::Params params(folder);
                         store::add_gate(params, scene.alice).add(rights::kOwner);
                         return std::move(params.add(last == nullptr ? std::string_view() : last->text(11)));
                       },
                       {.first_rows = 32, .page_rows = 512});
  std::size_t count = 0;
  while (const auto page = co_await pages.next()) {
    for (const auto row : *page) {
      ++count;
      tell(out, row.i64(0), row.i64(1), row.i64(2) == 2, static_cast<std::uint64_t>(row.i64(4)), row.i64(5),
           row.i64(6), store::etag_text(row.i64(7), row.i64(8), row.i64(0)),
           row.is_null(9) ? std::string_view() : row.text(9), row.i32(10), row.text(11));
    }
  }
  co_return count;
}

Task<std::size_t> browsed(Scene& scene, NodeId folder, std::string* out) {
  auto browse = scene.room.files->browse(scene.alice, folder, rights::kOwner, {.mime_type = true});
  std::size_t count = 0;
  for (auto page = co_await browse.next(); !page.empty(); page = co_await browse.next()) {
    for (const auto& row : page) {
      ++count;
      tell(out, row.id.value, row.drive.value, row.is_folder(), row.size_bytes, row.modified_at,
           row.created_at, row.etag(), row.mime_type, row.rights, row.name);
    }
  }
  co_return count;
}

NodeId folder_of_files() {
  auto& scene = Scene::instance();
  static const NodeId made = [&] {
    const auto top = scene.tree("to be browsed", kFiles, kFiles);
    const NodeId folder{scene.room.number(
        "select max(parent_id) from nodes where kind = 1 and parent_id in (select id from nodes"
        " where parent_id = " +
        std::to_string(top.value) + ")")};
    scene.room.folder(scene.alice, folder, "inside");
    scene.room.sql(
        "insert into mime_types (id, name) overriding system value select coalesce(max(id), 0) + 1, "
        "'text/x-bench' from mime_types;"
        " update nodes set mime = (select id from mime_types where name = 'text/x-bench'), created_at = mtime"
        " where kind = 1 and parent_id = " +
        std::to_string(folder.value) + "; analyze nodes; analyze folders");
    std::string before, after;
    tests::run(joined(scene, folder, &before));
    tests::run(browsed(scene, folder, &after));
    if (before != after) arms_differ("the two tell different things of a folder");
    return folder;
  }();
  return made;
}

template <class Way>
void measure(benchmark::State& state, Way way) {
  const auto folder = folder_of_files();
  std::size_t rows = 0;
  for (auto _ : state) rows += tests::run(way(Scene::instance(), folder, nullptr));
  state.SetItemsProcessed(static_cast<std::int64_t>(rows));
}

void BM_BrowseBefore(benchmark::State& state) { measure(state, joined); }
void BM_BrowseAfter(benchmark::State& state) { measure(state, browsed); }
BENCHMARK(BM_BrowseBefore)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BrowseAfter)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace welkin::files

BENCHMARK_MAIN();
