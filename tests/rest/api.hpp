#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/run.hpp"
#include "support/test_server.hpp"
#include "welkin/core/text.hpp"

namespace welkin::tests {

/// One user of the shared server, at a socket.
struct Api : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice"));
  ApiClient api = server.as(alice);
  NodeId root = server.home(alice);
  std::string root_id = server.folder_id(root);

  /// Makes a folder over the socket. @return its id
  std::string make_folder(const std::string& parent, const std::string& name) {
    const auto made =
        api.json("POST", "/api/folders", nlohmann::json{{"name", name}, {"parent_id", parent}}.dump());
    EXPECT_EQ(made.status, 201) << made.body;
    return json_of(made).value("id", "");
  }
  /// Stores a file over the socket. @return its File object
  nlohmann::json put(const std::string& folder, const std::string& name, const std::string& body,
                     HeaderList headers = {}) {
    const auto answer = api.send("PUT", child(folder, name), std::move(headers), body);
    EXPECT_TRUE(answer.status == 201 || answer.status == 200) << answer.status << answer.body;
    return json_of(answer);
  }
  static std::string child(const std::string& folder, const std::string& name) {
    return "/api/folders/" + folder + "/children/" + text::percent_encode(name);
  }
  std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    const auto listing = json_of(api.get("/api/folders/" + folder + "/listing"));
    for (const char* kind : {"folders", "files"})
      for (const auto& item : listing[kind]) names.push_back(item["name"]);
    return names;
  }
};

/// The one error shape (shape A with slug and request_id), nothing that should stay inside.
inline void expect_error(const HttpResponse& response, int status, const std::string& slug,
                         const std::string& what = "") {
  SCOPED_TRACE(what);
  EXPECT_EQ(response.status, status) << response.body;
  EXPECT_EQ(response.header("content-type"), "application/json");
  const auto body = json_of(response);
  if (!body.is_object()) {
    ADD_FAILURE() << "not the error shape: " << response.body;
    return;
  }
  EXPECT_EQ(body.value("slug", ""), slug) << response.body;
  EXPECT_EQ(body.value("status", "").substr(0, 4), std::to_string(status) + " ") << response.body;
  EXPECT_EQ(body.value("error", "?"), body.value("message", "!")) << response.body;
  EXPECT_FALSE(body.value("error_type", "").empty()) << response.body;
  EXPECT_EQ(body.value("request_id", "?"), response.header("x-request-id")) << response.body;
}

}  // namespace welkin::tests
