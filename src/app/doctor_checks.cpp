// The machine, file by file; the database is in doctor.cpp.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>

#include "app/data_lock.hpp"
#include "app/doctor.hpp"
#include "app/healthcheck.hpp"
#include "welkin/core/bytes.hpp"

namespace welkin::app {
namespace {

void ok(Findings& out, const char* check, std::string text) {
  out.push_back({Verdict::ok, check, std::move(text)});
}
void warn(Findings& out, const char* check, std::string text) {
  out.push_back({Verdict::warning, check, std::move(text)});
}
void fault(Findings& out, const char* check, std::string text) {
  out.push_back({Verdict::fault, check, std::move(text)});
}

std::string gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / 0x1p30); }

/// Whether the address is free: bound and let go again.
bool can_bind(const std::string& listen, std::string& why) {
  const auto [host, port] = parse_address(listen);
  const bool v6 = host.find(':') != std::string::npos;
  const Fd socket(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) {
    why = std::strerror(errno);
    return false;
  }
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in v4_address{};
  v4_address.sin_family = AF_INET;
  v4_address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &v4_address.sin_addr);
  sockaddr_in6 v6_address{};
  v6_address.sin6_family = AF_INET6;
  v6_address.sin6_port = htons(port);
  ::inet_pton(AF_INET6, host.c_str(), &v6_address.sin6_addr);
  const auto* address =
      v6 ? reinterpret_cast<const sockaddr*>(&v6_address) : reinterpret_cast<const sockaddr*>(&v4_address);
  if (::bind(socket.get(), address, v6 ? sizeof v6_address : sizeof v4_address) == 0) return true;
  why = std::strerror(errno);
  if (errno == EACCES && port < 1024)
    why += "; ports below 1024 need a proxy in front or CAP_NET_BIND_SERVICE";
  return false;
}

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate read_certificate(const std::string& path) {
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "re"), std::fclose);
  return {file ? PEM_read_X509(file.get(), nullptr, nullptr, nullptr) : nullptr, X509_free};
}

}  // namespace

void check_data_dir(const Config& config, Findings& out) {
  struct stat at{};
  if (::stat(config.data_dir.c_str(), &at) != 0) {
    ok(out, "data_dir", fmt::format("{} is not there yet; the first start makes it", config.data_dir));
    return;
  }
  if (::access(config.data_dir.c_str(), R_OK | W_OK | X_OK) != 0) {
    fault(out, "data_dir", fmt::format("{} cannot be used: {}", config.data_dir, std::strerror(errno)));
    return;
  }
  if ((at.st_mode & 0007) != 0) {
    warn(out, "data_dir",
         fmt::format("{} is open to every user of this machine; run: chmod 700 {}", config.data_dir,
                     config.data_dir));
    return;
  }
  char buffer[4096];
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(at.st_uid, &entry, buffer, sizeof buffer, &found);
  ok(out, "data_dir",
     fmt::format("{}, owned by {}", config.data_dir,
                 found != nullptr ? std::string(found->pw_name) : std::to_string(at.st_uid)));
}

void check_disk(const Config& config, Findings& out) {
  struct statvfs disk{};
  std::string path = config.data_dir;
  while (::statvfs(path.c_str(), &disk) != 0 && path.size() > 1)
    path = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
  const double unit = static_cast<double>(disk.f_frsize);
  const double total = static_cast<double>(disk.f_blocks) * unit;
  const double free = static_cast<double>(disk.f_bavail) * unit;
  const double floor = std::max(static_cast<double>(config.disk_floor_bytes), total * 0.02);
  const auto seen = fmt::format("{} of {} free, uploads stop below {}", gib(free), gib(total), gib(floor));
  if (free < floor) {
    fault(out, "disk.space", seen + ": nothing can be stored until there is room");
  } else if (free < floor * 2) {
    warn(out, "disk.space", seen);
  } else {
    ok(out, "disk.space", seen);
  }
  if (disk.f_files == 0) return;  // a file system that makes inodes as it goes
  const double share = static_cast<double>(disk.f_favail) / static_cast<double>(disk.f_files);
  const auto inodes = fmt::format("{} of {} inodes free", disk.f_favail, disk.f_files);
  if (disk.f_favail < 1000) {
    fault(out, "disk.inodes", inodes + ": nothing can be stored until files are removed");
  } else if (share < 0.05) {
    warn(out, "disk.inodes", inodes);
  } else {
    ok(out, "disk.inodes", inodes);
  }
  if ((disk.f_flag & ST_RDONLY) != 0) fault(out, "disk.writable", "the file system is mounted read-only");
}

