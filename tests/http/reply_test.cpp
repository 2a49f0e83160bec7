// Answers: chunks, lengths, files, compression.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "http/inflate.hpp"
#include "http/test_server.hpp"
#include "welkin/core/error.hpp"

namespace welkin::test {
namespace {

std::string json_like(std::size_t bytes) {
  std::string out = "[";
  for (int i = 0; out.size() < bytes; ++i) out += "{\"id\":" + std::to_string(i) + ",\"name\":\"file\"},";
  return out.substr(0, bytes);
}

Fd temp_file(const std::string& content) {
  char name[] = "/tmp/welkin-http-XXXXXX";
  Fd fd(::mkstemp(name));
  ::unlink(name);
  EXPECT_EQ(::write(fd.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
  return fd;
}

TEST(Reply, StreamsInChunksOrUntilTheEnd) {
  TestServer server;
  const auto body = json_like(300'000);
  server.get("/stream", [&body](http::Request& rq, http::Reply& rp) -> Task<> {
    const auto step = std::stoul(rq.query("step").value());
    co_await rp.begin(http::Status::ok, "application/json", std::nullopt);
    for (std::size_t at = 0; at < body.size(); at += step)
      co_await rp.write(std::string_view(body).substr(at, step));
    co_await rp.end();
  });
  server.start();
  auto client = server.client();
  for (const auto* step : {"100", "16384", "16383", "100000", "300000"}) {
    const auto answer = client.get(std::string("/stream?step=") + step);
    EXPECT_TRUE(answer.chunked);
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, body) << step;
  }
  const auto old =
      parse_response(client.raw("GET /stream?step=1000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_FALSE(old.chunked);
  EXPECT_EQ(old.header("connection"), "close");
  EXPECT_EQ(old.body, body);
}

TEST(Reply, FlushLetsTheFirstPageOut) {
  TestServer server;
  std::atomic<bool> go_on{false};
  server.get("/pages", [&go_on](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt, true);
    co_await rp.write("first");
    co_await rp.flush();
    while (!go_on) co_await rp.flush();  // harmless when there is nothing new
    co_await rp.write("second");
    co_await rp.end();
  });
  server.start();
  for (const std::string coding : {"", "gzip", "zstd"}) {
    go_on = false;
    auto client = server.client();
    client.connect();
    client.send("GET /pages HTTP/1.1\r\nHost: a\r\n" +
                (coding.empty() ? "" : "Accept-Encoding: " + coding + "\r\n") + "\r\n");
    std::string received;
    // Chunk by chunk until the first page can be read.
    const auto text = [&] {
      const auto partial = parse_response(received);
      return coding == "gzip" ? gunzip(partial.body) : coding == "zstd" ? unzstd(partial.body) : partial.body;
    };
    while (received.find("\r\n\r\n") == received.npos || text() != "first") {
      const auto more = client.read_some();
      ASSERT_FALSE(more.empty()) << coding;
      received += more;
    }
    go_on = true;
    for (auto more = client.read_some(); !more.empty(); more = client.read_some()) {
      received += more;
      if (parse_response(received).complete) break;
    }
    EXPECT_EQ(text(), "firstsecond") << coding;
  }
}

TEST(Reply, FilesByLengthAndInChunks) {
  TestServer server;
  std::string content(5'000'000, '\0');
  std::mt19937 random(5);
  for (auto& c : content) c = static_cast<char>(random());
  const auto fd = temp_file(content);
  server.get("/length", [&](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "application/octet-stream", content.size());
    co_await rp.write(as_bytes(std::string_view(content).substr(0, 10)));
    co_await rp.write_file(fd.get(), 10, content.size() - 20);
    co_await rp.write(as_bytes(std::string_view(content).substr(content.size() - 10)));
    co_await rp.end();
  });
  server.get("/chunked", [&](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "text/plain", std::nullopt, true);
    co_await rp.write(as_bytes(std::string_view(content).substr(0, 10)));
    co_await rp.write_file(fd.get(), 10, 1'000'000);
    co_await rp.write_file(fd.get(), 1'000'010, content.size() - 1'000'010);
    co_await rp.end();
  });
  server.start();
  auto client = server.client();
  EXPECT_TRUE(client.get("/length").body == content);
  EXPECT_TRUE(client.get("/chunked").body == content);
  EXPECT_TRUE(gunzip(client.get("/chunked", {{"Accept-Encoding", "gzip"}}).body) == content);
  EXPECT_EQ(client.request("HEAD", "/length").header("content-length"), "5000000");
  EXPECT_TRUE(client.get("/length").body == content);
}

TEST(Reply, AFileThatEndsEarlyIsAnErrorNeverPadding) {
  TestServer server;
  const auto fd = temp_file(std::string(1000, 'x'));
  server.get("/short", [&](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "application/octet-stream", 2000);
    co_await rp.write_file(fd.get(), 0, 2000);
    co_await rp.end();
  });
  server.get("/bad-fd", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.begin(http::Status::ok, "application/octet-stream", 2000);
    co_await rp.write_file(-1, 0, 2000);
    co_await rp.end();
  });
  server.start();
  for (const auto* path : {"/short", "/bad-fd"}) {
    auto client = server.client();
    const auto answer = client.get(path);
    EXPECT_FALSE(answer.complete) << path;
    EXPECT_LE(answer.body.size(), 1000u);
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(Reply, CompressesTextWhenAskedAndWorthIt) {
  TestServer server;
  const auto body = json_like(50'000);
  const auto add = [&](const std::string& path, std::string type, std::string content,
                       HeaderList headers = {}) {
    server.get(path, [=](http::Request&, http::Reply& rp) -> Task<> {
      for (const auto& [name, value] : headers) rp.set(name, value);
      co_await rp.send(http::Status::ok, type, content);
    });
  };
  add("/json", "application/json", body, {{"ETag", "\"v1\""}});
  add("/small", "application/json", "{}");
  add("/png", "image/png", body);
  add("/verbatim", "application/json", body, {{"Cache-Control", "no-transform"}});
  add("/vary", "text/plain", body, {{"Vary", "Cookie"}});
  add("/vary-all", "text/plain", body, {{"Vary", "accept-encoding"}});
  std::mt19937 random(1);
  std::string noise(5000, '\0');
  for (auto& c : noise) c = static_cast<char>(random());
  add("/noise", "text/plain", noise);
  server.start();
  auto client = server.client();

  const auto plain = client.get("/json");
  EXPECT_EQ(plain.body, body);
  EXPECT_FALSE(plain.has("content-encoding"));
  EXPECT_EQ(plain.header("vary"), "Accept-Encoding");
  EXPECT_EQ(plain.header("etag"), "\"v1\"");

  const auto zipped = client.get("/json", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(zipped.header("content-encoding"), "gzip");
  EXPECT_EQ(zipped.header("vary"), "Accept-Encoding");
  EXPECT_EQ(zipped.header("etag"), "W/\"v1\"");
  EXPECT_LT(zipped.body.size(), body.size() / 4);
  EXPECT_EQ(std::to_string(zipped.body.size()), zipped.header("content-length"));
  EXPECT_EQ(gunzip(zipped.body), body);
  const auto head = client.request("HEAD", "/json", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(head.header("content-length"), zipped.header("content-length"));
  EXPECT_EQ(head.header("content-encoding"), "gzip");

  const auto zstd = client.get("/json", {{"Accept-Encoding", "gzip, zstd"}});
  EXPECT_EQ(zstd.header("content-encoding"), "zstd");
  EXPECT_EQ(unzstd(zstd.body), body);

  for (const auto* path : {"/small", "/png", "/verbatim", "/noise"}) {
    const auto answer = client.get(path, {{"Accept-Encoding", "gzip, zstd"}});
    EXPECT_FALSE(answer.has("content-encoding")) << path;
  }
  EXPECT_FALSE(client.get("/png", {{"Accept-Encoding", "gzip"}}).has("vary"));
  EXPECT_TRUE(client.get("/noise", {{"Accept-Encoding", "gzip"}}).has("vary"));
  EXPECT_FALSE(client.get("/json", {{"Accept-Encoding", "gzip;q=0"}}).has("content-encoding"));
  EXPECT_EQ(client.get("/vary", {{"Accept-Encoding", "gzip"}}).all("vary"),
            (std::vector<std::string>{"Cookie", "Accept-Encoding"}));
  EXPECT_EQ(client.get("/vary-all", {{"Accept-Encoding", "gzip"}}).all("vary").size(), 1u);
}

TEST(Reply, CompressesLargeBodiesWithoutHoldingOthersUp) {
  TestServer server;
  const auto body = json_like(8'000'000);
  server.get("/big", [&body](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::ok, "application/json", body);
  });
  server.start();
  EXPECT_TRUE(gunzip(server.client().get("/big", {{"Accept-Encoding", "gzip"}}).body) == body);
  EXPECT_TRUE(unzstd(server.client().get("/big", {{"Accept-Encoding", "zstd"}}).body) == body);
}

TEST(Reply, StatusesWithoutBodies) {
  TestServer server;
  server.get("/204", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::no_content, "text/plain", "never sent");
  });
  server.get("/304",
             [](http::Request&, http::Reply& rp) -> Task<> { co_await rp.send(http::Status::not_modified); });
  server.get("/200", [](http::Request&, http::Reply& rp) -> Task<> { co_await rp.send(http::Status::ok); });
  server.get("/close", [](http::Request&, http::Reply& rp) -> Task<> {
    rp.close_after();
    co_await rp.send(http::Status::ok);
  });
  server.start();
  auto client = server.client();
  for (const auto* path : {"/204", "/304"}) {
    const auto answer = client.get(path);
    EXPECT_FALSE(answer.has("content-length")) << path;
    EXPECT_FALSE(answer.has("transfer-encoding")) << path;
    EXPECT_FALSE(answer.has("content-type")) << path;
  }
  EXPECT_EQ(client.get("/200").header("content-length"), "0");
  EXPECT_EQ(client.get("/close").header("connection"), "close");
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST(Reply, ASecondAnswerIsAnError) {
  TestServer server;
  server.get("/twice", [](http::Request&, http::Reply& rp) -> Task<> {
    co_await rp.send(http::Status::ok, "text/plain", "one");
    co_await rp.send(http::Status::ok, "text/plain", "two");
  });
  server.get("/reset", [](http::Request&, http::Reply& rp) -> Task<> {
    rp.set("X-Gone", "1");
    co_await rp.begin(http::Status::ok, "text/plain", 100);
    co_await rp.write("half");
    EXPECT_FALSE(rp.begun());
    rp.reset();
    rp.set("X-Kept", "1");
    co_await rp.send(http::Status::conflict, "text/plain", "other");
    EXPECT_TRUE(rp.begun());
  });
  server.start();
  auto client = server.client();
  EXPECT_EQ(client.get("/twice").body, "one");
  const auto other = client.get("/reset");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.body, "other");
  EXPECT_FALSE(other.has("x-gone"));
  EXPECT_TRUE(other.has("x-kept"));
}

}  // namespace
}  // namespace welkin::test
