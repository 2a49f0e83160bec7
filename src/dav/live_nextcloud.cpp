#include <algorithm>

#include "dav/live_properties.hpp"
#include "welkin/core/text.hpp"
#include "welkin/wire/xml.hpp"

/// Names, letters and forms as the sync clients of ownCloud and Nextcloud read them. Some crash over an
/// element that is there and empty, so what has no value is not told.
namespace welkin::dav {
namespace {

using Kinds = LiveProperty::Kinds;
constexpr std::string_view kOwncloud = "http://owncloud.org/ns", kNextcloud = "http://nextcloud.org/ns";
constexpr std::string_view kCollaboration = "http://open-collaboration-services.org/ns";
constexpr std::string_view kCloudMesh = "http://open-cloud-mesh.org/ns";

void element(std::string& out, std::string_view name, std::string_view value) {
  ((out += '<') += name) += '>';
  (out += value) += "</";
  (out += name) += '>';
}

void number(std::string& out, std::string_view name, std::uint64_t value) {
  ((out += '<') += name) += '>';
  wire::append_number(out, value);
  ((out += "</") += name) += '>';
}

bool text(std::string& out, std::string_view name, std::string_view value) {
  ((out += '<') += name) += '>';
  wire::append_escaped(out, value);
  ((out += "</") += name) += '>';
  return true;
}

/// Clients take no time before 1970, nor 1970 itself.
std::uint64_t epoch(Micros at) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, times::seconds(at)));
}

bool is_shared(const Resource& r, const Viewer& v) {
  return r.owner != nullptr && r.owner->id != v.caller.user;
}

bool id(const Resource& r, const Viewer& v, std::string& out) {
  if (v.instance_id.empty()) return false;
  constexpr std::size_t kDigits = 8;
  out += "<oc:id>";
  const auto from = out.size();
  wire::append_number(out, static_cast<std::uint64_t>(r.row.id.value));
  if (const auto digits = out.size() - from; digits < kDigits) out.insert(from, kDigits - digits, '0');
  (out += v.instance_id) += "</oc:id>";
  return true;
}

bool fileid(const Resource& r, const Viewer&, std::string& out) {
  number(out, "oc:fileid", static_cast<std::uint64_t>(r.row.id.value));
  return true;
}

/// S shared with me, M its root, G readable, D deletable, N renamable, V movable, W a file that is writable,
/// C and K a folder that takes files and folders, R may be shared on.
bool permissions(const Resource& r, const Viewer& v, std::string& out) {
  const auto may = [&](std::int32_t right) { return (r.row.rights & right) != 0; };
  out += "<oc:permissions>";
  if (is_shared(r, v)) out += 'S';
  if (may(rights::kShare)) out += 'R';
  if (r.row.is_mount) out += 'M';
  if (may(rights::kRead)) out += 'G';
  if (may(rights::kDelete) && !r.row.is_mount) out += 'D';
  if (may(rights::kUpdate) && !r.row.is_mount) out += 'N';
  if (may(rights::kDelete) && !r.row.is_mount) out += 'V';
  if (!r.row.is_folder() && may(rights::kUpdate)) out += 'W';
  if (r.row.is_folder() && may(rights::kCreate)) out += "CK";
  out += "</oc:permissions>";
  return true;
}

bool size(const Resource& r, const Viewer&, std::string& out) {
  number(out, "oc:size", r.row.size_bytes);
  return true;
}

bool checksums(const Resource& r, const Viewer&, std::string& out) {
  if (r.row.sha1.empty() && r.row.sha256.empty()) return false;
  out += "<oc:checksums><oc:checksum>";
  if (!r.row.sha1.empty()) (out += "SHA1:") += text::hex(r.row.sha1);
  if (!r.row.sha1.empty() && !r.row.sha256.empty()) out += ' ';
  if (!r.row.sha256.empty()) (out += "SHA256:") += text::hex(r.row.sha256);
  out += "</oc:checksum></oc:checksums>";
  return true;
}

bool favorite(const Resource& r, const Viewer&, std::string& out) {
  element(out, "oc:favorite", r.is_favorite ? "1" : "0");
  return true;
}

bool owner_id(const Resource& r, const Viewer&, std::string& out) {
  return r.owner != nullptr && !r.owner->name.empty() && text(out, "oc:owner-id", r.owner->name);
}

bool owner_display_name(const Resource& r, const Viewer&, std::string& out) {
  return r.owner != nullptr && !r.owner->display_name.empty() &&
         text(out, "oc:owner-display-name", r.owner->display_name);
}

bool privatelink(const Resource& r, const Viewer& v, std::string& out) {
  out += "<oc:privatelink>";
  wire::append_escaped(out, v.base_url);
  out += "/index.php/f/";
  wire::append_number(out, static_cast<std::uint64_t>(r.row.id.value));
  out += "</oc:privatelink>";
  return true;
}

