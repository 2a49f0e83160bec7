#include "files/gatherer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "files/refusals.hpp"
#include "welkin/core/metrics.hpp"

namespace welkin::files {
namespace {

metrics::Counter g_groups("welkin_commit_groups_total", "Transactions that committed gathered file writes");
metrics::Counter g_items("welkin_commit_items_total", "File writes committed by groups");

constexpr db::Stmt kCommitFiles{
    "files.commit_files",
    "select * from commit_files($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, "
    "$17, $18, ($19::text[])::boolean[], $20, $21)"};

// A refused item's content was inserted before the refusal was known; nothing refers to it.
constexpr db::Stmt kDropContents{
    "files.drop_contents",
    "insert into content_gc (content_id) select unnest($1::bigint[]) on conflict do nothing"};

bool same_caller(const Caller& a, const Caller& b) {
  return a.user == b.user && a.session == b.session && a.app_password == b.app_password &&
         a.subjects == b.subjects && a.rights_mask == b.rights_mask && a.root_limit == b.root_limit &&
         a.link_node == b.link_node && a.link_rights == b.link_rights;
}

/// The columns of a group, one entry an item.
struct Columns {
  std::vector<std::int64_t> parents, files, contents, sizes, mtimes, uploads;
  std::vector<std::int16_t> mimes, expects;
  std::vector<std::string> names, etags, overwrites, tokens;
};

}  // namespace

Task<Committed> Gatherer::commit(const Commit& item) {
  Waiting me;
  me.item = &item;
  const std::int64_t drive = item.drive.value;
  bool leads = false;
  {
    const std::lock_guard lock(mutex_);
    auto& queue = queues_[drive];
    queue.waiting.push_back(&me);
    leads = !std::exchange(queue.busy, true);
  }
  if (!leads) co_await me.turn.wait();
  if (!me.done) co_await lead(drive, me);
  if (me.failure) std::rethrow_exception(me.failure);
  co_return std::move(me.result);
}

Gatherer::Group Gatherer::take_leader(std::int64_t drive) {
  const std::lock_guard lock(mutex_);
  auto& waiting = queues_.at(drive).waiting;
  Group group{waiting.front()};
  waiting.pop_front();
  return group;
}

Gatherer::Group Gatherer::take_group(std::int64_t drive) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_.at(drive);
  Group group;
  std::set<std::pair<std::int64_t, std::string>> targets;
  std::uint64_t inline_bytes = 0;
  std::deque<Waiting*> rest;
  for (Waiting* w : queue.waiting) {
    const Commit& c = *w->item;
    const std::uint64_t bytes = c.body->is_inline() ? c.body->size_bytes : 0;
    const bool fits =
        group.size() < group_items_max_ && (group.empty() || inline_bytes + bytes <= kGroupBytesMax);
    // Two writes to one target follow each other in two groups, so that both contents stay reachable. A file
    // named by its id may be a name of the same group, so such a write goes alone.
    const bool alone = c.file && !group.empty();
    const bool after_a_lone_one = !group.empty() && group.front()->item->file;
    if (fits && !alone && !after_a_lone_one &&
        (group.empty() || same_caller(*group.front()->item->caller, *c.caller)) &&
        targets.emplace(c.parent.value, c.name).second) {
      group.push_back(w);
      inline_bytes += bytes;
    } else {
      rest.push_back(w);
    }
  }
  queue.waiting = std::move(rest);
  return group;
}

Task<> Gatherer::lead(std::int64_t drive, Waiting& leader) {
  Group group;
  co_await run(group, drive);
  // From here on the others may end at any time; only the leader is ours. They are answered before the next
  // leader is called, so that a writer who has more to send can be in time for the next group.
  for (Waiting* w : group) {
    w->done = true;
    if (w != &leader) w->turn.set();
  }
  pass_on(drive);
}

void Gatherer::pass_on(std::int64_t drive) {
  const std::lock_guard lock(mutex_);
  const auto at = queues_.find(drive);
  if (at->second.waiting.empty()) {
    queues_.erase(at);
  } else {
    at->second.waiting.front()->turn.set();
  }
}

