#include "blobs/visitor.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>

#include "blobs/store_settings.hpp"
#include "welkin/core/log.hpp"

namespace welkin::blobs {
namespace {

/// The lock a store holds while it is open; empty when somebody has it.
Fd try_lock(const std::string& data_dir) {
  Fd fd(::open((data_dir + "/store.lock").c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

std::string checked(db::Db& db, const std::string& data_dir, bool may_change) {
  std::string on_disk;
  std::ifstream(data_dir + "/store.id") >> on_disk;
  const auto known = db.read_now([](db::Tx& tx) { return setting(tx, kStoreIdKey); });
  if (on_disk.empty() && !known) throw std::runtime_error("there is no chunk store yet in " + data_dir);
  if (on_disk.empty())
    throw std::runtime_error(data_dir + " holds no store.id, but the database belongs to the chunk store " +
                             *known + "; is the right directory mounted?");
  if (!known || *known != on_disk)
    throw std::runtime_error(data_dir + " holds the chunk store " + on_disk +
                             ", but the database belongs to " + known.value_or("none"));
  if (may_change) {
    for (const char* name : {"quarantine", "found"}) ::mkdir((data_dir + "/" + name).c_str(), 0700);
  }
  return data_dir;
}

}  // namespace

Visitor::Visitor(db::Db& db, const std::string& data_dir, bool may_change)
    : lock_(try_lock(checked(db, data_dir, may_change))),
      vfs_(data_dir),
      rows_(db),
      health_([&db, data_dir](const std::string& reason) { note_suspicion(db, data_dir, reason); }),
      ground{vfs_,
             rows_,
             health_,
             living_,
             [](std::size_t n, const std::function<void(std::size_t)>& f) {
               for (std::size_t i = 0; i < n; ++i) f(i);
             },
             [](const std::string& text) { log::warn("chunk store: {}", text); }} {
  if (const auto reason = noted_suspicion(db, data_dir)) health_.remember(*reason);
}

}  // namespace welkin::blobs
