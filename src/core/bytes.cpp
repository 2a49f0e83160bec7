#include "welkin/core/bytes.hpp"

#include <unistd.h>

namespace welkin {

void Fd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace welkin
