#include "http/access_log.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "http/path.hpp"
#include "http/settings.hpp"
#include "welkin/core/log.hpp"

namespace welkin::http {
namespace {

class AccessLog : public ::testing::Test {
 protected:
  AccessLog() : request(settings, nullptr) {
    request.head.method_token = "GET";
    request.address_text = "192.0.2.1";
    request.id = "id-1";
  }
  ~AccessLog() override { log::configure(log::Level::info, log::Format::text); }

  std::string line(const std::string& target, log::Format format, const RouteEntry* route = nullptr) {
    log::configure(log::Level::info, format);
    request.head.target = target;
    request.raw_path = std::string_view(request.head.target).substr(0, request.head.target.find('?'));
    EXPECT_EQ(decode_path(request.raw_path, request.segments, request.trailing_slash), nullptr);
    request.route = route;
    return render_access(request, 200, 1234, std::chrono::microseconds(1500), false);
  }

  const Settings settings;
  Request::State request;
};

TEST_F(AccessLog, Text) {
  request.caller.name = "alice";
  const auto out = line("/a/b?token=secret", log::Format::text);
  EXPECT_NE(out.find(" 192.0.2.1 alice \"GET /a/b\" 200 1234 1.500ms - id-1"), out.npos) << out;
  EXPECT_EQ(out.find("secret"), out.npos);
}

TEST_F(AccessLog, Json) {
  const auto out = nlohmann::json::parse(line("/a%22b%20\xC3\xA4?q", log::Format::json));
  EXPECT_EQ(out["path"], "/a%22b%20\xC3\xA4");
  EXPECT_EQ(out["status"], 200);
  EXPECT_EQ(out["bytes"], 1234);
  EXPECT_EQ(out["client"], "192.0.2.1");
  EXPECT_EQ(out["request_id"], "id-1");
  EXPECT_EQ(out["user"], "-");
}

TEST_F(AccessLog, KeysInPathsAreMasked) {
  RouteEntry route;
  route.name = "share.get";
  route.param_names = {"token", "path"};
  request.captures = {1, 2};
  for (const auto format : {log::Format::text, log::Format::json}) {
    const auto out = line("/s/aGVsbG8/file.txt", format, &route);
    EXPECT_EQ(out.find("aGVsbG8"), out.npos) << out;
    EXPECT_NE(out.find("/s/***/file.txt"), out.npos) << out;
    EXPECT_NE(out.find("share.get"), out.npos) << out;
  }
}

TEST_F(AccessLog, NobodyForgesALine) {
  RouteEntry route;
  route.name = "x";
  request.caller.name = "eve\" 200\n";
  for (const auto* path : {"/a%22%20200%200%20x", "/%E2%80%AEevil", "/\xE2\x80\xA8line"}) {
    const auto text = line(path, log::Format::text, &route);
    EXPECT_EQ(text.find('\n'), text.npos);
    EXPECT_EQ(text.find("\xE2\x80"), text.npos) << "no bidi, no line separators";
    EXPECT_EQ(std::count(text.begin(), text.end(), '"'), 2) << text;
    EXPECT_TRUE(nlohmann::json::parse(line(path, log::Format::json, &route)).is_object());
  }
}

TEST_F(AccessLog, LongPathsAreCut) {
  EXPECT_LT(line("/" + std::string(8000, 'a'), log::Format::text).size(), 1300u);
}

}  // namespace
}  // namespace welkin::http
