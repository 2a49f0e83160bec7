#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "welkin/core/caller.hpp"
#include "welkin/core/config.hpp"
#include "welkin/core/task.hpp"
#include "welkin/db/db.hpp"

namespace welkin::people {

/// As much of an account as others may be shown.
struct Person {
  UserId id;
  std::string name, display_name;  // display_name: the name when there is none
  std::string email;               // "" when none
};

struct Group {
  GroupId id;
  std::string name, display_name;
};

/// Other people, as the setting `people_search` lets one see them. Whoever is disabled or being deleted is not
/// here.
class Directory {
 public:
  static constexpr std::int32_t kFoundMax = 500;

  Directory(db::Db& db, const Config& config) : db_(db), config_(config) {}

  /// Whoever is called exactly so, seen by anybody: for who knows already whom he means.
  Task<std::optional<Person>> named(std::string name);
  Task<std::optional<Person>> with_email(std::string email);
  Task<std::optional<Person>> with_id(UserId id);

  /// Those the caller may look through: himself, those of his groups, everybody, or nobody else. By name, at
  /// most kFoundMax and one more.
  Task<std::vector<Person>> visible(Caller caller);
  /// Whether the caller may look `person` up, by the setting alone.
  Task<bool> may_see(Caller caller, UserId person);

  /// Groups of the caller; an administrator's are all.
  Task<std::optional<Group>> group(Caller caller, std::string name);
  Task<std::vector<Group>> groups(Caller caller);
  /// Only those he is in.
  Task<std::vector<Group>> groups_of(Caller caller);

 private:
  db::Db& db_;
  const Config& config_;
};

}  // namespace welkin::people
