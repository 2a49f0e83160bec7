#include <algorithm>
#include <set>
#include <thread>

#include "rest/api.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/text.hpp"

// The account half of the API, over a socket: set-up, signing in and out, sessions, administration.
namespace welkin::tests {
namespace {

using nlohmann::json;

std::string login_body(const std::string& name, const std::string& password) {
  return json{{"username", name}, {"password", password}}.dump();
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

const std::set<std::string> kUserKeys{"id",
                                      "username",
                                      "email",
                                      "display_name",
                                      "role",
                                      "storage_quota_bytes",
                                      "storage_used_bytes",
                                      "created_at",
                                      "updated_at",
                                      "last_login_at",
                                      "active",
                                      "auth_provider"};

/// Nothing of what only the database may know.
void expect_no_secret(const std::string& body) {
  for (const char* word : {"argon2", "password_hash", "access_gen", "_hash", "second_factor", "token_sha"})
    EXPECT_EQ(body.find(word), std::string::npos) << word << " in " << body;
}

// --- set-up

struct FreshServer : ::testing::Test {
  TestServer server{[](Config& config) {
    config.setup_token = "";
    config.setup_attempts_per_hour = 1000;
  }};
  ApiClient anybody = server.nobody();
  std::string token = server.people->setup_token_now();

  HttpResponse set_up(const json& body) { return anybody.json("POST", "/api/setup", body.dump()); }
};

TEST_F(FreshServer, IsSetUpOnceWithItsToken) {
  auto status = json_of(anybody.get("/api/auth/status"));
  EXPECT_EQ(status, (json{{"initialized", false},
                          {"admin_count", 0},
                          {"registration_allowed", false},
                          {"setup_token_required", true}}));
  json wish{{"username", "Root-Like"}, {"email", "root@example.org"}, {"password", "correct horse"}};
  expect_error(set_up(wish), 403, "bad_setup_token");
  wish["setup_token"] = token;
  wish["is_admin"] = true;
  expect_error(set_up(wish), 422, "unknown_field", "mass assignment");
  wish.erase("is_admin");
  wish["password"] = 7;
  expect_error(set_up(wish), 422, "bad_field");
  wish["password"] = "short";
  expect_error(set_up(wish), 400, "weak_password");
  wish["password"] = "correct horse";
  const auto made = set_up(wish);
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(keys_of(json_of(made)), kUserKeys);
  EXPECT_EQ(json_of(made)["username"], "root-like");
  EXPECT_EQ(json_of(made)["role"], "admin");
  EXPECT_TRUE(made.all("set-cookie").empty());
  expect_no_secret(made.body);
  const auto again = set_up(wish);
  expect_error(again, 403, "already_initialized");
  EXPECT_EQ(json_of(again)["error_type"], "SystemAlreadyInitialized");
  status = json_of(anybody.get("/api/auth/status"));
  EXPECT_EQ(status, (json{{"initialized", true},
                          {"admin_count", 1},
                          {"registration_allowed", false},
                          {"setup_token_required", false}}));
}

TEST_F(FreshServer, OfFiftyRacersOneWins) {
  std::vector<int> statuses(50);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < statuses.size(); ++i)
    threads.emplace_back([&, i] {
      auto racer = server.nobody();
      const json wish{
          {"username", "racer" + std::to_string(i)}, {"password", "correct horse"}, {"setup_token", token}};
      statuses[i] = racer.json("POST", "/api/setup", wish.dump()).status;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 201), 1);
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 403), 49);
  EXPECT_EQ(server.number("select count(*) from users"), 1);
}

TEST_F(FreshServer, ShowsAPageThatNeedsNothingElse) {
  const auto page = anybody.get("/setup");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("lang=\"en\""), std::string::npos);
  EXPECT_NE(page.body.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(page.body.find("data-api=\"/api\""), std::string::npos);
  EXPECT_EQ(page.body.find(token), std::string::npos);
  EXPECT_EQ(page.body.find("http://"), std::string::npos) << "no foreign asset";
  EXPECT_EQ(page.body.find("https://"), std::string::npos);
  EXPECT_EQ(page.body.find(" onclick"), std::string::npos);
  EXPECT_EQ(page.body.find(" style="), std::string::npos);
  const auto policy = page.header("content-security-policy");
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  for (const char* tag : {"script", "style"}) {
    const std::string open = std::string("<") + tag + ">", close = std::string("</") + tag + ">";
    const auto begin = page.body.find(open) + open.size();
    const auto inside = page.body.substr(begin, page.body.find(close) - begin);
    const Sha256 digest = crypto::sha256(inside);
    const auto source =
        std::string(tag) + "-src 'sha256-" + text::base64(std::as_bytes(std::span(digest))) + "'";
    EXPECT_NE(policy.find(source), std::string::npos) << policy << " allows no " << source;
  }
  EXPECT_EQ(anybody.send("HEAD", "/setup").status, 200);
  const auto home = anybody.get("/");
  EXPECT_EQ(home.status, 302);
  EXPECT_EQ(home.header("location"), "/setup");
}

