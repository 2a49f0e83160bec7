// The authorization matrix (security check AZ-01): every route that acts on files, as every kind of subject,
// on every kind of object, against a table kept here. It is generated from the router's own table, so a route
// without a row fails.
#include <map>
#include <set>

#include "media/pictures.hpp"
#include "rest/api.hpp"
#include "welkin/core/text.hpp"
#include "welkin/files/trash.hpp"
#include "welkin/files/versions.hpp"

namespace welkin::tests {
namespace {

using nlohmann::json;

// Grants, members, links and mounts are put in by SQL: the routes must obey them before there are routes to
// make them.
enum Subject : std::size_t {
  kNobody,
  kStranger,
  kViewer,
  kContributor,
  kEditor,
  kOwner,
  kInGroup,
  kExpired,
  kReadOnlyPassword,
  kFolderPassword,
  kMember,
  kSubjects,
};
constexpr const char* kSubjectNames[] = {"nobody",
                                         "stranger",
                                         "viewer",
                                         "contributor",
                                         "editor",
                                         "owner",
                                         "in group",
                                         "expired",
                                         "read-only app password",
                                         "folder app password",
                                         "member"};

enum class Object { shared, foreign, trashed, missing };
constexpr const char* kObjectNames[] = {"shared", "foreign", "trashed", "missing"};

/// What a request speaks of. Ids are public ones; `dav` is the file's place below the granted folder.
struct Things {
  std::string folder, file, folder_name, dav, target;
  std::string version;  // of the file
  std::string trashed;  // a file that its owner deleted from the folder
  std::string drive;
};

struct Request {
  std::string method, target, body;
  HeaderList headers;
};

/// One row: what each subject gets for an object in the folder that was granted to him. u 401, n 404, f 403,
/// c 409 for a missing parent, o 2xx, ? any other.
struct Row {
  const char* route;     // name in the router's table; behind '/' a second way to call it
  const char* expected;  // one letter a subject, in their order
  bool has_object;       // false: acts on the caller's own home
  Request (*request)(const Things&, Subject);
};

Request send_json(const char* method, const std::string& target, const json& body) {
  return {method, target, body.dump(), {{"Content-Type", "application/json"}}};
}
Request get_folder(const Things& t, const char* rest) {
  return {"GET", "/api/folders/" + t.folder + rest, "", {}};
}

constexpr const char* kSyncBody =
    "<D:sync-collection "
    "xmlns:D='DAV:'><D:sync-token/><D:sync-level>1</D:sync-level><D:prop/></D:sync-collection>";
constexpr const char* kPropertyUpdate =
    "<D:propertyupdate xmlns:D='DAV:'><D:set><D:prop><x xmlns='urn:x'/></D:prop></D:set></D:propertyupdate>";
std::string search_body(const std::string& scope) {
  return "<D:searchrequest "
         "xmlns:D='DAV:'><D:basicsearch><D:select><D:prop/></D:select><D:from><D:scope><D:href>" +
         scope + "</D:href></D:scope></D:from></D:basicsearch></D:searchrequest>";
}

std::string dav_path(const Things& t, Subject subject) {
  if (subject == kFolderPassword) return "/webdav/" + t.dav;  // his root is the folder
  if (subject == kOwner || subject == kReadOnlyPassword) return "/webdav/area/" + t.dav;
  return "/webdav/mounted/" + t.dav;
}

std::string versions(const Things& t, bool one = true) {
  return "/api/files/" + t.file + "/versions" + (one ? "/" + t.version : "");
}

std::string dav_folder(const Things& t, Subject subject) {
  const auto path = dav_path(t, subject);
  return path.substr(0, path.rfind('/') + 1);
}

constexpr const char* kLockInfo =
    "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";

//                                  nobody, stranger, viewer, contributor, editor, owner, group, expired, r/o
//                                  pw, folder pw, member
constexpr const char* kReads = "unooooonooo";
constexpr const char* kCreates = "unfoooonfof";
constexpr const char* kUpdates = "unffooonfof";
constexpr const char* kDeletes = "unffooonfof";
constexpr const char* kOwn = "uoooooooooo";
// What is in the trash of a drive is its members' who may delete there; nobody else is told of it. A
// credential for one folder sees what its user deleted from that folder.
constexpr const char* kTrash = "unnnnonnnon";
constexpr const char* kEmpties = "unnnnonnfnf";  // a whole drive's
constexpr const char* kEmptiesOwn = "uooooooofno";
// What others fall back on (the trash, old versions) is the members' to destroy, not who was invited by a
// grant.
constexpr const char* kDestroys = "unfffofnfof";
// What a user marks for himself needs the right to read, and a credential that may write.
constexpr const char* kMarks = "unooooonfoo";
constexpr const char* kOwnMarks = "uooooooofoo";
constexpr const char* kUnmarked = "unnnnnnnnnn";  // taking away what is no mark
constexpr const char* kDavPatchesRoot = "uooooooofoo";
// By path, a folder that is hidden is a parent that is missing: 409.
constexpr const char* kDavCreates = "ucfoooocfof";
constexpr const char* kDavUpdates = "ucffooocfof";
constexpr const char* kDavCopies = "unooooonfoo";      // to his own home
constexpr const char* kDavRoot = "uffffffffff";        // the root is not to be written or deleted
constexpr const char* kDavOther = "uncccccnccc";       // reached, and then there is nothing to do
constexpr const char* kDavUnlockRoot = "ucccccccccc";  // no such lock
constexpr const char* kDavReached = "u??????????";     // the same for everybody's own root

const Row kRows[] = {
    {"folders.create", kCreates, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/folders", {{"name", "made"}, {"parent_id", t.folder}});
     }},
    {"folders.roots", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/folders", "", {}}; }},
    {"folders.roots_paginated", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/folders/paginated", "", {}}; }},
    {"folders.get", kReads, true, [](const Things& t, Subject) { return get_folder(t, ""); }},
    {"folders.contents", kReads, true, [](const Things& t, Subject) { return get_folder(t, "/contents"); }},
    {"folders.contents_paginated", kReads, true,
     [](const Things& t, Subject) { return get_folder(t, "/contents/paginated"); }},
    {"folders.listing", kReads, true, [](const Things& t, Subject) { return get_folder(t, "/listing"); }},
    {"folders.resources", kReads, true, [](const Things& t, Subject) { return get_folder(t, "/resources"); }},
    {"folders.ancestors", kReads, true, [](const Things& t, Subject) { return get_folder(t, "/ancestors"); }},
    {"folders.rename", kUpdates, true,
     [](const Things& t, Subject) {
       return send_json("PUT", "/api/folders/" + t.folder + "/rename",
                        {{"name", t.folder_name + " renamed"}});
     }},
    {"folders.move", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("PUT", "/api/folders/" + t.folder + "/move", {{"parent_id", t.target}});
     }},
    {"folders.trash", kDeletes, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", "/api/folders/" + t.folder, "", {}}; }},
    {"folders.download", kReads, true, [](const Things& t, Subject) { return get_folder(t, "/download"); }},
    {"folders.download/resumed", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/folders/" + t.folder + "/download", "", {{"Range", "bytes=7-"}}};
     }},
    {"batch.download", kReads, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/download", {{"file_ids", {t.file}}, {"folder_ids", {t.folder}}});
     }},
    {"batch.get_download", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/batch/download?file_ids=" + t.file, "", {}};
     }},
    {"folders.put_child", kCreates, true,
     [](const Things& t, Subject) -> Request {
       return {"PUT", "/api/folders/" + t.folder + "/children/new", "x", {}};
     }},
    {"folders.put_child/replace", kUpdates, true,
     [](const Things& t, Subject) -> Request {
       return {"PUT", "/api/folders/" + t.folder + "/children/inner", "x", {}};
     }},
    {"files.list", kReads, true,
     [](const Things& t, Subject) -> Request { return {"GET", "/api/files?folder_id=" + t.folder, "", {}}; }},
    {"files.upload", kCreates, true,
     [](const Things& t, Subject) -> Request {
       return {"POST",
               "/api/files/upload",
               "--X\r\nContent-Disposition: form-data; name=folder_id\r\n\r\n" + t.folder +
                   "\r\n--X\r\nContent-Disposition: form-data; name=file; filename=up\r\n\r\nx\r\n--X--",
               {{"Content-Type", "multipart/form-data; boundary=X"}}};
     }},
    {"files.get", kReads, true,
     [](const Things& t, Subject) -> Request { return {"GET", "/api/files/" + t.file, "", {}}; }},
    {"files.get/metadata", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/files/" + t.file + "?metadata=true", "", {}};
     }},
    {"files.get/range", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/files/" + t.file, "", {{"Range", "bytes=0-0"}}};
     }},
    {"files.put_content", kUpdates, true,
     [](const Things& t, Subject) -> Request {
       return {"PUT", "/api/files/" + t.file + "/content", "y", {}};
     }},
    {"files.rename", kUpdates, true,
     [](const Things& t, Subject) {
       return send_json("PUT", "/api/files/" + t.file + "/rename", {{"name", t.folder_name + " renamed"}});
     }},
    {"files.move", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("PUT", "/api/files/" + t.file + "/move", {{"folder_id", t.target}});
     }},
    {"files.trash", kDeletes, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", "/api/files/" + t.file, "", {}}; }},
    {"files.trash/permanent", kDestroys, true,
     [](const Things& t, Subject) -> Request {
       return {"DELETE", "/api/files/" + t.file + "?permanent=true", "", {}};
     }},
    {"folders.trash/permanent", kDestroys, true,
     [](const Things& t, Subject) -> Request {
       return {"DELETE", "/api/folders/" + t.folder + "?permanent=true", "", {}};
     }},
    {"versions.list", kUpdates, true,
     [](const Things& t, Subject) -> Request { return {"GET", versions(t, false), "", {}}; }},
    {"versions.get", kUpdates, true,
     [](const Things& t, Subject) -> Request { return {"GET", versions(t), "", {}}; }},
    {"versions.content", kUpdates, true,
     [](const Things& t, Subject) -> Request { return {"GET", versions(t) + "/content", "", {}}; }},
    {"versions.label", kUpdates, true,
     [](const Things& t, Subject) { return send_json("PUT", versions(t), {{"label", "x"}}); }},
    {"versions.restore", kUpdates, true,
     [](const Things& t, Subject) -> Request { return {"POST", versions(t) + "/restore", "", {}}; }},
    {"versions.remove", kDestroys, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", versions(t), "", {}}; }},
    {"trash.list", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/trash", "", {}}; }},
    {"trash.resources", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/trash/resources", "", {}}; }},
    {"trash.restore", kTrash, true,
     [](const Things& t, Subject) -> Request {
       return {"POST", "/api/trash/" + t.trashed + "/restore", "", {}};
     }},
    {"trash.purge", kTrash, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", "/api/trash/" + t.trashed, "", {}}; }},
    {"trash.empty_drive", kEmpties, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", "/api/trash/drive/" + t.drive, "", {}}; }},
    {"trash.empty", kEmptiesOwn, false,
     [](const Things&, Subject) -> Request { return {"DELETE", "/api/trash/empty", "", {}}; }},
    {"trash.trash_file", kDeletes, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", "/api/trash/files/" + t.file, "", {}}; }},
    {"trash.trash_folder", kDeletes, true,
     [](const Things& t, Subject) -> Request {
       return {"DELETE", "/api/trash/folders/" + t.folder, "", {}};
     }},
    {"favorites.list", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/favorites", "", {}}; }},
    {"favorites.resources", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/favorites/resources", "", {}}; }},
    {"favorites.unset", kUnmarked, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", "/api/favorites/file/" + t.file, "", {}}; }},
    {"favorites.set", kMarks, true,
     [](const Things& t, Subject) -> Request { return {"POST", "/api/favorites/file/" + t.file, "", {}}; }},
    {"favorites.set_batch", kMarks, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/favorites/batch",
                        {{"items",
                          {{{"item_type", "folder"}, {"item_id", t.folder}},
                           {{"item_type", "file"}, {"item_id", t.file}}}}});
     }},
    {"recent.list", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/recent", "", {}}; }},
    {"recent.resources", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/recent/resources", "", {}}; }},
    {"recent.remove", kUnmarked, true,
     [](const Things& t, Subject) -> Request { return {"DELETE", "/api/recent/folder/" + t.folder, "", {}}; }},
    {"recent.touch", kMarks, true,
     [](const Things& t, Subject) -> Request { return {"POST", "/api/recent/folder/" + t.folder, "", {}}; }},
    {"recent.clear", kOwnMarks, false,
     [](const Things&, Subject) -> Request { return {"DELETE", "/api/recent/clear", "", {}}; }},
    {"files.thumbnail", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/files/" + t.file + "/thumbnail/icon", "", {}};
     }},
    {"files.put_thumbnail", kUpdates, true,
     [](const Things& t, Subject) -> Request {
       return {"PUT", "/api/files/" + t.file + "/thumbnail/icon", png(1, 1), {}};
     }},
    {"files.metadata", kReads, true,
     [](const Things& t, Subject) -> Request { return {"GET", "/api/files/" + t.file + "/metadata", "", {}}; }},
    {"photos.list", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/photos", "", {}}; }},
    {"photos.resources", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/photos/resources", "", {}}; }},
    {"photos.months", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/api/photos/months", "", {}}; }},
    {"search.find", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/search?query=inner&folder_id=" + t.folder, "", {}};
     }},
    {"search.advanced", kReads, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/search/advanced", {{"name_contains", "x"}, {"folder_id", t.folder}});
     }},
    {"search.resources", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/search/resources?query=inner&folder_id=" + t.folder, "", {}};
     }},
    {"search.suggest", kReads, true,
     [](const Things& t, Subject) -> Request {
       return {"GET", "/api/search/suggest?query=inn&folder_id=" + t.folder, "", {}};
     }},
    {"search.forget_cache", kOwn, false,
     [](const Things&, Subject) -> Request { return {"DELETE", "/api/search/cache", "", {}}; }},
    {"batch.files_move", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/files/move",
                        {{"file_ids", {t.file}}, {"target_folder_id", t.target}});
     }},
    {"batch.files_copy", kCreates, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/files/copy",
                        {{"file_ids", {t.file}}, {"target_folder_id", t.target}});
     }},
    {"batch.files_delete", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/files/delete", {{"file_ids", {t.file}}});
     }},
    {"batch.files_delete/permanent", kDestroys, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/files/delete", {{"file_ids", {t.file}}, {"permanent", true}});
     }},
    {"batch.files_get", kReads, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/files/get", {{"file_ids", {t.file}}});
     }},
    {"batch.folders_move", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/folders/move",
                        {{"folder_ids", {t.folder}}, {"target_folder_id", t.target}});
     }},
    {"batch.folders_copy", kCreates, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/folders/copy",
                        {{"folder_ids", {t.folder}}, {"target_folder_id", t.target}});
     }},
    {"batch.folders_delete", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/folders/delete",
                        {{"folder_ids", {t.folder}}, {"recursive", true}});
     }},
    {"batch.folders_get", kReads, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/folders/get", {{"folder_ids", {t.folder}}});
     }},
    {"batch.folders_create", kCreates, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/folders/create",
                        {{"folders", {{{"name", "made"}, {"parent_id", t.folder}}}}});
     }},
    {"batch.move", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/move",
                        {{"folder_ids", {t.folder}}, {"target_folder_id", t.target}});
     }},
    {"batch.move/all_in", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/move", {{"all_in", t.folder}, {"target_folder_id", t.target}});
     }},
    {"batch.copy", kCreates, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/copy", {{"file_ids", {t.file}}, {"target_folder_id", t.target}});
     }},
    {"batch.trash", kDeletes, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/trash", {{"folder_ids", {t.folder}}});
     }},
    {"batch.trash/permanent", kDestroys, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/trash", {{"folder_ids", {t.folder}}, {"permanent", true}});
     }},
    {"batch.restore", kTrash, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/restore", {{"file_ids", {t.trashed}}});
     }},
    {"batch.purge", kTrash, true,
     [](const Things& t, Subject) {
       return send_json("POST", "/api/batch/purge", {{"file_ids", {t.trashed}}});
     }},
    {"dav.propfind_root", kOwn, false,
     [](const Things&, Subject) { return Request{"PROPFIND", "/webdav/", "", {{"Depth", "0"}}}; }},
    {"dav.propfind", kReads, true,
     [](const Things& t, Subject s) { return Request{"PROPFIND", dav_path(t, s), "", {{"Depth", "0"}}}; }},
    {"dav.propfind/folder", kReads, true,
     [](const Things& t, Subject s) { return Request{"PROPFIND", dav_folder(t, s), "", {{"Depth", "1"}}}; }},
    {"dav.report", kReads, true,
     [](const Things& t, Subject s) { return Request{"REPORT", dav_folder(t, s), kSyncBody, {}}; }},
    {"dav.report_root", kOwn, false,
     [](const Things&, Subject) { return Request{"REPORT", "/webdav", kSyncBody, {}}; }},
    {"dav.search", kReads, true,
     [](const Things& t, Subject s) {
       return Request{"SEARCH", dav_folder(t, s), search_body(dav_folder(t, s)), {}};
     }},
    {"dav.search/scope", kReads, true,
     [](const Things& t, Subject s) {
       return Request{"SEARCH", "/webdav", search_body(dav_folder(t, s)), {}};
     }},
    {"dav.search_root", kOwn, false,
     [](const Things&, Subject) { return Request{"SEARCH", "/webdav", search_body("/webdav/"), {}}; }},
    {"dav.proppatch", kUpdates, true,
     [](const Things& t, Subject who) -> Request {
       return {"PROPPATCH", dav_path(t, who), kPropertyUpdate, {}};
     }},
    {"dav.proppatch_root", kDavPatchesRoot, false,
     [](const Things&, Subject) -> Request { return {"PROPPATCH", "/webdav", kPropertyUpdate, {}}; }},
    {"dav.put", kDavUpdates, true,
     [](const Things& t, Subject who) -> Request { return {"PUT", dav_path(t, who), "x", {}}; }},
    {"dav.put/new", kDavCreates, true,
     [](const Things& t, Subject who) -> Request { return {"PUT", dav_path(t, who) + ".new", "x", {}}; }},
    {"dav.put_root", kDavRoot, false,
     [](const Things&, Subject) -> Request { return {"PUT", "/webdav", "x", {}}; }},
    {"dav.patch", kUpdates, true,
     [](const Things& t, Subject who) -> Request {
       return {"PATCH",
               dav_path(t, who),
               "x",
               {{"Content-Type", "application/x-sabredav-partialupdate"}, {"X-Update-Range", "append"}}};
     }},
    {"dav.patch_root", kDavReached, false,
     [](const Things&, Subject) -> Request { return {"PATCH", "/webdav", "x", {}}; }},
    {"dav.delete", kDeletes, true,
     [](const Things& t, Subject who) -> Request { return {"DELETE", dav_path(t, who), "", {}}; }},
    {"dav.delete_root", kDavRoot, false,
     [](const Things&, Subject) -> Request { return {"DELETE", "/webdav", "", {}}; }},
    {"dav.copy", kDavCopies, true,
     [](const Things& t, Subject who) -> Request {
       return {"COPY", dav_path(t, who), "", {{"Destination", "/webdav/copied"}}};
     }},
    {"dav.copy_root", kDavRoot, false,
     [](const Things&, Subject) -> Request {
       return {"COPY", "/webdav", "", {{"Destination", "/webdav/x"}}};
     }},
    {"dav.move", kDeletes, true,
     [](const Things& t, Subject who) -> Request {
       return {"MOVE", dav_path(t, who), "", {{"Destination", dav_path(t, who) + ".moved"}}};
     }},
    {"dav.move_root", kDavRoot, false,
     [](const Things&, Subject) -> Request {
       return {"MOVE", "/webdav", "", {{"Destination", "/webdav/x"}}};
     }},
    {"dav.mkcol", kDavCreates, true,
     [](const Things& t, Subject who) -> Request { return {"MKCOL", dav_path(t, who) + ".new", "", {}}; }},
    {"dav.mkcol_root", kDavReached, false,
     [](const Things&, Subject) -> Request { return {"MKCOL", "/webdav", "", {}}; }},
    {"dav.lock", kDavUpdates, true,
     [](const Things& t, Subject who) -> Request { return {"LOCK", dav_path(t, who), kLockInfo, {}}; }},
    {"dav.lock/new", kDavCreates, true,
     [](const Things& t,
        Subject who) -> Request { return {"LOCK", dav_path(t, who) + ".new", kLockInfo, {}}; }},
    {"dav.lock_root", kDavReached, false,
     [](const Things&, Subject) -> Request { return {"LOCK", "/webdav", "", {}}; }},
    {"dav.unlock", kDavOther, true,
     [](const Things& t,
        Subject who) -> Request { return {"UNLOCK", dav_path(t, who), "", {{"Lock-Token", "<urn:x>"}}}; }},
    {"dav.unlock_root", kDavUnlockRoot, false,
     [](const Things&,
        Subject) -> Request { return {"UNLOCK", "/webdav", "", {{"Lock-Token", "<urn:x>"}}}; }},
    {"dav.get_root", kOwn, false,
     [](const Things&, Subject) -> Request { return {"GET", "/webdav", "", {}}; }},
    {"dav.get", kReads, true,
     [](const Things& t, Subject who) -> Request { return {"GET", dav_path(t, who), "", {}}; }},
    {"dav.get/folder", kReads, true,
     [](const Things& t, Subject who)
         -> Request { return {"GET", dav_path(t, who).substr(0, dav_path(t, who).rfind('/') + 1), "", {}}; }},
};

