#include "app/data_lock.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include <nlohmann/json.hpp>

#include "app/privileges.hpp"

namespace welkin::app {
namespace {

std::string lock_path(const std::string& data_dir) { return data_dir + "/welkin.lock"; }

// Locks of the open file, not of the process: a second one in this process counts, and asking disturbs
// nobody.
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool try_lock(int fd) {
  auto lock = whole_file();
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool is_locked_by_another(int fd) {
  auto lock = whole_file();
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

DataLock::Holder read_holder(int fd) {
  DataLock::Holder out;
  char text[1024];
  const auto size = ::pread(fd, text, sizeof text, 0);
  if (size <= 0) return out;
  const auto said = nlohmann::json::parse(text, text + size, nullptr, false);
  if (!said.is_object()) return out;
  out.role = said.value("role", "");
  out.pid = said.value("pid", 0);
  out.address = said.value("address", "");
  out.tls = said.value("tls", false);
  return out;
}

}  // namespace

DataLock::DataLock(Fd file, Holder self) : file_(std::move(file)), self_(std::move(self)) { write(); }

std::optional<DataLock> DataLock::take(const std::string& data_dir, const std::string& role) {
  const auto path = lock_path(data_dir);
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw StartError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (!try_lock(file.get())) return std::nullopt;
  return DataLock(std::move(file), Holder{role, ::getpid(), "", false});
}

DataLock DataLock::wait(const std::string& data_dir, const std::string& role, std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    if (auto lock = take(data_dir, role)) return std::move(*lock);
    const auto other = holder(data_dir);
    if (other && other->role == "serve") {
      throw StartError(fmt::format("{} is in use by the server with process id {}", data_dir, other->pid));
    }
    if (std::chrono::steady_clock::now() > until) {
      throw StartError(fmt::format("{} is still in use by `welkin {}` with process id {}", data_dir,
                                   other ? other->role : "?", other ? other->pid : 0));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::optional<DataLock::Holder> DataLock::holder(const std::string& data_dir) {
  const Fd file(::open(lock_path(data_dir).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file || !is_locked_by_another(file.get())) return std::nullopt;
  return read_holder(file.get());
}

void DataLock::announce(const std::string& address, bool tls) {
  self_.address = address;
  self_.tls = tls;
  write();
}

void DataLock::write() {
  const nlohmann::json said{
      {"role", self_.role}, {"pid", self_.pid}, {"address", self_.address}, {"tls", self_.tls}};
  const auto text = said.dump() + "\n";
  // One write at the front, then the cut: a reader never sees an empty file once there was a holder.
  if (::pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0) {
    throw StartError(fmt::format("cannot write the lock of the data directory: {}", std::strerror(errno)));
  }
}

}  // namespace welkin::app
