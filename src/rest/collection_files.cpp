#include <functional>
#include <limits>
#include <utility>

#include "rest/body.hpp"
#include "rest/groupware.hpp"
#include "rest/validators.hpp"
#include "welkin/calendars/file.hpp"
#include "welkin/contacts/file.hpp"
#include "welkin/core/text.hpp"
#include "welkin/core/turnstile.hpp"
#include "welkin/http/body.hpp"
#include "welkin/http/upload_headers.hpp"

/// Calendars and address books as files, out and in.
namespace welkin::rest {
namespace {

using collections::Collection;
using collections::Import;
using http::Reply;
using http::Request;
using http::Status;

constexpr std::size_t kWriteBytes = std::size_t{64} << 10;

/// Text, an unnamed kind of bytes, or nothing said; a form is none of these.
void require_type(const Request& rq, const Groupware& what) {
  const auto header = rq.header("content-type");
  const auto type = text::lower(text::trim(header.substr(0, header.find(';'))));
  if (type.empty() || type == "application/octet-stream" || type == "text/plain" || type == what.content_type)
    return;
  if (what.kind == collections::Kind::book && (type == "text/x-vcard" || type == "text/directory")) return;
  throw Error(Errc::unsupported_media_type, "content_type",
              std::string("The body must be ") + what.content_type);
}

Import::Conflict read_conflict(const Request& rq) {
  const auto value = rq.query("on_conflict");
  if (!value || *value == "skip") return Import::Conflict::skip;
  if (*value == "replace") return Import::Conflict::replace;
  throw Error(Errc::invalid, "bad_query", "The query parameter 'on_conflict' must be skip or replace");
}

/// nullopt: the object cannot be kept, and the report says why.
template <class Object>
std::optional<Import::Item> item_of(const Groupware& what, const Collection& in, Object object,
                                    Import& import) {
  Import::Item item;
  item.uid = object.uid;
  item.title = std::move(object.title);
  item.line = object.line;
  // A card without a UID is known by its name, so that has to be made of what it says.
  const auto name =
      collections::etag_text(collections::etag_of(object.uid.empty() ? object.data : object.uid)) +
      what.suffix;
  try {
    item.object.facts = facts_of(what, in, object.data, name);
  } catch (const Error& e) {
    if (e.code() != Errc::invalid && e.code() != Errc::too_large) throw;
    import.report().skip({item.line, item.uid, item.title, e.slug(), e.what()});
    return std::nullopt;
  }
  item.object.name = name;
  item.object.data = std::move(object.data);
  return item;
}

Task<> import_calendar(Request& rq, const Groupware& what, const Collection& in, Import& import) {
  calendars::CalendarFile file;
  for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read()) file.feed(as_text(piece));
  file.finish();
  for (const auto& skipped : file.skipped()) import.report().skip(skipped);
  while (file.has_more()) {
    auto item = item_of(what, in, file.next(), import);
    if (item) co_await import.add(std::move(*item));
  }
}

Task<> take_cards(contacts::CardFile& file, const Groupware& what, const Collection& in, Import& import) {
  for (auto& skipped : file.take_skipped()) import.report().skip(std::move(skipped));
  for (auto& object : file.take()) {
    auto item = item_of(what, in, std::move(object), import);
    if (item) co_await import.add(std::move(*item));
  }
}

Task<> import_book(Request& rq, const Groupware& what, const Collection& in, Import& import) {
  contacts::CardFile file;
  for (auto piece = co_await rq.read(); !piece.empty(); piece = co_await rq.read()) {
    file.feed(as_text(piece));
    co_await take_cards(file, what, in, import);
  }
  file.finish();
  co_await take_cards(file, what, in, import);
}

void write_report(wire::JsonWriter& json, const collections::ImportReport& report) {
  json.begin_object();
  json.field("created", report.created);
  json.field("updated", report.updated);
  json.field("unchanged", report.unchanged);
  json.field("skipped_count", report.skipped_count);
  json.key("skipped");
  json.begin_array();
  for (const auto& skipped : report.skipped) {
    json.begin_object();
    json.field("line", skipped.line);
    nullable(json, "uid", skipped.uid);
    nullable(json, "title", skipped.title);
    json.field("slug", skipped.slug);
    json.field("reason", skipped.reason);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

/// POST .../import?on_conflict=skip|replace, the file -> 200 with the report | 400 no_calendar, no_card | 413
Task<> import_collection(const Services& services, Request& rq, Reply& rp, const Groupware& what,
                         Turnstile& turnstile) {
  http::require_plain_body(rq.headers());
  require_type(rq, what);
  const auto conflict = read_conflict(rq);
  const auto in = co_await require_writable(services, rq, what);
  // One at a time for each user: what waits for the end of a file is held in memory.
  const auto pass = co_await turnstile.enter(std::to_string(rq.caller().user.value));
  allow_upload(rq, services.config);
  const bool calendar = what.kind == collections::Kind::calendar;
  Import import(services.collections.objects(), rq.caller(), in.sight(), conflict, what.suffix,
                calendar ? calendars::say_the_same : contacts::say_the_same);
  if (calendar) {
    co_await import_calendar(rq, what, in, import);
  } else {
    co_await import_book(rq, what, in, import);
  }
  co_await import.finish();
  std::string text;
  wire::JsonWriter json(text);
  write_report(json, import.report());
  co_await send_json_text(rp, Status::ok, std::move(text));
}

/// GET .../export -> the whole collection as one file, streamed
Task<> export_collection(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto one = co_await require_collection(services, rq, what);
  const bool calendar = what.kind == collections::Kind::calendar;
  const auto name = (co_await describe(services, rq.caller(), {one})).name(one);
  if (not_modified(rq, rp, listing_etag({"export", one.uid, one.state(), name}))) {
    co_await rp.send(Status::not_modified);
    co_return;
  }
  rp.set("Content-Disposition", http::content_disposition("attachment", name + what.suffix));
  co_await rp.begin(Status::ok, std::string(what.content_type) + "; charset=utf-8", std::nullopt, true);
  if (rq.method() == http::Method::head) {
    co_await rp.end();
    co_return;
  }
  std::string out;
  calendars::CalendarJoiner joiner;
  if (calendar) joiner.begin(out, name);
  auto list = services.collections.objects().list(one.sight(), {}, {.times = false, .data = true});
  for (auto page = co_await list.next(); !page.empty(); page = co_await list.next()) {
    for (const auto& row : page) {
      if (calendar) {
        joiner.add(out, row.data);
      } else {
        out += row.data;
        if (!row.data.ends_with('\n')) out += "\r\n";
      }
      if (out.size() < kWriteBytes) continue;
      co_await rp.write(out);
      out.clear();
    }
  }
  if (calendar) joiner.end(out);
  if (!out.empty()) co_await rp.write(out);
  co_await rp.end();
}

Task<> raw_object(const Services& services, Request& rq, Reply& rp, const Groupware& what) {
  const auto in = co_await require_collection(services, rq, what);
  const auto object = co_await require_object(services, in, rq.param("object"), what.object_id);
  http::UserBody body;
  body.name = object.name;
  body.mime_type = what.content_type;
  body.etag = quoted(object.etag);
  body.last_modified = object.modified_at;
  body.size_bytes = object.data.size();
  body.feed = [&object](Slice slice, ByteSink& out) {
    return out.write(as_bytes(std::string_view(object.data).substr(slice.offset, slice.length)));
  };
  co_await http::serve_body(rq, rp, body);
}

}  // namespace welkin::rest
