#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace welkin {

/// Everything an operator can set, already checked. Read by app/config from defaults, the TOML file and WELKIN_*
/// variables, in this order. Sizes in bytes, times in seconds; the key in the file is the member's name with its
/// section, the variable is WELKIN_ and the upper-case key (the table in src/app/config.cpp is the only list).
struct Config {
  std::string data_dir;                       // WELKIN_DATA_DIR
  std::string config_file;                    // WELKIN_CONFIG; empty: none was found

  // listening
  std::string listen = "127.0.0.1:8086";      // WELKIN_LISTEN host:port, [v6]:port; port 0 picks one
  std::string base_url;                       // WELKIN_BASE_URL; origin and base path; empty: from the Host header
  std::vector<std::string> allowed_hosts;     // further Host values; empty with no base_url: any
  std::vector<std::string> trusted_proxies;   // CIDR ranges whose forwarding headers are believed
  std::string tls_cert, tls_key;              // PEM files
  unsigned io_threads = 0;                    // 0: half the cores, at least 1

  // database
  std::string database_url;                   // secret; empty: private cluster in data_dir
  unsigned database_connections = 0;          // 0: cores * 2, within 4..8

  // limits
  std::uint64_t upload_bytes_max = 0;         // 0: no limit but quota and disk
  std::uint64_t json_bytes_max = 1 << 20;
  unsigned connections_max = 4096;
  unsigned connections_per_address_max = 64;  // not applied to trusted proxies and loopback
  unsigned header_seconds = 10;
  unsigned idle_seconds = 75;
  unsigned body_stall_seconds = 30;
  unsigned write_stall_seconds = 60;
  unsigned event_heartbeat_seconds = 15;
  unsigned shutdown_seconds = 10;
  unsigned tree_nodes_max = 100'000;          // of one copy, and of one move to another drive

  // accounts
  std::string setup_token;                    // secret; WELKIN_SETUP_TOKEN; "off" disables the need; empty: generated
  bool dav_account_passwords = true;          // WELKIN_DAV_ACCOUNT_PASSWORDS
  unsigned access_token_seconds = 3600;
  unsigned refresh_token_seconds = 604800;
  unsigned argon2_memory_kib = 65536;
  unsigned argon2_iterations = 3;
  unsigned password_hash_threads = 2;
  unsigned login_attempts_per_minute = 10;    // per address
  unsigned setup_attempts_per_hour = 5;       // per address
  unsigned refresh_attempts_per_minute = 20;  // per address
  unsigned lockout_failures = 5;
  unsigned lockout_seconds = 900;
  std::int64_t default_quota_bytes = 0;       // 0: unlimited
  std::string people_search = "groups";       // groups | everyone | off: whom one can look up

  // keeping
  unsigned trash_keep_days = 30;
  unsigned versions_keep_days = 30;           // of those without a label, but always the newest versions_keep_min
  unsigned versions_keep_min = 10;

  // bytes
  unsigned gc_grace_seconds = 86400;          // at least 3600, unless a test says otherwise
  std::uint64_t disk_floor_bytes = 1ull << 30;  // and 2 % of the disk, whichever is more
  unsigned scrub_mib_per_second = 20;         // 0: off
  unsigned scrub_days = 30;                   // a chunk is read again after this many

  // subscriptions to calendars elsewhere
  std::vector<std::string> fetch_allowed;     // host:port inside that may be asked all the same

  // calendars
  bool scheduling = true;                     // invitations, inbox and outbox

  // mail
  std::string mail_host;                      // relay; empty: no mail leaves
  unsigned mail_port = 587;
  std::string mail_tls = "starttls";          // starttls | tls | none
  std::string mail_tls_ca;                    // PEM; empty: what the system trusts
  std::string mail_user;
  std::string mail_password;                  // secret
  std::string mail_from;
  unsigned mail_per_day_max = 500;            // of one user

  // names
  bool windows_names = false;                 // refuse new names that Windows cannot open

  // observing
  std::string log_level = "info";             // debug | info | warn | error
  std::string log_format = "text";            // text | json
  bool access_log = true;
  std::string metrics_listen;                 // WELKIN_METRICS_LISTEN host:port; empty: none
  std::string metrics_token;                  // secret; /metrics on the main port with this bearer token
};

}  // namespace welkin
