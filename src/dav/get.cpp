#include "dav/get.hpp"

#include "dav/folder_page.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/location.hpp"
#include "welkin/http/body.hpp"

namespace welkin::dav {
namespace {

using http::Reply;
using http::Request;

/// Want-Repr-Digest (RFC 9530 §4): a dictionary of algorithms and how much they are wanted, 0 for not at all.
bool wants_sha256(const Request& rq) {
  const std::string all = rq.headers().joined("want-repr-digest");
  for (auto member : text::split(all, ',')) {
    member = text::trim(member);
    const auto equals = member.find('=');
    if (!text::iequals(text::trim(member.substr(0, equals)), "sha-256")) continue;
    return equals == std::string_view::npos || text::trim(member.substr(equals + 1)) != "0";
  }
  return false;
}

/// The digest that clients compare what they got with: the one they sent, when they sent one.
std::string checksum_of(const files::Node& node) {
  if (!node.sha1.empty()) return "SHA1:" + text::hex(node.sha1);
  if (node.sha256) return "SHA256:" + text::hex(std::as_bytes(std::span(*node.sha256)));
  return {};
}

Task<> send_file(const TreeServices& services, Request& rq, Reply& rp, NodeId id) {
  const auto opened = co_await services.files.open(rq.caller(), id);
  http::UserBody body;
  body.name = opened.node.name;
  body.mime_type = opened.node.mime_type;
  body.etag = '"' + opened.node.etag + '"';
  body.last_modified = opened.node.modified_at;
  body.size_bytes = opened.node.size_bytes;
  if (opened.node.sha256 && wants_sha256(rq)) {
    const ByteView digest = std::as_bytes(std::span(*opened.node.sha256));
    rp.set("Repr-Digest", "sha-256=:" + text::base64(digest) + ':');
  }
  if (services.tree.for_nextcloud) {
    rp.set("OC-ETag", body.etag);
    rp.set("OC-FileId", client_id(services.tree, id));
    if (const auto checksum = checksum_of(opened.node); !checksum.empty()) rp.set("OC-Checksum", checksum);
  }
  body.feed = [&](Slice slice, ByteSink& out) { return services.files.send(opened, slice, out); };
  co_await http::serve_body(rq, rp, body);
}

}  // namespace

Task<> get(const TreeServices& services, Request& rq, Reply& rp) {
  const auto place = checked_place(services.tree, rq);
  const auto node = co_await require_node(services, rq, place);
  if (node.is_folder()) {
    co_await send_folder(services, rq, rp, node, place);
    co_return;
  }
  co_await send_file(services, rq, rp, node.id);
}

}  // namespace welkin::dav
