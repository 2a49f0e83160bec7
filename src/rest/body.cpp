#include "rest/body.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/json.hpp"

namespace welkin::rest {
namespace {

constexpr std::string_view kJson = "application/json";

void require_json_type(const http::Request& rq) {
  if (!rq.headers().has("content-type")) return;
  const auto value = rq.header("content-type");
  if (!text::iequals(text::trim(value.substr(0, value.find(';'))), kJson)) {
    throw Error(Errc::unsupported_media_type, "not_json", "The body must be application/json");
  }
}

}  // namespace

Task<nlohmann::json> json_body(http::Request& rq) {
  require_json_type(rq);
  // The scope of the API has set the limit of the body already.
  const std::string body = co_await rq.text(std::numeric_limits<std::size_t>::max());
  co_return wire::parse_json(body);
}

Task<nlohmann::json> optional_json_body(http::Request& rq) {
  if (!rq.has_body()) co_return nlohmann::json::object();
  co_return co_await json_body(rq);
}

Task<> send_json(http::Reply& rp, http::Status status, const nlohmann::json& value) {
  return send_json_text(rp, status, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Task<> send_json_text(http::Reply& rp, http::Status status, std::string json) {
  return rp.send(status, kJson, std::move(json));
}

void allow_upload(http::Request& rq, const Config& config) {
  rq.limit_body(config.upload_bytes_max == 0 ? std::numeric_limits<std::uint64_t>::max()
                                             : config.upload_bytes_max);
}

}  // namespace welkin::rest