// --- signing in

struct Accounts : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice"));
  ApiClient api = server.as(alice);
  ApiClient anybody = server.nobody();

  HttpResponse login(const std::string& name, const std::string& password) {
    return anybody.json("POST", "/api/auth/login", login_body(name, password));
  }
  json signed_in(const TestUser& user) {
    const auto answer = login(user.name, user.password);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json_of(answer);
  }
  ApiClient bearer(const std::string& token) { return {server.port(), "Bearer " + token}; }
  HttpResponse refresh(const std::string& token) {
    return anybody.json("POST", "/api/auth/refresh", json{{"refresh_token", token}}.dump());
  }
};

TEST_F(Accounts, LoginAnswersOldAndNewShapes) {
  const auto answer = login(alice.name, alice.password);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto body = json_of(answer);
  EXPECT_EQ(keys_of(body),
            (std::set<std::string>{"user", "access_token", "refresh_token", "token_type", "expires_in"}));
  EXPECT_EQ(body["token_type"], "Bearer");
  EXPECT_EQ(body["expires_in"], 3600);
  auto flat = body["user"];
  const auto full = flat["full"]["user"];
  flat.erase("full");
  EXPECT_EQ(flat, full);
  EXPECT_EQ(keys_of(flat), kUserKeys);
  EXPECT_EQ(flat["username"], alice.name);
  EXPECT_EQ(flat["role"], "user");
  EXPECT_EQ(flat["active"], true);
  EXPECT_EQ(flat["id"], server.ids.encode(IdKind::user, alice.id.value));
  EXPECT_TRUE(flat["last_login_at"].is_string());
  expect_no_secret(answer.body);
  const auto me = bearer(body["access_token"]).get("/api/auth/me");
  EXPECT_EQ(me.status, 200);
  EXPECT_EQ(keys_of(json_of(me)), kUserKeys);
  EXPECT_EQ(json_of(me)["id"], flat["id"]);
}

TEST_F(Accounts, LoginFailuresAreOneAnswer) {
  auto bob = server.user(server.fresh("bob"));
  run(server.people->set_disabled(bob.id, true, {}, {}));
  const auto told = [&](const std::string& name, const std::string& password) {
    const auto answer = login(name, password);
    EXPECT_EQ(answer.status, 403);
    EXPECT_TRUE(answer.all("set-cookie").empty());
    auto body = json_of(answer);
    body.erase("request_id");
    return body;
  };
  const auto wrong = told(alice.name, "not the password");
  EXPECT_EQ(wrong["error_type"], "Access Denied");
  EXPECT_EQ(told(server.fresh("nobody"), alice.password), wrong);
  EXPECT_EQ(told(bob.name, bob.password), wrong);
  EXPECT_EQ(told(bob.name, "not the password"), wrong);
}

TEST_F(Accounts, BadLoginBodiesAreClearErrors) {
  const auto post = [&](const std::string& body, HeaderList headers = {}) {
    return anybody.json("POST", "/api/auth/login", body, std::move(headers));
  };
  expect_error(post("{"), 400, "bad_json");
  expect_error(post(""), 400, "bad_json");
  expect_error(post("[]"), 422, "bad_field");
  expect_error(post(R"({"username":"a"})"), 422, "missing_field");
  expect_error(post(R"({"username":"a","password":["b"]})"), 422, "bad_field");
  expect_error(post(R"({"username":"a","password":"b","role":"admin"})"), 422, "unknown_field");
  expect_error(post(R"({"username":"a","password":"b","password":"c"})"), 400, "bad_json");
  expect_error(
      anybody.send("POST", "/api/auth/login", {{"Content-Type", "text/plain"}}, login_body("a", "b")), 415,
      "not_json");
  EXPECT_EQ(post(R"({"username":")" + std::string(2'000'000, 'a') + R"("})").status, 413);
}

