#include "welkin/files/batch.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "rest/body.hpp"
#include "rest/objects.hpp"
#include "rest/routes.hpp"
#include "welkin/core/error.hpp"
#include "welkin/wire/json.hpp"

/// Many items in one request. Every answer has the same envelope:
/// {successful: [...], failed: [{id, error, slug, status}], stats: {total, successful, failed,
/// execution_time_ms}}; 200 (201 when folders were made) when all went well, 206 when some did, 400 when
/// none.
namespace welkin::rest {
namespace {

using files::Batch;
using files::Batched;
using files::Batches;
using http::Access;
using http::Method;
using http::Reply;
using http::Request;
using http::Status;

/// What the successful items of a route look like.
enum class Shape { ids, node, resource, folder_copy };
/// Which ids a route takes.
enum class Ids { files, folders, both };

/// An item as it was asked for: its own text comes back, so that a client finds it again.
struct Asked {
  std::string text;
  NodeId id;
  std::optional<Error> error;  // not an id of ours
};

Asked asked_item(const Services& services, const std::string& text, bool folder) {
  Asked item{text, {}, std::nullopt};
  try {
    item.id = folder ? folder_id(services, text) : file_id(services, text);
  } catch (const Error& e) {
    item.error = e;
  }
  return item;
}

void add_asked(const Services& services, wire::JsonObject& fields, const char* name, bool folder,
               std::vector<Asked>& out) {
  if (!fields.has(name)) return;
  for (const auto& text : fields.strings(name)) out.push_back(asked_item(services, text, folder));
}

void require_count(std::size_t count, const char* what) {
  if (count == 0) throw Error(Errc::invalid, "no_items", std::string("No ") + what + " provided");
  if (count > static_cast<std::size_t>(Batches::kItemsMax))
    throw Error(
        Errc::invalid, "too_many_items",
        "Batch size " + std::to_string(count) + " exceeds maximum of " + std::to_string(Batches::kItemsMax));
}

Batch::Conflict read_conflict(const std::optional<std::string>& text) {
  if (!text || *text == "refuse") return Batch::Conflict::refuse;
  if (*text == "replace") return Batch::Conflict::replace;
  if (*text == "rename") return Batch::Conflict::rename;
  throw Error(Errc::unprocessable, "bad_field", "The field 'on_conflict' must be refuse, replace or rename");
}

class Answer {
 public:
  Answer(const Services& services, const Caller& caller, Shape shape)
      : services_(services), caller_(caller), shape_(shape), start_(std::chrono::steady_clock::now()) {}

  void fail(const std::string& id, const Error& e) {
    failed_.push_back({{"id", id},
                       {"error", e.what()},
                       {"slug", e.slug()},
                       {"status", static_cast<int>(http::status_of(e.code()))}});
  }
  Task<> add(const std::string& id, const Batched& item) {
    if (item.error) {
      fail(id, *item.error);
      co_return;
    }
    switch (shape_) {
      case Shape::ids:
        successful_.push_back(id);
        break;
      case Shape::folder_copy:
        successful_.push_back({{"new_root_folder_id", item.node ? public_id(*item.node) : ""},
                               {"folders_copied", item.folders},
                               {"files_copied", item.files}});
        break;
      case Shape::node:
      case Shape::resource: {
        if (!item.node) {  // a file drop, which its maker does not see; or somebody has taken it away since
          successful_.push_back({{"id", id}});
          break;
        }
        auto node = nlohmann::json::parse(co_await node_json(services_, caller_, *item.node));
        if (shape_ == Shape::resource)
          node = {{"resource_type", item.node->is_folder() ? "folder" : "file"},
                  {"resource", std::move(node)}};
        successful_.push_back(std::move(node));
      }
    }
  }
  std::string public_id(const files::Node& node) const {
    return services_.ids.encode(node.is_folder() ? IdKind::folder : IdKind::file, node.id.value);
  }
  Task<> send(Reply& rp, Status well) {
    const auto good = successful_.size(), bad = failed_.size();
    const auto spent =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
    const nlohmann::json stats{
        {"total", good + bad}, {"successful", good}, {"failed", bad}, {"execution_time_ms", spent.count()}};
    const auto status = bad == 0 ? well : good > 0 ? Status::partial_content : Status::bad_request;
    co_await send_json(
        rp, status,
        {{"successful", std::move(successful_)}, {"failed", std::move(failed_)}, {"stats", stats}});
  }

