#include "rest/groupware_api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;
using AddressBooks = GroupwareApi;

TEST_F(AddressBooks, AreListedMadeChangedAndDeleted) {
  const auto all = json_of(api.get("/api/address-books/"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["name"], "Contacts");
  EXPECT_EQ(all[0]["is_readonly"], false);
  EXPECT_EQ(all[0]["is_system"], false);
  EXPECT_EQ(all[0]["is_public"], false);
  const auto made =
      api.json("POST", "/api/address-books", R"({"name":"Work","description":"d","color":"#112233"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto at = made.header("location");
  const auto changed = json_of(api.json("PUT", at, R"({"description":null})"));
  EXPECT_EQ(changed["name"], "Work");
  EXPECT_TRUE(changed["description"].is_null());
  expect_error(api.json("POST", "/api/address-books", R"({"name":"x","is_public":true})"), 400, "bad_field");
  EXPECT_EQ(api.send("DELETE", at).status, 204);
  expect_error(api.get(at), 404, "not_found");
}

TEST_F(AddressBooks, AContactIsMadeReadChangedAndDeleted) {
  const auto made = api.json(
      "POST", contacts(),
      R"({"first_name":"Eva","last_name":"Müller; Jr","email":[{"email":"eva@example.org","type":"home",
                                 "is_primary":true},{"email":"e@work.example"}],"phone":[{"number":"+49 30 1","type":"cell"}],
                                 "address":[{"street":"Way 1, left","city":"Town","postal_code":"123","type":"work"}],
                                 "organization":"Acme","title":"Dr","notes":"a\nb","birthday":"1980-02-29","anniversary":"2001-05-06"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto eva = json_of(made);
  EXPECT_EQ(eva["full_name"], "Eva Müller; Jr");
  EXPECT_EQ(eva["email"][0], json({{"email", "eva@example.org"}, {"type", "home"}, {"is_primary", true}}));
  EXPECT_EQ(eva["email"][1]["is_primary"], false);
  EXPECT_EQ(eva["phone"][0]["number"], "+49 30 1");
  EXPECT_EQ(eva["address"][0]["street"], "Way 1, left");
  EXPECT_TRUE(eva["address"][0]["country"].is_null());
  EXPECT_EQ(eva["notes"], "a\nb");
  EXPECT_EQ(eva["birthday"], "1980-02-29");
  EXPECT_TRUE(eva["photo_url"].is_null());
  const auto at = made.header("location"), etag = made.header("etag");
  EXPECT_EQ('"' + eva["etag"].get<std::string>() + '"', etag);
  EXPECT_EQ(json_of(api.get(at)), eva);

  expect_error(
      api.json("PUT", at, R"({"notes":"x"})", {{"If-Match", "\"00000000000000000000000000000000\""}}), 412,
      "precondition_failed");
  EXPECT_EQ(api.json("PUT", at, R"({"notes":"x"})", {{"If-Match", "*"}}).status, 200);
  const auto changed = api.json("PUT", at, R"({"last_name":"Schmidt","birthday":"--02-29","title":""})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(json_of(changed)["full_name"], "Eva Schmidt") << "it was made of the two";
  EXPECT_EQ(json_of(changed)["birthday"], "--02-29");
  EXPECT_TRUE(json_of(changed)["title"].is_null());
  EXPECT_EQ(json_of(changed)["notes"], "x");
  EXPECT_EQ(json_of(changed)["email"], eva["email"]);
  expect_error(api.json("PUT", at, R"({"birthday":"soon"})"), 400, "bad_field");
  expect_error(api.json("PUT", at, R"({"photo_url":"javascript:x"})"), 400, "bad_field");
  expect_error(api.json("PUT", at, R"({"email":[{"email":""}]})"), 400, "bad_field");
  expect_error(api.json("PUT", at, R"({"email":[{"email":"x","type":"a;b"}]})"), 400, "bad_field");
  expect_error(api.json("PUT", at, R"({"emails":[]})"), 422, "unknown_field");
  expect_error(api.send("DELETE", at, {{"If-Match", etag}}), 412, "precondition_failed");
  EXPECT_EQ(api.send("DELETE", at).status, 204);
  expect_error(api.get(at), 404, "not_found");
}

TEST_F(AddressBooks, AnEditKeepsTheOctetsItDoesNotSpeakOf) {
  const std::string stored =
      "BEGIN:VCARD\nVERSION:4.0\nUID:urn:uuid:1\nFN:Jo Doe\nN:Doe;Jo;Middle;Dr.;\nX-PHONETIC;X=1:\n  odd "
      "fold\n"
      "item1.EMAIL;TYPE=work;X-KEEP=1:old@example.org\nitem1.X-ABLabel:_$!<Other>!$_\n"
      "item2.EMAIL;PREF=1:jo@example.org\nitem2.X-ABLabel:Private\nBDAY:--0620\nEND:VCARD";
  put("jo.vcf", stored);
  const auto jo = json_of(api.get(contacts()))[0];
  EXPECT_EQ(jo["email"][1], json({{"email", "jo@example.org"}, {"type", "other"}, {"is_primary", true}}));
  const auto at = contacts() + "/" + jo["id"].get<std::string>();
  const auto answer = api.json(
      "PUT", at,
      R"({"last_name":"Roe","email":[{"email":"old@example.org","type":"work"},{"email":"new@example.org"}]})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto text = api.get(at + "/vcf").body;
  EXPECT_NE(text.find("X-PHONETIC;X=1:\n  odd fold\n"), std::string::npos) << text;
  EXPECT_NE(text.find("item1.EMAIL;TYPE=work;X-KEEP=1:old@example.org\nitem1.X-ABLabel:_$!<Other>!$_\n"),
            std::string::npos);
  EXPECT_EQ(text.find("jo@example.org"), std::string::npos);
  EXPECT_EQ(text.find("Private"), std::string::npos) << "its label went with it";
  EXPECT_NE(text.find("N:Roe;Jo;Middle;Dr.;\n"), std::string::npos) << text;
  EXPECT_NE(text.find("BDAY:--0620\n"), std::string::npos);
  EXPECT_NE(text.find("FN:Jo Roe\n"), std::string::npos) << "it was made of the two";
  EXPECT_EQ(api.json("PUT", at, R"({"last_name":"Roe"})").header("etag"), answer.header("etag"))
      << "nothing to change";
}

TEST_F(AddressBooks, ContactsAreListedByName) {
  int n = 0;
  for (const char* name : {"Émile", "bob", "Alice", "Zoë", "anna"})
    put(std::to_string(++n) + ".vcf", card(name, name));
  put("team.vcf", card("team", "Team", "X-ADDRESSBOOKSERVER-KIND:group\r\n"));
  std::vector<std::string> all, paged;
  for (const auto& each : json_of(api.get(contacts()))) all.push_back(each["full_name"]);
  EXPECT_EQ(all, (std::vector<std::string>{"Alice", "anna", "bob", "Émile", "Zoë"}));
  EXPECT_EQ(json_of(api.get(contacts() + "?limit=2&offset=1"))[0]["full_name"], "anna");
  std::string cursor;
  for (int pages = 0; pages < 10; ++pages) {
    const auto page = json_of(api.get(contacts() + "/resources?limit=2&cursor=" + cursor));
    for (const auto& each : page["items"]) paged.push_back(each["full_name"]);
    cursor = page.value("next_cursor", "");
    if (cursor.empty()) break;
  }
  EXPECT_EQ(paged, all);
  const auto first = api.get(contacts());
  EXPECT_EQ(api.get(contacts(), {{"If-None-Match", first.header("etag")}}).status, 304);
  put("new.vcf", card("new"));
  EXPECT_EQ(api.get(contacts(), {{"If-None-Match", first.header("etag")}}).status, 200);
}

TEST_F(AddressBooks, AContactIsOnlyInItsOwnBook) {
  put("eva.vcf", card("eva"));
  const auto id = json_of(api.get(contacts()))[0]["id"].get<std::string>();
  const auto other =
      json_of(api.json("POST", "/api/address-books", R"({"name":"Other"})"))["id"].get<std::string>();
  expect_error(api.get("/api/address-books/" + other + "/contacts/" + id), 404, "not_found");
  expect_error(api.send("DELETE", "/api/address-books/" + other + "/contacts/" + id), 404, "not_found");
  expect_error(api.get(contacts() + "/" + cal_id), 404, "not_found");
}

TEST_F(AddressBooks, GroupsHaveMembers) {
  const auto a = json_of(api.json("POST", contacts(), R"({"full_name":"A"})")),
             b = json_of(api.json("POST", contacts(), R"({"full_name":"B"})"));
  const auto groups = "/api/address-books/" + book_id + "/groups";
  const auto made = api.json("POST", groups, R"({"name":"Team"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto at = groups + "/" + json_of(made)["id"].get<std::string>();
  for (const auto& each : {b, a, a})
    EXPECT_EQ(api.json("POST", at + "/contacts", json{{"contact_id", each["id"]}}.dump()).status, 204);
  const auto members = json_of(api.get(at + "/contacts"));
  ASSERT_EQ(members.size(), 2u) << "twice is once";
  EXPECT_EQ(members[0]["full_name"], "B") << "in the order of the group";
  EXPECT_EQ(json_of(api.get(at))["members_count"], 2);
  EXPECT_EQ(json_of(api.json("PUT", at, R"({"name":"Crew"})"))["name"], "Crew");
  EXPECT_EQ(api.send("DELETE", at + "/contacts/" + b["id"].get<std::string>()).status, 204);
  EXPECT_EQ(json_of(api.get(at + "/contacts"))[0]["full_name"], "A");
  EXPECT_EQ(json_of(api.get(groups)).size(), 1u);
  EXPECT_EQ(json_of(api.get(contacts())).size(), 2u) << "a group is no contact";
  const auto card = api.send(
      "REPORT", book(), {},
      R"(<A:addressbook-query xmlns:A="urn:ietf:params:xml:ns:carddav" xmlns:D="DAV:"><D:prop><A:address-data/></D:prop><A:filter/></A:addressbook-query>)");
  EXPECT_NE(card.body.find("X-ADDRESSBOOKSERVER-KIND:group"), std::string::npos) << "as Apple reads it";
  EXPECT_EQ(api.send("DELETE", at).status, 204);
  EXPECT_EQ(json_of(api.get(groups)).size(), 0u);
  expect_error(api.json("POST", groups, R"({"name":" "})"), 400, "bad_field");
}

TEST_F(AddressBooks, ThePictureInACardHasAnAddress) {
  put("p.vcf", card("p", "P", "PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgo=\r\n"));
  const auto url = json_of(api.get(contacts()))[0]["photo_url"].get<std::string>();
  const auto got = api.get(url);
  EXPECT_EQ(got.status, 200) << url;
  EXPECT_EQ(got.header("content-type"), "image/png");
  EXPECT_EQ(got.body, "\x89PNG\r\n\x1a\n");
  put("n.vcf", card("n", "A"));
  const auto id = json_of(api.get(contacts()))[0]["id"].get<std::string>();
  expect_error(api.get(contacts() + "/" + id + "/photo"), 404, "not_found");
}

}  // namespace
}  // namespace welkin::tests