/// A batch says of each item what it would have said of it alone.
int status_of(const HttpResponse& answer) {
  const auto body = json_of(answer);
  if (body.is_object() && body.contains("failed") && body["failed"].is_array() && !body["failed"].empty())
    return body["failed"][0].value("status", 0);
  return answer.status;
}

char letter(int status) {
  if (status >= 200 && status < 300) return 'o';
  return status == 401 ? 'u' : status == 403 ? 'f' : status == 404 ? 'n' : status == 409 ? 'c' : '?';
}

struct Rights : ::testing::Test {
  TestServer& server = shared_server();
  TestUser alice = server.user(server.fresh("alice"));
  NodeId home = server.home(alice);
  NodeId area = server.folder(alice, home, "area"), secret = server.folder(alice, home, "private");
  std::vector<ApiClient> clients;
  std::vector<std::string> names{"nobody"};
  int made = 0;

  void grant(const std::string& column, std::int64_t subject, std::int32_t mask,
             const std::string& until = "null") {
    server.sql("insert into grants (node_id, " + column + ", rights, expires_at) values (" +
               std::to_string(area.value) + ", " + std::to_string(subject) + ", " + std::to_string(mask) +
               ", " + until + ")");
    server.sql("update nodes set flags = flags | 1 where id = " + std::to_string(area.value));
  }
  /// A user with the granted folder in his tree: a mount alone must open nothing.
  TestUser visitor(const char* name) {
    auto user = server.user(server.fresh(name));
    server.sql("insert into mounts (user_id, parent_id, target_id, name) values (" +
               std::to_string(user.id.value) + ", " + std::to_string(server.home(user).value) + ", " +
               std::to_string(area.value) + ", 'mounted')");
    return user;
  }
  std::string password(bool read_only, NodeId folder) {
    people::NewAppPassword wanted;
    wanted.label = "test";
    wanted.protocol_mask = protocols::kAll;
    wanted.read_only = read_only;
    wanted.folder = folder;
    return basic(alice.name, run(server.people->create_app_password(alice.caller, wanted, {})).second);
  }
  void SetUp() override {
    const auto stranger = visitor("stranger"), viewer = visitor("viewer"),
               contributor = visitor("contributor"), editor = visitor("editor"),
               in_group = visitor("grouped"), expired = visitor("expired"), member = visitor("member");
    grant("user_id", viewer.id.value, rights::kViewer);
    grant("user_id", contributor.id.value, rights::kContributor);
    grant("user_id", editor.id.value, rights::kEditor);
    grant("user_id", expired.id.value, rights::kEditor, "now() - interval '1 second'");
    const auto group = server.number("select nextval('principal_ids')");
    server.sql("insert into groups (id, name, display_name) values (" + std::to_string(group) + ", '" +
               server.fresh("group") + "', 'G')");
    server.sql("insert into group_members (user_id, group_id) values (" + std::to_string(in_group.id.value) +
               ", " + std::to_string(group) + ")");
    server.sql("update users set access_gen = access_gen + 1 where id = " +
               std::to_string(in_group.id.value));
    grant("group_id", group, rights::kEditor);
    server.sql("insert into drive_members (drive_id, user_id, rights) select drive_id, " +
               std::to_string(member.id.value) + ", 1 from nodes where id = " + std::to_string(home.value));
    clients.push_back(server.nobody());
    for (const TestUser* user : std::initializer_list<const TestUser*>{
             &stranger, &viewer, &contributor, &editor, &alice, &in_group, &expired}) {
      clients.push_back(server.as(*user));
      names.push_back(user->name);
    }
    names.insert(names.end(), {alice.name, alice.name, member.name});
    clients.emplace_back(server.port(), password(true, {}));
    clients.emplace_back(server.port(), password(false, area));
    clients.push_back(server.as(member));
    ASSERT_EQ(clients.size(), kSubjects);
  }

