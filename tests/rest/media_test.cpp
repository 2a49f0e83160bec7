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
  EXPECT_EQ(thumbnail(target + "icon?v=" + etag).header("cache-control"), "private, no-cache") << "another content";
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

}  // namespace
}  // namespace welkin::tests
