#include "calendars/scheduling_store.hpp"

#include <algorithm>

#include "welkin/core/text.hpp"

namespace welkin::calendars::store {
namespace {

using collections::Object;

constexpr db::Stmt kPlace{"scheduling.place", R"(
  select u.id, u.name, coalesce(u.email, ''), u.display_name, c.id, c.components,
         o.name, o.etag, o.seq, o.component, o.size, o.created_at, o.modified_at, o.data, o.schedule_tag
    from collections c join users u on u.id = c.owner_id
    left join collection_objects o on o.collection_id = c.id and o.name = $2 and not o.deleted
   where c.id = $1 and c.deleted_at is null)"};
constexpr db::Stmt kPeople{"scheduling.people", R"(
  select u.id, u.name, coalesce(u.email, ''), u.display_name from users u
   where u.deleting_since is null and (u.email = any ($1) or u.name = any ($2)) order by u.id)"};
constexpr db::Stmt kCopies{"scheduling.copies", R"(
  select c.owner_id, c.id, c.components, c.path,
         o.name, o.etag, o.seq, o.component, o.size, o.created_at, o.modified_at, o.data, o.schedule_tag
    from collections c join collection_objects o on o.collection_id = c.id
   where c.owner_id = any ($1) and c.kind = 1 and c.origin = 0 and c.deleted_at is null and o.uid_hash = $2 and not o.deleted
   order by c.owner_id, o.schedule_tag is null, c.id)"};
constexpr db::Stmt kMailboxes{"scheduling.mailboxes", R"(
  select c.owner_id, c.id, c.kind, c.components, c.path
    from collections c left join scheduling_defaults d on d.collection_id = c.id and d.user_id = c.owner_id
   where c.owner_id = any ($1) and c.kind in (1, 5) and c.origin = 0 and c.deleted_at is null
   order by c.owner_id, d.user_id is null, c.id)"};
constexpr db::Stmt kSetTag{
    "scheduling.set_tag",
    "update collection_objects set schedule_tag = $3 where collection_id = $1 and name = $2 and not deleted"};
constexpr db::Stmt kSchedulingNames{"scheduling.names",
                                    "select name from collection_objects where collection_id = $1 and not "
                                    "deleted and schedule_tag is not null "
                                    "order by id"};
constexpr db::Stmt kDefault{"scheduling.default", R"(
  select c.path, c.id from collections c left join scheduling_defaults d on d.collection_id = c.id and d.user_id = c.owner_id
   where c.owner_id = $1 and c.kind = 1 and c.origin = 0 and c.deleted_at is null and c.components & 1 = 1
   order by d.user_id is null, c.id limit 1)"};
constexpr db::Stmt kSetDefault{"scheduling.set_default", R"(
  insert into scheduling_defaults (user_id, collection_id)
    select $1, c.id from collections c
     where c.owner_id = $1 and c.kind = 1 and c.origin = 0 and c.deleted_at is null and c.components & 1 = 1 and c.path = $2
  on conflict (user_id) do update set collection_id = excluded.collection_id)"};
// A calendar whose owner lets it not count is left out; 2678400 as in collections.objects_within.
constexpr db::Stmt kBusy{"scheduling.busy", R"(
  select o.id, coalesce(substring(z.value from '>([^<]*)<'), ''), o.uid
    from collections c join collection_objects o on o.collection_id = c.id
    left join collection_properties t on t.collection_id = c.id and t.user_id is null
         and t.ns = 'urn:ietf:params:xml:ns:caldav' and t.name = 'schedule-calendar-transp'
    left join collection_properties z on z.collection_id = c.id and z.user_id is null
         and z.ns = 'urn:ietf:params:xml:ns:caldav' and z.name = 'calendar-timezone-id'
   where c.owner_id = $1 and c.kind = 1 and c.deleted_at is null
     and position('transparent' in coalesce(t.value, '')) = 0
     and not o.deleted and o.component & 1 = 1 and o.t1 >= $2 and o.t0 <= $3
     and (o.is_long or o.t1 <= $4)
   limit $5)"};
constexpr db::Stmt kBusyBodies{"scheduling.busy_bodies",
                               "select id, data from collection_objects where id = any ($1) and not deleted"};
constexpr db::Stmt kAvailability{"scheduling.availability", R"(
  select p.value from collections c join collection_properties p on p.collection_id = c.id
   where c.owner_id = $1 and c.kind = 5 and c.deleted_at is null and p.user_id is null
     and p.ns in ('urn:ietf:params:xml:ns:caldav', 'http://calendarserver.org/ns/')
     and p.name = 'calendar-availability'
   order by p.ns desc limit 1)"};

constexpr db::Stmt kOldMessages{"scheduling.old_messages", R"(
  select c.owner_id, c.id, o.name from collections c join collection_objects o on o.collection_id = c.id
   where c.kind = 5 and not o.deleted and o.created_at < now() - interval '90 days' order by c.id limit $1)"};

constexpr db::Stmt kAddMail{"scheduling.add_mail",
                            "insert into scheduling_mails (user_id, uid, recipient, message, expires_at) "
                            "values ($1, $2, $3, $4, now() + make_interval(days => $5))"};
constexpr db::Stmt kMailsToday{
    "scheduling.mails_today",
    "select count(*) from scheduling_mails where user_id = $1 and created_at > now() - interval '1 day'"};
constexpr db::Stmt kTakeMail{"scheduling.take_mail", R"(
  update scheduling_mails m set next_at = now() + make_interval(secs => $1), tries = m.tries + 1
   where m.id = (select x.id from scheduling_mails x where x.next_at <= now()
                  order by x.next_at, x.id limit 1 for update skip locked)
  returning m.id, m.user_id, m.uid, m.recipient, m.message, m.tries, m.expires_at <= now())"};
constexpr db::Stmt kRetryMail{
    "scheduling.retry_mail",
    "update scheduling_mails set next_at = now() + make_interval(secs => $2), reason = $3 where id = $1"};
constexpr db::Stmt kEndMail{
    "scheduling.end_mail",
    "update scheduling_mails set next_at = null, message = null, outcome = $2, reason = $3 where id = $1"};
constexpr db::Stmt kForgetMails{
    "scheduling.forget_mails",
    "delete from scheduling_mails where next_at is null and created_at < now() - interval '2 days'"};

constexpr std::int32_t kBusyMax = 20'000;  // events of one person that a free-busy answer looks at

Person person(const db::Row& row) {
  Person out;
  out.id = row.id<UserId>(0);
  out.name = row.str(1);
  out.email = row.str(2);
  out.display_name = row.str(3);
  out.addresses = itip::addresses_of(out.name, out.email);
  return out;
}

Object object(const db::Row& row, int first) {
  Object out;
  out.name = row.str(first);
  out.etag = row.uuid(first + 1);
  out.seq = row.i64(first + 2);
  out.component = row.i16(first + 3);
  out.size_bytes = row.i32(first + 4);
  out.created_at = row.timestamp(first + 5);
  out.modified_at = row.timestamp(first + 6);
  out.data = as_text(row.bytes(first + 7));
  if (!row.is_null(first + 8)) out.schedule_tag = row.uuid(first + 8);
  return out;
}

}  // namespace

std::optional<Place> place(db::Tx& tx, CollectionId calendar, const std::string& name) {
  const auto rows = tx.exec(kPlace, calendar, name);
  if (rows.empty()) return std::nullopt;
  Place out;
  out.owner = person(rows[0]);
  out.calendar = rows[0].id<CollectionId>(4);
  out.components = rows[0].i16(5);
  if (!rows[0].is_null(6)) out.object = object(rows[0], 6);
  return out;
}

std::vector<Person> people(db::Tx& tx, const std::vector<std::string>& addresses) {
  std::vector<std::string> mails, names;
  for (const auto& address : addresses) {
    if (address.starts_with("mailto:")) mails.push_back(address.substr(7));
    if (address.starts_with("user:")) names.push_back(address.substr(5));
  }
  std::vector<Person> out;
  if (mails.empty() && names.empty()) return out;
  for (const auto row : tx.exec(kPeople, mails, names)) out.push_back(person(row));
  return out;
}

std::vector<Copy> copies(db::Tx& tx, const std::vector<std::int64_t>& owners, const std::string& uid) {
  std::vector<Copy> out;
  for (const auto row : tx.exec(kCopies, owners, collections::etag_of(uid)))
    out.push_back({row.id<UserId>(0), row.id<CollectionId>(1), row.i16(2), row.str(3), object(row, 4)});
  return out;
}

std::vector<Mailbox> mailboxes(db::Tx& tx, const std::vector<std::int64_t>& owners) {
  std::vector<Mailbox> out;
  for (const auto row : tx.exec(kMailboxes, owners)) {
    const auto owner = row.id<UserId>(0);
    if (out.empty() || out.back().owner != owner) out.push_back({owner, {}, {}});
    if (row.i16(2) == static_cast<std::int16_t>(collections::Kind::inbox)) {
      out.back().inbox = row.id<CollectionId>(1);
    } else {
      out.back().calendars.push_back({row.id<CollectionId>(1), row.i16(3), row.str(4)});
    }
  }
  return out;
}

void set_tag(db::Tx& tx, CollectionId calendar, const std::string& name, const std::optional<db::Uuid>& tag) {
  tx.exec(kSetTag, calendar, name, tag);
}

std::vector<std::string> scheduling_names(db::Tx& tx, CollectionId calendar) {
  std::vector<std::string> out;
  for (const auto row : tx.exec(kSchedulingNames, calendar)) out.push_back(row.str(0));
  return out;
}

std::string default_path(db::Tx& tx, UserId user) {
  const auto rows = tx.exec(kDefault, user);
  return rows.empty() ? std::string() : rows[0].str(0);
}

bool is_default(db::Tx& tx, UserId user, CollectionId calendar) {
  const auto rows = tx.exec(kDefault, user);
  return !rows.empty() && rows[0].id<CollectionId>(1) == calendar;
}

bool set_default(db::Tx& tx, UserId user, const std::string& path) {
  return tx.exec(kSetDefault, user, path).affected() == 1;
}

std::vector<BusyKey> busy_keys(db::Tx& tx, UserId user, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t kShort = 2'678'400;
  const auto last = to > INT64_MAX - kShort ? INT64_MAX : to + kShort;
  std::vector<BusyKey> out;
  for (const auto row : tx.exec(kBusy, user, from, to, last, kBusyMax))
    out.push_back({row.i64(0), row.str(1), row.str(2)});
  return out;
}

std::vector<BusyBody> busy_bodies(db::Tx& tx, const std::vector<std::int64_t>& ids) {
  std::vector<BusyBody> out;
  for (const auto row : tx.exec(kBusyBodies, ids))
    out.push_back({row.i64(0), std::string(as_text(row.bytes(1)))});
  return out;
}

std::string availability(db::Tx& tx, UserId user) {
  const auto rows = tx.exec(kAvailability, user);
  return rows.empty() ? std::string() : rows[0].str(0);
}

std::vector<OldMessage> old_messages(db::Tx& tx, std::int32_t many) {
  std::vector<OldMessage> out;
  for (const auto row : tx.exec(kOldMessages, many))
    out.push_back({row.id<UserId>(0), row.id<CollectionId>(1), row.str(2)});
  return out;
}

void add_mail(db::Tx& tx, const NewMail& mail) {
  tx.exec(kAddMail, mail.user, mail.uid, mail.recipient, as_bytes(mail.message), std::int32_t{mail.days});
}

std::int64_t mails_today(db::Tx& tx, UserId user) { return tx.one(kMailsToday, user)[0].i64(0); }

std::optional<DueMail> take_mail(db::Tx& tx, int lease_seconds) {
  const auto rows = tx.exec(kTakeMail, std::int32_t{lease_seconds});
  if (rows.empty()) return std::nullopt;
  DueMail out;
  out.id = rows[0].i64(0);
  out.user = rows[0].id<UserId>(1);
  out.uid = rows[0].str(2);
  out.recipient = rows[0].str(3);
  out.message = as_text(rows[0].bytes(4));
  out.tries = rows[0].i32(5);
  out.is_expired = rows[0].boolean(6);
  return out;
}

void retry_mail(db::Tx& tx, std::int64_t id, int seconds, const std::string& reason) {
  tx.exec(kRetryMail, id, std::int32_t{seconds}, reason);
}

void end_mail(db::Tx& tx, std::int64_t id, bool sent, const std::string& reason) {
  tx.exec(kEndMail, id, static_cast<std::int16_t>(sent ? 1 : 2), reason);
}

void forget_mails(db::Tx& tx) { tx.exec(kForgetMails); }

}  // namespace welkin::calendars::store