TEST_F(Accounts, RepeatedFailuresLockWithATime) {
  const auto name = server.fresh("victim");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(login(name, "guess").status, 403);
  const auto locked = login(name, "guess");
  expect_error(locked, 429, "account_locked");
  EXPECT_EQ(json_of(locked)["error_type"], "AccountLocked");
  const auto seconds = json_of(locked)["retry_after_secs"].get<int>();
  EXPECT_GT(seconds, 800);
  EXPECT_LE(seconds, 900);
  EXPECT_EQ(locked.header("retry-after"), std::to_string(seconds));
}

TEST_F(Accounts, RefreshRotatesAndNoticesReuse) {
  const auto first = signed_in(alice);
  const auto answer = refresh(first["refresh_token"]);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto second = json_of(answer);
  EXPECT_EQ(second["user"]["full"]["user"]["username"], alice.name);
  EXPECT_EQ(answer.all("set-cookie").size(), 3u);
  expect_error(bearer(first["access_token"]).get("/api/auth/me"), 401, "bad_token");
  EXPECT_EQ(bearer(second["access_token"]).get("/api/auth/me").status, 200);
  expect_error(refresh(first["refresh_token"]), 403, "refresh_token_reused");
  expect_error(bearer(second["access_token"]).get("/api/auth/me"), 401, "bad_token", "the whole family");
  expect_error(refresh(second["refresh_token"]), 404, "unknown_refresh_token");
  expect_error(refresh("never-seen"), 404, "unknown_refresh_token");
  expect_error(anybody.send("POST", "/api/auth/refresh"), 401, "no_refresh_token");
  expect_error(anybody.json("POST", "/api/auth/refresh", "{}"), 401, "no_refresh_token");
  EXPECT_EQ(anybody.send("POST", "/api/auth/refresh").header("www-authenticate"), "Bearer");
}

TEST_F(Accounts, LogoutEndsTheSessionAtOnce) {
  const auto tokens = signed_in(alice);
  auto there = bearer(tokens["access_token"]);
  const auto out = there.send("POST", "/api/auth/logout");
  EXPECT_EQ(out.status, 200);
  EXPECT_EQ(out.body, "");
  EXPECT_EQ(out.all("set-cookie").size(), 3u);
  for (const auto& cookie : out.all("set-cookie"))
    EXPECT_NE(cookie.find("Max-Age=0"), std::string::npos) << cookie;
  expect_error(there.get("/api/auth/me"), 401, "bad_token", "on the same connection");
  EXPECT_EQ(api.get("/api/auth/me").status, 200) << "other sessions live";
  const auto bob = signed_in(server.user(server.fresh("bob")));
  const auto mine = signed_in(alice);
  expect_error(bearer(mine["access_token"])
                   .json("POST", "/api/auth/logout", json{{"refresh_token", bob["refresh_token"]}}.dump()),
               403, "not_your_token");
  EXPECT_EQ(bearer(bob["access_token"]).get("/api/auth/me").status, 200);
}

TEST_F(Accounts, ChangingThePasswordEndsEverySession) {
  const auto tokens = signed_in(alice);
  auto there = bearer(tokens["access_token"]);
  const auto change = [&](const std::string& current, const std::string& next) {
    return there.json("PUT", "/api/auth/change-password",
                      json{{"current_password", current}, {"new_password", next}}.dump());
  };
  expect_error(change("not the password", "a better one 77"), 403, "bad_credentials");
  expect_error(change(alice.password, "short"), 400, "weak_password");
  const auto done = change(alice.password, "a better one 77");
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(done.body, "");
  expect_error(there.get("/api/auth/me"), 401, "bad_token");
  expect_error(api.get("/api/auth/me"), 401, "bad_token");
  EXPECT_EQ(login(alice.name, alice.password).status, 403);
  EXPECT_EQ(login(alice.name, "a better one 77").status, 200);
}