void check_tls(const Config& config, Findings& out) {
  if (config.tls_cert.empty()) {
    ok(out, "tls", "off here; a proxy in front may do it");
    return;
  }
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  SSL_CTX_free);
  if (SSL_CTX_use_certificate_chain_file(context.get(), config.tls_cert.c_str()) != 1) {
    fault(out, "tls.certificate",
          fmt::format("{} cannot be read as a PEM certificate by user {}", config.tls_cert, ::geteuid()));
    return;
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), config.tls_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    fault(out, "tls.key",
          fmt::format("{} cannot be read, or is not the key of {}", config.tls_key, config.tls_cert));
    return;
  }
  struct stat at{};
  if (::stat(config.tls_key.c_str(), &at) == 0 && (at.st_mode & 0007) != 0) {
    warn(out, "tls.key",
         fmt::format("{} can be read by every user; run: chmod o= {}", config.tls_key, config.tls_key));
  } else {
    ok(out, "tls.key", config.tls_key);
  }
  const auto certificate = read_certificate(config.tls_cert);
  int days = 0, seconds = 0;
  if (!certificate || ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate.get())) != 1)
    return;
  if (days < 0 || seconds < 0) {
    fault(out, "tls.certificate", fmt::format("{} has expired", config.tls_cert));
  } else if (days < 14) {
    warn(out, "tls.certificate", fmt::format("{} expires in {} days", config.tls_cert, days));
  } else {
    ok(out, "tls.certificate", fmt::format("{}, good for {} days", config.tls_cert, days));
  }
}

void check_store(const Config& config, const DatabaseState* state, Findings& out) {
  const auto known = state != nullptr ? state->store_id : std::nullopt;
  std::ifstream file(config.data_dir + "/store.id");
  std::string id;
  if (!(file >> id)) {
    if (known) {
      fault(
          out, "store.id",
          fmt::format(
              "the database belongs to the chunk store {}, which is not in {}; bring it back before anything "
              "is uploaded",
              *known, config.data_dir));
    } else {
      ok(out, "store.id", "no chunk store yet; the first start makes it");
    }
  } else if (known && *known != id) {
    fault(out, "store.id",
          fmt::format("the database belongs to the chunk store {}, but {} holds {}", *known, config.data_dir,
                      id));
  } else {
    ok(out, "store.id", id);
  }
  std::ifstream suspect(config.data_dir + "/store.suspect");
  std::string reason;
  if (!std::getline(suspect, reason) && state != nullptr && state->store_suspect)
    reason = *state->store_suspect;
  if (reason.empty()) {
    ok(out, "store.writable", "takes writes");
  } else {
    fault(out, "store.writable",
          fmt::format(
              "takes no writes since: {}; look at the disk first, then run: welkin doctor --reset-store",
              reason));
  }
}

void check_server(const Config& config, Findings& out) {
  const auto holder = DataLock::holder(config.data_dir);
  if (!holder || holder->role != "serve") {
    std::string why;
    if (can_bind(config.listen, why)) {
      ok(out, "server", fmt::format("not running; {} is free", config.listen));
    } else {
      fault(out, "server", fmt::format("not running, and {} cannot be used: {}", config.listen, why));
    }
    return;
  }
  if (holder->address.empty()) {
    warn(out, "server", fmt::format("process {} is starting", holder->pid));
    return;
  }
  const auto scheme = config.base_url.find("://");
  auto host = holder->address;
  std::string path;
  if (scheme != std::string::npos) {
    const auto slash = config.base_url.find('/', scheme + 3);
    host = config.base_url.substr(scheme + 3, slash == std::string::npos ? slash : slash - scheme - 3);
    path = slash == std::string::npos ? "" : config.base_url.substr(slash);
  }
  const auto answer = http_get(holder->address, holder->tls, host, path + "/ready");
  if (answer.status == 200) {
    ok(out, "server", fmt::format("process {} serves {}", holder->pid, holder->address));
  } else {
    fault(out, "server",
          fmt::format("process {} on {} is not ready: {} {}", holder->pid, holder->address, answer.status,
                      answer.text));
  }
}

Verdict worst(const Findings& findings) {
  auto worst = Verdict::ok;
  for (const auto& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

}  // namespace welkin::app
