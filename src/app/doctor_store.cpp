#include "app/doctor_store.hpp"

#include <algorithm>

#include "welkin/core/error.hpp"
#include "welkin/db/db.hpp"
#include "welkin/db/migrate.hpp"

namespace welkin::app {
namespace {

constexpr db::Stmt kServer{
    "doctor.server",
    "select current_setting('server_version_num')::int, current_setting('server_version'),"
    " pg_encoding_to_char(encoding)::text, clock_timestamp()"
    " from pg_database where datname = current_database()"};
constexpr db::Stmt kSettings{"doctor.settings",
                             "select name, setting from pg_settings where name = any($1) order by name"};
constexpr db::Stmt kHasTable{"doctor.table", "select to_regclass($1) is not null"};
constexpr db::Stmt kApplied{"doctor.applied",
                            "select id from schema_migrations where finished_at is not null order by id"};
constexpr db::Stmt kStore{"doctor.store",
                          "select key, value from settings where key in ('store.id', 'store.suspect')"};

bool has_table(db::Tx& tx, const char* name) {
  const auto rows = tx.exec(kHasTable, name);
  return !rows.empty() && rows[0].boolean(0);
}

void compare(DatabaseState& state) {
  for (const auto& migration : db::bundled_migrations()) {
    if (std::find(state.applied.begin(), state.applied.end(), migration.id) == state.applied.end()) {
      state.pending.push_back(migration.id);
    }
  }
  for (const auto& id : state.applied) {
    const auto& known = db::bundled_migrations();
    if (std::none_of(known.begin(), known.end(), [&](const auto& m) { return m.id == id; }))
      state.unknown.push_back(id);
  }
}

}  // namespace

DatabaseState read_database_state(const std::string& url) {
  db::Db db({.url = url, .connections = 1});
  auto state = db.read_now([](db::Tx& tx) {
    DatabaseState out;
    const auto server = tx.exec(kServer);
    out.version = server[0].i32(0);
    out.version_text = server[0].str(1);
    out.encoding = server[0].str(2);
    out.now = server[0].timestamp(3);
    const std::vector<std::string> names{"data_checksums", "fsync", "full_page_writes", "max_connections",
                                         "synchronous_commit"};
    for (const auto row : tx.exec(kSettings, names)) out.settings.emplace_back(row.str(0), row.str(1));
    if (has_table(tx, "schema_migrations")) {
      for (const auto row : tx.exec(kApplied)) out.applied.push_back(row.str(0));
    }
    if (has_table(tx, "settings")) {
      for (const auto row : tx.exec(kStore)) {
        (row.text(0) == "store.id" ? out.store_id : out.store_suspect) = row.str(1);
      }
    }
    return out;
  });
  db.close();
  compare(state);
  return state;
}

}  // namespace welkin::app
