#include "app/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "app/scratch.hpp"

namespace welkin::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Loaded load(Environment environment, const std::string& fallback = "/nowhere/welkin") {
  return load_config(environment, fallback);
}

std::string complaint(Environment environment, const std::string& fallback = "/nowhere/welkin") {
  try {
    load(std::move(environment), fallback);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(Config, DefaultsNeedNothing) {
  const auto loaded = load({});
  EXPECT_EQ(loaded.config.listen, "127.0.0.1:8086");
  EXPECT_EQ(loaded.config.data_dir, "/nowhere/welkin");
  EXPECT_EQ(loaded.sources.at("listen"), "default");
  EXPECT_TRUE(loaded.config.config_file.empty());
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(Config, EveryRowIsDistinct) {
  std::set<std::string> keys;
  for (const auto& s : settings()) {
    EXPECT_TRUE(keys.insert(s.key).second) << s.key << " stands twice";
    EXPECT_GT(std::strlen(s.help), 0u) << s.key;
    EXPECT_EQ(s.variable().rfind("WELKIN_", 0), 0u);
  }
}

TEST(Config, EnvironmentWinsOverFileOverDefault) {
  const Scratch scratch;
  const auto file = scratch.write("welkin.toml", "[limits]\nidle_seconds = 11\nheader_seconds = 12\n");
  const auto loaded = load({{"WELKIN_CONFIG", file}, {"WELKIN_IDLE_SECONDS", "13"}});
  EXPECT_EQ(loaded.config.idle_seconds, 13u);
  EXPECT_EQ(loaded.config.header_seconds, 12u);
  EXPECT_EQ(loaded.config.body_stall_seconds, 30u);
  EXPECT_EQ(loaded.sources.at("idle_seconds"), "WELKIN_IDLE_SECONDS");
  EXPECT_EQ(loaded.sources.at("header_seconds"), file + ":3");
  EXPECT_EQ(loaded.config.config_file, file);
}

TEST(Config, FileInTheDataDirectoryIsFound) {
  const Scratch scratch;
  scratch.write("welkin.toml", "[server]\nlisten = \"127.0.0.1:9000\"\n");
  EXPECT_EQ(load({{"WELKIN_DATA_DIR", scratch.path()}}).config.listen, "127.0.0.1:9000");
  EXPECT_EQ(load({}, scratch.path()).config.listen, "127.0.0.1:9000");
  EXPECT_EQ(load({{"WELKIN_DATA_DIR", "/nowhere"}}, scratch.path()).config.listen, "127.0.0.1:8086");
}

TEST(Config, DataDirInAFileOnlyWhenTheFileWasNamed) {
  const Scratch scratch;
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  scratch.write("welkin.toml", "[server]\n" + deep + " = 1\n");
  EXPECT_THAT(complaint({}, scratch.path()), HasSubstr("welkin.toml:2: this line is too long"));
  const auto file = scratch.write("welkin.toml", "[server]\ndata_dir = \"/elsewhere\"\n");
  EXPECT_EQ(load({{"WELKIN_CONFIG", file}}).config.data_dir, "/elsewhere");
  EXPECT_THAT(complaint({}, scratch.path()), HasSubstr("welkin.toml:2: data_dir cannot be set here"));
}

TEST(Config, NamedFileMustExist) {
  EXPECT_THAT(complaint({{"WELKIN_CONFIG", "/nowhere/x.toml"}}),
              HasSubstr("WELKIN_CONFIG: /nowhere/x.toml does not exist"));
}

struct BadFile {
  const char* text;
  const char* complaint;
};
void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.text; }
class BadFiles : public ::testing::TestWithParam<BadFile> {};
TEST_P(BadFiles, AreRefusedWithTheirLine) {
  const Scratch scratch;
  const auto file = scratch.write("w.toml", GetParam().text);
  EXPECT_THAT(complaint({{"WELKIN_CONFIG", file}}), HasSubstr(GetParam().complaint));
}
INSTANTIATE_TEST_SUITE_P(
    Config, BadFiles,
    ::testing::Values(
        BadFile{"[server]\nlisten = \n", "w.toml:2: "}, BadFile{"[server\n", "w.toml:1: "},
        BadFile{"[server]\nlisten = \"x\"\nlisten = \"y\"\n", "w.toml:3: "},
        BadFile{"[server]\nlissten = \"127.0.0.1:1\"\n",
                "w.toml:2: unknown key 'lissten' in [server] (did you mean listen?)"},
        BadFile{"\n[servers]\n", "w.toml:2: unknown section 'servers' (did you mean server?)"},
        BadFile{"[server]\nlog_level = \"info\"\n",
                "w.toml:2: unknown key 'log_level' in [server]; it belongs below [observing]"},
        BadFile{"listen = \"127.0.0.1:1\"\n", "w.toml:1: 'listen' belongs below [server]"},
        BadFile{"[server]\nlisten = 8086\n", "w.toml:2: listen must be text in quotes"},
        BadFile{"[limits]\nidle_seconds = \"75\"\n",
                "w.toml:2: idle_seconds must be a whole number from 1 to 3600"},
        BadFile{"[limits]\nidle_seconds = 7.5\n", "w.toml:2: idle_seconds must be a whole number"},
        BadFile{"[limits]\nidle_seconds = -1\n", "w.toml:2: '-1' is not a whole number from 1 to 3600"},
        BadFile{"[limits]\nidle_seconds = 3601\n", "w.toml:2: '3601' is not a whole number from 1 to 3600"},
        BadFile{"[limits]\njson_bytes_max = \"lots\"\n", "w.toml:2: 'lots' is not"},
        BadFile{"[observing]\naccess_log = \"true\"\n", "w.toml:2: access_log must be true or false"},
        BadFile{"[observing]\nlog_level = \"inf\"\n", "(did you mean info?)"},
        BadFile{"[observing]\nlog_format = \"xml\"\n", "'xml' is none of text or json"},
        BadFile{"[server]\ntrusted_proxies = \"10.0.0.0/8\"\n", "w.toml:2: trusted_proxies must be a list"},
        BadFile{"[server]\ntrusted_proxies = [\"10.0.0.0/8\", 7]\n",
                "w.toml:2: trusted_proxies must be a list"},
        BadFile{"[server]\ntrusted_proxies = [\"10.0.0.0/33\"]\n",
                "w.toml:2: trusted_proxies: '10.0.0.0/33' is no address range"},
        BadFile{"[server]\nallowed_hosts = [\"https://x\"]\n", "is no host name"},
        BadFile{"[bytes]\ngc_grace_seconds = 60\n", "'60' is not a whole number from 3600"}));

struct BadVariable {
  const char* name;
  const char* value;
  const char* complaint;
};
void PrintTo(const BadVariable& bad, std::ostream* out) { *out << bad.name << "=" << bad.value; }
class BadVariables : public ::testing::TestWithParam<BadVariable> {};
TEST_P(BadVariables, AreRefusedByName) {
  EXPECT_THAT(complaint({{GetParam().name, GetParam().value}}), HasSubstr(GetParam().complaint));
}
INSTANTIATE_TEST_SUITE_P(
    Config, BadVariables,
    ::testing::Values(BadVariable{"WELKIN_LISTN", "x",
                                  "WELKIN_LISTN: there is no such setting (did you mean WELKIN_LISTEN?)"},
                      BadVariable{"WELKIN_LISTEN_FILE", "x", "WELKIN_LISTEN_FILE: there is no such setting"},
                      BadVariable{"WELKIN_LISTEN", "8086", "WELKIN_LISTEN: '8086' has no port"},
                      BadVariable{"WELKIN_LISTEN", "127.0.0.1:70000", "has no valid port"},
                      BadVariable{"WELKIN_LISTEN", "::1:8086", "needs brackets"},
                      BadVariable{"WELKIN_LISTEN", "cloud.example.org:80", "is no IP address"},
                      BadVariable{"WELKIN_BASE_URL", "cloud.example.org",
                                  "WELKIN_BASE_URL: 'cloud.example.org' must begin with https://"},
                      BadVariable{"WELKIN_BASE_URL", "https://x.org/", "must not end with a slash"},
                      BadVariable{"WELKIN_BASE_URL", "https://x.org/a/../b", "dotted path segment"},
                      BadVariable{"WELKIN_BASE_URL", "https://u@x.org", "must be an origin"},
                      BadVariable{"WELKIN_BASE_URL", "https://x.org:0", "no valid host"},
                      BadVariable{"WELKIN_BASE_URL", "https://x.org?a=b", "must be an origin"},
                      BadVariable{"WELKIN_ACCESS_LOG", "yes",
                                  "WELKIN_ACCESS_LOG: 'yes' is neither true nor false"},
                      BadVariable{"WELKIN_IDLE_SECONDS", "", "WELKIN_IDLE_SECONDS: '' is not a whole number"},
                      BadVariable{"WELKIN_IDLE_SECONDS", " 5", "is not a whole number"},
                      BadVariable{"WELKIN_IDLE_SECONDS", "99999999999999999999", "is not a whole number"},
                      BadVariable{"WELKIN_UPLOAD_BYTES_MAX", "10 XB", "is not a size"},
                      BadVariable{"WELKIN_TLS_CERT", "/x.pem", "must be set together"},
                      BadVariable{"WELKIN_SETUP_TOKEN", "short", "at least 16 letters"},
                      BadVariable{"WELKIN_METRICS_TOKEN", "short", "at least 16 letters"},
                      BadVariable{"WELKIN_METRICS_LISTEN", "127.0.0.1:8086", "is the same as listen"},
                      BadVariable{"WELKIN_DATA_DIR", "data", "is not an absolute path"},
                      BadVariable{"WELKIN_DATABASE_URL", "localhost", "must be postgresql://"},
                      BadVariable{"WELKIN_SETUP_TOKEN_FILE", "/nowhere/token",
                                  "WELKIN_SETUP_TOKEN_FILE: /nowhere/token cannot be read"}));

TEST(Config, ComplainsAboutEverythingAtOnce) {
  const auto all = complaint({{"WELKIN_LISTN", "x"}, {"WELKIN_IDLE_SECONDS", "x"}, {"WELKIN_BASE_URL", "x"}});
  EXPECT_THAT(all, HasSubstr("WELKIN_LISTN"));
  EXPECT_THAT(all, HasSubstr("WELKIN_IDLE_SECONDS"));
  EXPECT_THAT(all, HasSubstr("WELKIN_BASE_URL"));
}

TEST(Config, ARelayNeedsAnAddressAndNoOpenPassword) {
  const Environment relay{{"WELKIN_MAIL_HOST", "smtp.example.org"},
                          {"WELKIN_MAIL_FROM", "cloud@example.org"}};
  EXPECT_EQ(complaint(relay), "");
  auto with = [&](Environment more) {
    more.insert(relay.begin(), relay.end());
    return complaint(more);
  };
  EXPECT_THAT(complaint({{"WELKIN_MAIL_HOST", "smtp.example.org"}}), HasSubstr("needs mail_from"));
  EXPECT_THAT(with({{"WELKIN_MAIL_FROM", "x\r\nBcc: y@z"}}), HasSubstr("needs mail_from"));
  EXPECT_THAT(with({{"WELKIN_MAIL_HOST", "smtp.example.org:25"}}), HasSubstr("is no host name"));
  EXPECT_THAT(with({{"WELKIN_MAIL_USER", "u"}}), HasSubstr("must be set together"));
  const Environment signed_in{{"WELKIN_MAIL_USER", "u"}, {"WELKIN_MAIL_PASSWORD", "p"}};
  EXPECT_EQ(with(signed_in), "");
  auto open = signed_in;
  open["WELKIN_MAIL_TLS"] = "none";
  EXPECT_THAT(with(open), HasSubstr("only with mail_tls"));
  open["WELKIN_MAIL_HOST"] = "127.0.0.1";
  EXPECT_EQ(with(open), "");
}

TEST(Config, ForeignAndTestVariablesAreNobodysBusiness) {
  EXPECT_EQ(complaint({{"PATH", "/bin"}, {"WELKINX", "1"}, {"WELKIN_TEST_DATABASE_URL", "x"}}), "");
}

TEST(Config, SecretsComeFromFiles) {
  const Scratch scratch;
  const auto file = scratch.write("token", "0123456789abcdef-secret\n");
  const auto loaded = load({{"WELKIN_SETUP_TOKEN_FILE", file}});
  EXPECT_EQ(loaded.config.setup_token, "0123456789abcdef-secret");
  EXPECT_EQ(loaded.sources.at("setup_token"), "WELKIN_SETUP_TOKEN_FILE");
  EXPECT_THAT(complaint({{"WELKIN_SETUP_TOKEN_FILE", file}, {"WELKIN_SETUP_TOKEN", "off"}}),
              HasSubstr("only one may be"));
}

TEST(Config, ListsAreCommaSeparatedInVariables) {
  const auto loaded = load({{"WELKIN_TRUSTED_PROXIES", " 10.0.0.0/8, ::1 ,192.168.1.1"}});
  EXPECT_THAT(loaded.config.trusted_proxies, ::testing::ElementsAre("10.0.0.0/8", "::1", "192.168.1.1"));
  EXPECT_TRUE(load({{"WELKIN_TRUSTED_PROXIES", ""}}).config.trusted_proxies.empty());
}

TEST(Config, WarnsAboutAnOpenSetup) {
  EXPECT_EQ(load({{"WELKIN_SETUP_TOKEN", "off"}, {"WELKIN_LISTEN", "0.0.0.0:80"}}).warnings.size(), 1u);
  EXPECT_TRUE(load({{"WELKIN_SETUP_TOKEN", "off"}}).warnings.empty());
}

TEST(Config, Sizes) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("512"), 512u);
  EXPECT_EQ(parse_bytes("10GB"), 10'000'000'000u);
  EXPECT_EQ(parse_bytes("10 gb"), 10'000'000'000u);
  EXPECT_EQ(parse_bytes("64MiB"), 67'108'864u);
  EXPECT_EQ(parse_bytes("1.5k"), 1500u);
  EXPECT_EQ(parse_bytes("2TiB"), 2'199'023'255'552u);
  EXPECT_EQ(parse_bytes("9223372036854775807"), 9'223'372'036'854'775'807u);
  for (const char* bad :
       {"", "GB", "-1", "1.5", "1e3", "10 XB", "1..5k", "18446744073709551616", "9999999TB", "0x10"}) {
    EXPECT_THROW(parse_bytes(bad), ConfigError) << bad;
  }
}

TEST(Config, Addresses) {
  EXPECT_EQ(parse_address("127.0.0.1:80"), std::make_pair(std::string("127.0.0.1"), std::uint16_t{80}));
  EXPECT_EQ(parse_address("[::1]:8086").first, "::1");
  EXPECT_EQ(parse_address(":8086").first, "0.0.0.0");
  EXPECT_EQ(parse_address("localhost:0").first, "127.0.0.1");
}

TEST(Config, DefaultDataDir) {
  EXPECT_EQ(default_data_dir({{"HOME", "/users/x"}}, true), "/var/lib/welkin");
  EXPECT_EQ(default_data_dir({{"HOME", "/users/x"}}, false), "/users/x/.local/share/welkin");
  EXPECT_EQ(default_data_dir({{"HOME", "/users/x"}, {"XDG_DATA_HOME", "/d"}}, false), "/d/welkin");
  EXPECT_EQ(default_data_dir({{"HOME", "/users/x"}, {"XDG_DATA_HOME", "relative"}}, false),
            "/users/x/.local/share/welkin");
  EXPECT_THROW(default_data_dir({}, false), ConfigError);
}

TEST(Config, PrintMasksSecretsAndNamesSources) {
  const auto loaded =
      load({{"WELKIN_DATABASE_URL", "postgresql://u:hunter2@h/d"}, {"WELKIN_LISTEN", "127.0.0.1:1"}});
  for (const auto form : {PrintAs::toml, PrintAs::json, PrintAs::markdown}) {
    EXPECT_THAT(print_config(loaded, form), Not(HasSubstr("hunter2")));
  }
  const auto toml = print_config(loaded, PrintAs::toml);
  EXPECT_THAT(toml, HasSubstr("database_url = \"********\""));
  EXPECT_THAT(toml, ::testing::ContainsRegex("listen = \"127.0.0.1:1\" +# WELKIN_LISTEN"));
  const auto json = nlohmann::json::parse(print_config(loaded, PrintAs::json));
  EXPECT_EQ(json["settings"]["listen"]["source"], "WELKIN_LISTEN");
  EXPECT_EQ(json["settings"].size(), settings().size());
}

TEST(Config, WhatIsPrintedCanBeReadBack) {
  const Scratch scratch;
  const auto before = load({{"WELKIN_IDLE_SECONDS", "99"},
                            {"WELKIN_TRUSTED_PROXIES", "10.0.0.0/8,::1"},
                            {"WELKIN_BASE_URL", "https://x.org/a\u00e9"},
                            {"WELKIN_TLS_CERT", "/a \"b\"\\c\t.pem"},
                            {"WELKIN_TLS_KEY", "/k"},
                            {"WELKIN_ACCESS_LOG", "false"}});
  const auto file = scratch.write("printed.toml", print_config(before, PrintAs::toml));
  const auto after = load({{"WELKIN_CONFIG", file}}, "/unused");
  EXPECT_EQ(after.config.idle_seconds, 99u);
  EXPECT_EQ(after.config.trusted_proxies, before.config.trusted_proxies);
  EXPECT_EQ(after.config.base_url, before.config.base_url);
  EXPECT_EQ(after.config.tls_cert, before.config.tls_cert);
  EXPECT_FALSE(after.config.access_log);
  // A file in the data directory may not say where that is, so the line is a comment.
  EXPECT_EQ(after.config.data_dir, "/unused");
  EXPECT_THAT(print_config(before, PrintAs::toml), HasSubstr("\n# data_dir = \"/nowhere/welkin\""));
}

TEST(Config, SecretsLeaveTheEnvironmentAndItsMemory) {
  static char entry[] = "WELKIN_METRICS_TOKEN=0123456789abcdef";
  ASSERT_EQ(::putenv(entry), 0);
  ASSERT_EQ(environment_of_process().at("WELKIN_METRICS_TOKEN"), "0123456789abcdef");
  forget_secrets();
  EXPECT_EQ(::getenv("WELKIN_METRICS_TOKEN"), nullptr);
  EXPECT_EQ(std::string_view(entry + std::strlen("WELKIN_METRICS_TOKEN="), 16),
            std::string_view(std::string(16, '\0')));
}

}  // namespace
}  // namespace welkin::app
