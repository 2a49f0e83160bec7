#include "people/touches.hpp"

#include <vector>

namespace welkin::people {
namespace {

constexpr db::Stmt kTouchSessions{"people.touch_sessions", R"(
  update sessions s set last_used_at = greatest(s.last_used_at, to_timestamp(x.at / 1e6))
    from unnest($1, $2) x (id, at) where s.id = x.id)"};
constexpr db::Stmt kTouchAppPasswords{"people.touch_app_passwords", R"(
  update app_passwords a set last_used_at = greatest(a.last_used_at, to_timestamp(x.at / 1e6))
    from unnest($1, $2) x (id, at) where a.id = x.id)"};

void write(db::Tx& tx, const db::Stmt& stmt, const std::map<std::int64_t, Micros>& notes) {
  if (notes.empty()) return;
  std::vector<std::int64_t> ids, times;
  for (const auto& [id, at] : notes) {  // in order of ids, so that two nodes cannot deadlock
    ids.push_back(id);
    times.push_back(at);
  }
  tx.exec(stmt, ids, times);
}

}  // namespace

void Touches::note(Notes& notes, std::int64_t id, Micros at) {
  {
    const std::lock_guard lock(mutex_);
    if (notes.size() >= kNotesMax && !notes.contains(id)) return;
    notes[id] = at;
    if (scheduled_) return;
    scheduled_ = true;
  }
  const bool queued = pool_.post([this] { flush(); });
  if (queued) return;
  const std::lock_guard lock(mutex_);
  scheduled_ = false;
}

void Touches::flush() {
  Notes sessions, app_passwords;
  {
    const std::lock_guard lock(mutex_);
    sessions.swap(sessions_);
    app_passwords.swap(app_passwords_);
    scheduled_ = false;
  }
  db_.write_now([&](db::Tx& tx) {
    write(tx, kTouchSessions, sessions);
    write(tx, kTouchAppPasswords, app_passwords);
  });
}

}  // namespace welkin::people
