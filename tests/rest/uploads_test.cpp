#include <chrono>
#include <thread>

#include "rest/api.hpp"
#include "welkin/core/crypto.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

std::string b64(const std::string& text) { return text::base64(as_bytes(text)); }

struct Tus : Api {
  const std::string base = "/api/uploads/tus";
  HeaderList with(HeaderList more) {
    more.emplace_back("Tus-Resumable", "1.0.0");
    return more;
  }
  HttpResponse create(std::size_t length, const std::string& name, const std::string& metadata = "",
                      const std::string& body = "") {
    HeaderList headers{{"Upload-Length", std::to_string(length)},
                       {"Upload-Metadata", "filename " + b64(name) + metadata}};
    if (!body.empty()) headers.emplace_back("Content-Type", "application/offset+octet-stream");
    return api.send("POST", base, with(headers), body);
  }
  HttpResponse patch(const std::string& location, std::size_t offset, const std::string& body,
                     HeaderList more = {}) {
    more.emplace_back("Upload-Offset", std::to_string(offset));
    more.emplace_back("Content-Type", "application/offset+octet-stream");
    return api.send("PATCH", location, with(more), body);
  }
  HttpResponse look(const std::string& location) { return api.send("HEAD", location, with({})); }
  std::string content(const std::string& name) {
    for (const auto& file : json_of(api.get("/api/files")))
      if (file["name"] == name) return api.get("/api/files/" + file["id"].get<std::string>()).body;
    return "none";
  }
};

TEST_F(Tus, SaysWhatItCan) {
  const auto answer = server.nobody().send("OPTIONS", base);
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("tus-version"), "1.0.0");
  for (const char* extension : {"creation", "creation-with-upload", "checksum", "termination", "expiration"})
    EXPECT_NE(answer.header("tus-extension").find(extension), std::string::npos) << extension;
  EXPECT_NE(answer.header("tus-checksum-algorithm").find("sha1"), std::string::npos);
}

TEST_F(Tus, AFileComesInPieces) {
  const auto made = create(10, "a.txt", ",filetype " + b64("text/plain"));
  ASSERT_EQ(made.status, 201) << made.body;
  const auto location = made.header("location");
  EXPECT_EQ(made.header("upload-offset"), "0");
  EXPECT_FALSE(made.header("upload-expires").empty());
  EXPECT_EQ(content("a.txt"), "none") << "nothing is there before its end";
  auto answer = patch(location, 0, "01234");
  EXPECT_EQ(answer.status, 204) << answer.body;
  EXPECT_EQ(answer.header("upload-offset"), "5");
  answer = look(location);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("upload-offset"), "5");
  EXPECT_EQ(answer.header("upload-length"), "10");
  EXPECT_EQ(answer.header("cache-control"), "no-store");
  expect_error(patch(location, 3, "34567"), 409, "wrong_offset");
  expect_error(patch(location, 5, "567890"), 413, "body_too_large");
  answer = patch(location, 5, "56789");
  EXPECT_EQ(answer.status, 204) << answer.body;
  EXPECT_EQ(answer.header("upload-offset"), "10");
  EXPECT_EQ(api.get(answer.header("content-location")).body, "0123456789");
  EXPECT_EQ(content("a.txt"), "0123456789");
  EXPECT_EQ(look(location).header("upload-offset"), "10") << "who missed the answer may ask again";
}

TEST_F(Tus, AFileMayComeWithItsCreation) {
  auto made = create(5, "whole.txt", "", "hello");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("upload-offset"), "5");
  EXPECT_EQ(content("whole.txt"), "hello");
  made = create(5, "part.txt", "", "he");
  EXPECT_EQ(made.header("upload-offset"), "2");
  EXPECT_EQ(patch(made.header("location"), 2, "llo").status, 204);
  EXPECT_EQ(content("part.txt"), "hello");
  EXPECT_EQ(create(0, "empty.txt").status, 201);
  EXPECT_EQ(content("empty.txt"), "");
}

TEST_F(Tus, ChecksumsAreProved) {
  const auto location = create(5, "sum.txt").header("location");
  const auto sum = [](const std::string& kind, const std::string& body) {
    crypto::DigestStream stream(kind == "sha1" ? crypto::Digest::sha1 : crypto::Digest::sha256);
    stream.update(as_bytes(body));
    return HeaderList{{"Upload-Checksum", kind + ' ' + text::base64(stream.finish())}};
  };
  EXPECT_EQ(patch(location, 0, "he", sum("sha1", "ho")).status, 460);
  EXPECT_EQ(look(location).header("upload-offset"), "0") << "a wrong piece leaves nothing";
  EXPECT_EQ(patch(location, 0, "he", sum("sha1", "he")).status, 204);
  EXPECT_EQ(patch(location, 2, "llo", sum("sha256", "llo")).status, 204);
  EXPECT_EQ(content("sum.txt"), "hello");
  const auto other = create(5, "other.txt").header("location");
  expect_error(patch(other, 0, "x", {{"Upload-Checksum", "crc7 AA=="}}), 400, "bad_checksum");
  expect_error(patch(other, 0, "x", {{"Upload-Checksum", "sha1"}}), 400, "bad_checksum");
}

