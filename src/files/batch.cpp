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
std::vector<std::size_t> drop_unfit(Batch& batch, std::vector<Batched>& refused) {
  std::vector<std::size_t> places;
  if (batch.op != Batch::Op::create_folders) return places;
  std::vector<NodeId> items;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < batch.names.size(); ++i) {
    try {
      names.push_back(require_name(batch.names[i], Kind::folder));
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

struct Verdict {
  NodeId item, made;
  Kind kind;
  std::string text;  // "ok", or an SQLSTATE and a slug
  std::int64_t folders, files;
};

std::vector<Verdict> change(db::Tx& tx, const Caller& caller, const Batch& batch) {
  db::Rows rows;
  try {
    rows = tx.exec(kBatch, params_of(caller, batch));
  } catch (const db::SqlError& e) {
    rethrow(e, "");
  }
  std::vector<Verdict> verdicts;
  for (const auto row : rows)
    verdicts.push_back({row.id<NodeId>(0), row.id<NodeId>(3), row.i64(1) == 2 ? Kind::folder : Kind::file,
                        row.str(2), row.i64(4), row.i64(5)});
  return verdicts;
}

/// What came of it, looked at when the drives are free again.
Batched describe(db::Tx& tx, const Caller& caller, const Batch& batch, const Verdict& verdict,
                 std::size_t at) {
  Batched answer;
  answer.id = verdict.item;
  answer.kind = verdict.kind;
  answer.folders = verdict.folders;
  answer.files = verdict.files;
  const bool ok = verdict.text == "ok";
  std::optional<store::Found> found;
  if (!ok || makes_nodes(batch.op)) found = store::find(tx, caller, ok ? verdict.made : verdict.item);
  if (!ok) {
    const auto name = batch.op == Batch::Op::create_folders ? batch.names.at(at)
                      : found                               ? found->node.name
                                                            : "";
    answer.error = refusal(verdict.text.substr(0, 5), verdict.text.substr(6), name);
  } else if (found) {
    answer.node = std::move(found->node);
  }
  return answer;
}

}  // namespace

Task<std::vector<Batched>> Batches::run(Caller caller, Batch batch) {
  std::vector<Batched> refused;
  const auto places = drop_unfit(batch, refused);
  const auto verdicts = co_await db_.write([&](db::Tx& tx) { return change(tx, caller, batch); });
  auto answers = co_await db_.read([&](db::Tx& tx) {
    std::vector<Batched> out;
    for (const auto& verdict : verdicts) out.push_back(describe(tx, caller, batch, verdict, out.size()));
    return out;
  });
  if (batch.op == Batch::Op::destroy || batch.op == Batch::Op::purge) {
    std::vector<NodeId> ended;
    for (const auto& verdict : verdicts)
      if (verdict.text == "ok") ended.push_back(verdict.made);
    co_await trash_.remove_rows(std::move(ended));
  }
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
