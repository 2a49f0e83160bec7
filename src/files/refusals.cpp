#include "files/refusals.hpp"

#include <array>

namespace welkin::files {
namespace {

struct Refusal {
  std::string_view slug;  // as raised in SQL
  Errc code;
  const char* error_slug;
  const char* text;
};

constexpr std::array kRefusals{
    Refusal{"not_found", Errc::not_found, "not_found", "not found"},
    Refusal{"forbidden", Errc::forbidden, "forbidden", "you may not do this here"},
    Refusal{"signed_out", Errc::unauthenticated, "signed_out",
            "the session or app password has ended meanwhile; sign in again"},
    Refusal{"is_root", Errc::forbidden, "is_root", "the root of a drive cannot be renamed, moved or deleted"},
    Refusal{"is_a_folder", Errc::conflict, "is_a_folder", "there is a folder of this name"},
    Refusal{"not_a_file", Errc::invalid, "not_a_file", "this is not a file"},
    Refusal{"precondition_failed", Errc::precondition_failed, "precondition_failed",
            "the resource is not in the state the request asks for"},
    Refusal{"locked", Errc::locked, "lock_token_submitted", "the resource is locked"},
    Refusal{"too_many_locks", Errc::forbidden, "too_many_locks", "there are too many locks already"},
    Refusal{"too_many_uploads", Errc::forbidden, "too_many_uploads",
            "there are too many unfinished uploads; finish or delete some"},
    Refusal{"too_many_parts", Errc::invalid, "too_many_parts", "an upload has at most 10,000 parts"},
    Refusal{"too_many_properties", Errc::quota_exceeded, "too_many_properties",
            "there is no room for more properties here"},
    Refusal{"quota_exceeded", Errc::quota_exceeded, "quota_not_exceeded", "the storage quota is exceeded"},
    Refusal{"into_itself", Errc::invalid, "into_itself",
            "nothing can be moved or copied into or onto itself"},
    Refusal{"too_deep", Errc::invalid, "too_deep", "folders are nested too deeply"},
    Refusal{"too_many_items", Errc::unprocessable, "too_many_items", "this is too much for one request"},
    Refusal{"too_many_nodes", Errc::unprocessable, "too_many_nodes",
            "this tree has more files and folders than may be copied, or moved to another drive, at once; "
            "take its "
            "folders one by one"},
};

}  // namespace

Error not_found() { return {Errc::not_found, "not_found", "not found"}; }

Error refusal(std::string_view sqlstate, std::string_view slug, const std::string& name) {
  if (sqlstate == "23505" || slug == "exists")
    return {Errc::conflict, "exists", "a file or folder with this name already exists: " + name};
  for (const auto& r : kRefusals)
    if (r.slug == slug) return {r.code, r.error_slug, r.text};
  return {Errc::internal, "internal", "unknown refusal " + std::string(slug)};
}

void rethrow(const db::SqlError& e, const std::string& name) {
  const bool ours = e.sqlstate().size() == 5 && e.sqlstate()[0] == 'W';
  if (ours) throw refusal(e.sqlstate(), e.message(), name);
  if (e.unique_violation() && e.constraint() == "nodes_by_name") throw refusal(e.sqlstate(), "exists", name);
  throw e;
}

}  // namespace welkin::files
