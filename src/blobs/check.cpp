#include "blobs/check.hpp"

#include <cstdio>
#include <stdexcept>

#include "welkin/core/clock.hpp"

namespace welkin::blobs {
namespace {

constexpr Micros kGraceBesideServer = 86'400ll * 1'000'000;

}  // namespace

std::string shown(Area area) {
  switch (area.kind) {
    case Area::Kind::spool:
      return "spool";
    case Area::Kind::quarantine:
      return "quarantine";
    case Area::Kind::found:
      return "found";
    case Area::Kind::blobs:
      break;
  }
  char name[16];
  std::snprintf(name, sizeof name, "blobs/%02x", static_cast<unsigned>(area.directory));
  return name;
}

ByteCheck::ByteCheck(Inspection& inspection)
    : in_(inspection),
      db_(inspection.db()),
      visitor_(db_, inspection.options().data_dir, inspection.options().repair),
      ground_(visitor_.ground),
      now_(SystemClock().now()),
      grace_(inspection.options().grace_seconds ? Micros{*inspection.options().grace_seconds} * 1'000'000
             : visitor_.alone()                 ? 0
                                                : kGraceBesideServer) {}

void ByteCheck::require_usable() const {
  if (in_.options().repair && !ground_.health.writable())
    throw std::runtime_error("the store takes no writes (" + ground_.health.reason() +
                             "): see to its disk, then run: welkin doctor --reset-store");
}

bool ByteCheck::is_old(Area area, const std::string& name) const {
  const auto stat = ground_.vfs.stat(area, name);
  // What is no regular file nobody of ours is writing.
  return !stat || now_ - stat->changed_at >= grace_;
}

bool ByteCheck::move_to_found(Area from, const std::string& name, const std::string& as) {
  const Area found{Area::Kind::found, 0};
  for (int attempt = 0;; ++attempt) {
    const auto target = attempt == 0 ? as : as + "." + std::to_string(attempt);
    try {
      if (!ground_.vfs.move(from, name, found, target)) return false;
      break;
    } catch (const VfsError& e) {
      if (e.kind() != VfsError::Kind::exists || attempt == 1000) throw;
    }
  }
  for (const Area area : {found, from}) {
    if (ground_.vfs.sync_dir(area) == SyncResult::failed)
      ground_.health.suspect("fsync of a directory failed");
  }
  return true;
}

void check_bytes(Inspection& inspection) {
  ByteCheck check(inspection);
  check.require_usable();
  check.directory();
  check.chunks();
  check.files();
  check.spool();
  check.quarantined();
  check.contents();
  check.references();
}

}  // namespace welkin::blobs
