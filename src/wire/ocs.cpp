#include "welkin/wire/ocs.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

namespace welkin::wire {
namespace {

using Json = nlohmann::ordered_json;

bool is_element_name(std::string_view name) {
  const auto may_begin = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  const auto may_follow = [&](unsigned char c) {
    return may_begin(c) || std::isdigit(c) != 0 || c == '-' || c == '.';
  };
  return !name.empty() && may_begin(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return may_follow(static_cast<unsigned char>(c)); });
}

void append_member(std::string& out, std::string_view name, const Json& value);

void append_value(std::string& out, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      for (const auto& [name, member] : value.items()) append_member(out, name, member);
      break;
    case Json::value_t::array:
      for (const auto& member : value) append_member(out, "element", member);
      break;
    case Json::value_t::string:
      append_escaped(out, text::is_utf8(value.get_ref<const std::string&>())
                              ? std::string_view(value.get_ref<const std::string&>())
                              : std::string_view("\xEF\xBF\xBD"));
      break;
    case Json::value_t::boolean:
      if (value.get<bool>()) out += '1';
      break;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      out += value.dump();
      break;
    default:  // null, and what no answer holds
      break;
  }
}

void append_member(std::string& out, std::string_view name, const Json& value) {
  if (!is_element_name(name)) name = "element";
  ((out += '<') += name) += '>';
  append_value(out, value);
  ((out += "</") += name) += '>';
}

Json meta_json(OcsVersion version, const OcsMeta& meta) {
  Json out{{"status", meta.is_ok() ? "ok" : "failure"},
           {"statuscode", meta.status_code},
           {"message", meta.message}};
  if (version == OcsVersion::v1) {
    out["totalitems"] = "";
    out["itemsperpage"] = "";
  }
  return out;
}

}  // namespace

OcsMeta ocs_ok(OcsVersion version) { return {version == OcsVersion::v1 ? 100 : 200, "OK"}; }

void append_ocs(std::string& out, OcsVersion version, OcsFormat format, const OcsMeta& meta,
                const Json& data) {
  if (format == OcsFormat::xml) {
    out += "<?xml version=\"1.0\"?>\n<ocs>";
    append_member(out, "meta", meta_json(version, meta));
    append_member(out, "data", data);
    out += "</ocs>\n";
    return;
  }
  const auto compact = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  out += R"({"ocs":{"meta":)";
  out += compact(meta_json(version, meta));
  out += R"(,"data":)";
  out += compact(data);
  out += "}}";
}

std::string_view ocs_content_type(OcsFormat format) {
  return format == OcsFormat::json ? "application/json; charset=utf-8" : "application/xml; charset=utf-8";
}

}  // namespace welkin::wire