TEST_F(Tus, WhatBreaksOffGoesOnWhereItEnded) {
  const std::string body(300'000, 'x');
  const auto location = create(body.size(), "broken.bin").header("location");
  {
    HttpClient client(server.port());
    client.connect();
    client.send("PATCH " + location + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + alice.token +
                "\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: "
                "application/offset+octet-stream\r\nContent-Length: 300000\r\n\r\n" +
                body.substr(0, 200'000));
  }  // the connection is gone
  std::string offset;
  for (int i = 0; i < 1000 && (offset.empty() || offset == "0"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    offset = look(location).header("upload-offset");
  }
  const auto kept = text::number(offset).value_or(0);
  EXPECT_GT(kept, 0u);
  EXPECT_LE(kept, 200'000u);
  EXPECT_EQ(patch(location, kept, body.substr(kept)).status, 204);
  EXPECT_EQ(content("broken.bin"), body);
}

TEST_F(Tus, EndsWhenAsked) {
  const auto location = create(5, "gone.txt", "", "he").header("location");
  EXPECT_EQ(api.send("DELETE", location, with({})).status, 204);
  expect_error(api.send("DELETE", location, with({})), 404, "not_found");
  EXPECT_EQ(look(location).status, 404);
  EXPECT_EQ(patch(location, 2, "llo").status, 404);
  EXPECT_EQ(content("gone.txt"), "none");
}

TEST_F(Tus, RefusesWhatMakesNoSense) {
  const auto location = create(5, "a").header("location");
  EXPECT_EQ(api.send("POST", base, {{"Upload-Length", "5"}}).status, 412) << "no version";
  EXPECT_EQ(api.send("HEAD", location, {{"Tus-Resumable", "0.9"}}).status, 412);
  expect_error(api.send("POST", base, with({{"Upload-Metadata", "filename " + b64("x")}})), 400,
               "bad_upload_header");
  expect_error(api.send("POST", base, with({{"Upload-Length", "5"}, {"Upload-Metadata", "filename !!!"}})),
               400, "bad_upload_metadata");
  expect_error(api.send("POST", base, with({{"Upload-Length", "5"}})), 400, "bad_name");
  expect_error(create(5, "a/b"), 400, "bad_name");
  expect_error(create(5, "x", ",folder_id " + b64("nonsense")), 400, "bad_id");
  expect_error(api.send("PATCH", location, with({{"Upload-Offset", "0"}}), "x"), 415, "not_a_part");
  expect_error(api.send("DELETE", base + "/AAAA", with({})), 404, "not_found");
  put(root_id, "there.txt", "first");
  expect_error(create(5, "there.txt"), 409, "exists");
  EXPECT_EQ(create(5, "there.txt", ",overwrite " + b64("true"), "again").status, 201);
  EXPECT_EQ(content("there.txt"), "again");
}

TEST_F(Tus, IsForWhoMayWriteThere) {
  auto bob = server.user(server.fresh("bob"));
  auto his = server.as(bob);
  const HeaderList headers = with(
      {{"Upload-Length", "5"}, {"Upload-Metadata", "filename " + b64("x") + ",folder_id " + b64(root_id)}});
  expect_error(his.send("POST", base, headers), 404, "not_found");
  const auto location = create(5, "mine.txt", "", "he").header("location");
  EXPECT_EQ(his.send("HEAD", location, with({})).status, 404) << "an address is worth nothing to others";
  EXPECT_EQ(his.send("DELETE", location, with({})).status, 404);
  server.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(root.value) + ", " +
             std::to_string(bob.id.value) +
             ", 1); update nodes set flags = flags | 1 where id = " + std::to_string(root.value));
  expect_error(his.send("POST", base, headers), 403, "forbidden");
}

TEST_F(Tus, AFileThatCannotBeMadeIsNotTakenForDone) {
  const auto location = create(5, "raced.txt", "", "he").header("location");
  put(root_id, "raced.txt", "another");
  EXPECT_EQ(patch(location, 2, "llo").status, 409);
  EXPECT_EQ(look(location).status, 409) << "not with the whole offset, which means success";
  EXPECT_EQ(content("raced.txt"), "another");
}

TEST_F(Tus, PartsSideBySideBecomeOneFile) {
  const std::string first(100'000, 'a'), second(70'000, 'b');
  const auto partial = [&](std::size_t length) {
    return api
        .send("POST", base, with({{"Upload-Length", std::to_string(length)}, {"Upload-Concat", "partial"}}))
        .header("location");
  };
  const auto a = partial(first.size()), b = partial(second.size());
  EXPECT_EQ(patch(b, 0, second).status, 204);
  EXPECT_EQ(patch(a, 0, first.substr(0, 60'000)).status, 204);
  EXPECT_EQ(look(a).header("upload-concat"), "partial");
  const auto final_of = [&](const std::string& urls, const std::string& name) {
    return api.send("POST", base,
                    with({{"Upload-Concat", "final;" + urls}, {"Upload-Metadata", "filename " + b64(name)}}));
  };
  expect_error(final_of(a + ' ' + b, "joined.bin"), 409, "incomplete");
  EXPECT_EQ(patch(a, 60'000, first.substr(60'000)).status, 204);
  EXPECT_EQ(look(a).header("upload-offset"), "100000");
  expect_error(final_of(a + ' ' + a, "joined.bin"), 400, "twice");
  expect_error(final_of("", "joined.bin"), 400, "bad_upload_header");
  const auto joined = final_of(a + " http://localhost" + b, "joined.bin");
  ASSERT_EQ(joined.status, 201) << joined.body;
  EXPECT_EQ(content("joined.bin"), first + second);
  EXPECT_EQ(look(joined.header("location")).header("upload-offset"), "170000");
  EXPECT_EQ(look(a).status, 404);
  const auto reserved =
      "select reserved_bytes from drives where owner_id = " + std::to_string(alice.id.value);
  EXPECT_EQ(server.number(reserved), 0);
}

struct Chunks : Api {
  static constexpr std::size_t kMiB = 1 << 20;
  json begin(const std::string& name, std::size_t total, std::size_t chunk = kMiB) {
    const auto answer =
        api.json("POST", "/api/uploads",
                 json{{"filename", name}, {"total_size", total}, {"chunk_size", chunk}}.dump());
    EXPECT_EQ(answer.status, 201) << answer.body;
    return json_of(answer);
  }
  HttpResponse put_chunk(const std::string& id, std::size_t index, const std::string& body,
                         const std::string& more = "") {
    return api.send("PATCH", "/api/uploads/" + id + "?chunk_index=" + std::to_string(index) + more, {}, body);
  }
};

TEST_F(Chunks, ComeInAnyOrder) {
  const std::string body = std::string(kMiB, 'a') + std::string(kMiB, 'b') + "tail";
  const auto begun = begin("a.bin", body.size());
  EXPECT_EQ(begun["chunk_size"], kMiB);
  EXPECT_EQ(begun["total_chunks"], 3);
  EXPECT_EQ(begun["expires_at"], 86400);
  const std::string id = begun["upload_id"];
  auto answer = put_chunk(id, 2, "tail");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_of(answer)["is_complete"], false);
  expect_error(api.send("POST", "/api/uploads/" + id + "/complete"), 409, "incomplete");
  EXPECT_EQ(put_chunk(id, 0, body.substr(0, kMiB)).status, 200);
  answer = api.send("HEAD", "/api/uploads/" + id);
  EXPECT_EQ(answer.header("upload-chunks-total"), "3");
  EXPECT_EQ(answer.header("upload-chunks-complete"), "2");
  EXPECT_EQ(answer.header("upload-length"), std::to_string(body.size()));
  answer = put_chunk(id, 1, body.substr(kMiB, kMiB));
  EXPECT_EQ(answer.header("upload-complete"), "true");
  EXPECT_EQ(answer.header("upload-progress"), "100.00");
  EXPECT_EQ(json_of(answer)["is_complete"], true);
  answer = api.send("POST", "/api/uploads/" + id + "/complete");
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(json_of(answer)["filename"], "a.bin");
  EXPECT_EQ(json_of(answer)["size"], body.size());
  EXPECT_EQ(json_of(answer)["path"], "/a.bin");
  EXPECT_EQ(api.get("/api/files/" + json_of(answer)["file_id"].get<std::string>()).body, body);
  expect_error(api.send("POST", "/api/uploads/" + id + "/complete"), 404, "not_found");
}

TEST_F(Chunks, AreRefusedWhenTheyAreWrong) {
  const std::string id = begin("b.bin", kMiB + 1)["upload_id"];
  expect_error(put_chunk(id, 1, "too long"), 413, "body_too_large");
  expect_error(put_chunk(id, 0, "too short"), 400, "bad_chunk_size");
  expect_error(put_chunk(id, 2, "x"), 400, "bad_query");
  expect_error(api.send("PATCH", "/api/uploads/" + id, {}, "x"), 400, "bad_query");
  expect_error(put_chunk(id, 1, "x", "&checksum=00000000000000000000000000000000"), 400, "digest_mismatch");
  expect_error(put_chunk(id, 1, "x", "&checksum=zz"), 400, "bad_checksum");
  EXPECT_EQ(put_chunk(id, 1, "x", "&checksum=9dd4e461268c8034f5c8564e155c67a6").status, 200);
  expect_error(put_chunk("AAAA", 0, "x"), 404, "not_found");
  EXPECT_EQ(api.send("DELETE", "/api/uploads/" + id).status, 204);
  expect_error(api.send("DELETE", "/api/uploads/" + id), 404, "not_found");
  expect_error(api.json("POST", "/api/uploads", R"({"filename":"x","total_size":-1})"), 400, "bad_size");
  put(root_id, "there.bin", "x");
  expect_error(api.json("POST", "/api/uploads", R"({"filename":"there.bin","total_size":1})"), 409, "exists");
}

}  // namespace
}  // namespace welkin::tests
