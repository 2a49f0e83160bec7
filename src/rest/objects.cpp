#include "rest/objects.hpp"

#include <algorithm>
#include <span>

#include "rest/icons.hpp"
#include "rest/query.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::rest {
namespace {

NodeId require_id(const Services& services, IdKind kind, std::string_view text) {
  const auto key = services.ids.decode(kind, text);
  // Word for word what files says of what is not there or not his, so that nothing can be told from the
  // answer.
  if (!key) throw Error(Errc::not_found, "not_found", "not found");
  return NodeId{*key};
}

}  // namespace

NodeId folder_id(const Services& services, std::string_view text) {
  return require_id(services, IdKind::folder, text);
}

NodeId file_id(const Services& services, std::string_view text) {
  return require_id(services, IdKind::file, text);
}

NodeId any_id(const Services& services, std::string_view text) {
  const auto file = services.ids.decode(IdKind::file, text);
  return file ? NodeId{*file} : folder_id(services, text);
}

int page_limit(const http::Request& rq) {
  return static_cast<int>(std::clamp<std::uint64_t>(number_query(rq, "limit", 50), 1, 200));
}

bool permanent(const http::Request& rq) { return flag_query(rq, "permanent"); }

Task<NodeId> home_id(const Services& services, const Caller& caller) {
  if (caller.root_limit) co_return caller.root_limit;
  co_return (co_await services.files.home(caller)).id;
}

std::string shown_name(const files::Node& node, const Caller& caller) {
  if (!node.is_root() || !node.name.empty()) return node.name;
  // The author of a personal root is its owner.
  return "My Folder - " + (node.author == caller.user ? caller.name : node.author_name);
}

std::string quoted_etag(const files::Node& node) { return '"' + node.etag + '"'; }

NodeWriter::NodeWriter(const PublicIds& ids, const Caller& caller, wire::JsonWriter& out)
    : ids_(ids), caller_(caller), out_(out) {}

void NodeWriter::set_folder_path(std::string_view path) {
  folder_path_.clear();
  wire::append_json_escaped(folder_path_, path);
  if (!path.empty() && path != "/") folder_path_ += '/';
}

void NodeWriter::node(const files::Node& node, std::string_view path, std::string_view more) {
  std::string escaped;
  wire::append_json_escaped(escaped, path);
  name_.clear();
  wire::append_json_escaped(name_, shown_name(node, caller_));
  write(node, escaped, {}, more);
}

void NodeWriter::child(const files::Node& node) {
  name_.clear();
  wire::append_json_escaped(name_, node.name);
  write(node, folder_path_, folder_path_.empty() ? std::string_view() : std::string_view(name_));
}

void NodeWriter::write(const files::Node& node, std::string_view escaped_first, std::string_view escaped_last,
                       std::string_view more) {
  out_.begin_object();
  out_.field("id", ids_.encode(node.is_folder() ? IdKind::folder : IdKind::file, node.id.value));
  out_.key("name");
  out_.escaped_string(name_, {});
  out_.key("path");
  out_.escaped_string(escaped_first, escaped_last);
  if (node.is_folder()) {
    write_folder_tail(node);
  } else {
    write_file_tail(node);
  }
  if (!more.empty()) out_.raw(more);
  out_.end_object();
}

void NodeWriter::write_folder_tail(const files::Node& node) {
  // Above the one folder of an app password nothing exists for its bearer.
  if (node.is_root() || node.id == caller_.root_limit) {
    out_.null_field("parent_id");
  } else {
    id_member(parent_, "parent_id", IdKind::folder, node.parent.value);
  }
  write_people(node);
  out_.field("created_at", times::seconds(node.created_at));
  out_.field("modified_at", times::seconds(node.modified_at));
  out_.field("is_root", node.is_root());
  out_.raw(folder_icon().json);
  id_member(drive_, "drive_id", IdKind::drive, node.drive.value);
  out_.field("etag", node.etag);
  out_.raw(node.is_favorite ? R"("is_favorite":true,"is_shared":false)"
                            : R"("is_favorite":false,"is_shared":false)");
}

void NodeWriter::write_file_tail(const files::Node& node) {
  out_.field("size", node.size_bytes);
  out_.field("mime_type", node.mime_type);
  id_member(folder_, "folder_id", IdKind::folder, node.parent.value);
  out_.field("created_at", times::seconds(node.created_at));
  out_.field("modified_at", times::seconds(node.modified_at));
  out_.raw(icon_of(node.mime_type, node.name).json);
  char size[kSizeTextMax];
  out_.field("size_formatted", format_size(node.size_bytes, size));
  write_people(node);
  id_member(drive_, "drive_id", IdKind::drive, node.drive.value);
  out_.field("etag", node.etag);
  if (node.sha256) {
    name_.clear();  // has been written
    text::append_hex(name_, std::as_bytes(std::span(*node.sha256)));
    out_.key("content_hash");
    out_.escaped_string(name_, {});
  }
  out_.raw(node.is_favorite ? R"("is_favorite":true,"is_shared":false)"
                            : R"("is_favorite":false,"is_shared":false)");
}

/// `owner_id` is left out where it is not known: whoever manages a node owns it, others are not told whose it
/// is.
void NodeWriter::write_people(const files::Node& node) {
  if ((node.rights & rights::kManage) != 0 && caller_.user) {
    id_member(owner_, "owner_id", IdKind::user, caller_.user.value);
  }
  if (node.creator) id_member(creator_, "created_by", IdKind::user, node.creator.value);
  if (node.author) id_member(updater_, "updated_by", IdKind::user, node.author.value);
}

void NodeWriter::id_member(Member& kept, const char* name, IdKind kind, std::int64_t key) {
  if (kept.key != key) {
    kept.key = key;
    kept.json.clear();
    ((kept.json += '"') += name) += "\":\"";
    (kept.json += ids_.encode(kind, key)) += '"';
  }
  out_.raw(kept.json);
}

Task<std::string> node_json(const Services& services, const Caller& caller, const files::Node& node) {
  files::Node shown = node;
  if (!node.path) {  // a write does not tell the way, nor what its caller has marked
    auto found = co_await services.files.node(caller, node.id);
    shown.path = std::move(found.path);
    shown.is_favorite = found.is_favorite;
  }
  std::string json;
  wire::JsonWriter out(json);
  NodeWriter(services.ids, caller, out).node(shown, shown.path.value_or(""));
  co_return json;
}

}  // namespace welkin::rest
