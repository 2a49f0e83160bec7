// Names, owners and modes in the data directory.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "blobs/check.hpp"

namespace welkin::blobs {
namespace {

// All that Welkin puts into its directory; what else lies there came from somebody else.
constexpr std::array<std::string_view, 20> kOurs{
    "blobs",          "spool",         "quarantine",   "found",        "store.id",          "store.lock",
    "store.suspect",  "store.id.new",  "welkin.toml",  "welkin.lock",  "postgres",          "postgres.log",
    "postgres.log.1", "postgres.lock", "postgres.run", "postgres.new", "store.suspect.new", "lost+found",
    "thumbnails",     "reading"};

std::string octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

std::vector<std::string> names_in(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(path.c_str()), &::closedir);
  if (!stream)
    throw std::runtime_error("cannot list " + path + ": " + std::generic_category().message(errno));
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void ByteCheck::directory() {
  const auto& root = in_.options().data_dir;
  for (const auto& name : names_in(root)) {
    if (std::find(kOurs.begin(), kOurs.end(), name) == kOurs.end())
      in_.report(Weight::litter, "directory.foreign", name,
                 "is none of ours; take it away if it is none of yours");
  }
  const auto expect_mode = [&](const std::string& name, mode_t allowed) {
    const auto path = name.empty() ? root : root + "/" + name;
    struct stat s{};
    if (::lstat(path.c_str(), &s) != 0) return;
    const auto subject = name.empty() ? "." : name;
    if (s.st_uid != ::geteuid()) {
      in_.report(
          Weight::fault, "directory.owner", subject,
          "belongs to user " + std::to_string(s.st_uid) + ", not to the one the server runs as; run: chown");
    } else if (S_ISLNK(s.st_mode)) {
      if (!name.empty())
        in_.report(Weight::fault, "directory.link", subject,
                   "is a link; Welkin follows none inside its directory");
    } else if ((s.st_mode & 07777 & ~allowed) != 0) {
      in_.report(Weight::fault, "directory.mode", subject,
                 "has the mode " + octal(s.st_mode) + ": others may reach it", [&]() -> Mended {
                   if (::chmod(path.c_str(), s.st_mode & allowed) != 0)
                     throw std::system_error(errno, std::generic_category(), path);
                   return {true, "set to " + octal(s.st_mode & allowed)};
                 });
    }
  };
  expect_mode("", 0750);
  for (const char* name : {"blobs", "spool", "quarantine", "found", "postgres"}) expect_mode(name, 0700);
  for (const char* name : {"store.id", "store.lock", "store.suspect"}) expect_mode(name, 0600);
  for (unsigned i = 0; i < kDirectories; ++i)
    expect_mode(shown({Area::Kind::blobs, static_cast<std::uint8_t>(i)}), 0700);
}

}  // namespace welkin::blobs
