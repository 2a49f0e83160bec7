#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/run.hpp"
#include "support/test_server.hpp"
#include "welkin/core/text.hpp"
#include "welkin/people/devices.hpp"

namespace welkin::tests {

using nlohmann::json;

/// Somebody with a client of Nextcloud that has an app password, and what the clients' interface says to him.
struct NextcloudWeb : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice")), bob = server.user(server.fresh("bob"));
  std::string secret = run(server.people->devices().app_password(alice.caller, "test", {}));
  ApiClient client{server.port(), basic(alice.name, secret)};
  ApiClient nobody = server.nobody();

  HttpResponse ocs(std::string_view method, const std::string& path, const std::string& form = "",
                   ApiClient* as = nullptr) {
    HeaderList headers = {{"OCS-APIRequest", "true"}, {"Accept", "application/json"}};
    if (!form.empty()) headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    return (as == nullptr ? client : *as).send(method, "/ocs/v2.php" + path, headers, form);
  }
  /// The data of a good answer; a string with its status otherwise.
  json data(std::string_view method, const std::string& path, const std::string& form = "") {
    const auto answer = ocs(method, path, form);
    const auto body = json_of(answer);
    if (answer.status != 200 || body.is_discarded() || body["ocs"]["meta"]["statuscode"] != 200)
      return "status " + std::to_string(answer.status) + ' ' + answer.body;
    return body["ocs"]["data"];
  }
  json get(const std::string& path) { return data("GET", path); }
  static int meta(const HttpResponse& answer) {
    const auto body = json_of(answer);
    return body.is_discarded() ? -1 : body["ocs"]["meta"]["statuscode"].get<int>();
  }
  NodeId file(const std::string& name, const std::string& body) {
    return server.file(alice, server.home(alice), name, body);
  }
};

}  // namespace welkin::tests
