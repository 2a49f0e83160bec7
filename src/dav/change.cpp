#include "dav/change.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/dav/errors.hpp"
#include "welkin/http/conditional.hpp"

namespace welkin::dav {
namespace {

using files::Expect;

[[noreturn]] void fail_precondition() {
  throw Error(Errc::precondition_failed, "precondition_failed",
              "The resource is not in the state you expect");
}

std::vector<std::string> bare(const http::EtagList& list, bool strong_only) {
  std::vector<std::string> out;
  for (std::string_view tag : list.tags) {
    if (tag.starts_with("W/")) {
      if (strong_only) continue;
      tag.remove_prefix(2);
    }
    out.emplace_back(tag.substr(1, tag.size() - 2));
  }
  return out;
}

/// Still what it is now.
Expect pinned(const std::optional<files::Node>& node) {
  if (!node) return {Expect::Kind::must_be_new, {}};
  return {Expect::Kind::etag_is, {node->etag}};
}

/// RFC 9110 §13.2.2. A list of entity tags that cannot be read holds no tag that matches: a client in wide
/// use sends such a thing in If-None-Match on every write.
Expect read_preconditions(const http::Fields& headers, const std::optional<files::Node>& node) {
  const std::string etag = node ? '"' + node->etag + '"' : "";
  Expect expect;
  if (headers.has("if-match")) {
    const auto list = http::parse_etags(headers.joined("if-match"));
    if (!list || !http::strong_match(*list, etag)) fail_precondition();
    expect =
        list->any ? Expect{Expect::Kind::must_exist, {}} : Expect{Expect::Kind::etag_is, bare(*list, true)};
  } else if (const auto since = times::from_http_date(headers.get("if-unmodified-since")); since && node) {
    if (times::seconds(node->modified_at) > times::seconds(*since)) fail_precondition();
    expect = pinned(node);
  }
  if (headers.has("if-none-match")) {
    const auto list = http::parse_etags(headers.joined("if-none-match"));
    if (!list) return expect;
    if (http::weak_match(*list, etag)) fail_precondition();
    if (expect.kind != Expect::Kind::anything) return pinned(node);
    if (list->any) return {Expect::Kind::must_be_new, {}};
    return {Expect::Kind::etag_is_not, bare(*list, false)};
  }
  return expect;
}

}  // namespace

void Change::touch_target(bool deep, bool membership) {
  if (at.node) {
    touched.push_back({place, {.node = at.node->id, .deep = deep, .membership = membership}});
  } else if (at.parent) {
    Place folder = place;
    folder.names.pop_back();
    touched.push_back({std::move(folder), {.node = at.parent->id, .is_new = true}});
  }
}

const files::Node& Change::require_node() const {
  if (!at.node || (place.has_slash && !at.node->is_folder()))
    throw Error(Errc::not_found, "not_found", "There is nothing at this address");
  return *at.node;
}

const files::Node& Change::require_parent() const {
  if (!at.parent) throw Error(Errc::conflict, "parent_missing", "The folder that would hold it is not there");
  return *at.parent;
}

Task<Expect> Change::require_conditions() {
  if (at.node) set_validators(rp, *at.node);  // for a 412
  const auto verdict = co_await require_if(services, rq, submitted, place, at);
  const auto expect = read_preconditions(rq.headers(), at.node);
  rp.reset();
  co_return verdict.asked_etag ? pinned(at.node) : expect;
}

Task<> run_change(const TreeServices& services, Verb verb, http::Request& rq, http::Reply& rp) {
  Change change{services, rq, rp, checked_place(services.tree, rq), {}, read_if(rq), {}};
  change.at = co_await services.files.locate(rq.caller(), change.place.names);
  co_await run_naming_locks(change, verb);
}

Task<> run_naming_locks(Change& change, std::function<Task<>(Change&)> verb) {
  bool locked = false;
  try {
    co_await verb(change);
  } catch (const Error& e) {
    if (e.code() != Errc::locked || change.rp.begun()) throw;
    locked = true;
  }
  if (locked)
    co_await answer_locked(change.services, change.rq, change.rp, change.touched, change.submitted.tokens);
}

Task<> answer_locked(const TreeServices& services, http::Request& rq, http::Reply& rp,
                     const std::vector<Touched>& touched, const std::vector<files::LockToken>& tokens) {
  std::set<std::string> roots;
  bool of_another = false;
  for (const auto& [place, touch] : touched) {
    for (const auto& lock : co_await services.files.locks().blocking(rq.caller(), touch, tokens)) {
      const bool submitted = std::find(tokens.begin(), tokens.end(), lock.token) != tokens.end();
      of_another = of_another || (submitted && !lock.mine);
      roots.insert(root_of(lock, place).href(lock.on_folder));
    }
  }
  if (of_another) throw Error(Errc::forbidden, "not_lock_owner", "The lock token belongs to somebody else");
  std::string hrefs;
  for (const auto& root : roots) ((hrefs += "<d:href>") += root) += "</d:href>";
  rp.reset();
  co_await rp.send(http::Status::locked, "application/xml; charset=utf-8",
                   services.tree.for_nextcloud
                       ? nextcloud_error(http::Status::locked, "lock_token_submitted", "It is locked", hrefs)
                       : error_xml("lock_token_submitted", "It is locked", hrefs));
}

Place root_of(const files::Lock& lock, Place asked) {
  const auto up = std::min(lock.levels_up, asked.names.size());
  asked.names.resize(asked.names.size() - up);
  asked.names.insert(asked.names.end(), lock.names_below.begin(), lock.names_below.end());
  return asked;
}

void set_validators(http::Reply& rp, const files::Node& node) {
  rp.set("ETag", '"' + node.etag + '"');
  rp.set("Last-Modified", times::http_date(node.modified_at));
}

void set_written(const Change& change, const files::Node& node) {
  const auto& tree = change.services.tree;
  set_validators(change.rp, node);
  if (!tree.for_nextcloud) return;
  change.rp.set("OC-ETag", '"' + node.etag + '"');
  change.rp.set("OC-FileId", client_id(tree, node.id));
}

std::string client_id(const Tree& tree, NodeId node) {
  return fmt::format("{:08}{}", node.value, tree.instance_id);
}

std::string_view allowed_methods(const files::Located& at) {
  if (!at.node) return "OPTIONS, PUT, MKCOL, LOCK";
  if (at.node->is_folder())
    return "OPTIONS, GET, HEAD, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, LOCK, UNLOCK, REPORT, SEARCH";
  return "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, LOCK, UNLOCK, REPORT, "
         "SEARCH";
}

}  // namespace welkin::dav
