#include "welkin/files/check.hpp"

#include <functional>
#include <set>
#include <string_view>

namespace welkin::files {
namespace {

using blobs::Inspection;
using db::Stmt;
using Weight = blobs::Finding::Weight;
using Mended = Inspection::Mended;

constexpr std::int64_t kPage = 1'000;

class TreeCheck {
 public:
  explicit TreeCheck(Inspection& inspection) : in_(inspection), db_(inspection.db()) {}

  void nodes();
  void cycles();
  void versions();
  void roots();
  void trash();
  void folder_sums();
  void drive_sums();

 private:
  /// Walks by key in pages: `f` gets each row that `wrong` ($1 < key <= $2) answers.
  void walk(const Stmt& last, const Stmt& wrong, const std::function<void(const db::Row&)>& f);
  void node(const db::Row& row);
  Mended mend_node(std::int64_t id, std::string_view fault);
  /// Runs `stmt` with $1 = id. @return its one boolean
  bool ask(const Stmt& stmt, std::int64_t id);
  void run(const Stmt& stmt, std::int64_t id);
  Mended recount(std::int64_t drive);

  Inspection& in_;
  db::Db& db_;
  std::set<std::int64_t> recounted_;  // drives; emptied before each look at sums
};

constexpr Stmt kLastNode{
    "check.page_of_nodes",
    "select max(id), count(*) from (select id from nodes where id > $1 order by id limit $2) x"};
constexpr Stmt kRecover{"check.recover_node", "select recover_node($1)"};

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

void TreeCheck::walk(const Stmt& last, const Stmt& wrong, const std::function<void(const db::Row&)>& f) {
  std::int64_t after = 0;
  while (true) {
    const auto page = db_.read_now([&](db::Tx& tx) { return tx.one(last, after, kPage); });
    if (page[0].is_null(0)) return;
    const auto to = page[0].i64(0);
    const auto rows = db_.read_now([&](db::Tx& tx) { return tx.exec(wrong, after, to); });
    for (const auto row : rows) f(row);
    after = to;
  }
}

bool TreeCheck::ask(const Stmt& stmt, std::int64_t id) {
  return db_.write_now([&](db::Tx& tx) {
    const auto rows = tx.exec(stmt, id);
    return !rows.empty() && rows[0].boolean(0);
  });
}

void TreeCheck::run(const Stmt& stmt, std::int64_t id) {
  db_.write_now([&](db::Tx& tx) { tx.exec(stmt, id); });
}

Mended TreeCheck::recount(std::int64_t drive) {
  static constexpr Stmt kRecount{"check.recount_drive", "select 1 from recount_drive($1::integer)"};
  if (recounted_.insert(drive).second) run(kRecount, drive);
  return {true, "the drive was counted again"};
}

// -- shape

void TreeCheck::nodes() {
  static constexpr Stmt kWrong{"check.nodes", R"(
    select * from (
      select n.id, n.kind, n.name, n.drive_id, n.parent_id,
        case when n.parent_id is null and n.id is distinct from d.root_id and n.id is distinct from d.trash_id
               then 'node.unrooted'
             when n.parent_id is not null and p.id is null then 'node.parent_missing'
             when p.kind = 1 then 'node.parent_is_file'
             when p.drive_id <> n.drive_id then 'node.drive'
             when n.kind = 2 and f.node_id is null then 'folder.row_missing'
             when n.kind = 1 and f.node_id is not null then 'folder.row_surplus'
             when n.kind = 1 and c.id is null then 'node.content_missing'
             when n.kind = 1 and c.size <> n.size then 'node.size' end fault
        from nodes n left join drives d on d.id = n.drive_id left join nodes p on p.id = n.parent_id
             left join folders f on f.node_id = n.id left join contents c on c.id = n.content_id
       where n.id > $1 and n.id <= $2) x
     where fault is not null order by id)"};
  std::int64_t after = 0;
  while (true) {  // as walk, and counts
    const auto page = db_.read_now([&](db::Tx& tx) { return tx.one(kLastNode, after, kPage); });
    if (page[0].is_null(0)) return;
    const auto to = page[0].i64(0);
    const auto rows = db_.read_now([&](db::Tx& tx) { return tx.exec(kWrong, after, to); });
    for (const auto row : rows) node(row);
    in_.looked_at["nodes"] += static_cast<std::uint64_t>(page[0].i64(1));
    after = to;
  }
}

const char* explain(std::string_view fault) {
  if (fault == "node.unrooted") return "has no parent and is neither root nor trash of its drive";
  if (fault == "node.parent_missing") return "lies in a folder that is not there";
  if (fault == "node.parent_is_file") return "lies in something that is a file";
  if (fault == "node.drive") return "belongs to another drive than its folder";
  if (fault == "folder.row_missing") return "has no sums";
  if (fault == "folder.row_surplus") return "is a file with the sums of a folder";
  if (fault == "node.content_missing") return "names a content that is not there";
  return "has another size than its content";
}

void TreeCheck::node(const db::Row& row) {
  const auto id = row.i64(0);
  const auto fault = row.str(5);
  const auto subject = (row.i64(1) == 2 ? "folder " : "file ") + std::to_string(id);
  const auto detail = quoted(row.text(2)) + " " + explain(fault);
  if (fault == "node.content_missing") return in_.report(Weight::loss, fault, subject, detail);
  in_.report(Weight::fault, fault, subject, detail, [&] { return mend_node(id, fault); });
}

Mended TreeCheck::mend_node(std::int64_t id, std::string_view fault) {
  static constexpr Stmt kSettle{"check.settle_node", "select settle_node($1)"};
  static constexpr Stmt kAddFolder{"check.add_folder", R"(
    insert into folders (node_id, etag_seq, changed_at) select id, etag_seq, now_us() from nodes where id = $1 and kind = 2
        on conflict do nothing)"};
  static constexpr Stmt kDropFolder{"check.drop_folder", R"(
    delete from folders f using nodes n where n.id = f.node_id and n.kind = 1 and f.node_id = $1)"};
  static constexpr Stmt kLockDrive{"check.lock_drive_of",
                                   "select pg_advisory_xact_lock(1, drive_id) from nodes where id = $1"};
  static constexpr Stmt kSize{"check.node_size", R"(
    update nodes n set size = c.size from contents c where n.id = $1 and c.id = n.content_id)"};
  if (fault == "node.drive") {
    const bool moved = ask(kSettle, id);
    return {true, moved ? "given, with what is below it, to its folder's drive" : "right meanwhile"};
  }
  if (fault == "folder.row_missing") {
    run(kAddFolder, id);
    return {true, "added"};
  }
  if (fault == "folder.row_surplus") {
    run(kDropFolder, id);
    return {true, "removed"};
  }
  if (fault == "node.size") {
    db_.write_now([&](db::Tx& tx) {
      tx.exec(kLockDrive, id);
      tx.exec(kSize, id);
    });
    return {true, "taken from its content"};
  }
  if (!ask(kRecover, id)) return {false, "its drive has no root to hang it into"};
  return {true, "hung into the root of its drive as \"recovered " + std::to_string(id) + "\""};
}

void TreeCheck::cycles() {
  // Walks up from each folder until the top, or itself. What hangs below a cycle walks until the limit, and
  // is no member.
  static constexpr Stmt kCycles{"check.cycles", R"(
    with recursive up as (
      select n.id start, n.parent_id id, 1 depth from nodes n
       where n.id > $1 and n.id <= $2 and n.kind = 2 and n.parent_id is not null
      union all
      select up.start, n.parent_id, up.depth + 1 from up join nodes n on n.id = up.id
       where n.parent_id is not null and up.id <> up.start and up.depth < 1000)
    select distinct start from up where id = start order by start)"};
  static constexpr Stmt kStillOne{"check.is_cycle", R"(
    with recursive up as (
      select n.parent_id id, 1 depth from nodes n where n.id = $1
      union all
      select n.parent_id, up.depth + 1 from up join nodes n on n.id = up.id where up.id <> $1 and up.depth < 1000)
    select exists (select from up where id = $1))"};
  walk(kLastNode, kCycles, [&](const db::Row& row) {
    const auto id = row.i64(0);
    in_.report(Weight::fault, "node.cycle", "folder " + std::to_string(id), "lies, some way down, in itself",
               [&]() -> Mended {
                 if (!ask(kStillOne, id)) return {true, "its cycle is broken"};
                 if (!ask(kRecover, id)) return {false, "its drive has no root to hang it into"};
                 return {true, "hung into the root of its drive as \"recovered " + std::to_string(id) + "\""};
               });
  });
}

void TreeCheck::versions() {
  static constexpr Stmt kLast{
      "check.page_of_versions",
      "select max(id) from (select id from versions where id > $1 order by id limit $2) x"};
  static constexpr Stmt kWrong{"check.versions", R"(
    select v.id, v.node_id, c.id is null, v.size, c.size from versions v left join contents c on c.id = v.content_id
     where v.id > $1 and v.id <= $2 and c.size is distinct from v.size order by v.id)"};
  static constexpr Stmt kSize{"check.version_size", R"(
    update versions v set size = c.size from contents c where v.id = $1 and c.id = v.content_id)"};
  walk(kLast, kWrong, [&](const db::Row& row) {
    const auto id = row.i64(0);
    const auto subject = "version " + std::to_string(id);
    const auto of = "of file " + std::to_string(row.i64(1));
    if (row.boolean(2)) {
      in_.report(Weight::loss, "version.content_missing", subject, of + " names a content that is not there");
      return;
    }
    in_.report(Weight::fault, "version.size", subject, of + " has another size than its content",
               [&]() -> Mended {
                 run(kSize, id);
                 return {true, "taken from its content"};
               });
  });
}

void TreeCheck::roots() {
  static constexpr Stmt kWrong{"check.drive_roots", R"(
    select d.id from drives d left join users u on u.id = d.owner_id
      left join nodes r on r.id = d.root_id left join nodes t on t.id = d.trash_id
     where u.deleting_since is null
       and (r.id is null or t.id is null or r.id = t.id or r.parent_id is not null or t.parent_id is not null
         or r.drive_id <> d.id or t.drive_id <> d.id or r.kind <> 2 or t.kind <> 2) order by d.id)"};
  const auto rows = db_.read_now([](db::Tx& tx) { return tx.exec(kWrong); });
  for (const auto row : rows)
    in_.report(Weight::fault, "drive.root", "drive " + std::to_string(row.i64(0)),
               "its root or its trash is not a folder at the top of it");
}

// -- trash

void TreeCheck::trash() {
  static constexpr Stmt kLast{
      "check.page_of_trash",
      "select max(node_id) from (select node_id from trash where node_id > $1 order by node_id limit $2) x"};
  static constexpr Stmt kWrong{"check.trash", R"(
    select t.node_id, t.from_name, n.drive_id, n.parent_id is distinct from d.trash_id, t.drive_id <> n.drive_id
      from trash t join nodes n on n.id = t.node_id join drives d on d.id = n.drive_id
     where t.node_id > $1 and t.node_id <= $2
       and (n.parent_id is distinct from d.trash_id or t.drive_id <> n.drive_id) order by t.node_id)"};
  static constexpr Stmt kDrop{"check.drop_trash", R"(
    delete from trash t using nodes n, drives d
     where t.node_id = $1 and n.id = t.node_id and d.id = n.drive_id and n.parent_id is distinct from d.trash_id)"};
  static constexpr Stmt kDrive{
      "check.trash_drive",
      "update trash t set drive_id = n.drive_id from nodes n where n.id = t.node_id and n.id = $1"};
  static constexpr Stmt kMissing{"check.trash_missing", R"(
    select n.id, n.kind from drives d join nodes n on n.parent_id = d.trash_id
     where not exists (select from trash t where t.node_id = n.id) order by n.id)"};
  static constexpr Stmt kAdd{"check.add_trash", R"(
    insert into trash (node_id, drive_id, from_parent_id, bytes, from_name)
    select n.id, d.id, d.root_id, case when n.kind = 1 then n.size else coalesce(f.bytes_below, 0) end,
           'recovered ' || n.id
      from nodes n join drives d on d.trash_id = n.parent_id left join folders f on f.node_id = n.id
     where n.id = $1 on conflict do nothing)"};
  walk(kLast, kWrong, [&](const db::Row& row) {
    const auto id = row.i64(0);
    const bool outside = row.boolean(3);
    in_.report(Weight::fault, outside ? "trash.outside" : "trash.drive", "node " + std::to_string(id),
               quoted(row.text(1)) + (outside ? " is listed in the trash, but lies elsewhere"
                                              : " is listed in the trash of another drive"),
               [&]() -> Mended {
                 run(outside ? kDrop : kDrive, id);
                 return {true,
                         outside ? "no longer listed there; it stays where it lies" : "listed in its own"};
               });
  });
  const auto missing = db_.read_now([](db::Tx& tx) { return tx.exec(kMissing); });
  for (const auto row : missing) {
    const auto id = row.i64(0);
    in_.report(Weight::fault, "trash.unlisted", (row.i64(1) == 2 ? "folder " : "file ") + std::to_string(id),
               "lies in the trash, but is not listed there", [&]() -> Mended {
                 run(kAdd, id);
                 return {true, "listed as \"recovered " + std::to_string(id) + "\""};
               });
  }
}

// -- sums

void TreeCheck::folder_sums() {
  static constexpr Stmt kLast{"check.page_of_folders",
                              "select max(node_id) from (select node_id from folders where node_id > $1 "
                              "order by node_id limit $2) x"};
  // Right everywhere when each is the sum of its own children's. A drive that is being removed with its owner
  // is not counted any more.
  static constexpr Stmt kWrong{"check.folder_sums", R"(
    select f.node_id, n.drive_id, n.name, f.bytes_below, x.bytes
      from folders f join nodes n on n.id = f.node_id join drives d on d.id = n.drive_id
      left join users u on u.id = d.owner_id
     cross join lateral (
       select coalesce(sum(case when c.kind = 1 then c.size else cf.bytes_below end), 0)::bigint bytes
         from nodes c left join folders cf on cf.node_id = c.id where c.parent_id = f.node_id) x
     where f.node_id > $1 and f.node_id <= $2 and f.bytes_below <> x.bytes and u.deleting_since is null
       and not exists (
         with recursive up as (
           select f.node_id id, n.parent_id, 0 depth
           union all
           select p.id, p.parent_id, up.depth + 1 from up join nodes p on p.id = up.parent_id where up.depth < 1000)
         select from up join trash t on t.node_id = up.id where t.purging)
     order by f.node_id)"};
  recounted_.clear();
  walk(kLast, kWrong, [&](const db::Row& row) {
    const auto drive = row.i64(1);
    in_.report(Weight::fault, "folder.bytes", "folder " + std::to_string(row.i64(0)),
               quoted(row.text(2)) + " counts " + std::to_string(row.i64(3)) + " bytes below it, there are " +
                   std::to_string(row.i64(4)),
               [&] { return recount(drive); });
  });
}

void TreeCheck::drive_sums() {
  static constexpr Stmt kDrives{"check.drives", R"(
    select d.id from drives d left join users u on u.id = d.owner_id
     where d.id > $1 and u.deleting_since is null order by d.id limit $2)"};
  static constexpr Stmt kSums{"check.drive_sums", R"(
    select d.used_bytes, d.reserved_bytes,
           ((select coalesce(sum(n.size), 0) from nodes n where n.drive_id = d.id and n.kind = 1)
          + (select coalesce(sum(v.size), 0) from nodes n join versions v on v.node_id = n.id
              where n.drive_id = d.id)
          + (select coalesce(sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value)), 0)
               from node_properties p join nodes n on n.id = p.node_id where n.drive_id = d.id)
          + case when d.kind = 1 then collection_bytes(d.owner_id) else 0 end)::bigint,
           (select coalesce(sum(u.reserved), 0)::bigint from uploads u where u.drive_id = d.id)
      from drives d where d.id = $1::integer)"};
  recounted_.clear();
  std::int64_t after = 0;
  while (true) {
    const auto drives = db_.read_now([&](db::Tx& tx) { return tx.exec(kDrives, after, kPage); });
    for (const auto drive : drives) {
      after = drive.i64(0);
      ++in_.looked_at["drives"];
      const auto sums = db_.read_now([&](db::Tx& tx) { return tx.exec(kSums, after); });
      if (sums.empty()) continue;
      const auto row = sums[0];
      const auto subject = "drive " + std::to_string(after);
      if (row.i64(0) != row.i64(2))
        in_.report(
            Weight::fault, "drive.used", subject,
            "counts " + std::to_string(row.i64(0)) + " bytes in use, there are " + std::to_string(row.i64(2)),
            [&] { return recount(after); });
      if (row.i64(1) != row.i64(3))
        in_.report(Weight::fault, "drive.reserved", subject,
                   "keeps " + std::to_string(row.i64(1)) + " bytes for uploads, which announced " +
                       std::to_string(row.i64(3)),
                   [&] { return recount(after); });
    }
    if (drives.size() < kPage) return;
  }
}

}  // namespace

void check_tree(blobs::Inspection& inspection) {
  TreeCheck check(inspection);
  check.roots();
  check.nodes();
  check.cycles();
  check.versions();
  check.trash();
  check.folder_sums();
  check.drive_sums();
}

}  // namespace welkin::files
