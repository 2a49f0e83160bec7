#include <gtest/gtest.h>

#include <string>

#include "web/pack.hpp"
#include "web/start_page.hpp"

namespace welkin::web {
namespace {

std::string packed() {
  return "welkin-web 1\npage\t/\npage\t/files/{id}\n"
         "file\tindex.html\ttext/html\tbb\t6\t0\t0\n"
         "file\t_app/immutable/a.js\ttext/javascript\taa\t5\t3\t0\n\n"
         "secondplainzip";
}

TEST(Pack, HoldsPagesAndFilesByPath) {
  const auto bytes = packed();
  const auto pack = read_pack(bytes);
  EXPECT_EQ(pack.pages, (std::vector<std::string>{"/", "/files/{id}"}));
  const auto* script = pack.find("_app/immutable/a.js");
  ASSERT_NE(script, nullptr);
  EXPECT_EQ(script->type, "text/javascript");
  EXPECT_EQ(script->plain, "plain");
  EXPECT_EQ(script->gzip, "zip");
  EXPECT_TRUE(script->br.empty());
  EXPECT_TRUE(script->is_named_by_content());
  EXPECT_EQ(pack.find("index.html")->plain, "second");
  EXPECT_FALSE(pack.find("index.html")->is_named_by_content());
  for (const char* absent : {"", "_app", "_app/immutable/b.js", "index.htm", "zzz"})
    EXPECT_EQ(pack.find(absent), nullptr) << absent;
}

TEST(Pack, RefusesWhatIsNotWhole) {
  const auto whole = packed();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(read_pack(std::string_view(whole).substr(0, length)), std::runtime_error) << length;
  EXPECT_THROW(read_pack(whole + "x"), std::runtime_error);
  EXPECT_THROW(read_pack("welkin-web 2\n\n"), std::runtime_error);
  EXPECT_THROW(read_pack("welkin-web 1\nfile\ta\tb\tc\t1\t-1\t0\n\nx"), std::runtime_error);
  EXPECT_THROW(read_pack("welkin-web 1\nfile\ta\tb\tc\t18446744073709551615\t0\t0\n\nx"), std::runtime_error);
}

TEST(Pack, TheShortestFormThatIsTakenGoesOut) {
  Asset asset;
  asset.plain = "plain", asset.gzip = "zip", asset.br = "b";
  EXPECT_EQ(asset.choose(""), Coding::identity);
  EXPECT_EQ(asset.choose("gzip, deflate, br"), Coding::br);
  EXPECT_EQ(asset.choose("gzip, deflate"), Coding::gzip);
  EXPECT_EQ(asset.choose("gzip;q=1.0, br;q=0"), Coding::gzip);
  EXPECT_EQ(asset.choose("*"), Coding::br);
  EXPECT_EQ(asset.choose("br;q=0, *;q=0.5"), Coding::gzip);
  EXPECT_EQ(asset.choose("identity, zstd"), Coding::identity);
  asset.br = {};
  EXPECT_EQ(asset.choose("br, gzip"), Coding::gzip);
  EXPECT_EQ(asset.form(Coding::gzip), "zip");
}

constexpr std::string_view kBuilt =
    "<link href=\"/welkin-base-path/a.css\"><script>one()</script><script>base = "
    "\"/welkin-base-path\"</script>";

TEST(StartPage, StandsBelowTheBasePath) {
  EXPECT_EQ(start_page(kBuilt, "/cloud").html,
            "<link href=\"/cloud/a.css\"><script>one()</script><script>base = \"/cloud\"</script>");
  EXPECT_EQ(start_page(kBuilt, "").html,
            "<link href=\"/a.css\"><script>one()</script><script>base = \"\"</script>");
}

TEST(StartPage, ItsOwnScriptsAndNoOthersMayRun) {
  const auto page = start_page(kBuilt, "/cloud");
  // printf 'one()' | openssl dgst -sha256 -binary | base64, and the same of the second as it is sent
  EXPECT_NE(page.content_security_policy.find(
                "script-src 'self' 'sha256-HR7iaask9daLMRRskMI++QeJtjWDOjyPA6lGzYGzKW4=' "
                "'sha256-5GbHRtfsDCaqh40GirLNxjvZfjFvJDVXYW8s/lKUEFM=';"),
            std::string::npos)
      << page.content_security_policy;
  EXPECT_EQ(page.content_security_policy.find("unsafe"), std::string::npos);
  EXPECT_NE(page.content_security_policy.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.content_security_policy.find("frame-ancestors 'none'"), std::string::npos);
}

TEST(PackedApp, WhatTheBinaryCarriesCanBeRead) {
  if (packed_app().empty()) GTEST_SKIP() << "built without the web app";
  const auto pack = read_pack(packed_app());
  ASSERT_NE(pack.find("index.html"), nullptr);
  EXPECT_FALSE(pack.pages.empty());
  for (const auto& asset : pack.assets) EXPECT_FALSE(asset.plain.empty()) << asset.path;
}

}  // namespace
}  // namespace welkin::web
