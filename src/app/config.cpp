#include "app/config.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "welkin/core/text.hpp"

namespace welkin::app {
namespace {

using Kind = Setting::Kind;
constexpr std::uint64_t kBytesMax = std::numeric_limits<std::int64_t>::max();
constexpr const char* kPrefix = "WELKIN_";

std::vector<Setting> make_settings() {
  using C = Config;
  constexpr auto kPlain = Kind::plain;
  constexpr auto kSeconds = Kind::seconds;
  constexpr auto kBytes = Kind::bytes;
  return {
      {"server", "data_dir", &C::data_dir,
       "where everything is kept; in a file only when WELKIN_CONFIG names that file"},
      {"server", "listen", &C::listen, "host:port to serve on; [::1]:8086 for IPv6, port 0 picks a free one"},
      {"server", "base_url", &C::base_url,
       "public origin and base path, https://cloud.example.org/welkin; empty: taken from each request's "
       "Host"},
      {"server", "allowed_hosts", &C::allowed_hosts,
       "further Host values to answer to, besides that of base_url"},
      {"server", "trusted_proxies", &C::trusted_proxies,
       "address ranges (CIDR) of proxies whose X-Forwarded-For and -Proto are believed"},
      {"server", "tls_cert", &C::tls_cert, "PEM file with the certificate chain; read again on SIGHUP"},
      {"server", "tls_key", &C::tls_key,
       "PEM file with the private key; readable by the user the server runs as"},
      {"server", "io_threads", &C::io_threads, "threads for connections; 0: half the cores, at least 1",
       kPlain, false, 0, 256},

      {"database", "database_url", &C::database_url,
       "PostgreSQL to use, postgresql://user:password@host/name; empty: a private one inside data_dir",
       kPlain, true},
      {"database", "database_connections", &C::database_connections,
       "connections of the pool; 0: twice the cores, within 4 to 8", kPlain, false, 0, 64},

      {"limits", "upload_bytes_max", &C::upload_bytes_max, "largest file; 0: only quota and disk limit it",
       kBytes, false, 0, kBytesMax},
      {"limits", "json_bytes_max", &C::json_bytes_max, "largest JSON body", kBytes, false, 1024, 64 << 20},
      {"limits", "connections_max", &C::connections_max, "open connections at most", kPlain, false, 8,
       100'000},
      {"limits", "connections_per_address_max", &C::connections_per_address_max,
       "of one client address; does not count for trusted proxies and loopback", kPlain, false, 1, 100'000},
      {"limits", "header_seconds", &C::header_seconds, "time for a request's head to arrive", kSeconds, false,
       1, 3600},
      {"limits", "idle_seconds", &C::idle_seconds, "a kept-alive connection may be silent this long",
       kSeconds, false, 1, 3600},
      {"limits", "body_stall_seconds", &C::body_stall_seconds, "a body being received may pause this long",
       kSeconds, false, 1, 3600},
      {"limits", "write_stall_seconds", &C::write_stall_seconds, "a client may take nothing for this long",
       kSeconds, false, 1, 3600},
      {"limits", "event_heartbeat_seconds", &C::event_heartbeat_seconds,
       "an open stream of live events gives a sign of life, and asks whether its user may still have it, "
       "this often",
       kSeconds, false, 1, 3600},
      {"limits", "shutdown_seconds", &C::shutdown_seconds,
       "requests in flight may take this long when stopping", kSeconds, false, 0, 600},
      {"limits", "tree_nodes_max", &C::tree_nodes_max,
       "files and folders that one copy, or one move to another drive, may take; the drive takes no other "
       "writes meanwhile, about half a minute for the largest",
       kPlain, false, 1'000, 300'000},

      {"accounts", "setup_token", &C::setup_token,
       "demanded to create the first account; empty: made at start and printed in the link; off: none is "
       "needed",
       kPlain, true},
      {"accounts", "dav_account_passwords", &C::dav_account_passwords,
       "take account passwords, not only app passwords, on WebDAV"},
      {"accounts", "access_token_seconds", &C::access_token_seconds, "life of an access token", kSeconds,
       false, 60, 86'400},
      {"accounts", "refresh_token_seconds", &C::refresh_token_seconds, "life of a refresh token", kSeconds,
       false, 300, 31'536'000},
      {"accounts", "argon2_memory_kib", &C::argon2_memory_kib, "memory of one password hash in KiB", kPlain,
       false, 8192, 4'194'304},
      {"accounts", "argon2_iterations", &C::argon2_iterations, "passes of one password hash", kPlain, false,
       1, 100},
      {"accounts", "password_hash_threads", &C::password_hash_threads, "password hashes at the same time",
       kPlain, false, 1, 64},
      {"accounts", "login_attempts_per_minute", &C::login_attempts_per_minute, "sign-ins of one address",
       kPlain, false, 1, 100'000},
      {"accounts", "setup_attempts_per_hour", &C::setup_attempts_per_hour, "set-up attempts of one address",
       kPlain, false, 1, 100'000},
      {"accounts", "refresh_attempts_per_minute", &C::refresh_attempts_per_minute,
       "token refreshes of one address", kPlain, false, 1, 100'000},
      {"accounts", "lockout_failures", &C::lockout_failures, "wrong passwords before a name is locked",
       kPlain, false, 1, 1000},
      {"accounts", "lockout_seconds", &C::lockout_seconds, "how long a name stays locked", kSeconds, false, 1,
       86'400},
      {"accounts", "default_quota_bytes", &C::default_quota_bytes, "quota of new accounts; 0: unlimited",
       kBytes, false, 0, kBytesMax},
      {"accounts",
       "people_search",
       &C::people_search,
       "whom users can find in searches: those of their groups, everyone, or nobody; a name or mail address "
       "that is known already can be shared with in any case",
       kPlain,
       false,
       0,
       0,
       {"groups", "everyone", "off"}},

      {"calendars", "fetch_allowed", &C::fetch_allowed,
       "host:port of servers inside of your network whose calendars may be subscribed to; all others that "
       "are inside are refused"},

      {"calendars", "scheduling", &C::scheduling,
       "send invitations for apps: between accounts here, and by mail where mail_host is set; off: apps do "
       "it "
       "themselves"},

      {"mail", "mail_host", &C::mail_host, "SMTP relay that takes our mails; empty: none are sent"},
      {"mail", "mail_port", &C::mail_port, "its port: 587 with starttls, 465 with tls, often", kPlain, false,
       1, 65'535},
      {"mail",
       "mail_tls",
       &C::mail_tls,
       "starttls, tls (from the first byte) or none (only for a relay on this machine)",
       kPlain,
       false,
       0,
       0,
       {"starttls", "tls", "none"}},
      {"mail", "mail_tls_ca", &C::mail_tls_ca,
       "PEM file with the certificates to trust; empty: those of the system"},
      {"mail", "mail_user", &C::mail_user, "signs in to the relay with it; empty: without"},
      {"mail", "mail_password", &C::mail_password, "for mail_user", kPlain, true},
      {"mail", "mail_from", &C::mail_from, "address that mails come from; answers go to the user's own"},
      {"mail", "mail_per_day_max", &C::mail_per_day_max, "mails that one user may cause within a day", kPlain,
       false, 1, 1'000'000},

      {"names", "windows_names", &C::windows_names,
       "refuse new names that Windows cannot open; what is there already stays"},

      {"keeping", "trash_keep_days", &C::trash_keep_days, "deleted items stay in the trash this many days",
       kPlain, false, 1, 36'500},
      {"keeping", "versions_keep_days", &C::versions_keep_days,
       "what an overwrite replaced stays this many days; versions with a label stay for good", kPlain, false,
       0, 36'500},
      {"keeping", "versions_keep_min", &C::versions_keep_min,
       "of each file this many newest versions stay, however old they are", kPlain, false, 0, 10'000},

      {"bytes", "gc_grace_seconds", &C::gc_grace_seconds,
       "deleted bytes stay on the disk this long, so that a restored database finds them", kSeconds, false,
       3600, 31'536'000},
      {"bytes", "disk_floor_bytes", &C::disk_floor_bytes,
       "uploads stop when less than this, or less than 2 % of the disk, is free", kBytes, false, 0,
       kBytesMax},
      {"bytes", "scrub_mib_per_second", &C::scrub_mib_per_second,
       "how fast stored bytes are read again in the background, in MiB a second; 0: not at all", kPlain,
       false, 0, 10'000},
      {"bytes", "scrub_days", &C::scrub_days, "stored bytes are read again after this many days", Kind::days,
       false, 1, 3650},

      {"observing",
       "log_level",
       &C::log_level,
       "debug, info, warn or error; read again on SIGHUP",
       kPlain,
       false,
       0,
       0,
       {"debug", "info", "warn", "error"}},
      {"observing", "log_format", &C::log_format, "text or json", kPlain, false, 0, 0, {"text", "json"}},
      {"observing", "access_log", &C::access_log, "a line for each request"},
      {"observing", "metrics_listen", &C::metrics_listen,
       "host:port that serves /metrics to anybody who reaches it; empty: none"},
      {"observing", "metrics_token", &C::metrics_token,
       "serves /metrics on the main address to who sends this bearer token", kPlain, true},
  };
}

const Setting* find_setting(std::string_view section, std::string_view key) {
  for (const auto& s : settings()) {
    if (section == s.section && key == s.key) return &s;
  }
  return nullptr;
}

std::string with_hint(const std::string& complaint, const std::string& word,
                      const std::vector<std::string>& known) {
  const auto hint = text::nearest(word, known);
  return hint ? fmt::format("{} (did you mean {}?)", complaint, *hint) : complaint;
}

std::string range_text(const Setting& s) {
  if (s.max == kBytesMax) return s.min == 0 ? "a size of 0 or more" : fmt::format("a size from {} on", s.min);
  return fmt::format("a whole number from {} to {}", s.min, s.max);
}

/// Puts values into a Config and keeps what is wrong with them; `place` says where a value stands.
class Assembler {
 public:
  explicit Assembler(Loaded& out) : out_(out) {}

  void complain(const std::string& place, const std::string& what) { errors.push_back(place + ": " + what); }

  void set_text(const Setting& s, const std::string& place, const std::string& value) {
    std::visit([&](auto member) { from_text(s, place, value, out_.config.*member); }, s.field);
    out_.sources[s.key] = place;
  }

  void set_node(const Setting& s, const std::string& place, const toml::node& node) {
    std::visit([&](auto member) { from_node(s, place, node, out_.config.*member); }, s.field);
    out_.sources[s.key] = place;
  }

  std::vector<std::string> errors;

 private:
  void from_text(const Setting& s, const std::string& place, const std::string& value, std::string& out) {
    if (value.find('\0') != std::string::npos) return complain(place, "holds a NUL byte");
    if (!s.choices.empty()) {
      std::vector<std::string> known(s.choices.begin(), s.choices.end());
      for (const auto& choice : known) {
        if (choice == value) out = value;
      }
      if (out != value)
        complain(place, with_hint(fmt::format("'{}' is none of {}", value, s.help), value, known));
      return;
    }
    out = value;
  }
  void from_text(const Setting&, const std::string& place, const std::string& value, bool& out) {
    if (value != "true" && value != "false")
      return complain(place, fmt::format("'{}' is neither true nor false", value));
    out = value == "true";
  }
  void from_text(const Setting&, const std::string&, const std::string& value,
                 std::vector<std::string>& out) {
    out.clear();
    for (const auto item : text::split(value, ',')) {
      if (const auto trimmed = text::trim(item); !trimmed.empty()) out.emplace_back(trimmed);
    }
  }
  template <class Number>
  void from_text(const Setting& s, const std::string& place, const std::string& value, Number& out) {
    std::optional<std::uint64_t> number = text::number(value);
    if (!number && s.kind == Kind::bytes) {
      try {
        number = parse_bytes(value);
      } catch (const ConfigError&) {
        number.reset();
      }
    }
    if (!number || *number < s.min || *number > s.max) {
      return complain(place, fmt::format("'{}' is not {}", value, range_text(s)));
    }
    out = static_cast<Number>(*number);
  }

  void from_node(const Setting& s, const std::string& place, const toml::node& node, std::string& out) {
    const auto value = node.value_exact<std::string>();
    if (!value) return complain(place, fmt::format("{} must be text in quotes", s.key));
    from_text(s, place, *value, out);
  }
  void from_node(const Setting& s, const std::string& place, const toml::node& node, bool& out) {
    const auto value = node.value_exact<bool>();
    if (!value) return complain(place, fmt::format("{} must be true or false, without quotes", s.key));
    out = *value;
  }
  void from_node(const Setting& s, const std::string& place, const toml::node& node,
                 std::vector<std::string>& out) {
    const auto* array = node.as_array();
    std::vector<std::string> items;
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      if (const auto item = array->get(i)->value_exact<std::string>()) items.push_back(*item);
    }
    if (array == nullptr || items.size() != array->size()) {
      return complain(place, fmt::format("{} must be a list of texts, [\"a\", \"b\"]", s.key));
    }
    out = std::move(items);
  }
  template <class Number>
  void from_node(const Setting& s, const std::string& place, const toml::node& node, Number& out) {
    if (const auto words = node.value_exact<std::string>(); words && s.kind == Kind::bytes) {
      return from_text(s, place, *words, out);
    }
    const auto value = node.value_exact<std::int64_t>();
    if (!value) return complain(place, fmt::format("{} must be {}", s.key, range_text(s)));
    from_text(s, place, std::to_string(*value), out);
  }

  Loaded& out_;
};

std::string line_of(const std::string& path, const toml::node& node) {
  return fmt::format("{}:{}", path, node.source().begin.line);
}

void read_file(const std::string& path, bool may_name_data_dir, Assembler& assembler) {
  toml::table root;
  // The reader goes one call deeper with each dot of a key: no line of ours is that long.
  constexpr std::size_t line_bytes_max = 4096, file_bytes_max = 1 << 20;
  std::ifstream in(path, std::ios::binary);
  if (!in) return assembler.complain(path, fmt::format("cannot be read ({})", std::strerror(errno)));
  std::string text, line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.size() > line_bytes_max || text.size() > file_bytes_max) {
      assembler.complain(fmt::format("{}:{}", path, number),
                         line.size() > line_bytes_max ? "this line is too long" : "the file is too long");
      return;
    }
    text += line;
    text += '\n';
  }
  if (!in.eof()) return assembler.complain(path, "cannot be read to its end");
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    const auto at = e.source().begin;
    assembler.complain(at ? fmt::format("{}:{}", path, at.line) : path, std::string(e.description()));
    return;
  }
  std::vector<std::string> sections;
  std::vector<std::string> keys;
  for (const auto& s : settings()) {
    if (sections.empty() || sections.back() != s.section) sections.emplace_back(s.section);
    keys.emplace_back(s.key);
  }
  for (const auto& [name, node] : root) {
    const std::string section(name.str());
    const auto* table = node.as_table();
    const bool known = std::find(sections.begin(), sections.end(), section) != sections.end();
    if (!known || table == nullptr) {
      const auto place = line_of(path, node);
      for (const auto& s : settings()) {
        if (section == s.key) {
          assembler.complain(place, fmt::format("'{}' belongs below [{}]", section, s.section));
        }
      }
      if (std::find(keys.begin(), keys.end(), section) == keys.end()) {
        assembler.complain(place, with_hint(fmt::format("unknown section '{}'", section), section, sections));
      }
      continue;
    }
    for (const auto& [entry, value] : *table) {
      const std::string key(entry.str());
      const auto place = line_of(path, value);
      const auto* setting = find_setting(section, key);
      if (setting == nullptr) {
        std::string complaint = fmt::format("unknown key '{}' in [{}]", key, section);
        for (const auto& s : settings()) {
          if (key == s.key) complaint += fmt::format("; it belongs below [{}]", s.section);
        }
        const bool misplaced = complaint.find(';') != std::string::npos;
        assembler.complain(place, misplaced ? complaint : with_hint(complaint, key, keys));
      } else if (key == "data_dir" && !may_name_data_dir) {
        assembler.complain(
            place,
            "data_dir cannot be set here, for this file was found through it; name the file in "
            "WELKIN_CONFIG, or set WELKIN_DATA_DIR");
      } else {
        assembler.set_node(*setting, place, value);
      }
    }
  }
}

/// A secret's file: its text without the newline at the end.
std::optional<std::string> read_secret(const std::string& path, std::string& why) {
  std::ifstream in(path, std::ios::binary);
  std::string value;
  char piece[1024];
  while (in && value.size() <= 65'536) {
    in.read(piece, sizeof piece);
    value.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) {
    why = value.size() > 65'536 ? "is larger than 64 KiB"
                                : fmt::format("cannot be read ({})", std::strerror(errno));
    return std::nullopt;
  }
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.pop_back();
  return value;
}

void read_environment(const Environment& environment, Assembler& assembler) {
  std::vector<std::string> known{"WELKIN_CONFIG"};
  for (const auto& s : settings()) {
    known.push_back(s.variable());
    if (s.secret) known.push_back(s.variable() + "_FILE");
  }
  for (const auto& [name, value] : environment) {
    if (name.rfind(kPrefix, 0) != 0 || name.rfind("WELKIN_TEST_", 0) == 0) continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      assembler.complain(name, with_hint("there is no such setting", name, known));
    }
  }
  for (const auto& s : settings()) {
    const auto plain = environment.find(s.variable());
    const auto file = s.secret ? environment.find(s.variable() + "_FILE") : environment.end();
    if (plain != environment.end() && file != environment.end()) {
      assembler.complain(s.variable(), "is set, and so is " + file->first + "; only one may be");
    } else if (plain != environment.end()) {
      assembler.set_text(s, plain->first, plain->second);
    } else if (file != environment.end()) {
      std::string why;
      const auto value = read_secret(file->second, why);
      if (value) {
        assembler.set_text(s, file->first, *value);
      } else {
        assembler.complain(file->first, file->second + " " + why);
      }
    }
  }
}

}  // namespace

std::string Setting::variable() const {
  std::string name = kPrefix;
  for (const char* c = key; *c != '\0'; ++c) name += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 32) : *c;
  return name;
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = make_settings();
  return all;
}

std::string default_data_dir(const Environment& environment, bool is_root) {
  if (is_root) return "/var/lib/welkin";
  if (const auto xdg = environment.find("XDG_DATA_HOME");
      xdg != environment.end() && xdg->second.starts_with('/')) {
    return xdg->second + "/welkin";
  }
  if (const auto home = environment.find("HOME");
      home != environment.end() && home->second.starts_with('/')) {
    return home->second + "/.local/share/welkin";
  }
  throw ConfigError("no data directory: neither WELKIN_DATA_DIR, XDG_DATA_HOME nor HOME is set");
}

Loaded load_config(const Environment& environment, const std::string& fallback_data_dir) {
  Loaded out;
  for (const auto& s : settings()) out.sources[s.key] = "default";
  Assembler assembler(out);

  const auto named = environment.find("WELKIN_CONFIG");
  const auto directory = environment.find("WELKIN_DATA_DIR");
  out.config.data_dir = directory != environment.end() ? directory->second : fallback_data_dir;
  std::error_code ignored;
  if (named != environment.end() && !named->second.empty()) {
    out.config.config_file = named->second;
    if (!std::filesystem::exists(named->second, ignored)) {
      assembler.complain("WELKIN_CONFIG", named->second + " does not exist");
    } else {
      read_file(named->second, true, assembler);
    }
  } else if (const auto found = out.config.data_dir + "/welkin.toml";
             std::filesystem::exists(found, ignored)) {
    out.config.config_file = found;
    read_file(found, false, assembler);
  }
  read_environment(environment, assembler);

  check_config(out, assembler.errors, out.warnings);
  if (!assembler.errors.empty()) {
    std::string all;
    for (const auto& e : assembler.errors) all += (all.empty() ? "" : "\n") + e;
    throw ConfigError(all);
  }
  return out;
}

Environment environment_of_process() {
  Environment out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view pair(*entry);
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos) out.emplace(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return out;
}

void forget_secrets() {
  for (const auto& s : settings()) {
    if (!s.secret) continue;
    const auto name = s.variable();
    if (char* value = ::getenv(name.c_str()); value != nullptr) {
      ::explicit_bzero(value, std::strlen(value));
      ::unsetenv(name.c_str());
    }
  }
}

}  // namespace welkin::app
