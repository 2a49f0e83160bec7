#include <thread>

#include "nextcloud/nextcloud_fixture.hpp"

namespace welkin::tests {
namespace {

/// Bytes that are no two times the same, so that a wrong order shows.
std::string bytes(std::size_t size, unsigned seed) {
  std::string out(size, '\0');
  std::uint32_t x = seed * 2654435761U + 1;
  for (auto& c : out) {
    x = x * 1664525U + 1013904223U;
    c = static_cast<char>(x >> 24);
  }
  return out;
}

struct UploadsTest : NextcloudTest {
  std::string at = uploads + "/4711";

  int begin(HeaderList headers = {}) { return status("MKCOL", at, std::move(headers)); }
  int part(const std::string& name, std::string_view body, HeaderList headers = {}) {
    return put(at + "/" + name, body, std::move(headers));
  }
  int finish(const std::string& to, HeaderList headers = {}) {
    headers.emplace_back("Destination", to);
    return status("MOVE", at + "/.file", std::move(headers));
  }
  std::int64_t reserved() {
    return server.number("select reserved_bytes from drives where owner_id = " +
                         std::to_string(alice.id.value));
  }
  std::int64_t used() {
    return server.number("select used_bytes from drives where owner_id = " + std::to_string(alice.id.value));
  }
  std::int64_t parts() {
    return server.number(
        "select count(*) from upload_chunks c join uploads u on u.id = c.upload_id where u.user_id = " +
        std::to_string(alice.id.value));
  }
};

TEST_F(UploadsTest, N42_NumbersFromZeroInAnyOrder) {
  ASSERT_EQ(begin({{"OC-Total-Length", "300003"}}), 201);
  EXPECT_EQ(reserved(), 300003);
  const auto a = bytes(200000, 1), b = bytes(100000, 2), c = bytes(3, 3);
  EXPECT_EQ(part("0000000000000002", c, {{"OC-Chunk-Offset", "300000"}}), 201);
  EXPECT_EQ(part("0000000000000000", a), 201);
  EXPECT_EQ(part("0000000000000001", b), 201);
  ASSERT_EQ(finish(files + "/x%20y", {{"OC-Total-Length", "300003"}, {"X-OC-Mtime", "1700000000"}}), 201);
  for (const auto* header : {"oc-fileid", "etag", "oc-etag", "date"})
    EXPECT_NE(last.header(header), "") << header;
  EXPECT_EQ(last.header("x-oc-mtime"), "accepted");
  EXPECT_EQ(get(files + "/x%20y"), a + b + c);
  EXPECT_EQ(status("PROPFIND", at, {{"Depth", "1"}}), 404);
  EXPECT_EQ(reserved(), 0);
  EXPECT_EQ(used(), 300003);
  EXPECT_EQ(parts(), 0);
  EXPECT_EQ(finish(files + "/x%20y"), 404) << "once more";
}

TEST_F(UploadsTest, N43_NumbersFromOneOntoAFile) {
  ASSERT_EQ(put(files + "/x", "old"), 201);
  const auto id = last.header("oc-fileid");
  const auto destination = "https://127.0.0.1" + files + "/x";
  ASSERT_EQ(begin({{"Destination", destination}}), 201);
  std::string whole;
  for (int i = 1; i <= 12; ++i) {
    const auto body = bytes(1000 + static_cast<std::size_t>(i), static_cast<unsigned>(i));
    whole += body;
    ASSERT_EQ(part(std::to_string(i), body, {{"Destination", destination}}), 201);
  }
  ASSERT_EQ(finish(destination, {{"Overwrite", "T"}}), 204);
  EXPECT_EQ(last.header("oc-fileid"), id);
  EXPECT_EQ(get(files + "/x"), whole);
  EXPECT_EQ(server.number("select count(*) from versions v join nodes n on n.id = v.node_id where n.id = " +
                          std::to_string(std::stoll(id.substr(0, 8)))),
            1);
}

TEST_F(UploadsTest, N44_RangesOfBytes) {
  ASSERT_EQ(status("DELETE", at + "/"), 404);
  ASSERT_EQ(status("MKCOL", at + "/"), 201);
  ASSERT_EQ(part("000000000010000-000000000014999", bytes(5000, 3)), 201);
  ASSERT_EQ(part("000000000000000-000000000009999", bytes(10000, 2)), 201);
  ASSERT_EQ(finish(files + "/x", {{"OC-Total-Length", "15000"}}), 201);
  EXPECT_EQ(get(files + "/x"), bytes(10000, 2) + bytes(5000, 3));
}

TEST_F(UploadsTest, N45_RefusalsChangeNothingAndKeepTheParts) {
  ASSERT_EQ(put(files + "/x", "old"), 201);
  const auto old = last.header("etag");
  ASSERT_EQ(put(files + "/x", "old2"), 204);
  const auto tag = last.header("etag");
  ASSERT_EQ(begin(), 201);
  ASSERT_EQ(part("1", "new"), 201);
  EXPECT_EQ(finish(files + "/x", {{"OC-Total-Length", "4"}}), 400);
  EXPECT_EQ(finish(files + "/x", {{"If", "<" + files + "/x> ([" + old + "])"}}), 412);
  EXPECT_EQ(finish(files + "/x", {{"If-Match", old}}), 412);
  EXPECT_EQ(finish(files + "/no/x"), 409);
  EXPECT_EQ(finish(files + "/x", {{"Overwrite", "F"}}), 412);
  EXPECT_EQ(finish(uploads + "/y/z"), 403);
  EXPECT_EQ(status("MOVE", at, {{"Destination", files + "/y"}}), 403);
  EXPECT_EQ(get(files + "/x"), "old2");
  EXPECT_EQ(etag_of(files + "/x"), tag);
  ASSERT_EQ(finish(files + "/x", {{"If", "<" + files + "/x> ([" + tag + "])"}, {"OC-Total-Length", "3"}}),
            204);
  EXPECT_EQ(get(files + "/x"), "new");
}

TEST_F(UploadsTest, N46_TwoAtOnceMakeOneFile) {
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(begin(), 201);
    ASSERT_EQ(part("1", bytes(70000, 1)), 201);
    int answers[2] = {};
    {
      std::vector<std::thread> threads;
      for (int& answer : answers) {
        threads.emplace_back([&] {
          ApiClient own{server.port(), client.authorization()};
          answer =
              own.send("MOVE", at + "/.file", {{"Destination", files + "/x" + std::to_string(round)}}).status;
        });
      }
      for (auto& thread : threads) thread.join();
    }
    const int lesser = std::min(answers[0], answers[1]), greater = std::max(answers[0], answers[1]);
    EXPECT_EQ(lesser, 201);
    EXPECT_TRUE(greater == 404 || greater == 423) << greater;
    EXPECT_EQ(get(files + "/x" + std::to_string(round)), bytes(70000, 1));
  }
}

TEST_F(UploadsTest, N47_PartsAreListedReplacedAndGone) {
  ASSERT_EQ(begin(), 201);
  EXPECT_EQ(begin(), 405);
  ASSERT_EQ(part("2", bytes(100000, 1)), 201);
  ASSERT_EQ(part("10", "c"), 201);
  ASSERT_EQ(part("1", "first"), 201);
  ASSERT_EQ(part("1", "last words"), 204);
  EXPECT_EQ(status("GET", at + "/1"), 405);
  const auto answer = propfind(at, "1", "<d:resourcetype/><d:getcontentlength/>");
  ASSERT_EQ(answer.responses.size(), 4u);
  EXPECT_EQ(answer.responses[0].href, at + "/");
  EXPECT_EQ(answer.responses[1].href, at + "/1");
  EXPECT_EQ(answer.responses[1].text("getcontentlength"), "10");
  EXPECT_EQ(answer.responses[3].href, at + "/10");
  EXPECT_EQ(client.send("PROPFIND", uploads + "/", {{"Depth", "1"}}).status, 207);
  EXPECT_EQ(status("PROPFIND", dav + "/uploads/" + bob.name + "/4711", {{"Depth", "1"}}), 404);
  EXPECT_EQ(status("DELETE", at + "/10"), 204);
  ASSERT_EQ(finish(files + "/x"), 201);
  EXPECT_EQ(get(files + "/x"), "last words" + bytes(100000, 1));
  ASSERT_EQ(begin(), 201);
  ASSERT_EQ(part("1", "x"), 201);
  EXPECT_EQ(status("DELETE", at), 204);
  EXPECT_EQ(part("2", "x"), 404);
  EXPECT_EQ(reserved(), 0);
}

TEST_F(UploadsTest, N48_WhatIsAbandonedGoes) {
  ASSERT_EQ(begin({{"OC-Total-Length", "1000000"}}), 201);
  ASSERT_EQ(part("1", bytes(100000, 1)), 201);
  EXPECT_EQ(reserved(), 1000000);
  server.sql("update uploads set expires_at = now() - interval '1 second' where user_id = " +
             std::to_string(alice.id.value));
  EXPECT_EQ(status("PROPFIND", at, {{"Depth", "1"}}), 404);
  server.files->expire_uploads();
  EXPECT_EQ(reserved(), 0);
  EXPECT_EQ(parts(), 0);
}

TEST_F(UploadsTest, AnUploadKeepsToTheQuota) {
  server.sql("update drives set quota_bytes = 150000 where owner_id = " + std::to_string(alice.id.value));
  EXPECT_EQ(begin({{"OC-Total-Length", "150001"}}), 507);
  EXPECT_TRUE(says("Sabre\\DAV\\Exception\\InsufficientStorage"));
  ASSERT_EQ(begin(), 201);
  ASSERT_EQ(part("1", bytes(100000, 1)), 201);
  EXPECT_EQ(part("2", bytes(60000, 2)), 507);
  ASSERT_EQ(part("2", bytes(50000, 2)), 201);
  EXPECT_EQ(reserved(), 150000);
  ASSERT_EQ(finish(files + "/x"), 201);
  EXPECT_EQ(used(), 150000);
  EXPECT_EQ(reserved(), 0);
  EXPECT_EQ(put(files + "/y", "x", {{"OC-Total-Length", "10"}}), 507);
}

TEST_F(UploadsTest, NothingInIt) {
  ASSERT_EQ(begin(), 201);
  ASSERT_EQ(part("1", ""), 201);
  ASSERT_EQ(finish(files + "/empty"), 201);
  EXPECT_EQ(get(files + "/empty"), "");
}

TEST_F(UploadsTest, N57_APhoneThatResumes) {
  EXPECT_EQ(client.send("HEAD", files + "/photo.jpg").status, 404);
  for (int attempt = 0; attempt < 2; ++attempt) {
    begin({{"Destination", files + "/photo.jpg"}});
    const auto there = propfind(at, "1", "<d:getcontentlength/>");
    ASSERT_EQ(there.http.status, 207);
    EXPECT_EQ(there.responses.size(), attempt == 0 ? 1u : 2u);
    ASSERT_LT(part(attempt == 0 ? "000001" : "000002", bytes(5000, static_cast<unsigned>(attempt))), 300);
  }
  ASSERT_EQ(finish("http://127.0.0.1" + files + "/photo.jpg", {{"Overwrite", "T"}}), 201);
  EXPECT_EQ(get(files + "/photo.jpg"), bytes(5000, 0) + bytes(5000, 1));
}

}  // namespace
}  // namespace welkin::tests