  /// Things nobody has touched, as `object` says.
  Things things(Object object, std::string_view route = "") {
    const bool wants_version = route.starts_with("versions.");
    const bool wants_trashed =
        route.starts_with("trash.") || route == "batch.restore" || route == "batch.purge";
    const std::string name = "thing" + std::to_string(++made);
    Things out;
    out.folder_name = name;
    out.target = server.folder_id(server.folder(alice, area, "target" + std::to_string(made)));
    if (object == Object::missing) {
      out.folder = server.folder_id(NodeId{2'000'000'000});
      out.file = server.file_id(NodeId{2'000'000'000});
      out.dav = "nowhere/file";
      out.version = server.ids.encode(IdKind::version, 2'000'000'000);
      out.trashed = out.file;
      out.drive = server.ids.encode(IdKind::drive, 2'000'000'000);
      return out;
    }
    const NodeId folder = server.folder(alice, object == Object::foreign ? secret : area, name);
    const NodeId file = server.file(alice, folder, "inner", "content");
    out.folder = server.folder_id(folder);
    out.file = server.file_id(file);
    out.dav = name + "/inner";
    if (wants_version) {
      server.file(alice, folder, "inner", "content again");
      const auto versions = run(server.files->versions().list(alice.caller, file));
      out.version = server.ids.encode(IdKind::version, versions.items.at(0).id.value);
    }
    // What went with its folder is no item of the trash, and a drive is never in the trash: it is as good as
    // missing.
    out.trashed = out.file;
    out.drive = server.ids.encode(IdKind::drive, 2'000'000'000);
    if (wants_trashed && object != Object::trashed) {
      const NodeId gone = server.file(alice, folder, "gone", "content");
      run(server.files->trash(alice.caller, gone));
      out.trashed = server.file_id(gone);
      out.drive = server.ids.encode(IdKind::drive, run(server.files->node(alice.caller, home)).drive.value);
    }
    if (object == Object::trashed) run(server.files->trash(alice.caller, folder));
    return out;
  }
};

/// Reading changes nothing, so that all readers can be given the same things.
bool only_reads(const Row& row) { return row.expected == kReads || row.expected == kOwn; }

/// What the table says for an object in the granted folder, carried over to other objects.
char expected(const Row& row, Subject who, Object object) {
  const char shared = row.expected[who];
  if (who == kNobody || !row.has_object || object == Object::shared) return shared;
  const bool dav = std::string_view(row.route).starts_with("dav.");
  const bool sees_the_drive = who == kOwner || who == kReadOnlyPassword || who == kMember;
  // By path, what is not in the granted folder has no name there.
  if (object == Object::foreign && sees_the_drive && !dav) return shared;
  return row.expected == kDavCreates || row.expected == kDavUpdates ? 'c' : 'n';
}

/// A row as it is called: those of WebDAV stand for every address that the tree of files is shown at.
struct Call {
  std::string route, mount;  // mount: of a tree, "{user}" for the subject's name
  const Row* row;
};
std::vector<Call> calls() {
  std::vector<Call> out;
  for (const auto& row : kRows) {
    out.push_back({row.route, "", &row});
    const std::string_view route = row.route;
    if (!route.starts_with("dav.")) continue;
    const auto verb = std::string(route.substr(3));
    out.push_back({"nextcloud_files" + verb, "/remote.php/dav/files/{user}", &row});
    out.push_back({"nextcloud_webdav" + verb, "/remote.php/webdav", &row});
  }
  return out;
}

void replace_all(std::string& in, std::string_view what, const std::string& with) {
  for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + with.size()))
    in.replace(at, what.size(), with);
}

Request moved_to(Request request, std::string mount, const std::string& user) {
  if (mount.empty()) return request;
  replace_all(mount, "{user}", user);
  replace_all(request.target, "/webdav", mount);
  replace_all(request.body, "/webdav", mount);
  for (auto& [name, value] : request.headers) replace_all(value, "/webdav", mount);
  return request;
}

TEST_F(Rights, EveryRouteForEverySubjectOnEveryObject) {
  std::map<Object, Things> to_read;
  for (const auto object : {Object::shared, Object::foreign, Object::trashed, Object::missing}) {
    to_read[object] = things(object);
  }
  for (const auto& call : calls()) {
    const auto& row = *call.row;
    ASSERT_EQ(std::string_view(row.expected).size(), kSubjects) << row.route;
    for (const auto object : {Object::shared, Object::foreign, Object::trashed, Object::missing}) {
      for (std::size_t who = 0; who < kSubjects; ++who) {
        const auto subject = static_cast<Subject>(who);
        const auto request =
            moved_to(row.request(only_reads(row) ? to_read[object] : things(object, row.route), subject),
                     call.mount, names.at(who));
        const auto answer = clients[who].send(request.method, request.target, request.headers, request.body);
        EXPECT_EQ(std::string(1, letter(status_of(answer))), std::string(1, expected(row, subject, object)))
            << call.route << " as " << kSubjectNames[who] << " on a thing that is "
            << kObjectNames[static_cast<int>(object)] << ": " << answer.status << ' ' << answer.body;
      }
    }
  }
}

TEST_F(Rights, EveryRouteHasARow) {
  std::set<std::string> rows;
  for (const auto& call : calls()) rows.insert(call.route.substr(0, call.route.find('/')));
  std::set<std::string> routes;
  for (const auto& route : server.router.routes()) {
    if (route.resource == "file" || route.resource == "folder" || route.resource == "node")
      routes.insert(route.name);
  }
  EXPECT_EQ(routes, rows);
}

TEST_F(Rights, EveryRouteSaysWhoMayReachIt) {
  auto nobody = server.nobody();
  const auto ordinary = server.user(server.fresh("ordinary"));
  ApiClient app(server.port(), password(false, {}));
  std::size_t checked = 0;
  for (const auto& route : server.router.routes()) {
    if (route.access == http::Access::open) continue;
    ++checked;
    std::string target = route.pattern;
    for (auto at = target.find('{'); at != std::string::npos; at = target.find('{')) {
      target.replace(at, target.find('}') - at + 1, server.folder_id(home));
    }
    const auto method = std::string(http::to_string(route.method));
    EXPECT_EQ(nobody.send(method, target).status, 401) << route.name;
    EXPECT_EQ(nobody.send(method, target, {{"Cookie", "welkin_access=" + std::string(43, 'a')}}).status, 401)
        << route.name;
    if (route.access == http::Access::admin) {
      EXPECT_EQ(server.as(ordinary).send(method, target).status, 403) << route.name;
      const auto by_password = app.send(method, target).status;
      EXPECT_TRUE(by_password == 401 || by_password == 403) << route.name << by_password;
    }
  }
  EXPECT_GE(checked, std::size(kRows) - 8);
}

TEST_F(Rights, AreTakenAwayAtOnce) {
  const auto t = things(Object::shared);
  auto& viewer = clients[kViewer];
  EXPECT_EQ(viewer.get("/api/files/" + t.file).status, 200);
  server.sql("delete from grants where node_id = " + std::to_string(area.value));
  EXPECT_EQ(viewer.get("/api/files/" + t.file).status, 404);  // on the same connection
  EXPECT_EQ(viewer.get("/api/folders/" + t.folder + "/listing").status, 404);
  EXPECT_EQ(viewer.get("/webdav/mounted/" + t.dav).status, 404);
}

TEST_F(Rights, WhatIsSharedHidesWhatIsAbove) {
  const auto t = things(Object::shared);
  auto& viewer = clients[kViewer];
  const auto folder = json_of(viewer.get("/api/folders/" + t.folder));
  EXPECT_EQ(folder["path"], "");
  EXPECT_FALSE(folder.contains("owner_id"));
  EXPECT_EQ(json_of(viewer.get("/api/folders/" + t.folder + "/listing"))["files"][0]["path"], "");
  const auto chain = json_of(viewer.get("/api/folders/" + t.folder + "/ancestors"));
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0]["id"], server.folder_id(area));
  EXPECT_EQ(chain[0]["parent_id"], nullptr);
}

TEST_F(Rights, AFolderPasswordHasItsFolderForHome) {
  auto& limited = clients[kFolderPassword];
  const auto roots = json_of(limited.get("/api/folders"));
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(roots[0]["id"], server.folder_id(area));
  EXPECT_TRUE(roots[0]["parent_id"].is_null()) << "what lies above does not exist for him";
  const auto made = limited.json("POST", "/api/folders", R"({"name":"by limited"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json_of(made)["parent_id"], server.folder_id(area));
  EXPECT_EQ(limited.get("/api/folders/" + server.folder_id(home)).status, 404);
  const auto t = things(Object::shared);
  const auto out = json{{"parent_id", server.folder_id(home)}};
  EXPECT_EQ(limited.json("PUT", "/api/folders/" + t.folder + "/move", out.dump()).status, 404);
}

}  // namespace
}  // namespace welkin::tests
