// The authorization matrix of calendars and address books, as rights_test is that of files: every route as
// every kind of subject on every kind of object, and a route without a row fails.
#include <map>
#include <set>
#include <utility>

#include "rest/groupware_api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

enum Subject : std::size_t {
  kNobody,
  kStranger,
  kReader,
  kWriter,
  kOwner,
  kInGroup,
  kReadOnlyPassword,
  kFolderPassword,
  kDavPassword,
  kSubjects
};
constexpr const char* kSubjectNames[] = {"nobody",
                                         "stranger",
                                         "reader",
                                         "writer",
                                         "owner",
                                         "in group that writes",
                                         "read-only app password",
                                         "folder app password",
                                         "app password without the API"};
enum class Object { shared, foreign, trashed, missing };
constexpr const char* kObjectNames[] = {"shared", "foreign", "trashed", "missing"};

/// Ids are public ones.
struct Things {
  std::string calendar, event, book, contact, group;
  std::string trashed_event, trashed_contact;  // of the shared ones
  std::string trashed_calendar, trashed_book;  // the owner's
};

struct Request {
  std::string method, target, body;
};

// u 401, n 404, f 403, o 2xx
constexpr const char* kReads = "unooooonu";
constexpr const char* kWrites = "unfooofnu";
constexpr const char* kPatches = "unoooofnu";  // who only reads sets what he alone sees
constexpr const char* kRemoves = "unoooffnu";  // whom it is shared with leaves; not what came through a group
constexpr const char* kOwn = "uoooooonu";
constexpr const char* kMakes = "uooooofnu";
constexpr const char* kTrashed = "unnooofnu";  // who only reads is not told what others deleted
constexpr const char* kOwnTrashed = "unnnonfnu";

enum Scope : std::uint8_t { kNone, kAll, kSharedOnly };

struct Row {
  const char* route;  // behind '/' a second way to call it
  const char* expected;
  Scope scope;
  Request (*request)(const Things&);
};

std::string calendar_at(const Things& t, const std::string& rest = "") {
  return "/api/calendars/" + t.calendar + rest;
}
std::string event_at(const Things& t, const std::string& rest = "") {
  return calendar_at(t, "/events/" + t.event + rest);
}
std::string book_at(const Things& t, const std::string& rest = "") {
  return "/api/address-books/" + t.book + rest;
}
std::string contact_at(const Things& t, const std::string& rest = "") {
  return book_at(t, "/contacts/" + t.contact + rest);
}
std::string group_at(const Things& t, const std::string& rest = "") {
  return book_at(t, "/groups/" + t.group + rest);
}

constexpr const char* kEmptyCalendar = "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n";
constexpr const char* kCard = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:x\r\nEND:VCARD\r\n";

