#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "welkin/core/clock.hpp"
#include "welkin/core/id.hpp"
#include "welkin/core/work_pool.hpp"
#include "welkin/db/db.hpp"

namespace welkin::people {

/// Keeps `last_used_at` of sessions and app passwords to the minute without making reads wait for a write: a
/// request that finds the column older than a minute leaves a note here, and a thread writes all notes in one
/// statement. Notes are lost when the process dies; they are for people's eyes only.
class Touches {
 public:
  static constexpr Micros kEvery = 60'000'000;
  static constexpr std::size_t kNotesMax = 10'000;

  explicit Touches(db::Db& db) : db_(db), pool_("last-used", 1, 4) {}

  void session(SessionId id, Micros at) { note(sessions_, id.value, at); }
  void app_password(AppPasswordId id, Micros at) { note(app_passwords_, id.value, at); }

  /// Writes what is noted now, on the calling thread.
  void flush();
  void close() { pool_.join(); }

 private:
  using Notes = std::map<std::int64_t, Micros>;
  void note(Notes& notes, std::int64_t id, Micros at);

  db::Db& db_;
  std::mutex mutex_;
  Notes sessions_, app_passwords_;
  bool scheduled_ = false;
  WorkPool pool_;
};

}  // namespace welkin::people
