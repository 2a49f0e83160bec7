// On its own: <linux/tcp.h> has the long tcp_info, and cannot stand beside <netinet/tcp.h>.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace welkin::http {

std::uint64_t acknowledged_bytes(int fd);

std::uint64_t acknowledged_bytes(int fd) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return 0;
  if (bytes < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return 0;
  return info.tcpi_bytes_acked;
}

}  // namespace welkin::http