const Row kRows[] = {
    {"calendars.list", kOwn, kNone, [](const Things&) { return Request{"GET", "/api/calendars", ""}; }},
    {"calendars.create", kMakes, kNone,
     [](const Things&) { return Request{"POST", "/api/calendars", R"({"name":"n"})"}; }},
    {"calendars.get", kReads, kAll, [](const Things& t) { return Request{"GET", calendar_at(t), ""}; }},
    {"calendars.update", kPatches, kAll,
     [](const Things& t) { return Request{"PUT", calendar_at(t), R"({"name":"n"})"}; }},
    {"calendars.remove", kRemoves, kAll,
     [](const Things& t) { return Request{"DELETE", calendar_at(t), ""}; }},
    {"calendars.export", kReads, kAll,
     [](const Things& t) { return Request{"GET", calendar_at(t, "/export"), ""}; }},
    {"calendars.import", kWrites, kAll,
     [](const Things& t) { return Request{"POST", calendar_at(t, "/import"), kEmptyCalendar}; }},
    {"calendars.trash", kOwn, kNone,
     [](const Things&) { return Request{"GET", "/api/calendars/trash/resources", ""}; }},
    {"calendars.restore", kTrashed, kSharedOnly,
     [](const Things& t) {
       return Request{"POST", "/api/calendars/trash/" + t.trashed_event + "/restore", ""};
     }},
    {"calendars.restore/whole", kOwnTrashed, kSharedOnly,
     [](const Things& t) {
       return Request{"POST", "/api/calendars/trash/" + t.trashed_calendar + "/restore", ""};
     }},
    {"calendars.purge", kTrashed, kSharedOnly,
     [](const Things& t) { return Request{"DELETE", "/api/calendars/trash/" + t.trashed_event, ""}; }},
    {"calendars.purge/whole", kOwnTrashed, kSharedOnly,
     [](const Things& t) { return Request{"DELETE", "/api/calendars/trash/" + t.trashed_calendar, ""}; }},
    {"calendars.empty_trash", kMakes, kNone,
     [](const Things&) { return Request{"DELETE", "/api/calendars/trash", ""}; }},
    {"calendars.events", kReads, kAll,
     [](const Things& t) {
       return Request{"GET", calendar_at(t, "/events?from=2026-01-01&to=2026-02-01"), ""};
     }},
    {"calendars.objects", kReads, kAll,
     [](const Things& t) { return Request{"GET", calendar_at(t, "/objects"), ""}; }},
    {"calendars.create_event", kWrites, kAll,
     [](const Things& t) { return Request{"POST", calendar_at(t, "/events"), R"({"start":"2026-01-05"})"}; }},
    {"calendars.get_event", kReads, kAll, [](const Things& t) { return Request{"GET", event_at(t), ""}; }},
    {"calendars.update_event", kWrites, kAll,
     [](const Things& t) { return Request{"PUT", event_at(t), R"({"summary":"s"})"}; }},
    {"calendars.remove_event", kWrites, kAll,
     [](const Things& t) { return Request{"DELETE", event_at(t), ""}; }},
    {"calendars.event_ics", kReads, kAll,
     [](const Things& t) { return Request{"GET", event_at(t, "/ics"), ""}; }},
    {"address_books.list", kOwn, kNone,
     [](const Things&) { return Request{"GET", "/api/address-books", ""}; }},
    {"address_books.create", kMakes, kNone,
     [](const Things&) { return Request{"POST", "/api/address-books", R"({"name":"n"})"}; }},
    {"address_books.get", kReads, kAll, [](const Things& t) { return Request{"GET", book_at(t), ""}; }},
    {"address_books.update", kPatches, kAll,
     [](const Things& t) { return Request{"PUT", book_at(t), R"({"name":"n"})"}; }},
    {"address_books.remove", kRemoves, kAll,
     [](const Things& t) { return Request{"DELETE", book_at(t), ""}; }},
    {"address_books.export", kReads, kAll,
     [](const Things& t) { return Request{"GET", book_at(t, "/export"), ""}; }},
    {"address_books.import", kWrites, kAll,
     [](const Things& t) { return Request{"POST", book_at(t, "/import"), kCard}; }},
    {"address_books.trash", kOwn, kNone,
     [](const Things&) { return Request{"GET", "/api/address-books/trash/resources", ""}; }},
    {"address_books.restore", kTrashed, kSharedOnly,
     [](const Things& t) {
       return Request{"POST", "/api/address-books/trash/" + t.trashed_contact + "/restore", ""};
     }},
    {"address_books.restore/whole", kOwnTrashed, kSharedOnly,
     [](const Things& t) {
       return Request{"POST", "/api/address-books/trash/" + t.trashed_book + "/restore", ""};
     }},
    {"address_books.purge", kTrashed, kSharedOnly,
     [](const Things& t) { return Request{"DELETE", "/api/address-books/trash/" + t.trashed_contact, ""}; }},
    {"address_books.purge/whole", kOwnTrashed, kSharedOnly,
     [](const Things& t) { return Request{"DELETE", "/api/address-books/trash/" + t.trashed_book, ""}; }},
    {"address_books.empty_trash", kMakes, kNone,
     [](const Things&) { return Request{"DELETE", "/api/address-books/trash", ""}; }},
    {"address_books.contacts", kReads, kAll,
     [](const Things& t) { return Request{"GET", book_at(t, "/contacts"), ""}; }},
    {"address_books.contact_resources", kReads, kAll,
     [](const Things& t) { return Request{"GET", book_at(t, "/contacts/resources"), ""}; }},
    {"address_books.create_contact", kWrites, kAll,
     [](const Things& t) { return Request{"POST", book_at(t, "/contacts"), R"({"full_name":"n"})"}; }},
    {"address_books.get_contact", kReads, kAll,
     [](const Things& t) { return Request{"GET", contact_at(t), ""}; }},
    {"address_books.update_contact", kWrites, kAll,
     [](const Things& t) { return Request{"PUT", contact_at(t), R"({"notes":"s"})"}; }},
    {"address_books.remove_contact", kWrites, kAll,
     [](const Things& t) { return Request{"DELETE", contact_at(t), ""}; }},
    {"address_books.contact_vcf", kReads, kAll,
     [](const Things& t) { return Request{"GET", contact_at(t, "/vcf"), ""}; }},
    {"address_books.contact_photo", kReads, kAll,
     [](const Things& t) { return Request{"GET", contact_at(t, "/photo"), ""}; }},
    {"address_books.groups", kReads, kAll,
     [](const Things& t) { return Request{"GET", book_at(t, "/groups"), ""}; }},
    {"address_books.create_group", kWrites, kAll,
     [](const Things& t) { return Request{"POST", book_at(t, "/groups"), R"({"name":"n"})"}; }},
    {"address_books.get_group", kReads, kAll,
     [](const Things& t) { return Request{"GET", group_at(t), ""}; }},
    {"address_books.rename_group", kWrites, kAll,
     [](const Things& t) { return Request{"PUT", group_at(t), R"({"name":"s"})"}; }},
    {"address_books.remove_group", kWrites, kAll,
     [](const Things& t) { return Request{"DELETE", group_at(t), ""}; }},
    {"address_books.group_contacts", kReads, kAll,
     [](const Things& t) { return Request{"GET", group_at(t, "/contacts"), ""}; }},
    {"address_books.add_to_group", kWrites, kAll,
     [](const Things& t) {
       return Request{"POST", group_at(t, "/contacts"), json{{"contact_id", t.contact}}.dump()};
     }},
    {"address_books.remove_from_group", kWrites, kAll,
     [](const Things& t) { return Request{"DELETE", group_at(t, "/contacts/" + t.contact), ""}; }},
};

