// What clients ask beside DAV. Tests are numbered as the acceptance list of docs/nextcloud.md.
#include "nextcloud/web_fixture.hpp"
#include "welkin/files/favorites.hpp"

namespace welkin::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(NextcloudWeb, Check01StatusNeedsNoCredentials) {
  for (const char* path : {"/status.php", "/remote.php/dav/status.php", "/remote.php/webdav/status.php"}) {
    const auto answer = nobody.get(path);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_FALSE(answer.has("www-authenticate"));
    EXPECT_LT(answer.body.size(), 4096u);
    const auto status = json_of(answer);
    EXPECT_EQ(status["installed"], true);
    EXPECT_EQ(status["maintenance"], false);
    EXPECT_EQ(status["needsDbUpgrade"], false);
    EXPECT_THAT(status["version"].get<std::string>(),
                testing::MatchesRegex("3[2-9]\\.[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_THAT(status["version"].get<std::string>(), StartsWith(status["versionstring"].get<std::string>()));
  }
  // Wrong credentials are not looked at.
  EXPECT_EQ(ApiClient(server.port(), basic("nobody", "nothing")).get("/status.php").status, 200);
}

TEST_F(NextcloudWeb, Check02NobodyStandsInBetween) {
  for (const char* path : {"/index.php/204", "/204"}) {
    const auto answer = nobody.get(path);
    EXPECT_EQ(answer.status, 204);
    EXPECT_TRUE(answer.body.empty());
    EXPECT_FALSE(answer.has("location"));
  }
}

TEST_F(NextcloudWeb, Check04CapabilitiesAreLessWithoutLogin) {
  const auto open = ocs("GET", "/cloud/capabilities", "", &nobody);
  ASSERT_EQ(open.status, 200);
  const auto few = json_of(open)["ocs"]["data"];
  EXPECT_EQ(few["version"]["major"], 32);
  EXPECT_FALSE(few["capabilities"].contains("dav"));
  EXPECT_TRUE(few["capabilities"].contains("theming"));
  const auto answer = ocs("GET", "/cloud/capabilities");
  const auto all = json_of(answer)["ocs"]["data"]["capabilities"];
  EXPECT_EQ(all["dav"]["chunking"], "1.0");
  EXPECT_FALSE(all["dav"].contains("bulkupload"));
  const auto etag = answer.header("etag");
  ASSERT_FALSE(etag.empty());
  EXPECT_NE(etag, open.header("etag"));
  const auto again = client.get("/ocs/v2.php/cloud/capabilities?format=json", {{"If-None-Match", etag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  EXPECT_EQ(client.get("/ocs/v1.php/cloud/capabilities?format=json").status, 200);
}

/// What an app needs wherever the parent is there at all: path, and a value of the right type.
TEST_F(NextcloudWeb, Check05CapabilitiesHaveTheTypesThatAppsInsistOn) {
  const auto answer = client.get("/ocs/v2.php/cloud/capabilities?format=json");
  EXPECT_THAT(answer.body, HasSubstr("\"statuscode\":200"));
  EXPECT_THAT(answer.body, Not(HasSubstr("\": ")));
  const auto document = json_of(answer);
  EXPECT_EQ(document["ocs"]["meta"]["status"], "ok");
  EXPECT_EQ(document["ocs"]["meta"]["message"], "OK");
  const auto version = document["ocs"]["data"]["version"];
  for (const char* key : {"major", "minor", "micro"}) EXPECT_TRUE(version[key].is_number_integer()) << key;
  for (const char* key : {"string", "edition"}) EXPECT_TRUE(version[key].is_string()) << key;
  const auto can = document["ocs"]["data"]["capabilities"];
  const json schema = json::parse(R"({
    "core":{"pollinterval":1,"webdav-root":"","reference-api":true,"reference-regex":"","mod-rewrite-working":true},
    "dav":{"chunking":"","chunkingParallelUploadDisabled":true,"httpErrorCodesThatResetFailingChunkedUploads":[1]},
    "files":{"bigfilechunking":true,"undelete":true,"versioning":true,"version_labeling":true,"version_deletion":true,
      "comments":true,"chunked_upload":{"max_size":1,"max_parallel_count":1},"blacklisted_files":[""],
      "forbidden_filenames":[""],"forbidden_filename_basenames":[""],"forbidden_filename_characters":[""],
      "forbidden_filename_extensions":[""],"windows_compatible_filenames":true,"locking":"","api-feature-lock-type":true,
      "directEditing":{"url":"","etag":"","supportsFileId":true}},
    "theming":{"name":"","url":"","slogan":"","color":"","color-text":"","color-element":"","color-element-bright":"",
      "color-element-dark":"","logo":"","background":"","background-text":"","background-default":true,
      "background-plain":true,"logoheader":"","favicon":""},
    "user_status":{"enabled":true,"restore":true,"supports_emoji":true,"supports_busy":true},
    "notify_push":{"type":[""],"endpoints":{"websocket":"","pre_auth":""}},
    "recommendations":{"enabled":true},"systemtags":{"enabled":true}})");
  const std::function<void(const json&, const json&, const std::string&)> compare =
      [&](const json& is, const json& like, const std::string& at) {
        if (like.is_object()) {
          ASSERT_TRUE(is.is_object()) << at;
          for (const auto& [key, value] : is.items()) {
            ASSERT_TRUE(like.contains(key)) << "nobody has said of which type is " << at << '/' << key;
            compare(value, like[key], at + '/' + key);
          }
        } else if (like.is_array()) {
          ASSERT_TRUE(is.is_array()) << at;
          for (const auto& element : is)
            EXPECT_EQ(element.type_name(), std::string(like[0].type_name())) << at;
        } else {
          EXPECT_EQ(is.type_name(), std::string(like.type_name())) << at;
        }
      };
  compare(can, schema, "");
  for (const auto& [block, keys] :
       std::map<std::string, std::vector<std::string>>{{"core", {"pollinterval"}},
                                                       {"files", {"bigfilechunking"}},
                                                       {"theming", {"name", "slogan", "color"}},
                                                       {"user_status", {"enabled", "supports_emoji"}}}) {
    ASSERT_TRUE(can.contains(block)) << block;
    for (const auto& key : keys) EXPECT_TRUE(can[block].contains(key)) << block << '/' << key;
  }
  EXPECT_THAT(can["theming"]["color"].get<std::string>(), testing::MatchesRegex("#[0-9a-f]{6}"));
  EXPECT_EQ(nobody.get("/index.php/apps/theming/image/logo").status, 200);
  EXPECT_EQ(nobody.get("/index.php/apps/theming/favicon").status, 200);
}

TEST_F(NextcloudWeb, Check06TheUserIsTheSameUnderEveryName) {
  const auto wanted = server.fresh("carol");
  people::People::NewUser row;
  row.name = wanted;
  row.password = "correct horse of carol";
  row.email = wanted + "@example.org";
  row.display_name = "Carol C";
  run(server.people->create_user(row, {}, {}));
  for (const auto& login : {wanted, wanted + "@example.org"}) {
    ApiClient carol(server.port(), basic(login, row.password));
    const auto v1 = carol.get("/ocs/v1.php/cloud/user?format=json", {{"OCS-APIRequest", "true"}});
    ASSERT_EQ(v1.status, 200) << v1.body;
    EXPECT_EQ(meta(v1), 100);
    EXPECT_THAT(v1.body, HasSubstr("\"statuscode\":100"));
    const auto v2 = carol.get("/ocs/v2.php/cloud/user?format=json", {{"OCS-APIRequest", "true"}});
    EXPECT_EQ(meta(v2), 200);
    const auto user = json_of(v2)["ocs"]["data"];
    EXPECT_EQ(user["id"], wanted);
    EXPECT_EQ(user["display-name"], "Carol C");
    EXPECT_EQ(user["displayname"], "Carol C");
    EXPECT_EQ(user["email"], row.email);
    EXPECT_EQ(user["groups"], json::array());
    EXPECT_EQ(user["quota"]["quota"], -3);
    EXPECT_EQ(user["quota"]["used"], 0);
    EXPECT_GT(user["quota"]["free"].get<std::int64_t>(), 0);
    EXPECT_TRUE(user["lastLogin"].is_number_integer());
  }
  // With a quota the numbers add up.
  const auto dave = server.user(server.fresh("dave"), false, 1'000'000);
  server.file(dave, server.home(dave), "a.txt", std::string(250'000, 'x'));
  ApiClient of_dave(server.port(), basic(dave.name, dave.password));
  const auto quota = json_of(ocs("GET", "/cloud/user", "", &of_dave))["ocs"]["data"]["quota"];
  EXPECT_EQ(quota,
            json::parse(R"({"free":750000,"used":250000,"total":1000000,"relative":25.0,"quota":1000000})"));
}

TEST_F(NextcloudWeb, Check07FormatsAndRefusals) {
  const auto xml = client.get("/ocs/v1.php/cloud/user", {{"OCS-APIRequest", "true"}});
  EXPECT_EQ(xml.header("content-type"), "application/xml; charset=utf-8");
  EXPECT_THAT(xml.body, HasSubstr("<statuscode>100</statuscode>"));
  EXPECT_THAT(xml.body, HasSubstr("<id>" + alice.name + "</id>"));
  ApiClient wrong(server.port(), basic(alice.name, "nothing like it"));
  for (auto* who : {&wrong, &nobody}) {
    for (const char* version : {"v1", "v2"}) {
      const auto path = "/ocs/" + std::string(version) + ".php/cloud/user";
      const auto as_json = who->get(path + "?format=json");
      EXPECT_EQ(as_json.status, 401);
      EXPECT_EQ(meta(as_json), 997);
      EXPECT_EQ(as_json.header("www-authenticate"), "Basic realm=\"Nextcloud\", charset=\"UTF-8\"");
      const auto as_xml = who->get(path);
      EXPECT_EQ(as_xml.status, 401);
      EXPECT_THAT(as_xml.body, HasSubstr("<statuscode>997</statuscode>"));
    }
  }
  // An app password that is not for these clients does not open this door.
  people::NewAppPassword narrow;
  narrow.label = "calendar";
  narrow.protocol_mask = protocols::kCaldav;
  const auto other = run(server.people->create_app_password(alice.caller, narrow, {})).second;
  EXPECT_EQ(ApiClient(server.port(), basic(alice.name, other)).get("/ocs/v2.php/cloud/user").status, 401);
}

TEST_F(NextcloudWeb, Check09AppPasswordsEndThemselves) {
  const auto with_password =
      ApiClient(server.port(), basic(alice.name, alice.password))
          .get("/ocs/v2.php/core/getapppassword?format=json", {{"OCS-APIRequest", "true"}});
  ASSERT_EQ(with_password.status, 200) << with_password.body;
  const auto made = json_of(with_password)["ocs"]["data"]["apppassword"].get<std::string>();
  ApiClient device(server.port(), basic(alice.name, made));
  EXPECT_EQ(ocs("GET", "/core/getapppassword", "", &device).status, 403);
  EXPECT_EQ(device.send("PROPFIND", "/remote.php/dav/files/" + alice.name + "/", {{"Depth", "0"}}).status,
            207);
  // A page of another site cannot end it with what the browser remembers.
  const auto bare = device.send("DELETE", "/ocs/v2.php/core/apppassword?format=json");
  EXPECT_EQ(bare.status, 412);
  EXPECT_EQ(ocs("DELETE", "/core/apppassword", "", &device).status, 200);
  EXPECT_EQ(ocs("GET", "/cloud/user", "", &device).status, 401);
  EXPECT_EQ(device.send("PROPFIND", "/remote.php/dav/files/" + alice.name + "/", {{"Depth", "0"}}).status,
            401);
  const auto wipe = nobody.send("POST", "/index.php/core/wipe/check",
                                {{"Content-Type", "application/x-www-form-urlencoded"}}, "token=" + made);
  EXPECT_EQ(wipe.status, 404);
}

TEST_F(NextcloudWeb, Check55AvatarsArePictures) {
  for (const auto& path : {"/index.php/avatar/" + alice.name + "/64", "/avatar/" + alice.name + "/64/dark",
                           "/remote.php/dav/avatars/" + alice.name + "/64.png"}) {
    const auto answer = client.get(path);
    ASSERT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.header("content-type"), "image/png");
    EXPECT_EQ(answer.header("x-nc-iscustomavatar"), "0");
    EXPECT_THAT(answer.body, StartsWith("\x89PNG\r\n\x1a\n"));
    EXPECT_EQ(answer.body.substr(16, 8), std::string("\0\0\0\x40\0\0\0\x40", 8));
    EXPECT_EQ(client.get(path, {{"If-None-Match", answer.header("etag")}}).status, 304);
  }
  for (const char* path : {"/index.php/avatar/nobody-of-this-name/64", "/remote.php/dav/avatars/x/64.gif"})
    EXPECT_EQ(client.get(path).status, 404);
  EXPECT_EQ(client.get("/index.php/avatar/" + alice.name + "/large").status, 404);
  EXPECT_EQ(nobody.get("/index.php/avatar/" + alice.name + "/64").status, 401);
}

TEST_F(NextcloudWeb, Check55WhatHasNoPreviewIs404) {
  const auto id = file("plain.bin", std::string("\x00\x01\x02", 3));
  EXPECT_EQ(client.get("/index.php/core/preview?fileId=" + std::to_string(id.value) + "&x=256&y=256").status,
            404);
  EXPECT_EQ(client.get("/index.php/core/preview?x=256&y=256").status, 400);
  EXPECT_EQ(client.get("/index.php/core/preview.png?file=/plain.bin&x=64&y=64").status, 404);
  EXPECT_EQ(client.get("/index.php/apps/files/api/v1/thumbnail/64/64/plain.bin").status, 404);
  // Somebody else's is as if it were not there.
  ApiClient of_bob(server.port(), basic(bob.name, bob.password));
  EXPECT_EQ(of_bob.get("/index.php/core/preview?fileId=" + std::to_string(id.value)).status, 404);
}

TEST_F(NextcloudWeb, Check56UnknownAddressesAreCleanAnswers) {
  for (const char* path : {"/apps/terms_of_service/terms", "/apps/assistant/x", "/nothing",
                           "/apps/files/api/v1/openlocaleditor/x"}) {
    const auto v2 = client.get("/ocs/v2.php" + std::string(path) + "?format=json");
    EXPECT_EQ(v2.status, 404) << path;
    EXPECT_EQ(meta(v2), 998) << path;
    const auto v1 = client.get("/ocs/v1.php" + std::string(path) + "?format=json");
    EXPECT_EQ(v1.status, 200) << path;
    EXPECT_EQ(meta(v1), 998) << path;
    const auto xml = client.get("/ocs/v2.php" + std::string(path));
    EXPECT_EQ(xml.header("content-type"), "application/xml; charset=utf-8");
    EXPECT_THAT(xml.body, HasSubstr("<statuscode>998</statuscode>"));
  }
  const auto page = client.get("/index.php/apps/groupfolders/folders");
  EXPECT_EQ(page.status, 404);
  EXPECT_THAT(page.header("content-type"), HasSubstr("application/json"));
  EXPECT_EQ(meta(client.send("PUT", "/ocs/v2.php/cloud/user?format=json", {{"OCS-APIRequest", "true"}})),
            405);
}

TEST_F(NextcloudWeb, Check56WhatNobodyHasIsEmptyInTheRightForm) {
  for (const char* path :
       {"/apps/notifications/api/v2/notifications", "/apps/activity/api/v2/activity/filters",
        "/apps/files_sharing/api/v1/shares", "/apps/files_sharing/api/v1/shares?shared_with_me=true",
        "/apps/files_sharing/api/v1/shares/pending", "/apps/files_sharing/api/v1/deletedshares",
        "/apps/files_sharing/api/v1/remote_shares", "/apps/files_sharing/api/v1/shares?path=/"})
    EXPECT_EQ(get(path), json::array()) << path;
  for (const char* path : {"/apps/dashboard/api/v1/widgets", "/apps/dashboard/api/v1/widget-items"})
    EXPECT_EQ(get(path), json::object()) << path;
  const auto notifications = ocs("GET", "/apps/notifications/api/v2/notifications");
  EXPECT_TRUE(notifications.has("etag"));
  EXPECT_TRUE(notifications.has("x-nextcloud-user-status"));
  EXPECT_EQ(ocs("GET", "/apps/notifications/api/v2/notifications/7").status, 404);
  const auto activity = ocs("GET", "/apps/activity/api/v2/activity?since=0&limit=50");
  EXPECT_EQ(activity.status, 304);
  EXPECT_TRUE(activity.has("x-activity-first-known"));
  EXPECT_EQ(ocs("GET", "/apps/activity/api/v2/activity/nonsense").status, 404);
  EXPECT_EQ(ocs("GET", "/apps/files_sharing/api/v1/shares?path=/missing").status, 404);
  file("one.txt", "1");
  EXPECT_EQ(ocs("GET", "/apps/files_sharing/api/v1/shares?path=/one.txt&subfiles=true").status, 400);
  EXPECT_EQ(ocs("GET", "/apps/files_sharing/api/v1/sharees?search=bo").status, 400);
  const auto sharees = get("/apps/files_sharing/api/v1/sharees?search=bo&itemType=file");
  for (const char* kind : {"users", "groups", "remotes", "remote_groups", "emails"}) {
    EXPECT_EQ(sharees["exact"][kind], json::array()) << kind;
    EXPECT_EQ(sharees[kind], json::array()) << kind;
  }
  EXPECT_EQ(get("/apps/recommendations/api/v1/recommendations"),
            json::parse(R"({"enabled":true,"recommendations":[]})"));
  EXPECT_TRUE(get("/core/navigation/apps?absolute=true")[0]["href"].is_string());
}

TEST_F(NextcloudWeb, Check56StatusIsSetAndSaid) {
  const std::string top = "/apps/user_status/api/v1";
  EXPECT_EQ(ocs("GET", top + "/user_status").status, 404);
  EXPECT_EQ(data("PUT", top + "/user_status/status", "statusType=dnd")["status"], "dnd");
  const auto said = data("PUT", top + "/user_status/message/custom",
                         "statusIcon=%F0%9F%8C%B4&message=Away+at+sea&clearAt=4000000000");
  EXPECT_EQ(said["message"], "Away at sea");
  EXPECT_EQ(said["icon"], "🌴");
  EXPECT_EQ(said["clearAt"], 4'000'000'000);
  EXPECT_EQ(said["messageIsPredefined"], false);
  EXPECT_EQ(said["statusIsUserDefined"], true);
  EXPECT_EQ(said["userId"], alice.name);
  EXPECT_EQ(get(top + "/user_status"), said);
  for (const auto& [path, form] : {std::pair{"/user_status/status", "statusType=asleep"},
                                   {"/user_status/message/custom", "message=x&statusIcon=word"},
                                   {"/user_status/message/custom", "message=x&clearAt=1"},
                                   {"/user_status/message/custom", "message=x&clearAt=soon"},
                                   {"/user_status/message/predefined", "messageId=nonsense"},
                                   {"/heartbeat", "status=dnd"}})
    EXPECT_EQ(ocs("PUT", top + path, form).status, 400) << path << ' ' << form;
  // JSON is as good as a form.
  const auto by_json = client.send("PUT", "/ocs/v2.php" + top + "/user_status/message/predefined?format=json",
                                   {{"OCS-APIRequest", "true"}, {"Content-Type", "application/json"}},
                                   R"({"messageId":"meeting","clearAt":null})");
  EXPECT_EQ(json_of(by_json)["ocs"]["data"]["messageId"], "meeting");
  const auto predefined = get(top + "/predefined_statuses");
  ASSERT_GE(predefined.size(), 3u);
  EXPECT_EQ(predefined[0]["clearAt"]["type"], "period");
  EXPECT_TRUE(predefined[0]["clearAt"]["time"].is_number());
  EXPECT_EQ(ocs("DELETE", top + "/user_status/message").status, 200);
  EXPECT_TRUE(get(top + "/user_status")["message"].is_null());
  // Strangers are told nothing.
  ApiClient of_bob(server.port(), basic(bob.name, bob.password));
  EXPECT_EQ(ocs("GET", top + "/statuses/" + alice.name, "", &of_bob).status, 404);
}

TEST_F(NextcloudWeb, Check56RecommendsWhatWasOpenedLast) {
  const auto folder = server.folder(alice, server.home(alice), "Documents");
  const auto id = server.file(alice, folder, "Report.md", "words");
  run(server.files->recent().touch(alice.caller, id));
  const auto found = get("/apps/recommendations/api/v1/recommendations")["recommendations"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["id"], std::to_string(id.value));
  EXPECT_TRUE(found[0]["timestamp"].is_number_integer());
  EXPECT_EQ(found[0]["name"], "Report");
  EXPECT_EQ(found[0]["extension"], ".md");
  EXPECT_EQ(found[0]["directory"], "/Documents");
  EXPECT_TRUE(found[0]["hasPreview"].is_boolean());
}

TEST_F(NextcloudWeb, Check56TheSearchFindsFilesByName) {
  const auto id = file("Report of autumn.txt", "words");
  server.file(bob, server.home(bob), "Report of bob.txt", "words");
  const auto provider = get("/search/providers").at(0);
  EXPECT_EQ(provider["id"], "files");
  EXPECT_TRUE(provider["order"].is_number_integer());
  const auto found = get("/search/providers/files/search?term=report&limit=10");
  EXPECT_TRUE(found["isPaginated"].is_boolean());
  ASSERT_EQ(found["entries"].size(), 1u) << found;
  const auto hit = found["entries"][0];
  EXPECT_EQ(hit["title"], "Report of autumn.txt");
  EXPECT_EQ(hit["attributes"]["fileId"], std::to_string(id.value));
  EXPECT_TRUE(hit["rounded"].is_boolean());
  EXPECT_EQ(get("/search/providers/files/search?term=")["entries"], json::array());
  EXPECT_EQ(ocs("GET", "/search/providers/files/search?term=x&limit=many").status, 400);
  EXPECT_EQ(ocs("GET", "/search/providers/nobody/search?term=x").status, 404);
}

TEST_F(NextcloudWeb, Check56OthersAreToldOfAsFarAsOneMaySeeThem) {
  EXPECT_EQ(get("/cloud/users/" + alice.name)["id"], alice.name);
  EXPECT_EQ(get("/hovercard/v1/" + alice.name)["actions"], json::array());
  for (const auto& path :
       {"/cloud/users/" + bob.name, "/hovercard/v1/" + bob.name, std::string("/cloud/users/nobody")})
    EXPECT_EQ(ocs("GET", path).status, 404) << path;
}

TEST_F(NextcloudWeb, Check71WhatIsOthersIsNotEditedNorSeen) {
  const auto id = server.file(bob, server.home(bob), "secret.md", "of bob");
  const auto top = std::string("/apps/files/api/v1/directEditing");
  const auto answer = ocs("POST", top + "/open", "editorId=text&fileId=" + std::to_string(id.value));
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, Not(HasSubstr("secret")));
}

struct Editing : NextcloudWeb {
  const std::string top = "/apps/files/api/v1/directEditing";
  std::string open(const std::string& path, const char* how = "/open") {
    const auto url = data("POST", top + how, "editorId=text&creatorId=textdocument&path=" + path)["url"]
                         .get<std::string>();
    return url.substr(url.find("/index.php"));
  }
  static std::string attribute(const std::string& page, const std::string& name) {
    const auto at = page.find(name + "=\"");
    const auto from = at + name.size() + 2;
    auto value = page.substr(from, page.find('"', from) - from);
    for (std::size_t i; (i = value.find("&quot;")) != value.npos;) value.replace(i, 6, "\"");
    return value;
  }
  HttpResponse save(const std::string& page, const std::string& etag, const std::string& text) {
    return nobody.send("PUT", "/index.php/apps/files/directEditing/save",
                       {{"X-Welkin-Edit", attribute(page, "data-token")},
                        {"If-Match", etag},
                        {"Content-Type", "text/plain"}},
                       text);
  }
  std::string content(const std::string& name) {
    return client.get("/remote.php/dav/files/" + alice.name + "/" + name).body;
  }
};

TEST_F(Editing, OfATextWorksWithoutASignInAndOnceForEachAddress) {
  file("note.md", "\n<b>first</b> & \"second\"\n");
  EXPECT_EQ(get(top)["editors"]["text"]["id"], "text");
  const auto path = open("/note.md");
  const auto page = nobody.get(path);
  ASSERT_EQ(page.status, 200) << page.body;
  EXPECT_THAT(page.header("content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page.header("content-security-policy"), Not(HasSubstr("unsafe")));
  EXPECT_THAT(page.body, HasSubstr(">\n\n&lt;b&gt;first&lt;/b&gt; &amp; &quot;second&quot;\n</textarea>"));
  EXPECT_EQ(nobody.get(path).status, 404) << "once";
  const auto etag = attribute(page.body, "data-etag");
  const auto saved = save(page.body, etag, "changed");
  ASSERT_EQ(saved.status, 200) << saved.body;
  EXPECT_EQ(content("note.md"), "changed");
  EXPECT_EQ(save(page.body, etag, "too late").status, 412);
  EXPECT_EQ(content("note.md"), "changed");
  EXPECT_EQ(save(page.body, json_of(saved)["etag"].get<std::string>(), "again").status, 200);
  EXPECT_EQ(save(page.body, "", "without a condition").status, 400);
  EXPECT_EQ(
      nobody.send("PUT", "/index.php/apps/files/directEditing/save", {{"If-Match", "\"x\""}}, "x").status,
      401);
  // The app password that opened the page is taken back, and the page with it.
  EXPECT_EQ(ocs("DELETE", "/core/apppassword").status, 200);
  EXPECT_EQ(save(page.body, etag, "x").status, 401);
}

TEST_F(Editing, RefusesWhatItCouldNotGiveBack) {
  file("control.txt", std::string("a\0b", 3));
  file("mixed.txt", "a\r\nb\n");
  file("latin.txt", "caf\xe9");
  for (const char* name : {"/control.txt", "/mixed.txt", "/latin.txt"}) {
    const auto answer = ocs("POST", top + "/open", std::string("editorId=text&path=") + name);
    if (answer.status == 403) continue;  // not text at all
    const auto url = json_of(answer)["ocs"]["data"]["url"].get<std::string>();
    EXPECT_EQ(nobody.get(url.substr(url.find("/index.php"))).status, 415) << name;
  }
  file("picture.png", "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(ocs("POST", top + "/open", "editorId=text&path=/picture.png").status, 403);
  EXPECT_EQ(ocs("POST", top + "/open", "editorId=word&path=/control.txt").status, 400);
}

TEST_F(Editing, MakesNewFilesAndKeepsWindowsLineEnds) {
  const auto page = nobody.get(open("/new.md", "/create"));
  ASSERT_EQ(page.status, 200);
  EXPECT_EQ(content("new.md"), "");
  EXPECT_EQ(ocs("POST", top + "/create", "editorId=text&creatorId=textdocument&path=/new.md").status, 403);
  EXPECT_EQ(ocs("POST", top + "/create", "editorId=text&creatorId=textdocument&path=/missing/new.md").status,
            404);
  file("dos.txt", "a\r\nb\r\n");
  EXPECT_EQ(attribute(nobody.get(open("/dos.txt")).body, "data-crlf"), "1");
}

TEST_F(NextcloudWeb, LinksToFilesLeadToTheWebApp) {
  const auto answer = nobody.get("/index.php/f/42");
  EXPECT_EQ(answer.status, 303);
  EXPECT_EQ(nobody.get("/index.php/f/evil").status, 404);
  EXPECT_EQ(nobody.get("/f/1%0d%0aX:y").status, 400);
}

}  // namespace
}  // namespace welkin::tests
