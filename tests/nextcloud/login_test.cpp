// How devices come in: both login flows, by the pages as a browser would use them.
#include "nextcloud/web_fixture.hpp"

namespace welkin::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const HeaderList kForm = {{"Content-Type", "application/x-www-form-urlencoded"}};

struct LoginFlow : NextcloudWeb {
  struct Begun {
    std::string token, endpoint, login, page;
  };
  Begun begin(const std::string& agent = "Alice's phone") {
    const auto answer =
        nobody.send("POST", "/index.php/login/v2", {{"User-Agent", agent}, {"Content-Length", "0"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto body = json_of(answer);
    Begun out{body["poll"]["token"], body["poll"]["endpoint"], body["login"], ""};
    out.page = out.login.substr(out.login.find("/login/v2/flow/"));
    return out;
  }
  HttpResponse poll(const Begun& begun) {
    return nobody.send("POST", "/login/v2/poll", kForm, "token=" + begun.token);
  }
  std::string credentials(const TestUser& user) {
    return "username=" + user.name + "&password=" + text::percent_encode(user.password);
  }
};

TEST_F(LoginFlow, Check08GrantedInABrowserAndFetchedOnce) {
  const auto begun = begin();
  EXPECT_EQ(begun.token.size(), 128u);
  EXPECT_THAT(begun.endpoint, testing::EndsWith("/login/v2/poll"));
  EXPECT_THAT(begun.login, Not(HasSubstr(begun.token)));
  auto answer = poll(begun);
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "[]");

  const auto page = nobody.get(begun.page + "?user=alice");
  ASSERT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("Alice&#39;s phone"));
  EXPECT_THAT(page.body, HasSubstr("value=\"alice\""));
  EXPECT_THAT(page.body, Not(HasSubstr("<script")));
  const auto policy = page.header("content-security-policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("form-action 'self'"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));

  const auto wrong = nobody.send("POST", begun.page, kForm, "username=" + alice.name + "&password=wrong+one");
  EXPECT_EQ(wrong.status, 403);
  EXPECT_THAT(wrong.body, HasSubstr("role=\"alert\""));
  EXPECT_EQ(poll(begun).status, 404);
  const auto sessions = server.number("select count(*) from sessions");
  const auto granted = nobody.send("POST", begun.page, kForm, credentials(alice));
  EXPECT_EQ(granted.status, 200) << granted.body;
  EXPECT_FALSE(granted.has("set-cookie"));
  EXPECT_EQ(server.number("select count(*) from sessions"), sessions) << "the session was for this only";
  EXPECT_EQ(nobody.get(begun.page).status, 404) << "nothing is left to be asked";

  answer = poll(begun);
  ASSERT_EQ(answer.status, 200);
  const auto body = json_of(answer);
  EXPECT_EQ(body["loginName"], alice.name);
  EXPECT_EQ(body["server"], begun.endpoint.substr(0, begun.endpoint.find("/login/")));
  EXPECT_EQ(poll(begun).status, 404);
  ApiClient device(server.port(), basic(alice.name, body["appPassword"]));
  EXPECT_EQ(ocs("GET", "/cloud/user", "", &device).status, 200);
  EXPECT_EQ(device.send("PROPFIND", "/remote.php/dav/files/" + alice.name + "/", {{"Depth", "0"}}).status,
            207);
  const auto passwords = run(server.people->app_passwords(alice.caller));
  EXPECT_EQ(passwords.front().label, "Alice's phone");
}

TEST_F(LoginFlow, WhatADeviceCallsItselfIsOnlyText) {
  const auto begun = begin("<script>alert(1)</script>\"'&");
  const auto page = nobody.get(begun.page + "?user=%22%3E%3Cscript%3E");
  EXPECT_THAT(page.body, Not(HasSubstr("<script")));
  EXPECT_THAT(page.body, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST_F(LoginFlow, ABrowserThatIsSignedInIsAskedToAgreeOnly) {
  const auto begun = begin();
  const HeaderList cookie = {{"Cookie", "welkin_access=" + alice.token}};
  const auto page = nobody.get(begun.page, cookie);
  EXPECT_THAT(page.body, HasSubstr("<strong>" + alice.name + "</strong>"));
  const std::string field = "name=\"csrf\" value=\"";
  const auto at = page.body.find(field);
  ASSERT_NE(at, std::string::npos);
  const auto from = at + field.size();
  const auto csrf = page.body.substr(from, page.body.find('"', from) - from);
  const auto send = [&](const std::string& form, HeaderList headers) {
    headers.insert(headers.end(), kForm.begin(), kForm.end());
    return nobody.send("POST", begun.page, headers, form).status;
  };
  EXPECT_EQ(send("csrf=wrong", cookie), 403);
  EXPECT_EQ(send("", cookie), 403) << "a cookie alone does nothing";
  EXPECT_EQ(send("csrf=" + csrf, {}), 403) << "nor the token alone";
  auto from_elsewhere = cookie;
  from_elsewhere.emplace_back("Sec-Fetch-Site", "cross-site");
  EXPECT_EQ(send("csrf=" + csrf, from_elsewhere), 403);
  EXPECT_EQ(poll(begun).status, 404);
  EXPECT_EQ(send("csrf=" + csrf, cookie), 200);
  EXPECT_EQ(poll(begun).status, 200);
  EXPECT_THAT(nobody.get(begin().page + "?other", cookie).body, HasSubstr("name=\"password\""));
}

TEST_F(LoginFlow, ExpiresAndKnowsNoOthersTokens) {
  const auto begun = begin();
  EXPECT_EQ(nobody.get("/login/v2/flow/" + begun.token).status, 404);
  EXPECT_EQ(nobody.send("POST", "/login/v2/poll", kForm, "token=nonsense").status, 404);
  EXPECT_EQ(nobody.send("POST", "/login/v2/poll", kForm, "token=%zz").status, 400);
  EXPECT_EQ(nobody.send("POST", "/login/v2/poll", kForm, "token=" + std::string(20'000, 'x')).status, 413);
  server.sql("update device_logins set expires_at = now() - interval '1 second'");
  EXPECT_EQ(nobody.get(begun.page).status, 404);
  EXPECT_EQ(nobody.send("POST", begun.page, kForm, credentials(alice)).status, 404);
  EXPECT_EQ(poll(begun).status, 404);
}

TEST_F(LoginFlow, TheOlderWayEndsAtAnAddressOfTheApp) {
  const HeaderList agent = {{"User-Agent", "Old phone"}, {"OCS-APIRequest", "true"}};
  const auto page = nobody.get("/index.php/login/flow", agent);
  ASSERT_EQ(page.status, 200);
  EXPECT_THAT(page.header("content-security-policy"), HasSubstr("form-action 'self' nc:"));
  HeaderList headers = {{"User-Agent", "Old phone"}};
  headers.insert(headers.end(), kForm.begin(), kForm.end());
  EXPECT_EQ(nobody.send("POST", "/index.php/login/flow", headers, "username=x&password=wrong+one").status,
            403);
  const auto answer = nobody.send("POST", "/index.php/login/flow", headers, credentials(alice));
  ASSERT_EQ(answer.status, 303);
  const auto target = answer.header("location");
  EXPECT_THAT(target, StartsWith("nc://login/server:http://"));
  EXPECT_THAT(target, HasSubstr("&user:" + alice.name + "&password:"));
  ApiClient device(server.port(), basic(alice.name, target.substr(target.find("&password:") + 10)));
  EXPECT_EQ(ocs("GET", "/cloud/user", "", &device).status, 200);
}

TEST(LoginFlowOfAServer, Check10BehindAProxyTellsItsPublicAddress) {
  TestServer server([](Config& config) { config.base_url = "https://cloud.example.org/base"; });
  auto nobody = server.nobody();
  const HeaderList host = {{"Host", "cloud.example.org"}};
  const auto begun = json_of(nobody.send("POST", "/base/login/v2", host));
  EXPECT_EQ(begun["poll"]["endpoint"], "https://cloud.example.org/base/login/v2/poll");
  EXPECT_THAT(begun["login"].get<std::string>(), StartsWith("https://cloud.example.org/base/login/v2/flow/"));
  EXPECT_EQ(nobody.get("/base/status.php", host).status, 200);
  const auto alice = server.user("alice");
  ApiClient client(server.port(), basic(alice.name, alice.password));
  const auto push = json_of(client.get("/base/ocs/v2.php/cloud/capabilities?format=json",
                                       host))["ocs"]["data"]["capabilities"]["notify_push"];
  EXPECT_EQ(push["endpoints"]["websocket"], "wss://cloud.example.org/base/push/ws");
  // A browser's form on https.
  const auto page = begun["login"].get<std::string>().substr(std::string("https://cloud.example.org").size());
  HeaderList form = {{"Host", "cloud.example.org"},
                     {"Origin", "https://cloud.example.org"},
                     {"Content-Type", "application/x-www-form-urlencoded"}};
  EXPECT_EQ(nobody.send("POST", page, form, "username=alice&password=" + text::percent_encode(alice.password))
                .status,
            200);
  form[1].second = "https://elsewhere.example";
  EXPECT_EQ(nobody
                .send("POST",
                      json_of(nobody.send("POST", "/base/login/v2", host))["login"].get<std::string>().substr(
                          std::string("https://cloud.example.org").size()),
                      form, "username=alice&password=x")
                .status,
            403);
  const auto admitted = json_of(
      nobody.send("POST", "/base/index.php/login/v2/poll",
                  {{"Host", "cloud.example.org"}, {"Content-Type", "application/x-www-form-urlencoded"}},
                  "token=" + begun["poll"]["token"].get<std::string>()));
  EXPECT_EQ(admitted["server"], "https://cloud.example.org/base");
}

TEST(LoginFlowOfAServer, IsThrottledLikeOtherLogins) {
  TestServer server([](Config& config) { config.login_attempts_per_minute = 3; });
  const auto alice = server.user("alice");
  auto nobody = server.nobody();
  const auto begun = json_of(nobody.send("POST", "/login/v2"));
  const auto login = begun["login"].get<std::string>();
  const auto page = login.substr(login.find("/login/v2/flow"));
  int status = 0;
  HttpResponse last;
  for (int i = 0; i < 8 && status != 429; ++i) {
    last = nobody.send("POST", page, kForm, "username=alice&password=wrong" + std::to_string(i));
    status = last.status;
  }
  EXPECT_EQ(status, 429);
  EXPECT_TRUE(last.has("retry-after"));
}

}  // namespace
}  // namespace welkin::tests
