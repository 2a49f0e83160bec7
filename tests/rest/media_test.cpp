#include "media/pictures.hpp"
#include "rest/api.hpp"

namespace welkin::tests {
namespace {

struct Media : Api {
  /// Asks until it is made, for as long as that takes.
  HttpResponse thumbnail(const std::string& target, HeaderList headers = {}) {
    for (int i = 0;; ++i) {
      auto answer = api.get(target, headers);
      if (answer.header("retry-after").empty() || i == 120) return answer;
    }
  }
};

TEST_F(Media, AThumbnailIsAPictureWithATagOfTheContent) {
  const auto file = put(root_id, "a.png", png(300, 200));
  const std::string target = "/api/files/" + file["id"].get<std::string>() + "/thumbnail/";
  const auto icon = thumbnail(target + "icon");
  ASSERT_EQ(icon.status, 200) << icon.body;
  EXPECT_EQ(icon.header("content-type"), "image/jpeg");
  EXPECT_EQ(jpeg_dimensions(icon.body).width, 150u);
  EXPECT_EQ(icon.header("cache-control"), "private, no-cache");
  EXPECT_EQ(api.get(target + "icon", {{"If-None-Match", icon.header("etag")}}).status, 304);
  EXPECT_EQ(jpeg_dimensions(thumbnail(target + "preview").body).width, 300u);
  const std::string etag = file["etag"];
  const auto forever = thumbnail(target + "icon?v=" + etag);
  EXPECT_EQ(forever.header("cache-control"), "private, max-age=31536000, immutable");
  EXPECT_EQ(thumbnail(target + "icon?v=other").header("cache-control"), "private, no-cache");
  put(root_id, "a.png", png(300, 100));
  EXPECT_EQ(thumbnail(target + "icon", {{"If-None-Match", icon.header("etag")}}).status, 200);
  EXPECT_EQ(thumbnail(target + "icon?v=" + etag).header("cache-control"), "private, no-cache")
      << "another content";
  expect_error(api.get(target + "huge"), 400, "bad_size");
  auto other = server.as(server.user(server.fresh("bob")));
  expect_error(other.get(target + "icon"), 404, "not_found", "also when it is in the cache");
}

TEST_F(Media, WhatIsNoPictureHasNoThumbnailUntilSomebodyBringsOne) {
  const std::string id = put(root_id, "a.bin", "bytes")["id"];
  const auto target = "/api/files/" + id + "/thumbnail/icon";
  const auto none = api.get(target);
  EXPECT_EQ(none.status, 204);
  EXPECT_EQ(none.header("cache-control"), "no-store");
  EXPECT_TRUE(none.header("retry-after").empty());
  expect_error(api.send("PUT", target, {}, "no picture"), 422, "not_a_picture");
  expect_error(api.send("PUT", target, {}, std::string(600'000, 'x')), 413, "body_too_large");
  EXPECT_EQ(api.send("PUT", target, {}, png(40, 40)).status, 201);
  EXPECT_EQ(api.get(target).status, 200);
}

TEST_F(Media, PhotosGoByWhenTheyWereTaken) {
  const auto at = [](const char* seconds) { return HeaderList{{"X-OC-MTime", seconds}}; };
  put(root_id, "old.png", png(3, 3), at("1000"));
  put(root_id, "new.jpg", "not read here", at("1700000000"));
  put(root_id, "film.mp4", "nor this", at("1600000000"));
  put(root_id, "text.txt", "no photo", at("1800000000"));
  const auto answer = api.get("/api/photos?limit=2");
  const auto first = json_of(answer);
  ASSERT_EQ(first.size(), 2u) << answer.body;
  EXPECT_EQ(first[0]["name"], "new.jpg");
  EXPECT_EQ(first[0]["sort_date"], 1700000000);
  EXPECT_EQ(first[0]["path"], "/new.jpg");
  EXPECT_EQ(first[1]["name"], "film.mp4");
  EXPECT_EQ(answer.header("x-next-cursor"), "1600000000");
  const auto rest = json_of(api.get("/api/photos?before=1600000000"));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0]["name"], "old.png");
  EXPECT_TRUE(api.get("/api/photos?before=1000").header("x-next-cursor").empty());
  std::vector<std::string> names;
  std::string cursor;
  do {
    const auto page = json_of(api.get("/api/photos/resources?limit=1&cursor=" + cursor));
    for (const auto& item : page["items"]) names.push_back(item["resource"]["name"]);
    cursor = page.value("next_cursor", "");
  } while (!cursor.empty() && names.size() < 9);
  EXPECT_EQ(names, (std::vector<std::string>{"new.jpg", "film.mp4", "old.png"}));
  EXPECT_EQ(json_of(api.get("/api/photos/resources?type=video"))["items"].size(), 1u);
  expect_error(api.get("/api/photos/resources?type=sound"), 400, "bad_query");
  const auto months = json_of(api.get("/api/photos/months"));
  EXPECT_EQ(months["total"], 3);
  EXPECT_EQ(months["months"][0], (nlohmann::json{{"month", "2023-11"}, {"count", 1}}));
  EXPECT_EQ(months["months"][2]["month"], "1970-01");
  const auto photos = api.get("/api/photos/resources");
  EXPECT_EQ(api.get("/api/photos/resources", {{"If-None-Match", photos.header("etag")}}).status, 304);
}

TEST_F(Media, WhatIsKnownOfAPictureIsToldOnceItWasRead) {
  const auto file = put(root_id, "a.png", png(3, 3));
  const std::string id = file["id"];
  EXPECT_TRUE(json_of(api.get("/api/files/" + id + "/metadata")).contains("message"));
  server.sql(
      "insert into content_facts (content_id, width, height, taken_at, make) select content_id, 3, 4, "
      "5000000, "
      "'Maker' from nodes where name = 'a.png' and parent_id = " +
      std::to_string(root.value));
  const auto facts = json_of(api.get("/api/files/" + id + "/metadata"));
  EXPECT_EQ(facts["file_id"], id);
  EXPECT_EQ(facts["width"], 3);
  EXPECT_EQ(facts["captured_at"], 5);
  EXPECT_EQ(facts["camera_make"], "Maker");
  EXPECT_EQ(facts["latitude"], nullptr);
  EXPECT_EQ(json_of(api.get("/api/photos"))[0]["sort_date"], 5);
}

}  // namespace
}  // namespace welkin::tests
