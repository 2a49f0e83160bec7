-- Scheduling (RFC 6638): a tag beside the etag, an inbox for everyone, where invitations go, mails on their way out.
-- Lock: collections and collection_objects, exclusive, for catalogue changes and one short scan each. Rows touched: one
-- collection a user. Stage: expand.
alter table collections drop constraint collections_kind_check;
alter table collections add constraint collections_kind_check check (kind between 1 and 9);   -- 5: the inbox

-- Changes when the owner writes the object or the organizer changes it, not when an answer is noted in it.
alter table collection_objects add column schedule_tag uuid;

-- Calendars that have the names which are taken now.
update collections set path = path || '-' || id where kind = 1 and path in ('inbox', 'outbox');

with made as (
  insert into collections (owner_id, kind, path) select u.id, 5, 'inbox' from users u returning id)
insert into collection_state (collection_id) select id from made;

create table scheduling_defaults (                   -- where invitations go; without a row: the oldest calendar that takes them
  user_id       bigint primary key references users on delete cascade,
  collection_id bigint not null references collections on delete cascade
);
create index scheduling_defaults_by_collection on scheduling_defaults (collection_id);

-- A message for somebody who has no account here. Made in the transaction of the change it tells of.
create table scheduling_mails (
  id           bigint generated always as identity primary key,
  user_id      bigint not null references users on delete cascade,    -- whose change it was
  uid          text not null,                                         -- of the object, where the outcome is written
  recipient    text not null,                                         -- a mail address
  message      bytea,                                                 -- as it goes to the relay; null: done with
  created_at   timestamptz not null default now(),
  next_at      timestamptz default now(),                             -- null: done with
  expires_at   timestamptz not null,
  tries        integer not null default 0,
  outcome      smallint not null default 0 check (outcome between 0 and 2),  -- 0 waits, 1 sent, 2 given up
  reason       text not null default ''
);
create index scheduling_mails_due on scheduling_mails (next_at, id) where next_at is not null;
create index scheduling_mails_by_user on scheduling_mails (user_id, created_at);   -- how many today; FK
create index scheduling_mails_by_age on scheduling_mails (created_at);