/// Nobody shares by these protocols: there is nothing that "I" have shared.
bool share_types(const Resource&, const Viewer&, std::string& out) {
  out += "<oc:share-types/>";
  return true;
}

bool data_fingerprint(const Resource& r, const Viewer&, std::string& out) {
  if (!r.row.name.empty()) return false;  // the root's alone
  out += "<oc:data-fingerprint></oc:data-fingerprint>";
  return true;
}

/// 1 read, 2 update, 4 create, 8 delete, 16 share; of files never 4 and 8.
unsigned share_bits(const Resource& r) {
  const auto may = [&](std::int32_t right) { return (r.row.rights & right) != 0; };
  unsigned bits = 0;
  if (may(rights::kRead)) bits |= 1;
  if (may(rights::kUpdate)) bits |= 2;
  if (may(rights::kCreate) && r.row.is_folder()) bits |= 4;
  if (may(rights::kDelete) && r.row.is_folder()) bits |= 8;
  if (may(rights::kShare)) bits |= 16;
  return bits;
}

bool share_permissions(const Resource& r, const Viewer&, std::string& out) {
  out += "<x1:share-permissions xmlns:x1=\"http://open-collaboration-services.org/ns\">";
  wire::append_number(out, share_bits(r));
  out += "</x1:share-permissions>";
  return true;
}

bool mesh_permissions(const Resource& r, const Viewer&, std::string& out) {
  const auto bits = share_bits(r);
  out += "<x2:share-permissions xmlns:x2=\"http://open-cloud-mesh.org/ns\">[";
  const char* comma = "";
  const auto add = [&](bool may, std::string_view name) {
    if (!may) return;
    (((out += comma) += "&quot;") += name) += "&quot;";
    comma = ",";
  };
  add((bits & 16) != 0, "share");
  add((bits & 1) != 0, "read");
  add((bits & 14) != 0, "write");
  out += "]</x2:share-permissions>";
  return true;
}

bool creation_time(const Resource& r, const Viewer&, std::string& out) {
  number(out, "nc:creation_time", epoch(r.row.created_at));
  return true;
}

/// Arrival is not kept apart from the time of creation, which is that of arrival unless a client gave
/// another.
bool upload_time(const Resource& r, const Viewer&, std::string& out) {
  number(out, "nc:upload_time", epoch(r.row.created_at));
  return true;
}

bool last_activity(const Resource& r, const Viewer&, std::string& out) {
  number(out, "nc:last_activity", epoch(std::max(r.row.created_at, r.row.modified_at)));
  return true;
}

bool mount_type(const Resource& r, const Viewer& v, std::string& out) {
  element(out, "nc:mount-type", is_shared(r, v) ? "shared" : "");
  return true;
}

bool is_mount_root(const Resource& r, const Viewer&, std::string& out) {
  element(out, "nc:is-mount-root", r.row.is_mount ? "true" : "false");
  return true;
}

template <const char* kElement>
bool always_zero(const Resource&, const Viewer&, std::string& out) {
  element(out, kElement, "0");
  return true;
}
template <const char* kElement>
bool always_false(const Resource&, const Viewer&, std::string& out) {
  element(out, kElement, "false");
  return true;
}
constexpr char kIsEncrypted[] = "nc:is-encrypted", kCommentsCount[] = "oc:comments-count",
               kCommentsUnread[] = "oc:comments-unread", kIsFederated[] = "nc:is-federated",
               kHideDownload[] = "nc:hide-download", kHidden[] = "nc:hidden";

bool has_preview(const Resource& r, const Viewer& v, std::string& out) {
  const bool has = !r.row.is_folder() && r.row.size_bytes > 0 && v.has_preview != nullptr && *v.has_preview &&
                   (*v.has_preview)(r.row.mime_type);
  element(out, "nc:has-preview", has ? "true" : "false");
  return true;
}

/// The lock that clients are told of: the first, when there are several.
const files::Lock* lock_of(const Resource& r) { return r.locks.empty() ? nullptr : r.locks.front().lock; }

bool lock(const Resource& r, const Viewer&, std::string& out) {
  element(out, "nc:lock", lock_of(r) == nullptr ? "0" : "1");
  return true;
}

bool lock_owner(const Resource& r, const Viewer&, std::string& out) {
  const auto* lock = lock_of(r);
  return lock != nullptr && text(out, "nc:lock-owner", lock->owner_name);
}

bool lock_owner_displayname(const Resource& r, const Viewer&, std::string& out) {
  const auto* lock = lock_of(r);
  return lock != nullptr && text(out, "nc:lock-owner-displayname", lock->owner_name);
}

