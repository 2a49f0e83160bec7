#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

/// Live events: which folders have changed, as it happens.
namespace welkin::files {

/// What to tell a subscriber.
struct EventBatch {
  std::vector<NodeId> folders;  // whose list of children is another one now, or a child in it
  bool resync = false;          // more has changed than can be named: look at everything anew
  bool ended = false;           // the hub is closing
  bool any() const { return resync || !folders.empty(); }
};

/// One look at the drives' numbers, a few times a second and only while somebody listens, wakes those whose
/// drives have moved; each then reads the change log from where he was. Writers do nothing for it: a NOTIFY
/// in their transactions would make all commits of the database wait for one another. Works for any number of
/// servers on one database, and nothing can be missed, for a position in the log is all that is kept. A
/// reader follows the first 200 drives he sees.
class EventHub {
 public:
  struct Limits {
    std::size_t streams = 1'000;
    std::size_t streams_of_user = 16;
    std::chrono::milliseconds interval{300};
  };
  static constexpr std::size_t kFoldersMax = 200;  // in one batch
  static constexpr int kRowsMax = 5'000;           // of the log, for one batch

  explicit EventHub(db::Db& db) : EventHub(db, Limits()) {}
  EventHub(db::Db& db, Limits limits);
  ~EventHub();

  struct Subscriber;
  /// One reader's place. Ends with its destruction; used by one coroutine.
  class Stream {
   public:
    Stream(std::shared_ptr<EventHub> hub, std::shared_ptr<Subscriber> subscriber);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Waits until something the caller may read has changed, at most `limit`. An empty batch means that
    /// nothing has.
    /// @throws Error unavailable
    Task<EventBatch> next(std::chrono::milliseconds limit);
    /// Takes the caller as he is now (his groups, his rights); call now and then. `resync` when he sees other
    /// drives than before.
    Task<EventBatch> refresh(Caller caller);
    /// Makes a `next` that waits return now, with nothing. From any thread.
    void wake();
    /// How far everything has been told: for `subscribe`, after a lost connection. [0-9a-f._]
    std::string position() const;

   private:
    std::shared_ptr<EventHub> hub_;
    std::shared_ptr<Subscriber> subscriber_;
  };

  /// @param since  a position of before, "" for now. What the log no longer knows comes as `resync`.
  /// @throws Error too_many_requests `too_many_streams`, unavailable `closing`
  static Task<std::unique_ptr<Stream>> subscribe(std::shared_ptr<EventHub> hub, Caller caller,
                                                 std::string since);

  /// Ends every stream at once and takes no new ones. Idempotent; before the io_contexts are destroyed.
  void close();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace welkin::files
