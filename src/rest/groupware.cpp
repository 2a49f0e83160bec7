#include "rest/groupware.hpp"

#include <algorithm>
#include <array>

#include "rest/body.hpp"
#include "welkin/calendars/stored.hpp"
#include "welkin/contacts/stored.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"
#include "welkin/http/conditional.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::rest {

using collections::Access;
using collections::Collection;
using collections::Expect;
using collections::Object;
using http::Reply;
using http::Request;
using http::Status;

const Groupware kCalendars{collections::Kind::calendar,
                           IdKind::calendar,
                           IdKind::calendar_object,
                           "calendar",
                           "event",
                           "/api/calendars",
                           ".ics",
                           "text/calendar"};
const Groupware kBooks{collections::Kind::book,
                       IdKind::address_book,
                       IdKind::contact,
                       "address_book",
                       "contact",
                       "/api/address-books",
                       ".vcf",
                       "text/vcard"};

namespace {

constexpr int kTriesMax = 4;

[[noreturn]] void not_found() { throw Error(Errc::not_found, "not_found", "not found"); }

/// What is wrong with a body is 400 here; DAV says 403 and a precondition.
[[noreturn]] void rethrow_as_input(const Error& e) {
  const std::string_view slug = e.slug();
  if (e.code() != Errc::forbidden || slug == "forbidden") throw e;
  throw Error(slug == "max_resource_size" ? Errc::too_large : Errc::invalid, e.slug(), e.what());
}

/// If-Match and If-None-Match against the state that was read.
void require_state(const Request& rq, const std::string& etag) {
  if (http::evaluate(rq.method(), rq.headers(), etag, std::nullopt) == http::Precondition::failed)
    throw Error(Errc::precondition_failed, "precondition_failed", "It is not in the state you expect");
}

[[noreturn]] void refuse(const collections::Objects::Written& written) {
  using Verdict = collections::Objects::Written::Verdict;
  if (written.verdict == Verdict::component)
    throw Error(Errc::conflict, "supported_component", "The calendar does not take this kind of object");
  throw Error(Errc::conflict, "uid_conflict", "The collection has an object with this UID already");
}

}  // namespace

std::string quoted(const collections::Etag& etag) { return '"' + collections::etag_text(etag) + '"'; }

std::string random_uid() {
  std::array<std::byte, 16> bytes;
  crypto::random_bytes(bytes);
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x40};
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};
  auto out = text::hex(bytes);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) out.insert(at, 1, '-');
  return out;
}

std::optional<std::optional<std::string>> text_field(wire::JsonObject& fields, const char* name) {
  if (!fields.has(name)) return std::nullopt;
  return fields.opt_string(name);
}

std::optional<std::optional<std::int64_t>> number_field(wire::JsonObject& fields, const char* name) {
  if (!fields.has(name)) return std::nullopt;
  return fields.opt_integer(name);
}

void nullable(wire::JsonWriter& json, std::string_view name, std::string_view text) {
  if (text.empty())
    json.null_field(name);
  else
    json.field(name, text);
}

Task<Collection> require_collection(const Services& services, Request& rq, const Groupware& what) {
  const auto key = services.ids.decode(what.collection_id, rq.param("id"));
  if (!key) not_found();
  auto found = co_await services.collections.require(rq.caller(), collections::CollectionId{*key});
  if (found.kind != what.kind) not_found();
  if (found.origin != collections::Origin::birthdays || !found.is_own) co_return found;
  co_await services.birthdays.catch_up(rq.caller());
  co_return co_await services.collections.require(rq.caller(), found.id);
}

Task<Collection> require_writable(const Services& services, Request& rq, const Groupware& what) {
  auto found = co_await require_collection(services, rq, what);
  if (!found.may_write()) throw Error(Errc::forbidden, "forbidden", "You may not change what is in it");
  co_return found;
}

Task<Object> require_object(const Services& services, const Collection& in, std::string_view id,
                            IdKind kind) {
  const auto key = services.ids.decode(kind, id);
  if (!key) not_found();
  auto found = co_await services.collections.objects().by_keys(in.sight(), {*key});
  if (found.empty()) not_found();
  co_return std::move(found.front());
}

std::string Described::text(collections::CollectionId of, std::string_view ns, std::string_view name) const {
  for (const auto& one : stored_) {
    if (one.collection != of || one.name != name || one.ns != ns) continue;
    try {
      return std::string(wire::parse_xml(one.value).trimmed());
    } catch (const Error&) {
      return {};
    }
  }
  return {};
}

std::string Described::name(const Collection& of) const {
  auto name = text(of.id, "DAV:", "displayname");
  return name.empty() ? collections::default_name(of) : name;
}

