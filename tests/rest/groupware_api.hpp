#pragma once
#include "rest/api.hpp"

namespace welkin::tests {

/// Somebody with the default collections, over the API and over DAV.
struct GroupwareApi : Api {
  std::string cal_id = collection(1, "personal"), tasks_id = collection(1, "tasks"),
              book_id = collection(2, "contacts");

  std::int64_t key_of(const TestUser& user, int kind, const std::string& path) {
    return server.number("select id from collections where deleted_at is null and owner_id = " +
                         std::to_string(user.id.value) + " and kind = " + std::to_string(kind) +
                         " and path = '" + path + "'");
  }
  std::string collection(int kind, const std::string& path) {
    return server.ids.encode(kind == 1 ? IdKind::calendar : IdKind::address_book, key_of(alice, kind, path));
  }
  std::string events() const { return "/api/calendars/" + cal_id + "/events"; }
  std::string contacts() const { return "/api/address-books/" + book_id + "/contacts"; }
  std::string cal_path = "personal";
  /// Another calendar in place of the first.
  void use(const std::string& path) {
    EXPECT_EQ(api.send("MKCALENDAR", "/dav/calendars/" + alice.name + "/" + path + "/").status, 201);
    cal_path = path;
    cal_id = collection(1, path);
  }
  std::string cal() const { return "/dav/calendars/" + alice.name + "/" + cal_path + "/"; }
  std::string book() const { return "/dav/addressbooks/users/" + alice.name + "/contacts/"; }
  /// Over DAV.
  HttpResponse put(const std::string& name, const std::string& data) {
    const bool card = name.ends_with(".vcf");
    const auto answer = api.send("PUT", (card ? book() : cal()) + name,
                                 {{"Content-Type", card ? "text/vcard" : "text/calendar"}}, data);
    EXPECT_TRUE(answer.status == 201 || answer.status == 204) << answer.status << answer.body;
    return answer;
  }
  std::int64_t used() {
    return server.number("select used_bytes from drives where kind = 1 and owner_id = " +
                         std::to_string(alice.id.value));
  }
  static std::string event(const std::string& uid, const std::string& more = "DTSTART:20260105T100000Z") {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
           "\r\nDTSTAMP:20260101T000000Z\r\n" + more + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
  }
  static std::string card(const std::string& uid, const std::string& name = "Eva",
                          const std::string& more = "") {
    return "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:" + uid + "\r\nFN:" + name + "\r\nN:" + name + ";;;;\r\n" +
           more + "END:VCARD\r\n";
  }
};

}  // namespace welkin::tests