TEST_F(Accounts, SessionsAreListedAndRevoked) {
  const auto phone = json_of(anybody.json("POST", "/api/auth/login", login_body(alice.name, alice.password),
                                          {{"User-Agent", "Phone/1.0"}}));
  const auto list = json_of(api.get("/api/auth/sessions"));
  EXPECT_EQ(list["total"], 2);
  std::string phone_id;
  int current = 0;
  for (const auto& session : list["sessions"]) {
    EXPECT_EQ(keys_of(session), (std::set<std::string>{"id", "user_agent", "address", "created_at",
                                                       "last_used_at", "expires_at", "current"}));
    if (session["user_agent"] == "Phone/1.0") {
      phone_id = session["id"];
      EXPECT_EQ(session["address"], "127.0.0.1");
      EXPECT_EQ(session["current"], false);
    }
    current += session["current"] == true ? 1 : 0;
  }
  EXPECT_EQ(current, 1);
  ASSERT_FALSE(phone_id.empty());
  auto bob = server.as(server.user(server.fresh("bob")));
  expect_error(bob.send("DELETE", "/api/auth/sessions/" + phone_id), 404, "no_such_session");
  EXPECT_EQ(bearer(phone["access_token"]).get("/api/auth/me").status, 200);
  EXPECT_EQ(api.send("DELETE", "/api/auth/sessions/" + phone_id).status, 200);
  expect_error(bearer(phone["access_token"]).get("/api/auth/me"), 401, "bad_token");
  expect_error(api.send("DELETE", "/api/auth/sessions/" + phone_id), 404, "no_such_session");
  expect_error(api.send("DELETE", "/api/auth/sessions/1"), 400, "bad_id");
  expect_error(api.send("DELETE", "/api/auth/sessions/" + server.folder_id(server.home(alice))), 404,
               "no_such_session");
}

TEST_F(Accounts, DisablingCutsTheNextRequest) {
  EXPECT_EQ(api.get("/api/folders").status, 200);
  run(server.people->set_disabled(alice.id, true, {}, {}));
  expect_error(api.get("/api/folders"), 401, "bad_token");
  expect_error(api.get("/api/auth/me"), 401, "bad_token");
}

TEST_F(Accounts, RegistrationIsClosedUntilOpened) {
  const auto attempt = [&](const std::string& name) {
    return anybody.json("POST", "/api/auth/register",
                        json{{"username", name}, {"password", "correct horse"}}.dump());
  };
  TestServer own;
  ApiClient stranger = own.nobody();
  auto admin = own.as(own.user("admin-a", true));
  const json wish{{"username", "newcomer"}, {"email", "n@example.org"}, {"password", "correct horse"}};
  const auto refused = stranger.json("POST", "/api/auth/register", wish.dump());
  expect_error(refused, 403, "registration_disabled");
  EXPECT_EQ(json_of(refused)["error_type"], "RegistrationDisabled");
  EXPECT_EQ(json_of(admin.get("/api/admin/settings/registration"))["registration_enabled"], false);
  EXPECT_EQ(admin.json("PUT", "/api/admin/settings/registration", R"({"registration_enabled":true})").status,
            200);
  EXPECT_EQ(json_of(stranger.get("/api/auth/status"))["registration_allowed"], true);
  const auto made = stranger.json("POST", "/api/auth/register", wish.dump());
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json_of(made)["role"], "user");
  const auto taken = stranger.json("POST", "/api/auth/register", wish.dump());
  expect_error(taken, 409, "user_exists");
  EXPECT_NE(json_of(taken)["message"].get<std::string>().find("already exists"), std::string::npos);
  json cheat = wish;
  cheat["role"] = "admin";
  expect_error(stranger.json("POST", "/api/auth/register", cheat.dump()), 422, "unknown_field");
  expect_error(attempt(server.fresh("x")), 403, "registration_disabled", "the other server is still closed");
}

// --- credentials on a request