 private:
  const Services& services_;
  const Caller& caller_;
  Shape shape_;
  std::chrono::steady_clock::time_point start_;
  nlohmann::json successful_ = nlohmann::json::array(), failed_ = nlohmann::json::array();
};

/// Runs the items that have ids and answers for all.
Task<> run(const Services& services, Request& rq, Reply& rp, Batch batch, const std::vector<Asked>& asked,
           Shape shape) {
  Answer answer(services, rq.caller(), shape);
  std::vector<const Asked*> sent;
  for (const auto& item : asked) {
    if (item.error) {
      answer.fail(item.text, *item.error);
    } else {
      sent.push_back(&item);
      batch.items.push_back(item.id);
    }
  }
  const bool all = static_cast<bool>(batch.all_in);
  if (all || !batch.items.empty()) {
    const auto done = co_await services.files.batches().run(rq.caller(), std::move(batch));
    for (std::size_t i = 0; i < done.size(); ++i) {
      std::string id;
      if (all)
        id = services.ids.encode(done[i].kind == files::Kind::folder ? IdKind::folder : IdKind::file,
                                 done[i].id.value);
      else
        id = sent[i]->text;
      co_await answer.add(id, done[i]);
    }
  }
  co_await answer.send(rp, Status::ok);
}

/// {file_ids|folder_ids, target_folder_id?, on_conflict?, permanent?, recursive?, all_in?} as far as `op` has
/// use for it. With all_in the ids are those that stay.
Task<> change(const Services& services, Request& rq, Reply& rp, Batch::Op op, Ids ids, Shape shape) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  std::vector<Asked> asked;
  if (ids != Ids::folders) add_asked(services, fields, "file_ids", false, asked);
  if (ids != Ids::files) add_asked(services, fields, "folder_ids", true, asked);
  Batch batch;
  batch.op = op;
  if (op == Batch::Op::move || op == Batch::Op::copy) {
    const auto target = fields.opt_string("target_folder_id");
    batch.conflict = read_conflict(fields.opt_string("on_conflict"));
    batch.target = target ? folder_id(services, *target) : co_await home_id(services, rq.caller());
  }
  if (op == Batch::Op::trash) {
    if (fields.opt_boolean("permanent").value_or(false)) batch.op = Batch::Op::destroy;
    fields.ignore("recursive");
  }
  if (ids == Ids::both && op != Batch::Op::restore && op != Batch::Op::purge) {
    if (const auto all = fields.opt_string("all_in")) batch.all_in = folder_id(services, *all);
  }
  fields.done();
  if (!batch.all_in || asked.size() > static_cast<std::size_t>(Batches::kItemsMax))
    require_count(asked.size(), ids == Ids::files ? "file IDs" : ids == Ids::folders ? "folder IDs" : "IDs");
  // What is to stay must be known: a mistaken id would be lost with all the rest.
  if (batch.all_in)
    for (const auto& item : asked)
      if (item.error) throw *item.error;
  co_await run(services, rq, rp, std::move(batch), asked, shape);
}

/// POST /api/batch/files/get, /folders/get
Task<> get(const Services& services, Request& rq, Reply& rp, bool folders) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  std::vector<Asked> asked;
  add_asked(services, fields, folders ? "folder_ids" : "file_ids", folders, asked);
  fields.done();
  require_count(asked.size(), folders ? "folder IDs" : "file IDs");
  Answer answer(services, rq.caller(), Shape::node);
  std::vector<NodeId> items;
  for (const auto& item : asked) items.push_back(item.id);  // 0: found by nobody
  const auto found = co_await services.files.batches().get(rq.caller(), std::move(items));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].error)
      answer.fail(asked[i].text, *asked[i].error);
    else
      co_await answer.add(asked[i].text, found[i]);
  }
  co_await answer.send(rp, Status::ok);
}

