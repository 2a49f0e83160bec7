#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// The envelope that Nextcloud's clients speak beside DAV: meta data with a status of its own, and data, as
/// JSON or XML. Which of the two, and which numbers, depends on the address (v1.php, v2.php) and on what the
/// client asks for.
namespace welkin::wire {

enum class OcsVersion { v1, v2 };
enum class OcsFormat { xml, json };

struct OcsMeta {
  int status_code = 0;  // 100 (v1) or 200 (v2) when all is well
  std::string message;  // what people are shown
  bool is_ok() const { return status_code == 100 || status_code == 200 || status_code == 304; }
};

/// Meta data of success: 100 or 200, "OK".
OcsMeta ocs_ok(OcsVersion version);

/// Appends the whole document. JSON is compact, since clients look for `"statuscode":100` without a blank; in
/// it objects keep the order of `data`. XML: members of lists are called `element`, as are those whose name
/// is no XML name; true is `1`, false and null are empty. Text that is no UTF-8 is replaced, not refused.
void append_ocs(std::string& out, OcsVersion version, OcsFormat format, const OcsMeta& meta,
                const nlohmann::ordered_json& data);

/// "application/json; charset=utf-8" or "application/xml; charset=utf-8".
std::string_view ocs_content_type(OcsFormat format);

}  // namespace welkin::wire
