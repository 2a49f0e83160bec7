#include "dav/groupware/export.hpp"

#include "dav/groupware/live.hpp"
#include "dav/groupware/sync_state.hpp"
#include "welkin/calendars/file.hpp"
#include "welkin/http/body.hpp"
#include "welkin/http/conditional.hpp"

namespace welkin::dav::groupware {
namespace {

Task<std::string> name_of(const Services& services, const Caller& caller, const collections::Collection& of) {
  const auto stored =
      co_await services.collections.properties(caller, {of.id}, {{std::string(kDav), "displayname"}});
  auto name = stored_text(stored, kDav, "displayname");
  co_return name.empty() ? default_name(of) : name;
}

}  // namespace

Task<> export_collection(const Services& services, http::Request& rq, http::Reply& rp, const Target& target) {
  const auto& collection = *target.collection;
  const bool calendar = collection.kind != collections::Kind::book;
  const auto name = co_await name_of(services, rq.caller(), collection);
  const auto etag = '"' + collection.uid + '-' + collection.state() + '"';
  rp.set("ETag", etag);
  rp.set("Last-Modified", times::http_date(collection.changed_at));
  rp.set("Cache-Control", "private, no-cache");
  if (http::evaluate(rq.method(), rq.headers(), etag, collection.changed_at) ==
      http::Precondition::not_modified) {
    co_await rp.send(http::Status::not_modified);
    co_return;
  }
  rp.set("Content-Disposition", http::content_disposition("attachment", name + (calendar ? ".ics" : ".vcf")));
  co_await rp.begin(http::Status::ok, calendar ? "text/calendar; charset=utf-8" : "text/vcard; charset=utf-8",
                    std::nullopt, true);
  if (rq.method() == http::Method::head) {
    co_await rp.end();
    co_return;
  }
  std::string out;
  calendars::CalendarJoiner joiner;
  if (calendar) joiner.begin(out, name);
  auto list = services.collections.objects().list(collection.sight(), {}, {.times = false, .data = true});
  for (auto page = co_await list.next(); !page.empty(); page = co_await list.next()) {
    for (const auto& row : page) {
      if (calendar) {
        joiner.add(out, row.data);
      } else {
        out += row.data;
        if (!row.data.ends_with('\n')) out += "\r\n";
      }
    }
    co_await rp.write(out);
    out.clear();
  }
  if (calendar) joiner.end(out);
  if (!out.empty()) co_await rp.write(out);
  co_await rp.end();
}

}  // namespace welkin::dav::groupware
