#include "media/body_file.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "welkin/core/run_task.hpp"

namespace welkin::media {
namespace {

class FileSink final : public ByteSink {
 public:
  explicit FileSink(const std::string& path)
      : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
    if (!fd_) fail();
  }
  Task<> write(ByteView bytes) override {
    while (!bytes.empty()) bytes = bytes.subspan(moved(::write(fd_.get(), bytes.data(), bytes.size())));
    co_return;
  }
  Task<> write_file(int fd, std::uint64_t offset, std::uint64_t length) override {
    auto at = static_cast<off_t>(offset);
    while (length > 0) length -= moved(sendfile(fd_.get(), fd, &at, length));
    co_return;
  }

 private:
  [[noreturn]] static void fail() {
    throw std::system_error(errno, std::generic_category(), "cannot write a file to work on");
  }
  static std::size_t moved(ssize_t count) {
    if (count < 0 && errno == EINTR) return 0;
    if (count == 0) errno = EIO;
    if (count <= 0) fail();
    return static_cast<std::size_t>(count);
  }
  Fd fd_;
};

}  // namespace

void write_body(db::Db& db, blobs::Store& store, ContentId content, const std::string& path,
                std::uint64_t bytes_max) {
  FileSink sink(path);
  const auto view = db.read_now([&](db::Tx& tx) { return store.view(tx, content); });
  run_task(store.send(view, {0, std::min(view.size_bytes, bytes_max)}, sink));
}

}  // namespace welkin::media
