#include "rest/api.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

struct Searching : Api {
  std::string folder = make_folder(root_id, "Reports");
  void SetUp() override {
    put(folder, "report 2025.pdf", "12345");
    put(folder, "report 2026.txt", "1");
    put(root_id, "Monthly Report.txt", "123");
  }
  Names named(const json& items) {
    Names names;
    for (const auto& item : items)
      names.push_back(item.contains("resource") ? item["resource"]["name"] : item["name"]);
    return names;
  }
};

TEST_F(Searching, ByNameGivesFilesAndFolders) {
  const auto answer = json_of(api.get("/api/search?query=REPORT"));
  EXPECT_EQ(named(answer["files"]), (Names{"report 2025.pdf", "report 2026.txt", "Monthly Report.txt"}));
  EXPECT_EQ(named(answer["folders"]), Names{"Reports"});
  EXPECT_EQ(answer["total_count"], 4);
  EXPECT_EQ(answer["limit"], 100);
  EXPECT_EQ(answer["offset"], 0);
  EXPECT_EQ(answer["has_more"], false);
  EXPECT_EQ(answer["sort_by"], "relevance");
  EXPECT_TRUE(answer["query_time_ms"].is_number());
  const auto& file = answer["files"][0];
  EXPECT_EQ(file["relevance_score"], 80);
  EXPECT_EQ(file["path"], "/Reports/report 2025.pdf");
  EXPECT_EQ(file["folder_id"], folder);
  EXPECT_EQ(file["category"], "PDF");
  EXPECT_EQ(answer["folders"][0]["relevance_score"], 80);
}

TEST_F(Searching, FiltersSortsAndCounts) {
  EXPECT_EQ(named(json_of(api.get("/api/search?query=report&type=pdf,jpg"))["files"]),
            Names{"report 2025.pdf"});
  EXPECT_EQ(named(json_of(api.get("/api/search?query=report&type=text/"))["files"]),
            (Names{"report 2026.txt", "Monthly Report.txt"}));
  EXPECT_EQ(named(json_of(api.get("/api/search?query=report&min_size=2&sort_by=size_desc"))["files"]),
            (Names{"report 2025.pdf", "Monthly Report.txt"}));
  EXPECT_EQ(
      named(json_of(api.get("/api/search?query=report&folder_id=" + root_id + "&recursive=false"))["files"]),
      Names{"Monthly Report.txt"});
  EXPECT_EQ(named(json_of(api.get("/api/search?query=report&modified_before=5"))["files"]), Names{});
  const auto second = json_of(api.get("/api/search?query=report&sort_by=name&limit=2&offset=1"));
  EXPECT_EQ(named(second["files"]), (Names{"Monthly Report.txt", "report 2025.pdf"}));
  EXPECT_EQ(second["has_more"], true);
  EXPECT_EQ(second["total_count"], nullptr);
  const auto body = json{{"name_contains", "report"}, {"file_types", {"pdf"}}, {"sort_by", "date_desc"}};
  EXPECT_EQ(named(json_of(api.json("POST", "/api/search/advanced", body.dump()))["files"]),
            Names{"report 2025.pdf"});
}

TEST_F(Searching, RefusesWhatMakesNoSense) {
  expect_error(api.get("/api/search?query=x&sort_by=colour"), 400, "bad_query");
  expect_error(api.get("/api/search?query=x&min_size=much"), 400, "bad_query");
  expect_error(api.get("/api/search?query=x&offset=100000"), 400, "bad_query");
  expect_error(api.get("/api/search?query=x&folder_id=nonsense"), 400, "bad_id");
  expect_error(api.get("/api/search?query=" + std::string(300, 'x')), 400, "bad_search");
  expect_error(api.json("POST", "/api/search/advanced", R"({"owner":"x"})"), 422, "unknown_field");
  expect_error(api.get("/api/search/resources?query=x&order_by=colour"), 400, "bad_query");
}

TEST_F(Searching, GoesOnAfterACursor) {
  Names seen;
  std::string cursor;
  do {
    const auto page =
        json_of(api.get("/api/search/resources?query=report&order_by=name&limit=1&cursor=" + cursor));
    for (const auto& name : named(page["items"])) seen.push_back(name);
    EXPECT_TRUE(page["items"][0].contains("relevance_score"));
    cursor = page.value("next_cursor", "");
  } while (!cursor.empty() && seen.size() < 10);
  EXPECT_EQ(seen, (Names{"Reports", "Monthly Report.txt", "report 2025.pdf", "report 2026.txt"}));
  EXPECT_EQ(named(json_of(api.get("/api/search/resources?query=report&resource_types=folder"))["items"]),
            Names{"Reports"});
}

TEST_F(Searching, SuggestsWhileOneTypes) {
  const auto answer = json_of(api.get("/api/search/suggest?query=month&limit=5"));
  ASSERT_EQ(answer["suggestions"].size(), 1u) << answer.dump();
  const auto& one = answer["suggestions"][0];
  EXPECT_EQ(one["name"], "Monthly Report.txt");
  EXPECT_EQ(one["item_type"], "file");
  EXPECT_EQ(one["path"], "/Monthly Report.txt");
  EXPECT_EQ(one["icon_special_class"], "doc-icon");
  EXPECT_EQ(one["relevance_score"], 80);
  EXPECT_EQ(json_of(api.get("/api/search/suggest?query=report&limit=1"))["suggestions"].size(), 1u);
  EXPECT_EQ(json_of(api.get("/api/search/suggest"))["suggestions"], json::array());
  auto other = server.as(server.user(server.fresh("bob")));
  EXPECT_EQ(json_of(other.get("/api/search/suggest?query=month"))["suggestions"], json::array());
}

}  // namespace
}  // namespace welkin::tests
