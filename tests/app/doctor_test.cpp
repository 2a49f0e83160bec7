#include "app/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/scratch.hpp"
#include "welkin/db/migrate.hpp"

namespace welkin::app {
namespace {

constexpr Micros kNow = 1'800'000'000'000'000;

DatabaseState healthy() {
  DatabaseState state;
  state.version = 150'014;
  state.version_text = "15.14";
  state.encoding = "UTF8";
  state.now = kNow;
  state.settings = {{"data_checksums", "on"},
                    {"fsync", "on"},
                    {"full_page_writes", "on"},
                    {"max_connections", "60"},
                    {"synchronous_commit", "on"}};
  for (const auto& migration : db::bundled_migrations()) state.applied.push_back(migration.id);
  return state;
}

Findings look(const DatabaseState& state, Micros now = kNow) {
  Findings out;
  check_database(state, Config{}, now, out);
  return out;
}

Verdict verdict_of(const Findings& findings, const std::string& check) {
  for (const auto& finding : findings) {
    if (finding.check == check) return finding.verdict;
  }
  ADD_FAILURE() << "nothing was said about " << check;
  return Verdict::ok;
}

TEST(Doctor, AHealthyDatabaseIsHealthy) { EXPECT_EQ(worst(look(healthy())), Verdict::ok); }

TEST(Doctor, SettingsThatLoseDataAreFaults) {
  for (const std::size_t which : {1, 2, 4}) {
    auto state = healthy();
    state.settings[which].second = "off";
    EXPECT_EQ(verdict_of(look(state), "database." + state.settings[which].first), Verdict::fault);
    EXPECT_EQ(worst(look(state)), Verdict::fault);
  }
  auto state = healthy();
  state.settings[0].second = "off";
  EXPECT_EQ(worst(look(state)), Verdict::warning);
  state.settings[0].second = "on";
  state.settings[3].second = "10";
  EXPECT_EQ(worst(look(state)), Verdict::warning);
}

TEST(Doctor, OldAndForeignDatabases) {
  auto state = healthy();
  state.version = 140'000;
  EXPECT_EQ(verdict_of(look(state), "database.version"), Verdict::fault);
  state = healthy();
  state.encoding = "LATIN1";
  EXPECT_EQ(verdict_of(look(state), "database.encoding"), Verdict::fault);
  state = healthy();
  state.unknown = {"209901010000_from_the_future"};
  EXPECT_EQ(verdict_of(look(state), "schema"), Verdict::fault);
  state = healthy();
  state.pending = {"209901010000_new"};
  EXPECT_EQ(verdict_of(look(state), "schema"), Verdict::warning);
  state = healthy();
  state.applied.clear();
  EXPECT_EQ(verdict_of(look(state), "schema"), Verdict::ok);
}

TEST(Doctor, ClocksApart) {
  EXPECT_EQ(verdict_of(look(healthy(), kNow + 2'000'000), "clock"), Verdict::ok);
  EXPECT_EQ(verdict_of(look(healthy(), kNow + 60'000'000), "clock"), Verdict::warning);
  EXPECT_EQ(verdict_of(look(healthy(), kNow - 60'000'000), "clock"), Verdict::warning);
}

TEST(Doctor, WhatWaitsForSomebody) {
  const auto look = [](const DatabaseState::Keeping& keeping, const Config& config = {}) {
    Findings out;
    check_keeping(keeping, config, kNow, out);
    return out;
  };
  DatabaseState::Keeping keeping;
  EXPECT_EQ(worst(look(keeping)), Verdict::ok);
  keeping.quarantined = 3;
  EXPECT_EQ(verdict_of(look(keeping), "store.damage"), Verdict::ok) << "replaced already";
  keeping.quarantined_needed = 2;
  EXPECT_EQ(verdict_of(look(keeping), "store.damage"), Verdict::fault);
  keeping = {};
  keeping.known_damage = 1;
  EXPECT_EQ(verdict_of(look(keeping), "store.damage"), Verdict::fault);
  keeping = {};
  keeping.waiting_seconds = 2 * 86'400;
  EXPECT_EQ(verdict_of(look(keeping), "gc"), Verdict::warning);
  keeping.held = true;
  EXPECT_EQ(verdict_of(look(keeping), "gc"), Verdict::ok);
  keeping.parked = 1;
  EXPECT_EQ(verdict_of(look(keeping), "gc.parked"), Verdict::warning);
  keeping = {};
  keeping.scrub_finished = times::rfc3339(kNow - 86'400ll * 1'000'000 * 20);
  EXPECT_EQ(verdict_of(look(keeping), "store.scrub"), Verdict::ok);
  keeping.scrub_finished = times::rfc3339(kNow - 86'400ll * 1'000'000 * 90);
  EXPECT_EQ(verdict_of(look(keeping), "store.scrub"), Verdict::warning);
  Config off;
  off.scrub_mib_per_second = 0;
  EXPECT_EQ(verdict_of(look({}, off), "store.scrub"), Verdict::warning);
}

TEST(Doctor, StoreAndDatabaseBelongTogether) {
  const Scratch scratch;
  Config config;
  config.data_dir = scratch.path();
  const auto look = [&](std::optional<std::string> id) {
    Findings out;
    DatabaseState state;
    state.store_id = std::move(id);
    check_store(config, &state, out);
    return verdict_of(out, "store.id");
  };
  EXPECT_EQ(look(std::nullopt), Verdict::ok);
  EXPECT_EQ(look("one"), Verdict::fault);
  scratch.write("store.id", "one\n");
  EXPECT_EQ(look(std::nullopt), Verdict::ok);
  EXPECT_EQ(look("one"), Verdict::ok);
  EXPECT_EQ(look("two"), Verdict::fault);
}

TEST(Doctor, ASuspectStoreIsAFaultWhereverItIsNoted) {
  const Scratch scratch;
  Config config;
  config.data_dir = scratch.path();
  DatabaseState state;
  const auto look = [&] {
    Findings out;
    check_store(config, &state, out);
    return verdict_of(out, "store.writable");
  };
  EXPECT_EQ(look(), Verdict::ok);
  state.store_suspect = "fdatasync failed";
  EXPECT_EQ(look(), Verdict::fault);
  state.store_suspect.reset();
  scratch.write("store.suspect", "fdatasync failed\n");
  EXPECT_EQ(look(), Verdict::fault);
}

TEST(Doctor, DataDirectory) {
  const Scratch scratch;
  Config config;
  config.data_dir = scratch.path();
  Findings out;
  check_data_dir(config, out);
  EXPECT_EQ(worst(out), Verdict::ok);
  ::chmod(scratch.path().c_str(), 0755);
  check_data_dir(config, out);
  EXPECT_EQ(worst(out), Verdict::warning);
  config.data_dir = scratch.path() + "/not/there";
  Findings missing;
  check_data_dir(config, missing);
  EXPECT_EQ(worst(missing), Verdict::ok);
}

TEST(Doctor, DiskBelowItsFloor) {
  const Scratch scratch;
  Config config;
  config.data_dir = scratch.path() + "/below/it";
  config.disk_floor_bytes = 1ull << 62;
  Findings out;
  check_disk(config, out);
  EXPECT_EQ(verdict_of(out, "disk.space"), Verdict::fault);
}

TEST(Doctor, CertificatesThatAreNone) {
  const Scratch scratch;
  Config config;
  Findings off;
  check_tls(config, off);
  EXPECT_EQ(worst(off), Verdict::ok);
  config.tls_cert = scratch.write("cert.pem", "no certificate");
  config.tls_key = scratch.write("key.pem", "no key");
  Findings out;
  check_tls(config, out);
  EXPECT_EQ(verdict_of(out, "tls.certificate"), Verdict::fault);
}

}  // namespace
}  // namespace welkin::app