Committed Gatherer::commit_in(db::Tx& tx, const Commit& item) {
  Waiting lone;
  lone.item = &item;
  Group group{&lone};
  commit_group(tx, group);
  if (lone.failure) std::rethrow_exception(lone.failure);
  return std::move(lone.result);
}

Task<> Gatherer::run(Group& group, std::int64_t drive) {
  std::exception_ptr failure;
  bool uncertain = false;
  try {
    co_await db_.write([&](db::Tx& tx) {
      if (group.empty()) group = take_group(drive);  // the transaction may be tried again
      commit_group(tx, group);
    });
  } catch (const Error& e) {
    failure = std::current_exception();
    uncertain = e.code() == Errc::unavailable;
  } catch (...) {
    failure = std::current_exception();
  }
  if (group.empty()) group = take_leader(drive);  // there was no transaction
  if (!failure) {
    g_groups.add();
    g_items.add(group.size());
    // Refused items were recorded too: their contents are left to the collector.
    for (Waiting* w : group) store_.committed(*w->item->body);
    co_return;
  }
  if (uncertain) {  // it may have happened: neither again, nor away with the bytes
    for (Waiting* w : group) w->failure = failure;
    co_return;
  }
  if (group.size() > 1) {
    for (Waiting* w : group) {
      Group one{w};
      co_await run(one, drive);
    }
    co_return;
  }
  store_.abandon(*group.front()->item->body);
  group.front()->failure = failure;
}

void Gatherer::commit_group(db::Tx& tx, Group& group) {
  std::vector<const blobs::Sealed*> bodies;
  for (const Waiting* w : group) bodies.push_back(w->item->body);
  const auto contents = store_.record(tx, bodies);

  const Caller& caller = *group.front()->item->caller;
  Columns columns;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Commit& c = *group[i]->item;
    columns.parents.push_back(c.parent.value);
    columns.names.push_back(c.name);
    columns.files.push_back(c.file.value);
    columns.contents.push_back(contents[i].value);
    columns.sizes.push_back(static_cast<std::int64_t>(c.body->size_bytes));
    columns.mtimes.push_back(c.modified_at);
    columns.mimes.push_back(c.mime);
    columns.expects.push_back(c.expect);
    columns.etags.push_back(c.etags);
    columns.overwrites.emplace_back(c.overwrite ? "t" : "f");
    columns.tokens.push_back(c.tokens);
    columns.uploads.push_back(c.upload.value);
  }
  db::Params params;
  params.add(static_cast<std::int32_t>(group.front()->item->drive.value)).add(caller.user);
  params.add(caller.session).add(caller.app_password);
  params.add(caller.subjects).add(caller.rights_mask).add(caller.root_limit).add(caller.link_node);
  params.add(caller.link_rights);
  params.add(columns.parents).add(columns.names).add(columns.files).add(columns.contents).add(columns.sizes);
  params.add(columns.mtimes)
      .add(columns.mimes)
      .add(columns.expects)
      .add(columns.etags)
      .add(columns.overwrites);
  params.add(columns.tokens).add(columns.uploads);

  db::Rows rows;
  try {
    rows = tx.exec(kCommitFiles, params);
  } catch (const db::SqlError& e) {
    rethrow(e, group.front()->item->name);
  }
  std::vector<std::int64_t> dropped;
  for (const auto row : rows) {
    const auto at = static_cast<std::size_t>(row.i32(0) - 1);
    Waiting& w = *group.at(at);
    w.failure = nullptr;  // the transaction may be tried again
    const std::string verdict = row.str(1);
    if (verdict != "ok") {
      w.failure = std::make_exception_ptr(refusal(verdict.substr(0, 5), verdict.substr(6), w.item->name));
      dropped.push_back(contents[at].value);
      continue;
    }
    w.result.node = row.id<NodeId>(2);
    w.result.parent = row.id<NodeId>(3);
    w.result.name = row.str(4);
    w.result.content = contents[at];
    w.result.seq = row.i64(5);
    w.result.created = row.boolean(6);
    w.result.created_at = row.i64(7);
    w.result.rights = row.i32(8);
    row.id_into(9, w.result.creator);
  }
  if (!dropped.empty()) tx.exec(kDropContents, dropped);
}

}  // namespace welkin::files
