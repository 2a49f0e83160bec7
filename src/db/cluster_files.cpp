#include "db/cluster_files.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "db/process.hpp"

namespace welkin::db {
namespace fs = std::filesystem;
namespace {

constexpr const char* kVersions = "/usr/lib/postgresql";
constexpr int kPreferred = 15;
constexpr std::size_t kSocketPathMax = 100;  // sun_path holds 108
constexpr std::uintmax_t kLogBytesMax = 8 << 20;
constexpr std::string_view kSocketName = "/.s.PGSQL.5432";

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string user_name(uid_t uid) {
  std::vector<char> buffer(16'384);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : "";
}

bool plain(const std::string& path) {
  return path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") ==
         std::string::npos;
}

// Left by an initdb that was killed; a child of it may still be about to notice and tidy up by itself.
void remove_unfinished(const std::string& path) {
  for (int attempt = 1;; ++attempt) {
    std::error_code error;
    fs::remove_all(path, error);
    if (!error) return;
    if (attempt == 50) throw std::runtime_error("cannot remove " + path + ": " + error.message());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::string settings_text(const Cluster::Options& options, const std::string& socket_folder) {
  std::ostringstream out;
  out << "# Written by Welkin at each start. Your own settings: local.conf, beside this file.\n"
         "listen_addresses = ''\n"
         "port = 5432\n"
         "unix_socket_directories = '"
      << socket_folder
      << "'\n"
         "unix_socket_permissions = 0700\n"
         "max_connections = "
      << options.max_connections
      << "\n"
         "shared_buffers = "
      << options.shared_buffers_mb
      << "MB\n"
         "effective_cache_size = 1GB\n"
         "work_mem = 8MB\n"
         "maintenance_work_mem = 64MB\n"
         "wal_level = minimal\n"
         "max_wal_senders = 0\n"
         "max_wal_size = 512MB\n"
         "min_wal_size = 64MB\n"
         "wal_compression = lz4\n"
         "jit = off\n"
         "random_page_cost = 1.1\n"
         "effective_io_concurrency = 64\n"
         "max_parallel_workers_per_gather = 0\n"
         "max_worker_processes = 4\n"
         "max_logical_replication_workers = 0\n"
         "autovacuum_max_workers = 2\n"
         "autovacuum_naptime = 15s\n"
         "logging_collector = off\n"
         "log_line_prefix = '%m [%p] '\n"
         "log_min_duration_statement = 500\n"
         "log_timezone = 'UTC'\n"
         "timezone = 'UTC'\n"
         "statement_timeout = 0\n"
         "idle_in_transaction_session_timeout = 60s\n"
         "deadlock_timeout = 1s\n";
  if (options.durable) {
    out << "fsync = on\nfull_page_writes = on\nsynchronous_commit = on\n";
  } else {
    out << "fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n";
  }
  return out.str();
}

}  // namespace

ClusterFiles::ClusterFiles(const Cluster::Options& o)
    : options(o), directory(fs::absolute(o.directory).lexically_normal().string()) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  lock = directory + ".lock";
  log = directory + ".log";
  fs::create_directories(fs::path(directory).parent_path());
  socket_folder = choose_socket_folder();
}

void ClusterFiles::make_folder(const std::string& path) const {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail("cannot make " + path);
  if (options.run_as.empty()) return;
  const User user = find_user(options.run_as);
  if (chown(path.c_str(), user.uid, user.gid) != 0) fail("cannot give away " + path);
}

bool ClusterFiles::ours(const std::string& folder) const {
  struct stat info{};
  if (lstat(folder.c_str(), &info) != 0) return false;
  const uid_t owner = options.run_as.empty() ? geteuid() : find_user(options.run_as).uid;
  return S_ISDIR(info.st_mode) && info.st_uid == owner && (info.st_mode & 0077) == 0;
}

std::string ClusterFiles::choose_socket_folder() const {
  const std::string near = directory + ".run";
  std::error_code ignored;
  const bool is_link = fs::is_symlink(near, ignored);
  if (!is_link && near.size() + kSocketName.size() < kSocketPathMax && plain(near)) {
    make_folder(near);
    return near;
  }
  // Too long for a socket: a short folder elsewhere, noted as a link, so that the next start finds it again.
  if (is_link) {
    const auto target = fs::read_symlink(near, ignored).string();
    if (ours(target)) return target;
    fs::remove(near, ignored);
  }
  const std::string user_run = "/run/user/" + std::to_string(geteuid());
  const bool usable = options.run_as.empty() && access(user_run.c_str(), W_OK | X_OK) == 0;
  std::string made = (usable ? user_run : "/tmp") + "/welkin-XXXXXX";
  if (mkdtemp(made.data()) == nullptr) fail("cannot make a folder for the database socket");
  make_folder(made);
  fs::create_symlink(made, near);
  return made;
}

std::string ClusterFiles::program(const std::string& name) const {
  std::string version = read_file(fs::path(directory) / "PG_VERSION");
  while (!version.empty() && version.back() == '\n') version.pop_back();
  const auto path_of = [&](const std::string& v) {
    return std::string(kVersions) + "/" + v + "/bin/" + name;
  };
  if (!version.empty()) {
    if (access(path_of(version).c_str(), X_OK) == 0) return path_of(version);
    throw std::runtime_error(directory + " was made by PostgreSQL " + version + ", but " + path_of(version) +
                             " is not there; install postgresql-" + version);
  }
  for (int v = kPreferred; v < kPreferred + 20; ++v) {
    const auto path = path_of(std::to_string(v));
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  throw std::runtime_error("PostgreSQL 15 or newer is not installed (no " +
                           path_of(std::to_string(kPreferred)) + ")");
}

void ClusterFiles::write(const std::string& name, const std::string& text) const {
  const std::string path = directory + "/" + name, fresh = path + ".tmp";
  const Fd file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) fail("cannot write " + fresh);
  if (!options.run_as.empty()) {
    const User user = find_user(options.run_as);
    if (fchown(file.get(), user.uid, user.gid) != 0) fail("cannot give away " + fresh);
  }
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail("cannot write " + fresh);
  if (options.durable && fsync(file.get()) != 0) fail("cannot write " + fresh);
  if (rename(fresh.c_str(), path.c_str()) != 0) fail("cannot write " + path);
}

void ClusterFiles::write_settings() const {
  write("welkin.conf", settings_text(options, socket_folder));
  write("postgresql.conf", "include 'welkin.conf'\ninclude 'local.conf'\n");
  if (!fs::exists(directory + "/local.conf")) write("local.conf", "# Settings of your own; they win.\n");
  write("pg_hba.conf", "local all welkin peer map=welkin\n");
  std::string map = "welkin root welkin\n";
  for (const auto& name : {user_name(geteuid()), options.run_as}) {
    if (!name.empty() && name != "root") map += "welkin \"" + name + "\" welkin\n";
  }
  write("pg_ident.conf", map);
}

void ClusterFiles::make_cluster() const {
  const std::string unfinished = directory + ".new";
  remove_unfinished(unfinished);
  make_folder(unfinished);
  Program initdb{
      {program("initdb"), "-D", unfinished, "-U", "welkin", "--auth-local=peer", "--auth-host=reject",
       "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions", "--data-checksums"},
      log,
      options.run_as,
      SIGKILL};
  if (!options.durable) initdb.argv.emplace_back("--no-sync");
  const auto before = log_size();
  if (!run_program(initdb)) throw std::runtime_error("initdb failed, see " + log + "\n" + log_tail(before));
  if (rename(unfinished.c_str(), directory.c_str()) != 0) fail("cannot make " + directory);
  // An unfinished cluster is removed at the next start, so this name must be on the disk before anything is
  // stored.
  const auto parent = fs::path(directory).parent_path().string();
  const Fd folder(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || (options.durable && fsync(folder.get()) != 0)) fail("cannot make " + directory);
}

void ClusterFiles::prepare() const {
  trim_log();
  if (!fs::exists(directory) || fs::is_empty(directory)) make_cluster();
  if (!fs::exists(directory + "/PG_VERSION")) {
    throw std::runtime_error(directory + " holds something else than a PostgreSQL cluster");
  }
  write_settings();
}

std::uint64_t ClusterFiles::log_size() const {
  std::error_code none;
  const auto size = fs::file_size(log, none);
  return none ? 0 : size;
}

std::string ClusterFiles::log_tail(std::uint64_t offset) const {
  const auto text = read_file(log);
  const auto from = std::max<std::uint64_t>(offset, text.size() > 2000 ? text.size() - 2000 : 0);
  return from < text.size() ? text.substr(from) : "";
}

void ClusterFiles::trim_log() const {
  if (log_size() <= kLogBytesMax) return;
  std::error_code ignored;
  fs::copy_file(log, log + ".1", fs::copy_options::overwrite_existing, ignored);
  fs::resize_file(log, 0, ignored);  // PostgreSQL appends, so it goes on at the start
}

std::optional<Postmaster> read_postmaster(const std::string& directory) {
  std::istringstream in(read_file(directory + "/postmaster.pid"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (lines.empty()) return std::nullopt;
  Postmaster out;
  std::from_chars(lines[0].data(), lines[0].data() + lines[0].size(), out.pid);
  if (out.pid <= 0) return std::nullopt;
  if (lines.size() > 4) out.socket_folder = lines[4];
  out.ready = lines.size() > 7 && lines[7].starts_with("ready");
  return out;
}

std::string cluster_url(const std::string& socket_folder, const std::string& database) {
  return "host=" + socket_folder + " port=5432 user=welkin dbname=" + database;
}

}  // namespace welkin::db
