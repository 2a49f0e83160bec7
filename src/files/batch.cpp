#include "welkin/files/batch.hpp"

#include <algorithm>
#include <utility>

#include "files/node_store.hpp"
#include "files/refusals.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::files {
namespace {

constexpr db::Stmt kBatch{
    "files.batch_change",
    "select item, kind, verdict, made, folders_made, files_made from batch_change($1, $2, "
    "$3, $4, $5, $6, $7, $8, $9, "
    "$10, $11, $12, $13, $14, $15, $16)"};

std::vector<std::int64_t> keys_of(const std::vector<NodeId>& ids) {
  std::vector<std::int64_t> keys;
  keys.reserve(ids.size());
  for (const auto id : ids) keys.push_back(id.value);
  return keys;
}

constexpr std::size_t kLookMax = 100;  // in one job, for others want the connection too

bool makes_nodes(Batch::Op op) {
  return op == Batch::Op::move || op == Batch::Op::copy || op == Batch::Op::restore ||
         op == Batch::Op::create_folders;
}

/// The name a refusal speaks of, where the caller may know it.
std::string name_for(db::Tx& tx, const Caller& caller, const Batch& batch, NodeId item, std::size_t at) {
  if (batch.op == Batch::Op::create_folders) return batch.names[at];
  const auto found = store::find(tx, caller, item);
  return found ? found->node.name : std::string();
}

db::Params params_of(const Caller& caller, const Batch& batch, std::int32_t nodes_max) {
  db::Params params(static_cast<std::int32_t>(batch.op), keys_of(batch.items), batch.names, batch.all_in,
                    batch.target, static_cast<std::int32_t>(batch.conflict), caller.user);
  store::add_gate(params, caller)
      .add(batch.lock_tokens)
      .add(store::kDepthMax)
      .add(nodes_max)
      .add(batch.all_in ? Batches::kAllItemsMax : Batches::kItemsMax);
  return params;
}

/// Takes out folders whose name cannot be: that is their own refusal, too. @return where each of `refused`
/// stood
std::vector<std::size_t> drop_unfit(Batch& batch, std::vector<Batched>& refused, bool windows_names) {
  std::vector<std::size_t> places;
  if (batch.op != Batch::Op::create_folders) return places;
  std::vector<NodeId> items;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < batch.names.size(); ++i) {
    try {
      names.push_back(require_new_name(batch.names[i], Kind::folder, windows_names));
      items.push_back(batch.items[i]);
    } catch (const Error& e) {
      places.push_back(i);
      auto& answer = refused.emplace_back();
      answer.id = batch.items[i];
      answer.error = e;
    }
  }
  batch.items = std::move(items);
  batch.names = std::move(names);
  return places;
}

/// What the transaction says of an item; the rest is looked at when it is over.
struct Outcome {
  Batched answer;
  std::string verdict;
  NodeId made;
};

std::vector<Outcome> change(db::Tx& tx, const Caller& caller, const Batch& batch, std::int32_t nodes_max) {
  std::vector<Outcome> out;
  db::Rows rows;
  try {
    rows = tx.exec(kBatch, params_of(caller, batch, nodes_max));
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
  for (const auto row : rows) {
    auto& outcome = out.emplace_back();
    row.id_into(0, outcome.answer.id);
    outcome.answer.kind = row.i64(1) == 2 ? Kind::folder : Kind::file;
    outcome.verdict = row.str(2);
    outcome.made = row.id<NodeId>(3);
    outcome.answer.folders = row.i64(4);
    outcome.answer.files = row.i64(5);
  }
  return out;
}

/// Fills in what `outcome` left open: the refusal in words, or the node that came of it.
void look_at(db::Tx& tx, const Caller& caller, const Batch& batch, std::size_t at, Outcome& outcome) {
  auto& answer = outcome.answer;
  if (outcome.verdict != "ok") {
    const auto name = name_for(tx, caller, batch, answer.id, at);
    answer.error = refusal(outcome.verdict.substr(0, 5), outcome.verdict.substr(6), name);
  } else if (makes_nodes(batch.op)) {
    if (auto found = store::find(tx, caller, outcome.made)) answer.node = std::move(found->node);
  }
}

}  // namespace

Task<std::vector<Batched>> Batches::run(Caller caller, Batch batch) {
  std::vector<Batched> refused;
  const auto places = drop_unfit(batch, refused, windows_names_);
  auto outcomes = co_await db_.write([&](db::Tx& tx) { return change(tx, caller, batch, nodes_max_); });

  const bool ends = !makes_nodes(batch.op) && batch.op != Batch::Op::trash;
  std::vector<NodeId> ended;  // whose rows are to be removed
  for (std::size_t from = 0; from < outcomes.size(); from += kLookMax) {
    const auto to = std::min(outcomes.size(), from + kLookMax);
    co_await db_.read([&](db::Tx& tx) {
      for (auto i = from; i < to; ++i) look_at(tx, caller, batch, i, outcomes[i]);
    });
  }
  std::vector<Batched> answers;
  for (auto& outcome : outcomes) {
    if (ends && !outcome.answer.error) ended.push_back(outcome.made);
    answers.push_back(std::move(outcome.answer));
  }
  co_await trash_.remove_rows(std::move(ended));
  // In the order in which they were asked for.
  for (std::size_t i = 0; i < refused.size(); ++i)
    answers.insert(answers.begin() + static_cast<std::ptrdiff_t>(places[i]), std::move(refused[i]));
  co_return answers;
}

Task<std::vector<Batched>> Batches::get(Caller caller, std::vector<NodeId> items) {
  co_return co_await db_.read([&](db::Tx& tx) {
    std::vector<Batched> out;
    for (const auto id : items) {
      Batched answer;
      answer.id = id;
      if (auto found = store::find(tx, caller, id))
        answer.node = std::move(found->node);
      else
        answer.error = not_found();
      out.push_back(std::move(answer));
    }
    return out;
  });
}

}  // namespace welkin::files
