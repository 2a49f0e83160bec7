#pragma once
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace welkin::tests {

/// A folder of the test's own with a short name, gone at the end. Others may pass through it, as a database
/// server that runs as another user must.
class TempFolder {
 public:
  TempFolder() : path_("/tmp/welkin-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    chmod(path_.c_str(), 0711);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Whom PostgreSQL runs as when the tests run as root, which it refuses; "" when they do not.
inline std::string ordinary_user() {
  if (geteuid() != 0) return "";
  return getpwnam("postgres") != nullptr ? "postgres" : "nobody";
}

}  // namespace welkin::tests