Task<Described> describe(const Services& services, const Caller& caller, const std::vector<Collection>& all) {
  std::vector<collections::CollectionId> ids;
  for (const auto& one : all) ids.push_back(one.id);
  auto stored =
      co_await services.collections.properties(caller, std::move(ids),
                                               {{"DAV:", "displayname"},
                                                {"urn:ietf:params:xml:ns:caldav", "calendar-description"},
                                                {"urn:ietf:params:xml:ns:carddav", "addressbook-description"},
                                                {"urn:ietf:params:xml:ns:caldav", "calendar-timezone-id"},
                                                {"http://apple.com/ns/ical/", "calendar-color"},
                                                {"http://apple.com/ns/ical/", "calendar-order"}});
  co_return Described(std::move(stored));
}

collections::Facts facts_of(const Groupware& what, const Collection& in, std::string_view data,
                            std::string_view name) {
  try {
    return what.kind == collections::Kind::calendar ? calendars::facts_of(data, in.components)
                                                    : contacts::facts_of(data, name);
  } catch (const Error& e) {
    rethrow_as_input(e);
  }
}

namespace {

/// Whoever is invited hears of it.
Task<collections::Objects::Written> put_object(const Services& services, Request& rq, const Groupware& what,
                                               const Collection& in, collections::Objects::NewObject object) {
  if (what.kind != collections::Kind::calendar || !services.scheduling.is_on())
    co_return co_await services.collections.objects().put(rq.caller(), in.id, std::move(object));
  // Edits are made on the state that was read, so nothing has to be merged.
  calendars::Scheduling::Seen seen;
  seen.is_whole = true;
  co_return (co_await services.scheduling.put(rq.caller(), in, std::move(object), seen)).written;
}

/// One go. nullopt: somebody was quicker.
Task<std::optional<Object>> try_change(const Services& services, Request& rq, const Groupware& what,
                                       const Collection& in, const std::string& id, IdKind kind,
                                       const Change& change) {
  auto object = co_await require_object(services, in, id, kind);
  if (object.masked) throw Error(Errc::forbidden, "forbidden", "You may not change this");
  require_state(rq, quoted(object.etag));
  std::optional<std::string> data;
  try {
    data = change(object);
  } catch (const Error& e) {
    rethrow_as_input(e);
  }
  if (!data || *data == object.data) co_return object;
  collections::Objects::NewObject wanted;
  wanted.name = object.name;
  wanted.facts = facts_of(what, in, *data, object.name);
  wanted.data = std::move(*data);
  wanted.expect = {Expect::Kind::etag_is, object.etag};
  const auto key = object.id;
  bool was_slow = false;
  try {
    const auto written = co_await put_object(services, rq, what, in, std::move(wanted));
    if (written.verdict != collections::Objects::Written::Verdict::done) refuse(written);
  } catch (const Error& e) {
    if (e.code() != Errc::precondition_failed) throw;
    was_slow = true;
  }
  if (was_slow) co_return std::nullopt;
  auto now = co_await services.collections.objects().by_keys(in.sight(), {key});
  if (now.empty()) not_found();
  co_return std::move(now.front());
}

}  // namespace

Task<Object> change_object(const Services& services, Request& rq, const Groupware& what, const Collection& in,
                           std::string id, IdKind kind, Change change) {
  const bool has_condition = rq.headers().has("if-match") || rq.headers().has("if-none-match");
  for (int tries = 0; tries < (has_condition ? 1 : kTriesMax); ++tries) {
    auto changed = co_await try_change(services, rq, what, in, id, kind, change);
    if (changed) co_return std::move(*changed);
  }
  throw Error(Errc::precondition_failed, "precondition_failed", "Somebody else changed it at the same time");
}

Task<Object> create_object(const Services& services, Request& rq, const Groupware& what, const Collection& in,
                           std::string name, std::string data) {
  collections::Objects::NewObject wanted;
  wanted.name = name;
  wanted.facts = facts_of(what, in, data, name);
  wanted.data = std::move(data);
  wanted.expect.kind = Expect::Kind::must_be_new;
  const auto written = co_await put_object(services, rq, what, in, std::move(wanted));
  if (written.verdict != collections::Objects::Written::Verdict::done) refuse(written);
  auto made = co_await services.collections.objects().find(in.sight(), std::move(name));
  if (!made) not_found();
  co_return std::move(*made);
}

Task<> remove_object(const Services& services, Request& rq, Reply& rp, const Groupware& what, IdKind kind,
                     const char* id_param) {
  const auto in = co_await require_collection(services, rq, what);
  const auto object = co_await require_object(services, in, rq.param(id_param), kind);
  if (!in.may_write() || object.masked)
    throw Error(Errc::forbidden, "forbidden", "You may not change what is in it");
  require_state(rq, quoted(object.etag));
  Expect expect;
  if (rq.headers().has("if-match")) expect = {Expect::Kind::etag_is, object.etag};
  if (what.kind == collections::Kind::calendar && services.scheduling.is_on())
    co_await services.scheduling.remove(rq.caller(), in, object.name, expect, std::nullopt, true);
  else
    co_await services.collections.objects().remove(rq.caller(), in.id, object.name, expect);
  co_await rp.send(Status::no_content);
}

}  // namespace welkin::rest
