#pragma once
#include <algorithm>

#include "dav/dav_client.hpp"

namespace welkin::tests {

/// Properties of our namespaces as DavAnswer names them.
inline std::string caldav(const std::string& name) { return "{urn:ietf:params:xml:ns:caldav}" + name; }
inline std::string carddav(const std::string& name) { return "{urn:ietf:params:xml:ns:carddav}" + name; }
inline std::string cs(const std::string& name) { return "{http://calendarserver.org/ns/}" + name; }
inline std::string apple(const std::string& name) { return "{http://apple.com/ns/ical/}" + name; }

inline constexpr const char* kSpaces =
    " xmlns:d=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:A=\"urn:ietf:params:xml:ns:carddav\""
    " xmlns:CS=\"http://calendarserver.org/ns/\" xmlns:IC=\"http://apple.com/ns/ical/\"";

/// "SUMMARY:x / UID:y" as content lines.
inline std::string lines(const std::string& text, const std::string& end = "\r\n") {
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const auto at = std::min(text.find(" / ", from), text.size());
    out += text.substr(from, at - from) + end;
    from = at + 3;
  }
  return out;
}
inline std::string calendar(const std::string& inside) {
  return lines("BEGIN:VCALENDAR / VERSION:2.0 / PRODID:-//t//EN") + lines(inside) + lines("END:VCALENDAR");
}
inline std::string event(const std::string& uid, const std::string& more = "DTSTART:20260105T100000Z") {
  return calendar("BEGIN:VEVENT / UID:" + uid + " / DTSTAMP:20260101T000000Z / " + more + " / END:VEVENT");
}
inline std::string todo(const std::string& uid, const std::string& more = "SUMMARY:t") {
  return calendar("BEGIN:VTODO / UID:" + uid + " / DTSTAMP:20260101T000000Z / " + more + " / END:VTODO");
}
inline std::string card(const std::string& uid, const std::string& name = "Eva") {
  return lines("BEGIN:VCARD / VERSION:3.0 / UID:" + uid + " / FN:" + name + " / N:" + name +
               ";;;; / END:VCARD");
}

/// Somebody with the default collections, and bob, who shall not see them.
struct Groupware : ::testing::Test {
  Groupware() : Groupware(shared_server()) {}
  explicit Groupware(TestServer& on) : server(on) {}
  TestServer& server;
  TestUser alice = server.user(server.fresh("alice")), bob = server.user(server.fresh("bob"));
  ApiClient dav = server.as(alice), bobs = server.as(bob);
  std::string home = "/dav/calendars/" + alice.name + "/",
              books = "/dav/addressbooks/users/" + alice.name + "/";
  std::string cal = home + "personal/", tasks = home + "tasks/", book = books + "contacts/";
  HttpResponse last;

  /// Every error has one child, and says what it is.
  int send(ApiClient& as, const std::string& method, const std::string& path, HeaderList headers = {},
           const std::string& body = "") {
    last = as.send(method, path, std::move(headers), body);
    if (last.status >= 400 && last.status != 424) {
      EXPECT_EQ(last.header("content-type"), "application/xml; charset=utf-8") << method << ' ' << path;
      if (last.header("content-type").starts_with("application/xml")) {
        const auto error = wire::parse_xml(last.body);
        EXPECT_TRUE(error.is("DAV:", "error")) << last.body;
        EXPECT_EQ(error.children.size(), 1u) << last.body;
      }
    }
    return last.status;
  }
  int send(const std::string& method, const std::string& path, HeaderList headers = {},
           const std::string& body = "") {
    return send(dav, method, path, std::move(headers), body);
  }
  int put(const std::string& path, const std::string& body, HeaderList headers = {}) {
    if (!std::any_of(headers.begin(), headers.end(), [](const auto& h) { return h.first == "Content-Type"; }))
      headers.emplace_back("Content-Type", path.ends_with(".vcf") ? "text/vcard" : "text/calendar");
    return send("PUT", path, std::move(headers), body);
  }
  std::string get(const std::string& path) {
    const auto got = dav.get(path);
    return got.status == 200 ? got.body : "status " + std::to_string(got.status);
  }
  /// The precondition of the last answer: "C:no-uid-conflict" and the like.
  std::string condition() const {
    const auto from = last.body.find('<', last.body.find("<d:error") + 1);
    if (last.body.find("<d:error") == std::string::npos) return "(none)";
    return last.body.substr(from + 1, last.body.find_first_of("/>", from) - from - 1);
  }
  DavAnswer propfind(const std::string& path, const std::string& depth, const std::string& props = "",
                     HeaderList headers = {}) {
    if (!depth.empty()) headers.emplace_back("Depth", depth);
    const auto body =
        props.empty() ? ""
                      : "<d:propfind" + std::string(kSpaces) + "><d:prop>" + props + "</d:prop></d:propfind>";
    return dav_answer(dav.send("PROPFIND", path, std::move(headers), body));
  }
  std::string text(const std::string& path, const std::string& prop, const std::string& clark_name) {
    const auto answer = propfind(path, "0", "<" + prop + "/>");
    return answer.responses.empty() ? "(none)" : answer.responses[0].text(clark_name);
  }
  std::string ctag(const std::string& path) { return text(path, "CS:getctag", cs("getctag")); }
  std::string etag(const std::string& path) { return text(path, "d:getetag", "getetag"); }
  DavAnswer proppatch(ApiClient& as, const std::string& path, const std::string& inside) {
    return dav_answer(
        as.send("PROPPATCH", path, {},
                "<d:propertyupdate" + std::string(kSpaces) + ">" + inside + "</d:propertyupdate>"));
  }
  DavAnswer set(const std::string& path, const std::string& props) {
    return proppatch(dav, path, "<d:set><d:prop>" + props + "</d:prop></d:set>");
  }
  DavAnswer report(const std::string& path, const std::string& name, const std::string& inside,
                   HeaderList headers = {}) {
    last =
        dav.send("REPORT", path, std::move(headers), "<" + name + kSpaces + ">" + inside + "</" + name + ">");
    return dav_answer(last);
  }
  DavAnswer sync(const std::string& path, const std::string& token, const std::string& more = "") {
    return report(path, "d:sync-collection",
                  "<d:sync-token>" + token + "</d:sync-token><d:sync-level>1</d:sync-level>" + more +
                      "<d:prop><d:getetag/></d:prop>");
  }
  /// Shares one of alice's collections. @return its address in bob's home
  std::string share(const std::string& path, int access) {
    const bool calendars = path.starts_with("/dav/calendars/");
    const auto name = path.substr(path.rfind('/', path.size() - 2) + 1);
    const auto id =
        server.number("select id from collections where deleted_at is null and owner_id = " +
                      std::to_string(alice.id.value) + " and path = '" + name.substr(0, name.size() - 1) +
                      "' and kind = " + (calendars ? "1" : "2"));
    server.sql("insert into collection_shares (collection_id, user_id, access) values (" +
               std::to_string(id) + ", " + std::to_string(bob.id.value) + ", " + std::to_string(access) +
               ")");
    return (calendars ? "/dav/calendars/" : "/dav/addressbooks/users/") + bob.name + "/shared-" +
           std::to_string(id) + "/";
  }
};

}  // namespace welkin::tests
