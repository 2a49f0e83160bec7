// What clients send when people save files, as lists of requests: none of them may need to know us.
#include "dav/dav_fixture.hpp"

namespace welkin::tests {
namespace {

struct Step {
  const char* method;
  const char* name;  // below the user's folder
  HeaderList headers;
  std::string body;
  int status;
};

struct DavClients : DavFixture {
  /// TOKEN in a header is the last Lock-Token, bare; BASE the address of the server; ETAG the last tag.
  void play(const std::vector<Step>& steps) {
    std::string token, etag;
    const auto fill = [&](std::string value) {
      const std::pair<const char*, std::string> kWords[] = {
          {"TOKEN", token}, {"ETAG", etag}, {"BASE", "http://127.0.0.1:" + std::to_string(server.port())}};
      for (const auto& [word, text] : kWords) {
        const auto at = value.find(word);
        if (at != std::string::npos) value.replace(at, std::string(word).size(), text);
      }
      return value;
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
      auto headers = steps[i].headers;
      for (auto& [name, value] : headers) value = fill(value);
      last = dav.send(steps[i].method, b + steps[i].name, headers, steps[i].body);
      EXPECT_EQ(last.status, steps[i].status) << "step " << i << ": " << steps[i].method << ' ' << last.body;
      if (const auto given = last.header("lock-token"); !given.empty())
        token = given.substr(1, given.size() - 2);
      if (last.has("etag")) etag = last.header("etag");
    }
  }
  static std::string win32(const char* time) {
    return std::string(
               "<d:propertyupdate xmlns:d=\"DAV:\" xmlns:Z=\"urn:schemas-microsoft-com:\"><d:set><d:prop>"
               "<Z:Win32CreationTime>") +
           time + "</Z:Win32CreationTime><Z:Win32LastModifiedTime>" + time +
           "</Z:Win32LastModifiedTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></d:prop></"
           "d:set>"
           "</d:propertyupdate>";
  }
  std::int64_t children() {
    return server.number("select count(*) from nodes where parent_id = " + std::to_string(t.value));
  }
};

TEST_F(DavClients, WindowsExplorerSaves) {
  const HeaderList with_token{{"If", "(<TOKEN>)"}};
  play({{"PROPFIND", "/report.docx", {{"Depth", "0"}, {"translate", "f"}}, "", 404},
        {"PUT", "/report.docx", {{"Content-Length", "0"}}, "", 201},
        {"LOCK", "/report.docx", {{"Timeout", "Second-3600"}}, kLockInfo, 200},
        {"PROPPATCH", "/report.docx", with_token, win32("Fri, 14 Jul 2017 02:40:00 GMT"), 207},
        {"HEAD", "/report.docx", {}, "", 200},
        {"PUT", "/report.docx", with_token, "the document", 204},
        {"PROPPATCH", "/report.docx", with_token, win32("Fri, 14 Jul 2017 02:40:00 GMT"), 207},
        {"UNLOCK", "/report.docx", {{"Lock-Token", "<TOKEN>"}}, "", 204}});
  const auto got = dav.get(b + "/report.docx");
  EXPECT_EQ(got.body, "the document");
  EXPECT_EQ(got.header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
  EXPECT_EQ(versions(), 0);
}

TEST_F(DavClients, FinderSaves) {
  play({{"PROPFIND", "/._pages", {{"Depth", "0"}}, "", 404},
        {"PROPFIND", "/pages", {{"Depth", "0"}}, "", 404},
        {"PUT", "/pages", {}, "", 201},
        {"LOCK", "/pages", {{"Depth", "0"}, {"Timeout", "Second-600"}}, kLockInfo, 200},
        {"LOCK", "/pages", {{"If", "(<TOKEN>)"}, {"Content-Type", "text/xml"}}, "", 200},
        {"PUT", "/pages", {{"If", "(<TOKEN>)"}, {"X-Expected-Entity-Length", "5"}}, "pages", 204},
        {"UNLOCK", "/pages", {{"Lock-Token", "<TOKEN>"}}, "", 204},
        {"MOVE", "/pages", {{"Destination", "BASE/webdav/t/pages 2"}}, "", 201}});
  EXPECT_EQ(get(b + "/pages%202"), "pages");
}

TEST_F(DavClients, OfficeOpensAndSaves) {
  play({{"OPTIONS", "", {}, "", 200},
        {"HEAD", "/a", {}, "", 200},
        {"LOCK", "/a", {{"Timeout", "Second-3600"}}, kLockInfo, 200},
        {"GET", "/a", {}, "", 200},
        {"PUT", "/a", {{"Lock-Token", "<TOKEN>"}}, "saved", 204},
        {"PUT", "/a", {}, "by another program", 423},
        {"UNLOCK", "/a", {{"Lock-Token", "<TOKEN>"}}, "", 204}});
  EXPECT_EQ(get(b + "/a"), "saved");
}

TEST_F(DavClients, PasswordSafesReplaceByRenaming) {
  play({{"PUT", "/db.kdbx", {}, "one", 201},
        {"PUT", "/db.kdbx.tmp", {}, "two", 201},
        {"PROPFIND", "/db.kdbx", {{"Depth", "0"}}, "", 207},
        {"MOVE", "/db.kdbx.tmp", {{"Destination", "BASE/webdav/t/db.kdbx"}, {"Overwrite", "T"}}, "", 204},
        {"PUT", "/db.kdbx.tmp", {}, "three", 201},
        {"DELETE", "/db.kdbx", {}, "", 204},
        {"MOVE", "/db.kdbx.tmp", {{"Destination", "BASE/webdav/t/db.kdbx"}}, "", 201}});
  EXPECT_EQ(get(b + "/db.kdbx"), "three");
  EXPECT_EQ(versions(), 2) << "the same file goes on, and both older contents can be had back";
  EXPECT_EQ(server.number("select count(*) from trash where deleted_by = " + std::to_string(alice.id.value)),
            0);
}

TEST_F(DavClients, JoplinSyncs) {
  const HeaderList ignored{{"If-None-Match", "JoplinIgnore-81"}};
  play({{"MKCOL", "/.resource/", ignored, "", 201},
        {"MKCOL", "/.resource/", ignored, "", 405},
        {"PROPFIND", "/info.json", {{"Depth", "0"}, {"If-None-Match", "JoplinIgnore-82"}}, "", 404},
        {"GET", "/info.json", {}, "", 404},
        {"PUT", "/info.json", ignored, "{}", 201},
        {"PUT", "/info.json", ignored, "{ }", 204},
        {"PROPFIND", "", {{"Depth", "1"}, {"If-None-Match", "JoplinIgnore-83"}}, "", 207},
        {"DELETE", "/info.json", ignored, "", 204},
        {"DELETE", "/info.json", ignored, "", 404}});
}

TEST_F(DavClients, Davfs2Creates) {
  play(
      {{"LOCK", "/new", {{"Depth", "0"}, {"Timeout", "Second-1800"}, {"If-None-Match", "*"}}, kLockInfo, 201},
       {"PUT", "/new", {{"If", "<BASE/webdav/t/new> (<TOKEN>)"}, {"If-Match", "ETAG"}}, "x", 204},
       {"PROPFIND", "/new", {{"Depth", "0"}}, "", 207},
       {"UNLOCK", "/new", {{"Lock-Token", "<TOKEN>"}}, "", 204}});
  EXPECT_EQ(get(b + "/new"), "x");
}

TEST_F(DavClients, LibreOfficeMustNotSaveOverABrokenLock) {
  play({{"LOCK", "/a", {{"Timeout", "Second-180"}}, kLockInfo, 200},
        {"PUT", "/a", {{"If", "(<TOKEN>)"}}, "mine", 204},
        {"UNLOCK", "/a", {{"Lock-Token", "<TOKEN>"}}, "", 204},
        {"PUT", "/a", {{"If", "(<TOKEN>)"}}, "again", 412}});
  EXPECT_EQ(get(b + "/a"), "mine");
}

TEST_F(DavClients, GvfsAndKioSaveOver) {
  play({{"PROPFIND", "/copy", {{"Depth", "0"}}, "", 404},
        {"PUT", "/copy", {{"Overwrite", "T"}}, "x", 201},
        {"HEAD", "/copy", {}, "", 200},
        {"PUT", "/copy", {{"If-Match", "ETAG"}}, "y", 204},
        {"MOVE",
         "/copy",
         {{"Destination", "BASE/webdav/t/a"}, {"Overwrite", "F"}, {"Depth", "infinity"}},
         "",
         412},
        {"MOVE",
         "/copy",
         {{"Destination", "BASE/webdav/t/a"}, {"Overwrite", "T"}, {"Depth", "infinity"}},
         "",
         204}});
  EXPECT_EQ(children(), 1);
  EXPECT_EQ(get(b + "/a"), "y");
}

}  // namespace
}  // namespace welkin::tests
