#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "welkin/collections/browse.hpp"
#include "welkin/collections/objects.hpp"
#include "welkin/core/caller.hpp"
#include "welkin/core/clock.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

/// What calendars and address books have in common: collections with a counter, members by name, tombstones,
/// properties, shares. What the bytes of a member mean is not known here.
namespace welkin::collections {

/// What the caller may do, his credential considered. Each holds the one before.
enum class Access : std::uint8_t { none = 0, read = 1, write = 2, own = 3 };

/// Who writes its members.
enum class Origin : std::int16_t {
  people = 0,
  birthdays = 1,     // the server, from the owner's address books
  subscription = 2,  // the server, from an address
};

class Sharing;
class Feeds;

struct Collection {
  CollectionId id;
  std::string uid;  // a UUID that nothing else ever has
  UserId owner;
  std::string owner_name;
  Kind kind = Kind::calendar;
  Origin origin = Origin::people;
  std::int16_t components = 0;  // bits of component::*; books: 0
  std::string path;             // its name in the caller's home
  Access access = Access::none;
  bool is_own = false;  // the caller's, whatever his credential lets him do with it
  bool is_shared = false;  // by its owner with anybody
  std::int32_t epoch = 0;
  std::int64_t seq = 0;  // number of its last change
  std::int64_t objects = 0, bytes = 0;
  Micros created_at = 0, changed_at = 0;

  /// The state as text, "1-17": equal exactly when nothing has changed.
  std::string state() const { return std::to_string(epoch) + '-' + std::to_string(seq); }
  /// With whose eyes the caller reads its members.
  Sight sight() const { return {id, is_own}; }
  bool may_write() const { return access >= Access::write && origin == Origin::people; }
};

/// What it is called when nobody has named it.
std::string default_name(const Collection& collection);

/// A property with a meaning of its own to whoever set it. Names are a namespace and a local name.
struct Property {
  CollectionId collection;
  std::string ns, name;
  std::string value;  // as it was given
};

struct PropertyChange {
  std::string ns, name;
  std::optional<std::string> value;  // unset: removed; it need not have been there
};

struct NewCollection {
  Kind kind = Kind::calendar;
  std::string path;  // 1..255 bytes, not like those of shared ones
  std::int16_t components = component::kAll;
  std::vector<PropertyChange> properties;
};

class Trash;  // trash.hpp

class Collections {
 public:
  static constexpr std::int32_t kPropertiesMax = 100;
  static constexpr std::int32_t kPropertyBytesMax = 64 << 10, kPropertiesBytesMax = 256 << 10;
  static constexpr std::int32_t kPerUserMax = 1000;

  /// @param mask  as of Objects
  explicit Collections(db::Db& db, Mask mask = nullptr) : db_(db), mask_(mask) {}

  /// All of the caller's home: his own, the oldest first, then those shared with him.
  Task<std::vector<Collection>> home(Caller caller, Kind kind);
  /// One of them by its name there.
  Task<std::optional<Collection>> find(Caller caller, Kind kind, std::string path);
  /// The same, by key. @throws Error not_found
  Task<Collection> require(Caller caller, CollectionId id);

  /// @throws Error conflict `exists`, quota_exceeded `too_many_collections`, `too_many_properties`,
  /// forbidden,
  ///         invalid `bad_collection_name`
  Task<CollectionId> create(Caller caller, NewCollection wanted);
  /// The owner's goes to the trash; of one that was shared with the caller himself only the share ends.
  /// @param state  as it has to be; "": whatever it is. @throws Error not_found, forbidden,
  /// precondition_failed
  Task<> remove(Caller caller, CollectionId id, std::string state);

  /// Those the caller sees: his own, else what the owner gave. @param names  empty: all
  Task<std::vector<Property>> properties(Caller caller, std::vector<CollectionId> of,
                                         std::vector<std::pair<std::string, std::string>> names);
  /// All or nothing. The owner sets what everybody sees, anybody else what he sees himself.
  /// @throws Error not_found, forbidden, quota_exceeded `too_many_properties`
  Task<> patch(Caller caller, CollectionId id, std::vector<PropertyChange> changes);

  /// Properties of the caller's home itself; `collection` is 0 in each.
  Task<std::vector<Property>> home_properties(Caller caller, Kind kind);
  /// @throws Error forbidden, quota_exceeded `too_many_properties`
  Task<> patch_home(Caller caller, Kind kind, std::vector<PropertyChange> changes);

  Objects objects() const { return Objects(db_, mask_); }
  Browse browse() const { return Browse(db_, mask_); }
  Trash trash() const;
  Sharing sharing() const;  // sharing.hpp
  Feeds feeds() const;      // feeds.hpp

  /// Every collection of a home in a word each, for sync of the home as a whole: equal exactly when nothing
  /// the caller is told of it has changed, what he set for himself included.
  struct Mark {
    CollectionId id;
    std::uint64_t state = 0;
    bool is_own = false;
  };
  struct Home {
    std::vector<Collection> collections;  // as home()
    std::vector<Mark> marks;              // of the same, in the same order
  };
  Task<Home> marked_home(Caller caller, Kind kind);
  /// What collections that are in the caller's home no more were called there; unset: nobody knows any more.
  Task<std::vector<std::optional<std::string>>> former_paths(Caller caller, std::vector<Mark> marks);

 private:
  db::Db& db_;
  Mask mask_;
};

}  // namespace welkin::collections
