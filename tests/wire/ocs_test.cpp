#include "welkin/wire/ocs.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace welkin::wire {
namespace {

using Json = nlohmann::ordered_json;

std::string ocs(OcsVersion version, OcsFormat format, const OcsMeta& meta, const Json& data) {
  std::string out;
  append_ocs(out, version, format, meta, data);
  return out;
}

TEST(Ocs, JsonIsCompactAndInOrder) {
  const Json data{{"b", 1}, {"a", {true, nullptr, "x"}}};
  EXPECT_EQ(
      ocs(OcsVersion::v2, OcsFormat::json, ocs_ok(OcsVersion::v2), data),
      R"({"ocs":{"meta":{"status":"ok","statuscode":200,"message":"OK"},"data":{"b":1,"a":[true,null,"x"]}}})");
  EXPECT_EQ(
      ocs(OcsVersion::v1, OcsFormat::json, ocs_ok(OcsVersion::v1), Json::array()),
      R"({"ocs":{"meta":{"status":"ok","statuscode":100,"message":"OK","totalitems":"","itemsperpage":""},"data":[]}})");
}

TEST(Ocs, XmlSaysTheSameInItsOwnWay) {
  const Json data{{"name", "a<b&\"c\""}, {"yes", true},
                  {"no", false},         {"none", nullptr},
                  {"number", -3},        {"list", {"x", {{"id", 17}}}},
                  {"1", "digit"},        {"empty", Json::object()}};
  EXPECT_EQ(ocs(OcsVersion::v2, OcsFormat::xml, {404, "gone & lost"}, data),
            "<?xml version=\"1.0\"?>\n<ocs><meta><status>failure</status><statuscode>404</statuscode>"
            "<message>gone &amp; "
            "lost</message></meta><data><name>a&lt;b&amp;&quot;c&quot;</name><yes>1</yes><no></no>"
            "<none></none><number>-3</number><list><element>x</element><element><id>17</id></element></list>"
            "<element>digit</element><empty></empty></data></ocs>\n");
  EXPECT_NE(ocs(OcsVersion::v1, OcsFormat::xml, ocs_ok(OcsVersion::v1), Json::array())
                .find("<totalitems></totalitems><itemsperpage></itemsperpage></meta><data></data>"),
            std::string::npos);
}

TEST(Ocs, WhatIsNoUtf8IsReplaced) {
  const Json data{{"name", "\xff"}};
  EXPECT_NE(ocs(OcsVersion::v2, OcsFormat::json, ocs_ok(OcsVersion::v2), data).find("\xEF\xBF\xBD"),
            std::string::npos);
  EXPECT_NE(
      ocs(OcsVersion::v2, OcsFormat::xml, ocs_ok(OcsVersion::v2), data).find("<name>\xEF\xBF\xBD</name>"),
      std::string::npos);
}

}  // namespace
}  // namespace welkin::wire
