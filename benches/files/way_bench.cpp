// From a path to a node and the caller's rights there. BEFORE: one statement a name, and one for each folder
// on the way up. AFTER: one statement for path, node and rights together. Both must find the same node and
// the same rights. A grant sits in the middle of every chain.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "files/node_store.hpp"
#include "scene.hpp"

namespace welkin::files {
namespace {

std::vector<std::string> names_of(int depth) {
  std::vector<std::string> names{"here", "chain " + std::to_string(depth)};
  for (int i = 1; i < depth; ++i) names.push_back(std::to_string(i));
  names.emplace_back("file");
  return names;
}

constexpr db::Stmt kStep{"bench.step", "select id from nodes where parent_id = $1 and name = $2"};
constexpr db::Stmt kUp{"bench.up", "select parent_id, drive_id, flags from nodes where id = $1"};
constexpr db::Stmt kGranted{"bench.granted", R"(
  select coalesce(bit_or(rights), 0)::int from grants
   where node_id = $1 and subject_id = any ($2) and (expires_at is null or expires_at > now()))"};
constexpr db::Stmt kMember{"bench.member", R"(
  select coalesce(bit_or(rights), 0)::int from drive_members where drive_id = $1 and subject_id = any ($2))"};

NodeId walk_before(db::Tx& tx, const Caller& caller, const std::vector<std::string>& names) {
  static constexpr db::Stmt kRoot{"bench.root",
                                  "select root_id from drives where owner_id = $1 and kind = 1"};
  NodeId at = tx.one(kRoot, caller.user)[0].id<NodeId>(0);
  for (const auto& name : names) at = tx.one(kStep, at, name)[0].id<NodeId>(0);
  return at;
}

/// The node itself, without rights.
const db::Stmt& node_stmt() {
  static const std::string text =
      std::string("select ") + store::kNodeColumns + " from nodes n" + store::kNodeJoins + " where n.id = $1";
  static const db::Stmt stmt{"bench.node", text.c_str()};
  return stmt;
}

std::int32_t rights_before(db::Tx& tx, const Caller& caller, NodeId node) {
  benchmark::DoNotOptimize(store::node_of(tx.one(node_stmt(), node)[0]).name.data());
  std::int32_t rights = 0, drive = 0;
  for (NodeId at = node; at;) {
    const auto rows = tx.one(kUp, at);
    drive = rows[0].i32(1);
    if ((rows[0].i16(2) & 1) != 0) rights |= tx.one(kGranted, at, caller.subjects)[0].i32(0);
    at = rows[0].id<NodeId>(0);
  }
  return rights | tx.one(kMember, drive, caller.subjects)[0].i32(0);
}
std::int32_t rights_after(db::Tx& tx, const Caller& caller, NodeId node) {
  return store::find(tx, caller, node)->node.rights;
}

using Found = std::pair<NodeId, std::int32_t>;
Found found_before(db::Tx& tx, const Caller& caller, const std::vector<std::string>& names) {
  const NodeId at = walk_before(tx, caller, names);
  return {at, rights_before(tx, caller, at)};
}
Found found_after(db::Tx& tx, const Caller& caller, const std::vector<std::string>& names) {
  const auto found =
      store::require_found(caller, tx.exec(store::kFindPath, store::path_params(caller, names, 1)));
  return {found.node.id, found.node.rights};
}

/// The way and the node with its rights, as one request asks for them.
template <class Way>
void look(benchmark::State& state, Way way) {
  auto& s = Scene::instance();
  const auto depth = static_cast<int>(state.range(0));
  const NodeId file = s.chain(depth);
  const auto names = names_of(depth);
  for (auto _ : state) {
    const auto found = s.room.database.db().read_now([&](db::Tx& tx) { return way(tx, s.alice, names); });
    if (found.first != file || found.second == 0) arms_differ("the way leads elsewhere");
  }
}
void BM_PathAndRights_Before(benchmark::State& state) { look(state, found_before); }
void BM_PathAndRights_After(benchmark::State& state) { look(state, found_after); }
BENCHMARK(BM_PathAndRights_Before)
    ->Arg(1)
    ->Arg(5)
    ->Arg(12)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(300)
    ->Repetitions(5);
BENCHMARK(BM_PathAndRights_After)
    ->Arg(1)
    ->Arg(5)
    ->Arg(12)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->Iterations(300)
    ->Repetitions(5);

void check_arms() {
  auto& s = Scene::instance();
  const auto bob = s.room.user("bob");
  for (const int depth : {1, 5, 12}) {
    const NodeId file = s.chain(depth);
    s.room.sql(fmt::format(
        "insert into grants (node_id, user_id, rights) select parent_id, {}, 5 from nodes where "
        "id = {}; update nodes set flags = 1 where id = (select parent_id from nodes where id = {})",
        bob.user.value, file.value, file.value));
    s.room.database.db().read_now([&](db::Tx& tx) {
      for (const auto& who : {s.alice, bob}) {
        if (rights_before(tx, who, file) != rights_after(tx, who, file)) arms_differ("the rights differ");
      }
      if (rights_before(tx, bob, file) != 5) arms_differ("the grant is not seen");
      const auto names = names_of(depth);
      if (found_before(tx, s.alice, names).first != file ||
          found_before(tx, s.alice, names) != found_after(tx, s.alice, names))
        arms_differ("the ways differ");
    });
  }
  s.room.sql("analyze");
}

}  // namespace
}  // namespace welkin::files

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  welkin::files::check_arms();
  benchmark::RunSpecifiedBenchmarks();
}
