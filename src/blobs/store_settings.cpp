#include "blobs/store_settings.hpp"

#include "blobs/data_dir.hpp"
#include "welkin/core/log.hpp"

namespace welkin::blobs {
namespace {

constexpr db::Stmt kSetting{"blobs.setting", "select value from settings where key = $1"};
constexpr db::Stmt kKeepSetting{
    "blobs.keep_setting", "insert into settings (key, value) values ($1, $2) on conflict (key) do nothing"};
constexpr db::Stmt kSetSetting{"blobs.set_setting", R"(
    insert into settings (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value)"};
constexpr db::Stmt kDropSetting{"blobs.drop_setting", "delete from settings where key = $1"};

}  // namespace

std::optional<std::string> setting(db::Tx& tx, const char* key) {
  const auto rows = tx.exec(kSetting, key);
  return rows.empty() ? std::nullopt : std::optional(rows[0].str(0));
}

void keep_setting(db::Tx& tx, const char* key, const std::string& value) {
  tx.exec(kKeepSetting, key, value);
}
void set_setting(db::Tx& tx, const char* key, const std::string& value) { tx.exec(kSetSetting, key, value); }
void drop_setting(db::Tx& tx, const char* key) { tx.exec(kDropSetting, key); }

void note_suspicion(db::Db& db, const std::string& data_dir, const std::string& reason) {
  log::error("the chunk store is read-only from now on: {}", reason);
  // Twice, since the disk that holds the first is the one that failed.
  const bool on_disk = DataDir::set_suspect(data_dir, reason);
  bool in_database = false;
  try {
    db.write_now([&](db::Tx& tx) { keep_setting(tx, kStoreSuspectKey, reason); });
    in_database = true;
  } catch (const std::exception& e) {
    log::error("this could not be noted in the database: {}", e.what());
  }
  if (!on_disk && !in_database) log::error("this will be forgotten at a restart: check the disk first");
}

std::optional<std::string> noted_suspicion(db::Db& db, const std::string& data_dir) {
  auto reason = DataDir::suspect_reason(data_dir);
  if (!reason) reason = db.read_now([](db::Tx& tx) { return setting(tx, kStoreSuspectKey); });
  return reason;
}

}  // namespace welkin::blobs
