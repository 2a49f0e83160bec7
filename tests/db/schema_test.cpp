#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "support/test_db.hpp"

namespace welkin::db {
namespace {

// The version that migrations/schema.sql is written with.
constexpr const char* kDump = "/usr/lib/postgresql/15/bin/pg_dump --schema-only --no-owner --no-privileges ";

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run pg_dump");
  std::string out;
  char buffer[4096];
  while (const auto n = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  if (pclose(pipe) != 0) throw std::runtime_error("pg_dump failed");
  return out;
}

// Drops what says nothing about the schema: comments, settings, psql commands with random tokens, empty lines
// in a row.
std::string normalised(const std::string& dump) {
  std::istringstream in(dump);
  std::string out;
  bool gap = false;
  for (std::string line; std::getline(in, line);) {
    const bool noise = line.starts_with("--") || line.starts_with("SET ") || line.starts_with("\\") ||
                       line.starts_with("SELECT pg_catalog.set_config");
    if (noise) continue;
    if (line.empty()) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += "\n";
    gap = false;
    out += line + "\n";
  }
  return out;
}

// WELKIN_WRITE_SCHEMA=1 (scripts/dump-schema) writes the file anew.
TEST(Schema, TheCommittedDumpIsWhatTheMigrationsMake) {
  tests::TestDb db;
  const auto made = normalised(output_of(kDump + ("-d '" + db.url() + "'")));
  ASSERT_GT(made.size(), 1000u);
  if (std::getenv("WELKIN_WRITE_SCHEMA") != nullptr) {
    std::ofstream(WELKIN_SCHEMA_FILE)
        << "-- The schema as all migrations make it. Written by scripts/dump-schema.\n\n"
        << made;
  }
  std::ifstream in(WELKIN_SCHEMA_FILE);
  const std::string committed(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(normalised(committed), made) << "run scripts/dump-schema and look at the difference";
}

}  // namespace
}  // namespace welkin::db
