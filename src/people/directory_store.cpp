#include "welkin/core/text.hpp"
#include "welkin/people/directory.hpp"

#define WELKIN_PERSON                                                                         \
  "select u.id, u.name, coalesce(nullif(u.display_name, ''), u.name), coalesce(u.email, '') " \
  "from users u where u.deleting_since is null and not u.is_disabled and "
// $1 the caller, $2 whether he sees everybody, $3 whether he sees those of his groups
#define WELKIN_SEEN                                                                         \
  "(u.id = $1 or $2 or $3 and exists (select from group_members a join group_members b on " \
  "b.group_id = a.group_id where a.user_id = $1 and b.user_id = u.id))"

namespace welkin::people {
namespace {

constexpr db::Stmt kNamed{"people.person_named", WELKIN_PERSON "u.name = $1"};
constexpr db::Stmt kByEmail{"people.person_by_email", WELKIN_PERSON "u.email = $1"};
constexpr db::Stmt kById{"people.person_by_id", WELKIN_PERSON "u.id = $1"};
constexpr db::Stmt kVisible{"people.visible", WELKIN_PERSON WELKIN_SEEN " order by u.name limit $4"};
constexpr db::Stmt kMaySee{"people.may_see", WELKIN_PERSON WELKIN_SEEN " and u.id = $4"};
constexpr db::Stmt kGroups{"people.groups_of", R"(
  select g.id, g.name, coalesce(nullif(g.display_name, ''), g.name) from groups g
   where ($2 or exists (select from group_members m where m.group_id = g.id and m.user_id = $1))
     and ($3 = '' or g.name = $3) order by g.name limit 1000)"};

std::vector<Person> people_in(const db::Rows& rows) {
  std::vector<Person> out;
  for (const auto row : rows) out.push_back({row.id<UserId>(0), row.str(1), row.str(2), row.str(3)});
  return out;
}

std::optional<Person> first(const db::Rows& rows) {
  auto found = people_in(rows);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::vector<Group> groups_in(db::Tx& tx, UserId user, bool all, const std::string& name) {
  std::vector<Group> out;
  for (const auto row : tx.exec(kGroups, user, all, name))
    out.push_back({row.id<GroupId>(0), row.str(1), row.str(2)});
  return out;
}

}  // namespace

Task<std::optional<Person>> Directory::named(std::string name) {
  co_return co_await db_.read([&](db::Tx& tx) { return first(tx.exec(kNamed, name)); });
}

Task<std::optional<Person>> Directory::with_email(std::string email) {
  const auto folded = text::lower(email);
  co_return co_await db_.read([&](db::Tx& tx) { return first(tx.exec(kByEmail, folded)); });
}

Task<std::optional<Person>> Directory::with_id(UserId id) {
  co_return co_await db_.read([&](db::Tx& tx) { return first(tx.exec(kById, id)); });
}

Task<std::vector<Person>> Directory::visible(Caller caller) {
  const bool everybody = config_.people_search == "everyone", groups = config_.people_search == "groups";
  co_return co_await db_.read([&](db::Tx& tx) {
    return people_in(tx.exec(kVisible, caller.user, everybody, groups, kFoundMax + 1));
  });
}

Task<bool> Directory::may_see(Caller caller, UserId person) {
  const bool everybody = config_.people_search == "everyone", groups = config_.people_search == "groups";
  co_return co_await db_.read(
      [&](db::Tx& tx) { return !tx.exec(kMaySee, caller.user, everybody, groups, person).empty(); });
}

Task<std::optional<Group>> Directory::group(Caller caller, std::string name) {
  if (name.empty()) co_return std::nullopt;
  auto found =
      co_await db_.read([&](db::Tx& tx) { return groups_in(tx, caller.user, caller.is_admin, name); });
  if (found.empty()) co_return std::nullopt;
  co_return std::move(found.front());
}

Task<std::vector<Group>> Directory::groups(Caller caller) {
  co_return co_await db_.read([&](db::Tx& tx) { return groups_in(tx, caller.user, caller.is_admin, ""); });
}

Task<std::vector<Group>> Directory::groups_of(Caller caller) {
  co_return co_await db_.read([&](db::Tx& tx) { return groups_in(tx, caller.user, false, ""); });
}

}  // namespace welkin::people
