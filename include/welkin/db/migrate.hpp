#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace welkin::db {

/// One file of migrations/, compiled into the binary.
struct Migration {
  std::string id;  // "202611301100_create_people": the order is the order of ids
  std::string sql;
};

/// Brings a database to the newest schema, under an advisory lock (a second server waits, then finds nothing
/// to do).
///
/// Each migration is split into its statements and runs in one transaction, with its row in
/// `schema_migrations`; one whose first line is `-- welkin: no-transaction` runs statement by statement
/// (CREATE INDEX CONCURRENTLY), each noted in `schema_migrations.step`, so that a kill anywhere resumes
/// behind the last finished statement. functions/*.sql are `create or replace` and run whenever their hash
/// changed.
///
/// @return ids applied now
/// @throws Error unavailable; std::runtime_error "the database was written by a newer Welkin (...)" when it
/// knows
///         migrations this binary does not
std::vector<std::string> migrate(const std::string& url, const std::vector<Migration>& migrations,
                                 const std::vector<Migration>& functions);

/// What is compiled in (generated from migrations/ at build time).
const std::vector<Migration>& bundled_migrations();
const std::vector<Migration>& bundled_functions();

/// Cuts a script into statements; knows quotes, dollar quotes and comments. Pure.
std::vector<std::string> split_statements(std::string_view script);

}  // namespace welkin::db
