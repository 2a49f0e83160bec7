-- Calendars and address books. Both are the same thing to everything but the reading of their bytes: a collection with a
-- counter, members by name, tombstones, properties that each user sees in his own way. So they share tables, and
-- sync, etags, preconditions and shares cannot differ between them.
-- Lock: none (new tables). Rows touched: three collections a user. Stage: expand.
create table collections (
  id         bigint generated always as identity primary key,
  uid        uuid not null unique default gen_random_uuid(),          -- DAV:resource-id; part of every sync token
  owner_id   bigint not null references users on delete cascade,
  kind       smallint not null check (kind in (1, 2)),                -- 1 calendar, 2 address book
  components smallint not null default 0,                             -- calendars: 1 VEVENT, 2 VTODO, 4 VJOURNAL
  created_at timestamptz not null default now(),
  deleted_at timestamptz,                                             -- set: in the trash; its path is free again
  path       text collate "C" not null check (path <> '' and octet_length(path) <= 255)
);
create unique index collections_by_path on collections (owner_id, kind, path) where deleted_at is null;
create index collections_by_owner on collections (owner_id);
create index collections_deleted on collections (deleted_at) where deleted_at is not null;

-- What every write changes and every poll reads: one narrow row, always HOT. Its lock puts the writers of a collection in
-- a row, so numbers follow commit order.
create table collection_state (
  collection_id bigint primary key references collections on delete cascade,
  epoch         integer not null default 1,                           -- +1 after a restore from a backup: tokens end
  seq           bigint not null default 0,
  object_count  integer not null default 0,
  bytes         bigint not null default 0,
  changed_at    timestamptz not null default now()
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table collection_objects (
  id            bigint generated always as identity primary key,
  collection_id bigint not null references collections on delete cascade,
  seq           bigint not null,                   -- number of the last change: the row itself is the change log
  t0 bigint, t1 bigint,                            -- seconds; first start, last end; open = least / greatest bigint
  created_at    timestamptz not null default now(),
  modified_at   timestamptz not null default now(),
  etag          uuid,                              -- the first 128 bits of SHA-256 of the data
  uid_hash      uuid,                              -- the same of the UID: those may be long
  size          integer not null default 0,
  component     smallint not null default 0,       -- the bit of collections.components; 0: a card
  flags         smallint not null default 0,       -- 1 recurs, 2 has alarms; cards: 1 a group
  deleted       boolean not null default false,    -- tombstone: data, uid, etag, t0, t1 are null
  is_long       boolean generated always as
    (t1 = 9223372036854775807 or t0 = -9223372036854775808 or t1 - t0 > 2678400) stored,
  name          text collate "C" not null check (name <> '' and octet_length(name) <= 255),
  uid           text,
  title         text,                              -- SUMMARY, FN
  emails        text[] not null default '{}',      -- cards: folded
  phones        text[] not null default '{}',      -- cards: digits
  search        text,                              -- folded values a filter may narrow by
  data          bytea                              -- the octets as they were sent
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table collection_objects alter data set compression lz4, alter search set compression lz4;
-- Is there something of that name; a name that comes back revives its tombstone.
create unique index collection_objects_by_name on collection_objects (collection_id, name);
create unique index collection_objects_by_uid on collection_objects (collection_id, uid_hash) where not deleted;
-- Listing and sync, index-only.
create index collection_objects_by_seq on collection_objects (collection_id, seq)
  include (etag, deleted, component, size, name);
-- A span of time: what lasts up to 31 days is found between two bounds, the rest apart.
create index collection_objects_short on collection_objects (collection_id, t1) where not deleted and not is_long;
create index collection_objects_long on collection_objects (collection_id, t1, t0) where not deleted and is_long;
create index collection_objects_emails on collection_objects using gin (emails) where emails <> '{}';

-- Names, colours, orders, zones, and what clients keep: user_id null is what everybody sees, set by the owner; a row of a
-- user's own wins for him.
create table collection_properties (
  collection_id bigint not null references collections on delete cascade,
  user_id       bigint references users on delete cascade,
  ns            text collate "C" not null,
  name          text collate "C" not null,
  value         text not null                      -- the whole element
);
create unique index collection_properties_key on collection_properties (collection_id, coalesce(user_id, 0), ns, name);
create index collection_properties_by_user on collection_properties (user_id) where user_id is not null;

create table home_properties (                     -- the same of a user's calendar home (1) or address book home (2)
  user_id bigint not null references users on delete cascade,
  kind    smallint not null check (kind in (1, 2)),
  ns      text collate "C" not null,
  name    text collate "C" not null,
  value   text not null,
  primary key (user_id, kind, ns, name)
);

create table collection_shares (
  id            bigint generated always as identity primary key,
  collection_id bigint not null references collections on delete cascade,
  user_id       bigint references users on delete cascade,
  group_id      bigint references groups on delete cascade,
  subject_id    bigint generated always as (coalesce(user_id, group_id)) stored,
  access        smallint not null check (access in (1, 2)),            -- 1 reads, 2 writes
  created_at    timestamptz not null default now(),
  check (num_nonnulls(user_id, group_id) = 1),
  unique (collection_id, subject_id)                                   -- may he; FK
);
create index collection_shares_by_subject on collection_shares (subject_id) include (collection_id, access);
create index collection_shares_by_user on collection_shares (user_id) where user_id is not null;
create index collection_shares_by_group on collection_shares (group_id) where group_id is not null;

create table collection_feeds (                    -- read-only, for whoever knows the token
  collection_id bigint primary key references collections on delete cascade,
  token_hash    bytea not null unique,
  created_at    timestamptz not null default now()
);

create table collection_trash (                    -- deleted objects, until their time is over
  id            bigint generated always as identity primary key,
  collection_id bigint not null references collections on delete cascade,
  deleted_at    timestamptz not null default now(),
  deleted_by    bigint references users on delete set null,
  name          text collate "C" not null,
  title         text,
  data          bytea not null
);
alter table collection_trash alter data set compression lz4;
create index collection_trash_by_collection on collection_trash (collection_id, id);
create index collection_trash_due on collection_trash (deleted_at);
create index collection_trash_by_user on collection_trash (deleted_by) where deleted_by is not null;

with made as (
  insert into collections (owner_id, kind, components, path)
    select u.id, d.kind, d.components, d.path
      from users u cross join (values (1, 7, 'personal'), (1, 2, 'tasks'), (2, 0, 'contacts')) d (kind, components, path)
  returning id)
insert into collection_state (collection_id) select id from made;