bool lock_owner_type(const Resource& r, const Viewer&, std::string& out) {
  const auto* lock = lock_of(r);
  if (lock == nullptr) return false;
  element(out, "nc:lock-owner-type", lock->by_hand ? "0" : lock->owner ? "2" : "1");
  return true;
}

bool lock_time(const Resource& r, const Viewer&, std::string& out) {
  const auto* lock = lock_of(r);
  if (lock == nullptr) return false;
  number(out, "nc:lock-time", epoch(lock->expires_at - Micros{1'000'000} * lock->seconds));
  return true;
}

bool lock_timeout(const Resource& r, const Viewer&, std::string& out) {
  const auto* lock = lock_of(r);
  if (lock == nullptr) return false;
  number(out, "nc:lock-timeout", lock->seconds);
  return true;
}

bool lock_token(const Resource& r, const Viewer&, std::string& out) {
  const auto* lock = lock_of(r);
  return lock != nullptr && lock->mine && text(out, "nc:lock-token", files::lock_token_uri(lock->token));
}

constexpr LiveProperty kLive[] = {
    {kOwncloud, "id", Kinds::kBoth, kNever, 0, true, id},
    {kOwncloud, "fileid", Kinds::kBoth, kNever, 0, true, fileid},
    {kOwncloud, "permissions", Kinds::kBoth, kNever, needs::kOwner, true, permissions},
    {kOwncloud, "size", Kinds::kBoth, kNever, 0, true, size},
    {kOwncloud, "checksums", Kinds::kFile, kNever, needs::kDigests, false, checksums},
    {kOwncloud, "favorite", Kinds::kBoth, kNever, needs::kFavorite, false, favorite},
    {kOwncloud, "owner-id", Kinds::kBoth, kNever, needs::kOwner, true, owner_id},
    {kOwncloud, "owner-display-name", Kinds::kBoth, kNever, needs::kOwner, true, owner_display_name},
    {kOwncloud, "privatelink", Kinds::kBoth, kNever, 0, true, privatelink},
    {kOwncloud, "share-types", Kinds::kBoth, kNever, 0, true, share_types},
    {kOwncloud, "data-fingerprint", Kinds::kFolder, kNever, 0, true, data_fingerprint},
    {kOwncloud, "comments-count", Kinds::kBoth, kNever, 0, true, always_zero<kCommentsCount>},
    {kOwncloud, "comments-unread", Kinds::kBoth, kNever, 0, true, always_zero<kCommentsUnread>},
    {kCollaboration, "share-permissions", Kinds::kBoth, kNever, 0, true, share_permissions},
    {kCloudMesh, "share-permissions", Kinds::kBoth, kNever, 0, true, mesh_permissions},
    {kNextcloud, "creation_time", Kinds::kBoth, kNever, 0, false, creation_time},
    {kNextcloud, "upload_time", Kinds::kFile, kNever, 0, true, upload_time},
    {kNextcloud, "last_activity", Kinds::kBoth, kNever, 0, true, last_activity},
    {kNextcloud, "mount-type", Kinds::kBoth, kNever, needs::kOwner, true, mount_type},
    {kNextcloud, "is-mount-root", Kinds::kBoth, kNever, 0, true, is_mount_root},
    {kNextcloud, "is-encrypted", Kinds::kBoth, kNever, 0, true, always_zero<kIsEncrypted>},
    {kNextcloud, "is-federated", Kinds::kBoth, kNever, 0, true, always_false<kIsFederated>},
    {kNextcloud, "hide-download", Kinds::kBoth, kNever, 0, true, always_false<kHideDownload>},
    {kNextcloud, "hidden", Kinds::kFile, kNever, 0, true, always_false<kHidden>},
    {kNextcloud, "has-preview", Kinds::kBoth, kNever, needs::kMimeType, true, has_preview},
    {kNextcloud, "lock", Kinds::kFile, kNever, needs::kLocks, true, lock},
    {kNextcloud, "lock-owner", Kinds::kFile, kNever, needs::kLocks, true, lock_owner},
    {kNextcloud, "lock-owner-displayname", Kinds::kFile, kNever, needs::kLocks, true, lock_owner_displayname},
    {kNextcloud, "lock-owner-type", Kinds::kFile, kNever, needs::kLocks, true, lock_owner_type},
    {kNextcloud, "lock-time", Kinds::kFile, kNever, needs::kLocks, true, lock_time},
    {kNextcloud, "lock-timeout", Kinds::kFile, kNever, needs::kLocks, true, lock_timeout},
    {kNextcloud, "lock-token", Kinds::kFile, kNever, needs::kLocks, true, lock_token},
};

}  // namespace

std::span<const LiveProperty> nextcloud_properties() { return kLive; }

}  // namespace welkin::dav