TEST_F(Accounts, TheFirstCredentialDecides) {
  const auto tokens = signed_in(alice);
  const std::string cookie = "welkin_access=" + tokens["access_token"].get<std::string>();
  const auto with = [&](HeaderList headers) { return anybody.get("/api/auth/me", std::move(headers)); };
  const auto none = with({});
  expect_error(none, 401, "no_token");
  EXPECT_EQ(json_of(none)["error"], "Token not provided");
  EXPECT_EQ(none.header("www-authenticate"), "Bearer");
  EXPECT_EQ(with({{"Cookie", cookie}}).status, 200);
  expect_error(with({{"Cookie", cookie}, {"Authorization", "Bearer nonsense"}}), 401, "bad_token",
               "no fall-through");
  expect_error(with({{"Cookie", cookie}, {"Authorization", ""}}), 401, "bad_authorization");
  expect_error(with({{"Authorization", "Digest x"}}), 401, "bad_authorization");
  expect_error(with({{"Authorization", "Basic !!!"}}), 401, "bad_authorization");
  expect_error(with({{"Authorization", "Basic " + text::base64(as_bytes("no colon"))}}), 401,
               "bad_authorization");
  expect_error(with({{"Authorization", basic(alice.name, alice.password)}}), 401, "bad_token",
               "account passwords are not for the API");
  EXPECT_EQ(with({{"Authorization", "bearer  " + tokens["access_token"].get<std::string>()}}).status, 200);
  expect_error(with({{"Authorization", "Bearer " + tokens["refresh_token"].get<std::string>()}}), 401,
               "bad_token");
  expect_error(with({{"Cookie", "welkin_access=nonsense"}}), 401, "bad_token");
  expect_error(with({{"Cookie", "__Secure-welkin_access=" + tokens["access_token"].get<std::string>()}}), 401,
               "no_token");
}

TEST_F(Accounts, ABrowserThatKnowsAPasswordLendsItToNoOtherSite) {
  const auto bearer = HeaderList{
      {"Authorization",
       "Bearer " + json::parse(login(alice.name, alice.password).body)["access_token"].get<std::string>()}};
  const auto made = json::parse(
      anybody.json("POST", "/api/auth/app-passwords", R"({"label":"x","scopes":"rest"})", bearer).body);
  const std::string pair = alice.name + ":" + made["password"].get<std::string>();
  const auto create = [&](const std::string& name, HeaderList headers) {
    headers.emplace_back("Authorization", "Basic " + text::base64(as_bytes(pair)));
    return anybody.json("POST", "/api/folders", R"({"name":")" + name + R"("})", std::move(headers)).status;
  };
  EXPECT_EQ(create("a", {}), 201);
  EXPECT_EQ(create("b", {{"Origin", "https://evil.example"}}), 403);
  EXPECT_EQ(create("c", {{"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(create("d", {{"Origin", "http://localhost"}, {"Sec-Fetch-Site", "same-origin"}}), 201);
}

TEST_F(Accounts, UnsafeMethodsOfCookieCallersNeedProof) {
  const auto answer = login(alice.name, alice.password);
  std::string access, csrf;
  for (const auto& cookie : answer.all("set-cookie")) {
    const auto value = cookie.substr(0, cookie.find(';'));
    if (value.starts_with("welkin_access=")) access = value;
    if (value.starts_with("welkin_csrf=")) csrf = value;
  }
  const std::string proof = csrf.substr(csrf.find('=') + 1);
  const std::string here = "http://localhost";  // what the client sends as Host
  const auto change = [&](const std::string& cookies, HeaderList headers) {
    headers.emplace_back("Cookie", cookies);
    return anybody.json("POST", "/api/auth/app-passwords", R"({"label":"x"})", std::move(headers)).status;
  };
  const std::string both = access + "; " + csrf;
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}}), 200);
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}, {"Origin", here}, {"Sec-Fetch-Site", "same-origin"}}),
            200);
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}, {"Sec-Fetch-Site", "none"}}), 200);
  EXPECT_EQ(change(both, {}), 403);
  EXPECT_EQ(change(both, {{"X-CSRF-Token", ""}}), 403);
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof + "x"}}), 403);
  EXPECT_EQ(change(access, {{"X-CSRF-Token", proof}}), 403) << "the cookie is missing";
  EXPECT_EQ(change(access + "; welkin_csrf=planted", {{"X-CSRF-Token", "planted"}}), 403) << "a planted pair";
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}, {"Origin", "https://evil.example"}}), 403);
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}, {"Origin", "null"}}), 403);
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}, {"Origin", "http://localhost:1"}}), 403) << "another port";
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}, {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(change(both, {{"X-CSRF-Token", proof}, {"Sec-Fetch-Site", "same-site"}}), 403);
  const auto token = access.substr(access.find('=') + 1);
  EXPECT_EQ(change("", {{"Authorization", "Bearer " + token}, {"Origin", "https://evil.example"}}), 200)
      << "no cookie was used";
  for (const char* method : {"PUT", "PATCH", "DELETE"}) {
    const auto refused = anybody.send(method, "/api/auth/sessions/x", {{"Cookie", both}});
    EXPECT_TRUE(refused.status == 403 || refused.status == 405) << method << refused.status;
  }
  expect_error(anybody.send("DELETE", "/api/auth/sessions/x", {{"Cookie", both}}), 403, "csrf");
  EXPECT_EQ(anybody.get("/api/auth/me", {{"Cookie", access}, {"Origin", "https://evil.example"}}).status, 200)
      << "reading needs no proof";
}

