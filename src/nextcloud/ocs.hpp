#pragma once
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "nextcloud/services.hpp"
#include "welkin/wire/ocs.hpp"

/// The OCS interface: routes below /ocs/v1.php and /ocs/v2.php, which differ in numbers only.
namespace welkin::nextcloud {

using Json = nlohmann::ordered_json;

/// One question and where its answer goes.
struct Call {
  const Services& services;
  http::Request& rq;
  http::Reply& rp;
  wire::OcsVersion version;
  wire::OcsFormat format;
};

/// 200 with the data, meta 100 or 200.
Task<> answer(Call& call, Json data);
/// The same with a tag made of the data: 304 when the client has it.
Task<> answer_tagged(Call& call, Json data);

/// What a client has given, be it in the query, as a form or as JSON; the body wins. Lists are called
/// `name[]`.
class Params {
 public:
  std::optional<std::string> find(const std::string& name) const;
  std::string get(const std::string& name, const std::string& otherwise = "") const;
  /// @throws Error invalid `bad_parameter` when it is there and is no number
  std::optional<std::int64_t> number(const std::string& name) const;
  /// "true", "1", "yes", "on". @throws Error invalid `bad_parameter` for what is neither this nor its
  /// opposite
  bool flag(const std::string& name, bool otherwise) const;
  std::vector<std::string> list(const std::string& name) const;
  void add(std::string name, std::string value) { values_.emplace(std::move(name), std::move(value)); }

 private:
  std::multimap<std::string, std::string> values_;
};
/// @throws Error invalid `bad_parameter`, `bad_json`; too_large
Task<Params> params_of(http::Request& rq);
/// Of an application/x-www-form-urlencoded body or a query; nullopt: cannot be decoded.
bool add_form(Params& params, std::string_view text, std::size_t parameters_max = 1000);

using OcsHandler = std::function<Task<>(Call&)>;

/// Adds each route to both versions.
class OcsRoutes {
 public:
  OcsRoutes(http::Router& router, std::shared_ptr<const Services> services);
  /// Nobody needs to be known, but who claims to be somebody is.
  void open(http::Method method, const std::string& path, const std::string& name, OcsHandler handler);
  /// @param resource,action  what it is about, for the matrix of rights
  void user(http::Method method, const std::string& path, const std::string& name,
            const std::string& resource, const std::string& action, OcsHandler handler);
  /// Answers what no route does.
  void finish();

 private:
  void add(http::Router::Scope& scope, http::Access access, http::Method method, const std::string& path,
           const std::string& name, const std::string& resource, const std::string& action,
           const OcsHandler& handler);
  http::Router& router_;
  std::shared_ptr<const Services> services_;
  http::Router::Scope open_, user_;
};

/// Which version and format an address and its headers ask for.
wire::OcsVersion version_of(const http::Request& rq);
wire::OcsFormat format_of(const http::Request& rq);

/// For addresses beside OCS: whose errors are short JSON, and whose 401 asks for Basic.
http::Middleware answer_plain_errors();

inline constexpr const char* kChallenge = "Basic realm=\"Nextcloud\", charset=\"UTF-8\"";
inline constexpr const char* kJsonType = "application/json; charset=utf-8";

}  // namespace welkin::nextcloud
