#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "welkin/db/db.hpp"

/// Looking for damage, while the server runs or not: what is on the disk against what rows say, and rows
/// against each other. Memory stays small whatever the size of the store: everything is read by key in pages,
/// and each finding is told at once.
namespace welkin::blobs {

struct Finding {
  enum class Weight : std::uint8_t {
    loss,    // bytes that somebody refers to cannot be read
    fault,   // rows that contradict each other or the disk; no byte is missing
    litter,  // what only takes room
  };
  enum class Outcome : std::uint8_t {
    found,     // nothing was done: not asked to
    repaired,  // as good as new
    left,      // was to be repaired and could not be; from now on it is known
    known,     // an earlier repair left it, or set it aside
  };
  Weight weight = Weight::fault;
  Outcome outcome = Outcome::found;
  std::string kind;     // "chunk.missing": stable, for programs; docs/operators.md lists them
  std::string subject;  // "chunk 4711", "folder 12", "blobs/07/x"
  std::string detail;   // what was seen
  std::string action;   // what was done about it, or why nothing could be; "" unless asked to repair
};

/// One run of a check: decides what becomes of each finding, and counts. Used by one thread.
class Inspection {
 public:
  struct Options {
    std::string data_dir;
    bool deep = false;    // reads every byte
    bool repair = false;  // as far as no byte is given up
    /// Files without a row that are younger belong to somebody who is still at it. nullopt: a day beside a
    /// running server, none without.
    std::optional<unsigned> grace_seconds;
  };
  using Tell = std::function<void(const Finding&)>;
  struct Mended {
    bool whole;        // false: what could be done was, the damage stays
    std::string what;  // for people
  };
  using Mend = std::function<Mended()>;

  Inspection(db::Db& db, Options options, Tell tell);

  db::Db& db() { return db_; }
  const Options& options() const { return options_; }

  /// Tells of a fault; when repairing, tries `mend` first. What is left is remembered, and `known` the next
  /// time.
  void report(Finding::Weight weight, const std::string& kind, const std::string& subject,
              const std::string& detail, const Mend& mend = {});
  /// Damage that the store itself keeps a note of: told, not counted as new.
  void mention(Finding::Weight weight, const std::string& kind, const std::string& subject,
               const std::string& detail);
  /// After everything was looked at: forgets remembered damage that was not met any more.
  void finish();

  std::uint64_t count(Finding::Outcome outcome) const;
  /// True when nothing but known damage is left behind.
  bool clean() const { return count(Finding::Outcome::found) + count(Finding::Outcome::left) == 0; }
  /// How many things of each sort were looked at: "chunks" -> 4711.
  std::map<std::string, std::uint64_t> looked_at;

 private:
  void tell(Finding finding);
  bool touch_known(const Finding& finding);
  void remember(const Finding& finding);

  db::Db& db_;
  Options options_;
  Tell tell_;
  std::int64_t started_ = 0;  // microseconds, the database's clock
  std::map<Finding::Outcome, std::uint64_t> counts_;
};

/// The data directory and every row of chunks, contents and their queues. Makes no difference between a store
/// in use and one that is not, but for the grace of Options. A fault is looked at twice before it is told,
/// the second time with the rows locked, so that traffic cannot look like one.
/// @throws std::runtime_error when the directory and the database do not belong together, or there is no
/// store yet
void check_bytes(Inspection& inspection);

}  // namespace welkin::blobs