TEST_F(Accounts, OtherSitesCannotSignAnybodyIn) {
  const auto from = [&](HeaderList headers) {
    return anybody.json("POST", "/api/auth/login", login_body(alice.name, alice.password),
                        std::move(headers));
  };
  expect_error(from({{"Origin", "https://evil.example"}}), 403, "cross_site");
  expect_error(from({{"Sec-Fetch-Site", "cross-site"}}), 403, "cross_site");
  EXPECT_EQ(from({{"Origin", "https://proxy.example"}, {"Sec-Fetch-Site", "same-origin"}}).status, 200)
      << "a proxy that rewrites Host";
  expect_error(anybody.send("POST", "/api/auth/refresh", {{"Origin", "https://evil.example"}}), 403,
               "cross_site");
}

std::string attributes_of(const HttpResponse& answer, const std::string& name) {
  for (const auto& cookie : answer.all("set-cookie"))
    if (cookie.starts_with(name + "=")) return cookie.substr(cookie.find(';'));
  return "absent";
}

TEST_F(Accounts, CookiesOnPlainHttp) {
  const auto answer = login(alice.name, alice.password);
  EXPECT_EQ(attributes_of(answer, "welkin_access"), "; Path=/; Max-Age=3600; SameSite=Lax; HttpOnly");
  EXPECT_EQ(attributes_of(answer, "welkin_refresh"),
            "; Path=/api/auth; Max-Age=604800; SameSite=Strict; HttpOnly");
  EXPECT_EQ(attributes_of(answer, "welkin_csrf"), "; Path=/; Max-Age=3600; SameSite=Lax");
  EXPECT_EQ(answer.header("cache-control"), "private, no-store");
  std::string refresh_cookie;
  for (const auto& cookie : answer.all("set-cookie"))
    if (cookie.starts_with("welkin_refresh=")) refresh_cookie = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(anybody.send("POST", "/api/auth/refresh", {{"Cookie", refresh_cookie}}).status, 200);
}

TEST(AccountCookies, OnHttpsBelowABasePath) {
  TestServer server([](Config& config) { config.base_url = "https://cloud.example/base"; });
  const auto alice = server.user("alice");
  ApiClient anybody = server.nobody();
  const HeaderList host{{"Host", "cloud.example"}};
  const auto answer =
      anybody.json("POST", "/base/api/auth/login", login_body(alice.name, alice.password), host);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(attributes_of(answer, "__Secure-welkin_access"),
            "; Path=/base/; Max-Age=3600; SameSite=Lax; HttpOnly; Secure");
  EXPECT_EQ(attributes_of(answer, "__Secure-welkin_refresh"),
            "; Path=/base/api/auth; Max-Age=604800; SameSite=Strict; HttpOnly; Secure");
  EXPECT_EQ(attributes_of(answer, "__Secure-welkin_csrf"),
            "; Path=/base/; Max-Age=3600; SameSite=Lax; Secure");
  EXPECT_EQ(attributes_of(answer, "welkin_access"), "absent");
  const auto token = json_of(answer)["access_token"].get<std::string>();
  const auto me = [&](const std::string& cookie) {
    return anybody.get("/base/api/auth/me", {{"Host", "cloud.example"}, {"Cookie", cookie}}).status;
  };
  EXPECT_EQ(me("__Secure-welkin_access=" + token), 200);
  EXPECT_EQ(me("welkin_access=" + token), 401) << "a name that plain http could set";
  EXPECT_EQ(anybody.get("/base/", host).header("location"), "/base/setup");
  const auto page = anybody.get("/base/setup", host);
  EXPECT_NE(page.body.find("data-api=\"/base/api\""), std::string::npos);
}

}  // namespace
}  // namespace welkin::tests
