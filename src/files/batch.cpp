#include "welkin/files/batch.hpp"

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

db::Params params_of(const Caller& caller, const Batch& batch) {
  db::Params params(static_cast<std::int32_t>(batch.op), keys_of(batch.items), batch.names, batch.all_in,
                    batch.target, static_cast<std::int32_t>(batch.conflict), caller.user);
  store::add_gate(params, caller)
      .add(batch.lock_tokens)
      .add(store::kDepthMax)
      .add(Files::kTreeNodesMax)
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

/// @param ended  gets the items whose rows are to be removed
std::vector<Batched> change(db::Tx& tx, const Caller& caller, const Batch& batch,
                            std::vector<NodeId>& ended) {
  std::vector<Batched> out;
  db::Rows rows;
  try {
    rows = tx.exec(kBatch, params_of(caller, batch));
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
  for (const auto row : rows) {
    Batched answer;
    row.id_into(0, answer.id);
    answer.kind = row.i64(1) == 2 ? Kind::folder : Kind::file;
    const auto verdict = row.str(2);
    const auto made = row.id<NodeId>(3);
    answer.folders = row.i64(4);
    answer.files = row.i64(5);
    if (verdict != "ok") {
      const auto name = name_for(tx, caller, batch, answer.id, out.size());
      answer.error = refusal(verdict.substr(0, 5), verdict.substr(6), name);
    } else if (makes_nodes(batch.op)) {
      if (auto found = store::find(tx, caller, made)) answer.node = std::move(found->node);
    } else if (batch.op != Batch::Op::trash) {
      ended.push_back(made);
    }
    out.push_back(std::move(answer));
  }
  return out;
}

}  // namespace

Task<std::vector<Batched>> Batches::run(Caller caller, Batch batch) {
  std::vector<Batched> refused;
  const auto places = drop_unfit(batch, refused, windows_names_);
  std::vector<NodeId> ended;
  auto answers = co_await db_.write([&](db::Tx& tx) {
    ended.clear();  // the transaction may be tried again
    return change(tx, caller, batch, ended);
  });
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
