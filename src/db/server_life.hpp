#pragma once
#include <cstdint>
#include <string>

namespace welkin::db {

class Connection;

/// Can an answer of pg_xact_status still be about the transaction that asks?
///
/// Numbers of transactions whose records had not reached the disk are handed out again after a crash, so a
/// `committed` read after one may be about somebody else. The one row of the unlogged table `server_life`
/// tells: a clean restart keeps it, crash recovery and failover empty it.
///
/// @return the life's name; empty when it cannot be told (no such table yet, a standby)
std::string read_server_life(Connection& connection);

/// Makes the table; run by `migrate`.
inline constexpr const char* kServerLifeTable =
    "create unlogged table if not exists server_life ("
    "  singleton boolean primary key default true check (singleton), id uuid not null default "
    "gen_random_uuid())";

enum class Outcome { committed, aborted, running, undecidable };

/// What became of transaction `xid`, which ran in the life `server_life`. @throws ConnectionLost, SqlError
Outcome outcome_of(Connection& connection, std::int64_t xid, const std::string& server_life);

}  // namespace welkin::db
