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

constexpr db::Stmt kKeeping{"doctor.keeping", R"(
    select (select count(*) from chunks where quarantined),
           (select count(*) from chunks c where quarantined
               and exists (select from content_chunks r where r.chunk_id = c.id)),
           (select count(*) from known_damage),
           (select count(*) from content_gc), (select count(*) from chunk_gc),
           coalesce((select extract(epoch from now() - min(since))::bigint - $1::bigint from content_gc), 0),
           coalesce((select extract(epoch from now() - min(since))::bigint from chunk_gc where not parked), 0),
           (select count(*) from chunk_gc where parked),
           (select count(*) from uploads), (select coalesce(sum(reserved), 0)::bigint from uploads),
           coalesce((select extract(epoch from now() - min(created_at))::bigint from uploads), 0),
           (select value from settings where key = 'scrub.finished'),
           exists (select from settings where key = 'scrub.cursor'),
           exists (select from settings where key = 'gc.hold_until' and value::timestamptz > now()))"};

DatabaseState::Keeping read_keeping(db::Tx& tx, unsigned gc_grace_seconds) {
  const auto rows = tx.one(kKeeping, static_cast<std::int64_t>(gc_grace_seconds));
  const auto row = rows[0];
  return {.quarantined = row.i64(0),
          .quarantined_needed = row.i64(1),
          .known_damage = row.i64(2),
          .contents_waiting = row.i64(3),
          .chunks_waiting = row.i64(4),
          .waiting_seconds = std::max({std::int64_t{0}, row.i64(5), row.i64(6)}),
          .parked = row.i64(7),
          .uploads = row.i64(8),
          .reserved_bytes = row.i64(9),
          .oldest_upload_seconds = row.i64(10),
          .scrub_finished = row.opt_str(11),
          .scrub_running = row.boolean(12),
          .held = row.boolean(13)};
}

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

DatabaseState read_database_state(const std::string& url, unsigned gc_grace_seconds) {
  db::Db db({.url = url, .connections = 1});
  auto state = db.read_now([&](db::Tx& tx) {
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
    if (has_table(tx, "known_damage")) out.keeping = read_keeping(tx, gc_grace_seconds);
    return out;
  });
  db.close();
  compare(state);
  return state;
}

}  // namespace welkin::app