/// POST /api/batch/folders/create {folders: [{name, parent_id?}]}; a failed one is called `name:parent`.
Task<> create_folders(const Services& services, Request& rq, Reply& rp) {
  const auto body = co_await json_body(rq);
  wire::JsonObject fields(body);
  const auto* list = fields.raw("folders");
  if (!list || !list->is_array())
    throw Error(Errc::unprocessable, "bad_field", "The field 'folders' must be an array");
  fields.done();
  require_count(list->size(), "folders");
  Answer answer(services, rq.caller(), Shape::node);
  Batch batch;
  batch.op = Batch::Op::create_folders;
  std::vector<std::string> texts;
  for (const auto& entry : *list) {
    wire::JsonObject one(entry);
    const auto name = one.string("name");
    const auto parent = one.opt_string("parent_id");
    one.done();
    const auto text = name + ':' + parent.value_or("");
    const auto into = asked_item(services, parent.value_or(""), true);
    if (parent && into.error) {
      answer.fail(text, *into.error);
      continue;
    }
    batch.items.push_back(parent ? into.id : co_await home_id(services, rq.caller()));
    batch.names.push_back(name);
    texts.push_back(text);
  }
  const auto done = co_await services.files.batches().run(rq.caller(), std::move(batch));
  for (std::size_t i = 0; i < done.size(); ++i) co_await answer.add(texts[i], done[i]);
  co_await answer.send(rp, Status::created);
}

}  // namespace

void mount_batch(Scopes& s, const Services& services) {
  const auto on = [&](const char* path, const char* name, const char* action, auto handler) {
    s.user.on({Method::post, std::string("/api/batch") + path, std::string("batch.") + name, Access::user,
               "node", action},
              [&services, handler](Request& rq, Reply& rp) { return handler(services, rq, rp); });
  };
  const auto changes = [](Batch::Op op, Ids ids, Shape shape) {
    return [=](const Services& services, Request& rq, Reply& rp) {
      return change(services, rq, rp, op, ids, shape);
    };
  };
  const auto looks = [](bool folders) {
    return [=](const Services& services, Request& rq, Reply& rp) { return get(services, rq, rp, folders); };
  };
  on("/files/move", "files_move", "delete", changes(Batch::Op::move, Ids::files, Shape::node));
  on("/files/copy", "files_copy", "read", changes(Batch::Op::copy, Ids::files, Shape::node));
  on("/files/delete", "files_delete", "delete", changes(Batch::Op::trash, Ids::files, Shape::ids));
  on("/files/get", "files_get", "read", looks(false));
  on("/folders/move", "folders_move", "delete", changes(Batch::Op::move, Ids::folders, Shape::node));
  on("/folders/copy", "folders_copy", "read", changes(Batch::Op::copy, Ids::folders, Shape::folder_copy));
  on("/folders/delete", "folders_delete", "delete", changes(Batch::Op::trash, Ids::folders, Shape::ids));
  on("/folders/get", "folders_get", "read", looks(true));
  on("/folders/create", "folders_create", "create", create_folders);
  on("/move", "move", "delete", changes(Batch::Op::move, Ids::both, Shape::resource));
  on("/copy", "copy", "read", changes(Batch::Op::copy, Ids::both, Shape::resource));
  on("/trash", "trash", "delete", changes(Batch::Op::trash, Ids::both, Shape::ids));
  on("/restore", "restore", "delete", changes(Batch::Op::restore, Ids::both, Shape::resource));
  on("/purge", "purge", "delete", changes(Batch::Op::purge, Ids::both, Shape::ids));
}

}  // namespace welkin::rest
