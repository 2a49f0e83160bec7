#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "welkin/core/bytes.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

namespace welkin::collections {

using CollectionId = Id<struct CollectionTag>;

/// An inbox holds scheduling messages; it is nobody's but its owner's.
enum class Kind : std::int16_t { calendar = 1, book = 2, inbox = 5 };

/// What a calendar may hold: bits.
namespace component {
inline constexpr std::int16_t kEvent = 1, kTodo = 2, kJournal = 4, kAll = 7;
}  // namespace component

/// 128 bits of SHA-256 over the bytes.
using Etag = db::Uuid;
Etag etag_of(std::string_view data);
/// In hex, without quotes.
std::string etag_text(const Etag& etag);
std::optional<Etag> parse_etag(std::string_view text);

/// What is found out about a member's bytes when it is written, so that nobody has to read them to find it.
struct Facts {
  std::string uid;
  std::int16_t component = 0;               // a bit of component::*; 0: a card
  std::int16_t flags = 0;                   // kRecurs, kHasAlarms; cards: kGroup
  std::optional<std::int64_t> first, last;  // seconds of the first start and the last end
  std::string title;
  std::string search;
  std::vector<std::string> emails, phones;
};
namespace object_flags {
inline constexpr std::int16_t kRecurs = 1, kHasAlarms = 2, kGroup = 1;
/// Not for everybody who may read the calendar: private ones are the owner's alone, of confidential ones
/// others are told what a Mask leaves.
inline constexpr std::int16_t kPrivate = 4, kConfidential = 8;
}  // namespace object_flags

/// What others are told of a confidential object. Pure.
using Mask = std::string (*)(std::string_view data);

/// A collection, and whether its members are read with its owner's eyes (Collection::sight).
struct Sight {
  CollectionId collection;
  bool is_owner = false;
};

/// What must be true of the name when the write happens.
struct Expect {
  enum class Kind : std::int16_t { anything = 0, must_be_new = 1, must_exist = 2, etag_is = 3 };
  Kind kind = Kind::anything;
  Etag etag{};
};

/// One member.
struct Object {
  std::int64_t id = 0;  // its key; of a name, not of what has it: it stays when the name comes back
  std::string name;
  Etag etag{};
  std::int64_t seq = 0;
  std::int16_t component = 0;
  std::int32_t size_bytes = 0;
  bool masked = false;  // what is told is not what is stored, so the reader cannot write it
  Micros created_at = 0, modified_at = 0;
  std::string data;                        // "" unless asked for
  std::optional<db::Uuid> schedule_tag{};  // of scheduling objects (RFC 6638 §3.2.10)
};

/// One member of a listing, in views that hold until the next page is asked for.
struct ObjectRow {
  std::string_view name;
  Etag etag{};
  std::int64_t seq = 0;
  std::int16_t component = 0;
  std::int32_t size_bytes = 0;
  bool deleted = false;                    // nothing but name and seq
  bool masked = false;                     // as of Object
  Micros created_at = 0, modified_at = 0;  // 0 unless asked for
  std::string_view data;                   // "" unless asked for
  std::optional<db::Uuid> schedule_tag{};  // with times or data
};
ObjectRow row_of(const Object& object);

/// What a listing shall know beside names and etags.
struct ObjectWants {
  bool times = false;
  bool data = false;
};

/// Members in the order of their last change, page by page and one page ahead of the reader. Holds no
/// connection while the reader takes his time. What changes meanwhile may be told twice, and is never missed.
class ObjectList {
 public:
  struct Range {
    std::int64_t after = 0;             // changed later than this number
    std::optional<std::int64_t> until;  // and not later than this one
    bool tombstones = false;            // those that are gone too
    std::int16_t components = 0;        // 0: any
  };
  ObjectList(db::Db& db, Sight sight, Mask mask, Range range, ObjectWants wants);
  ~ObjectList();
  ObjectList(ObjectList&&) noexcept;

  /// The next page; empty at the end. @throws Error unavailable
  Task<std::span<const ObjectRow>> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Members of collections. Whoever reads has been shown the collection (Collections::find) and sees what his
/// sight of it allows: what is hidden is as if it were not there, what is masked has the entity tag and the
/// size of what is told. Whoever writes is looked at again.
class Objects {
 public:
  static constexpr std::size_t kNameBytesMax = 255;

  /// @param mask  nullptr: nobody else is told of confidential objects at all
  explicit Objects(db::Db& db, Mask mask = nullptr) : db_(db), mask_(mask) {}

  Task<std::optional<Object>> find(Sight sight, std::string name);
  /// With their data, in any order; those that are not there are left out.
  Task<std::vector<Object>> named(Sight sight, std::vector<std::string> names);
  ObjectList list(Sight sight, ObjectList::Range range, ObjectWants wants) {
    return ObjectList(db_, sight, mask_, range, wants);
  }
  /// Keys of the members that may have to do with a span of time; a superset, in no order.
  /// @param from, to  seconds; the span without `to`
  Task<std::vector<std::int64_t>> within(Sight sight, std::int16_t components, std::int64_t from,
                                         std::int64_t to);
  /// Members by key, with their data; those that are gone are left out.
  Task<std::vector<Object>> by_keys(Sight sight, std::vector<std::int64_t> keys);
  struct Held {
    std::string uid;
    Object object;
  };
  /// The members that have these UIDs, with their data, in any order.
  Task<std::vector<Held>> by_uids(Sight sight, std::vector<std::string> uids);

  struct Written {
    enum class Verdict : std::uint8_t { done, uid_conflict, exists, component };
    Verdict verdict = Verdict::done;  // else nothing was changed
    std::string holder;               // who has the UID
    bool created = false;
    Micros modified_at = 0;
  };
  struct NewObject {
    std::string name;
    Facts facts;
    std::string data;
    Expect expect;
  };
  /// @throws Error not_found, forbidden, precondition_failed, quota_exceeded
  Task<Written> put(Caller caller, CollectionId collection, NewObject object);
  /// In one transaction, in their order; a verdict of one does not stop the others.
  /// @throws Error as put: then nothing was changed
  Task<std::vector<Written>> put_all(Caller caller, CollectionId collection, std::vector<NewObject> objects);
  /// Kept in the trash. @throws Error not_found, forbidden, precondition_failed
  Task<> remove(Caller caller, CollectionId collection, std::string name, Expect expect);

  struct Transfer {
    CollectionId from, to;
    std::string name, to_name;
    bool copy = false, overwrite = true;
    Expect expect;  // of the source
  };
  /// @throws Error not_found, forbidden, precondition_failed, quota_exceeded
  Task<Written> transfer(Caller caller, Transfer what);

 private:
  db::Db& db_;
  Mask mask_;
};

}  // namespace welkin::collections