char letter(int status) {
  if (status >= 200 && status < 300) return 'o';
  return status == 401 ? 'u' : status == 403 ? 'f' : status == 404 ? 'n' : status == 409 ? 'c' : '?';
}

struct GroupwareRights : GroupwareApi {
  std::vector<ApiClient> clients;
  std::vector<std::string> subjects;  // columns and values of collection_shares
  std::string password(bool read_only, NodeId folder, std::int32_t protocols) {
    people::NewAppPassword wanted;
    wanted.label = "test";
    wanted.protocol_mask = protocols;
    wanted.read_only = read_only;
    wanted.folder = folder;
    return basic(alice.name, run(server.people->create_app_password(alice.caller, wanted, {})).second);
  }
  void SetUp() override {
    const auto stranger = server.user(server.fresh("stranger")), reader = server.user(server.fresh("reader")),
               writer = server.user(server.fresh("writer")), grouped = server.user(server.fresh("grouped"));
    const auto group = std::to_string(server.number("select nextval('principal_ids')"));
    server.sql("insert into groups (id, name, display_name) values (" + group + ", '" +
               server.fresh("group") + "', 'G')");
    server.sql("insert into group_members (user_id, group_id) values (" + std::to_string(grouped.id.value) +
               ", " + group + ")");
    server.sql("update users set access_gen = access_gen + 1 where id = " + std::to_string(grouped.id.value));
    subjects = {"user_id, access) values ($, " + std::to_string(reader.id.value) + ", 1)",
                "user_id, access) values ($, " + std::to_string(writer.id.value) + ", 2)",
                "group_id, access) values ($, " + group + ", 2)"};
    clients.push_back(server.nobody());
    for (const TestUser* user :
         std::initializer_list<const TestUser*>{&stranger, &reader, &writer, &alice, &grouped})
      clients.push_back(server.as(*user));
    clients.emplace_back(server.port(), password(true, {}, protocols::kAll));
    clients.emplace_back(server.port(), password(false, server.folder(alice, root, "area"), protocols::kAll));
    clients.emplace_back(server.port(), password(false, {}, protocols::kCaldav | protocols::kCarddav));
    ASSERT_EQ(clients.size(), kSubjects);
  }
  void share(const std::string& key) {
    for (auto values : subjects) {
      values.replace(values.find('$'), 1, key);
      server.sql("insert into collection_shares (collection_id, " + values);
    }
  }
  std::string collection(const std::string& path, const std::string& name, Object object) {
    const auto made = json_of(api.json("POST", path, json{{"name", name}}.dump()));
    const auto key = *server.ids.decode(path.ends_with("books") ? IdKind::address_book : IdKind::calendar,
                                        made["id"].get<std::string>());
    if (object == Object::shared || object == Object::trashed) share(std::to_string(key));
    return made["id"];
  }
  static std::string id_of(const HttpResponse& answer) { return json_of(answer).value("id", "?"); }
  /// Things nobody has touched.
  Things things(Object object) {
    Things t;
    if (object == Object::missing) {
      t.calendar = server.ids.encode(IdKind::calendar, 2'000'000'000);
      t.event = server.ids.encode(IdKind::calendar_object, 2'000'000'000);
      t.book = server.ids.encode(IdKind::address_book, 2'000'000'000);
      t.contact = server.ids.encode(IdKind::contact, 2'000'000'000);
      t.group = server.ids.encode(IdKind::contact_group, 2'000'000'000);
      return t;
    }
    t.calendar = collection("/api/calendars", "c", object);
    t.book = collection("/api/address-books", "b", object);
    t.event = id_of(api.json("POST", calendar_at(t, "/events"), R"({"start":"2026-01-05"})"));
    const auto vcf = card("p" + t.book, "P", "PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgo=\r\n");
    api.send("POST", book_at(t, "/import"), {{"Content-Type", "text/vcard"}}, vcf);
    t.contact = json_of(api.get(book_at(t, "/contacts")))[0]["id"];
    t.group = id_of(api.json("POST", book_at(t, "/groups"), R"({"name":"g"})"));
    if (object == Object::trashed) {
      api.send("DELETE", calendar_at(t));
      api.send("DELETE", book_at(t));
    }
    return t;
  }
  std::string last_trashed() {
    return server.ids.encode(IdKind::trashed_object, server.number("select max(id) from collection_trash"));
  }
  void fill_trash(Things& t) {
    const auto gone = id_of(api.json("POST", calendar_at(t, "/events"), R"({"start":"2026-01-05"})"));
    api.send("DELETE", calendar_at(t, "/events/" + gone));
    t.trashed_event = last_trashed();
    const auto contact = id_of(api.json("POST", book_at(t, "/contacts"), R"({"full_name":"gone"})"));
    api.send("DELETE", book_at(t, "/contacts/" + contact));
    t.trashed_contact = last_trashed();
    t.trashed_calendar = collection("/api/calendars", "gone", Object::shared);
    t.trashed_book = collection("/api/address-books", "gone", Object::shared);
    api.send("DELETE", "/api/calendars/" + t.trashed_calendar);
    api.send("DELETE", "/api/address-books/" + t.trashed_book);
  }
  HttpResponse ask(std::size_t who, const Request& request) {
    HeaderList headers;
    const bool import = request.target.ends_with("/import");
    if (!request.body.empty())
      headers.emplace_back("Content-Type", import ? "application/octet-stream" : "application/json");
    return clients[who].send(request.method, request.target, headers, request.body);
  }
};

TEST_F(GroupwareRights, EveryRouteForEverySubjectOnEveryObject) {
  constexpr Object kObjects[] = {Object::shared, Object::foreign, Object::trashed, Object::missing};
  std::map<Object, Things> things_now;
  for (const auto object : kObjects) things_now[object] = things(object);
  for (const auto& row : kRows) {
    ASSERT_EQ(std::string_view(row.expected).size(), kSubjects) << row.route;
    const bool only_reads = row.expected == kReads || row.expected == kOwn;
    bool wants_trash = row.scope == kSharedOnly;
    for (const auto object : kObjects) {
      if (row.scope != kAll && object != Object::shared) continue;
      for (std::size_t who = 0; who < kSubjects; ++who) {
        auto& t = things_now[object];
        if (std::exchange(wants_trash, false)) fill_trash(t);
        const bool owns = who == kOwner || who == kReadOnlyPassword;
        char wanted = row.expected[who];
        if (wanted != 'u' && object != Object::shared && !(object == Object::foreign && owns)) wanted = 'n';
        const auto answer = ask(who, row.request(t));
        EXPECT_EQ(std::string(1, letter(answer.status)), std::string(1, wanted))
            << row.route << " as " << kSubjectNames[who] << " on a thing that is "
            << kObjectNames[static_cast<int>(object)] << ": " << answer.status << ' ' << answer.body;
        if (only_reads || letter(answer.status) != 'o') continue;
        // What was changed is not what the next one shall find.
        if (row.scope == kAll) t = things(object);
        wants_trash = row.scope == kSharedOnly;
      }
    }
  }
}

TEST_F(GroupwareRights, EveryRouteHasARow) {
  std::set<std::string> rows, routes;
  for (const auto& row : kRows)
    rows.insert(std::string(row.route).substr(0, std::string_view(row.route).find('/')));
  for (const auto& route : server.router.routes())
    if (route.resource == "calendar" || route.resource == "calendar_object" || route.resource == "address_book" ||
        route.resource == "contact")
      routes.insert(route.name);
  EXPECT_EQ(routes, rows);
}

}  // namespace
}  // namespace welkin::tests
