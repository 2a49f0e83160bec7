-- Calendars that the server writes (birthdays, subscriptions), what of feeds is told, and which events are not for
-- everybody who was invited.
-- Lock: collections, collection_objects and collection_feeds, short. Rows touched: events with a CLASS. Stage: expand.
alter table collections add column origin smallint not null default 0 check (origin in (0, 1, 2));
                                                     -- 0 people write it, 1 birthdays, 2 a subscription

alter table collection_feeds
  add column with_alarms boolean not null default false,
  add column with_attendees boolean not null default false,
  add column expires_at timestamptz,                 -- null: until it is revoked
  add column last_read_at timestamptz;               -- kept to the hour

alter table collection_trash add column flags smallint not null default 0;   -- of the object, as it was

-- Bits of collection_objects.flags: 4 private, 8 confidential (RFC 5545 §3.8.1.3; what is unknown is private).
update collection_objects o set flags = o.flags | case when c.class ~* '^CONFIDENTIAL$' then 8 else 4 end
  from (select x.id, substring(convert_from(x.data, 'UTF8') from '(?in)^CLASS(?:;[^:\r\n]*)?:[ \t]*([^ \t\r\n]*)') class
          from collection_objects x where x.component <> 0 and not x.deleted) c
 where c.id = o.id and c.class is not null and c.class !~* '^(PUBLIC)?$';

-- One row a user who was asked or has a birthday to show. The calendar is made with its first event.
create table birthday_calendars (
  user_id       bigint primary key references users on delete cascade,
  collection_id bigint unique references collections on delete set null,
  is_enabled    boolean not null default true
);
-- How far each book's changes have been read.
create table birthday_sources (
  book_id bigint primary key references collections on delete cascade,
  seq     bigint not null
);

create table calendar_subscriptions (
  collection_id   bigint primary key references collections on delete cascade,
  source          text not null,
  refresh_seconds integer not null check (refresh_seconds >= 900),
  next_at         timestamptz not null default now(),
  fetched_at      timestamptz,                       -- the last time an answer could be used
  failures        integer not null default 0,        -- in a row
  failure         text not null default '',          -- of the last time; '' none
  etag            text not null default '',          -- what the source said, for conditions
  last_modified   text not null default '',
  body_hash       bytea                              -- of the last answer that was taken
);
create index calendar_subscriptions_due on calendar_subscriptions (next_at);
