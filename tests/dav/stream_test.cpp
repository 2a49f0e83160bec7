#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#define WELKIN_HEAP_IN_USE() __sanitizer_get_current_allocated_bytes()
#else
#define WELKIN_HEAP_IN_USE() heap_in_use()
#endif

#include "dav/dav_client.hpp"
#include "http/inflate.hpp"

namespace welkin::tests {
namespace {

constexpr int kMany = 4000;

/// Bytes that are allocated and not given back, by the whole process.
[[maybe_unused]] std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// A folder with many folders in it, made by SQL.
struct DavStream : DavTest {
  DavStream() { add_folders(1, kMany); }
  void add_folders(int from, int to) {
    const auto folder = std::to_string(area.value);
    server.sql(
        "insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)"
        " select n.id, 1, 1, 1, n.drive_id, n.drive_id, 2, 'n' || lpad(i::text, 6, '0')"
        " from nodes n, generate_series(" +
        std::to_string(from) + ", " + std::to_string(to) + ") i where n.id = " + folder +
        "; insert into folders (node_id, etag_seq, changed_at) select id, 1, 1 from nodes where parent_id "
        "= " +
        folder + " and name >= 'n' || lpad('" + std::to_string(from) + "', 6, '0')");
  }
  struct Passed {
    std::size_t rows = 0, bytes = 0, heap_max = 0;
  };
  /// Asks for the folder, and lets go of each piece of the answer before it takes the next.
  Passed pass_through() {
    test::HttpClient reader(server.port());
    reader.connect();
    reader.send(
        "PROPFIND /webdav/area/ HTTP/1.1\r\nHost: x\r\nDepth: 1"
        "\r\nConnection: close\r\nAuthorization: " +
        dav.authorization() + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    const std::string_view end = "</d:response>";
    Passed out;
    std::string left;
    for (auto piece = reader.read_some(); !piece.empty(); piece = reader.read_some()) {
      out.bytes += piece.size();
      left += piece;
      std::size_t at = 0;
      for (auto found = left.find(end); found != left.npos; found = left.find(end, at)) {
        ++out.rows;
        at = found + end.size();
      }
      // A word may be cut by the end of a piece; the lines between chunks stand between rows.
      left.erase(0, std::max(at, left.size() - std::min(left.size(), end.size())));
      out.heap_max = std::max(out.heap_max, static_cast<std::size_t>(WELKIN_HEAP_IN_USE()));
    }
    return out;
  }
  const std::string body = prop("<d:resourcetype/><d:getetag/><d:getlastmodified/><d:displayname/>");
};

TEST_F(DavStream, PagesNeitherRepeatNorSkip) {
  const auto answer = propfind("/webdav/area/", "1", body);
  ASSERT_EQ(answer.responses.size(), kMany + 1u);
  auto hrefs = answer.hrefs();
  EXPECT_TRUE(std::is_sorted(hrefs.begin(), hrefs.end()));
  EXPECT_EQ(std::set<std::string>(hrefs.begin(), hrefs.end()).size(), hrefs.size());
  EXPECT_EQ(propfind("/webdav/area/", "infinity", body).responses.size(), kMany + 1u);
}

// A folder of any size is listed in the memory of a page.
TEST_F(DavStream, MemoryDoesNotGrowWithTheFolder) {
  const auto* const full = std::getenv("WELKIN_TEST_FULL");
  const int many = full != nullptr && std::string_view(full) == "1" ? 100'000 : 20'000;
  add_folders(kMany + 1, many);
  pass_through();  // what is kept for the next time is made now
  const auto before = static_cast<std::size_t>(WELKIN_HEAP_IN_USE());
  const auto passed = pass_through();
  EXPECT_EQ(passed.rows, static_cast<std::size_t>(many) + 1);
  EXPECT_GT(passed.bytes, static_cast<std::size_t>(many) * 200);
  EXPECT_LT(passed.heap_max, before + (std::size_t{4} << 20)) << passed.bytes;
}

TEST_F(DavStream, CompressesWhenAsked) {
  const auto plain = dav.send("PROPFIND", "/webdav/area/", {{"Depth", "1"}}, body);
  EXPECT_TRUE(plain.chunked);
  const auto gzip =
      dav.send("PROPFIND", "/webdav/area/", {{"Depth", "1"}, {"Accept-Encoding", "gzip"}}, body);
  EXPECT_EQ(gzip.header("content-encoding"), "gzip");
  EXPECT_LT(gzip.body.size() * 5, plain.body.size());
  EXPECT_EQ(test::gunzip(gzip.body), plain.body);
  const auto zstd =
      dav.send("PROPFIND", "/webdav/area/", {{"Depth", "1"}, {"Accept-Encoding", "zstd"}}, body);
  EXPECT_EQ(test::unzstd(zstd.body), plain.body);
}

// The first byte does not wait for the last row: a reader who takes nothing finds the server waiting, holding
// no session of the database, and gets the rest when he goes on.
TEST_F(DavStream, AReaderWhoStallsHoldsNoConnection) {
  test::HttpClientOptions options;
  options.receive_buffer_bytes = 4096;
  test::HttpClient slow(server.port(), options);
  slow.connect();
  const std::string request =
      "PROPFIND /webdav/area/ HTTP/1.1\r\nHost: x\r\nDepth: 1\r\nConnection: close\r\n"
      "Authorization: " +
      dav.authorization() + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  ASSERT_TRUE(slow.send(request));
  auto got = slow.read_some(256);
  EXPECT_TRUE(got.starts_with("HTTP/1.1 207")) << got;
  // Others are served meanwhile, by one connection after the other.
  for (int i = 0; i < 8; ++i) EXPECT_EQ(propfind("/webdav/area/", "0").http.status, 207);
  EXPECT_EQ(server.number("select count(*) from pg_stat_activity where datname = current_database()"
                          " and pid <> pg_backend_pid() and backend_type = 'client backend' and (state like "
                          "'idle in%' or state = 'active')"),
            0);
  got += slow.read_until_closed();
  const auto whole = dav_answer(test::parse_response(got));
  EXPECT_TRUE(whole.http.complete);
  EXPECT_EQ(whole.responses.size(), kMany + 1u);
}

// Who leaves in the middle leaves nothing behind.
TEST_F(DavStream, AReaderWhoLeavesIsForgotten) {
  for (int i = 0; i < 20; ++i) {
    test::HttpClient leaving(server.port());
    leaving.connect();
    leaving.send("PROPFIND /webdav/area/ HTTP/1.1\r\nHost: x\r\nDepth: 1\r\nAuthorization: " +
                 dav.authorization() + "\r\n\r\n");
    leaving.read_some(64);
    leaving.close();
  }
  EXPECT_EQ(propfind("/webdav/area/", "0").http.status, 207);
}

TEST_F(DavStream, FolderPagesAreStreamedToo) {
  const auto page = dav.get("/webdav/area/", {{"Accept", "text/html"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(std::count(page.body.begin(), page.body.end(), '\n') > kMany, true);
  const auto names = dav.get("/webdav/area/").body;
  EXPECT_EQ(std::count(names.begin(), names.end(), '\n'), kMany);
}

}  // namespace
}  // namespace welkin::tests
