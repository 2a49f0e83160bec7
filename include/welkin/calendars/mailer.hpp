#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "welkin/core/config.hpp"
#include "welkin/db/db.hpp"

namespace welkin::calendars {

/// Hands invitations that wait in the database to the relay, on a thread of its own: a relay may take its
/// time. Several nodes share the work. What a relay does not take is tried again for three days, with growing
/// pauses. A mail is marked as sent after the relay has taken it, so one may go out twice when the process
/// dies just then, with the same Message-ID; none is lost.
class Mailer {
 public:
  Mailer(db::Db& db, const Config& config);
  ~Mailer();
  /// Does nothing without a relay.
  void start();
  /// Waits for the mail in hand. Idempotent.
  void stop();
  /// One mail, now, on the calling thread. @return false: none is due
  bool send_one();

 private:
  void run();

  db::Db& db_;
  const Config& config_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

/// Ends messages in inboxes that nobody has taken for 90 days, some at a time. For the scheduler.
/// @return true: more is waiting
bool purge_inboxes(db::Db& db);

}  // namespace welkin::calendars
