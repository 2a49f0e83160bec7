-- Bytes and the tree that names them. What changes on every write below a folder lives in the narrow table `folders`;
-- what changes on every write of a drive in one narrow row of `drives`, which every writer locks first.
-- Lock: none (new tables). Rows touched: 0. Stage: expand.

-- lower() and ILIKE on a collate "C" column fold ASCII only, so the collation is named here.
create function fold_name(t text) returns text language sql immutable strict parallel safe
  as $$ select lower(public.unaccent('public.unaccent'::regdictionary, t) collate "default") $$;

create table drives (
  id             integer generated always as identity primary key,
  kind           smallint not null check (kind in (1, 2)),     -- 1 personal, 2 shared
  epoch          integer not null default 1,                   -- +1 after a restore; part of every sync token
  owner_id       bigint references users on delete cascade,    -- of a personal drive
  root_id        bigint,
  trash_id       bigint,
  seq            bigint not null default 0,                    -- number of the last change, in commit order
  shape          bigint not null default 0,                    -- seq of the last change to structure or grants
  pruned_seq     bigint not null default 0,                    -- the change log is complete above this
  used_bytes     bigint not null default 0 check (used_bytes >= 0),        -- files, versions, trash
  reserved_bytes bigint not null default 0 check (reserved_bytes >= 0),    -- announced by running uploads
  quota_bytes    bigint not null default 9223372036854775807
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0);
create unique index drives_personal on drives (owner_id) where kind = 1;
create index drives_by_owner on drives (owner_id);

create table drive_members (
  drive_id   integer not null references drives on delete cascade,
  user_id    bigint references users on delete cascade,
  group_id   bigint references groups on delete cascade,
  subject_id bigint generated always as (coalesce(user_id, group_id)) stored,
  rights     smallint not null,                                -- bit mask; roles are names for masks
  check (num_nonnulls(user_id, group_id) = 1),
  primary key (drive_id, subject_id)
);
create index drive_members_by_subject on drive_members (subject_id) include (drive_id, rights);
create index drive_members_by_user on drive_members (user_id);
create index drive_members_by_group on drive_members (group_id);

-- One nextval hands out 64 chunk ids: one directory of the store.
create sequence chunk_ids increment 64 start 64;

create table chunks (
  id          bigint primary key,
  sha256      bytea not null check (length(sha256) = 32),      -- of the plain bytes, like size and crc32
  size        integer not null,
  crc32       integer not null,
  state       smallint not null default 0,                     -- 0 live, 1 dying (final)
  codec       smallint not null default 0,
  key_id      smallint,
  wrapped_key bytea,
  stored_size integer not null,
  quarantined boolean not null default false,
  verified_at timestamptz
);
-- One living incarnation of a hash.
create unique index chunks_live on chunks (sha256) where state = 0 and not quarantined;

create table contents (
  id      bigint generated always as identity primary key,
  size    bigint not null,
  crc32   integer not null,
  sha256  bytea check (length(sha256) = 32),                   -- null until a job has caught up
  sha1    bytea,                                               -- only if a client asked
  n_chunks integer not null                                    -- 0: the body is in inline_bodies
);

-- Apart from contents, so that scans of the metadata do not read bodies. Deleted bodies should leave soon.
create table inline_bodies (
  content_id bigint primary key references contents on delete cascade,
  body       bytea not null
) with (autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05);
alter table inline_bodies alter body set storage external;

create table content_chunks (
  content_id bigint not null references contents on delete cascade,
  off        bigint not null,                                  -- bytes: a range is one index descent
  chunk_id   bigint not null references chunks,
  primary key (content_id, off)
);
create index content_chunks_by_chunk on content_chunks (chunk_id);

-- Hints for the collector, written with the deletion; it proves again before it acts.
create table content_gc (content_id bigint primary key, since timestamptz not null default now());
create index content_gc_due on content_gc (since);
create table chunk_gc (
  chunk_id bigint primary key,
  since    timestamptz not null default now(),
  attempts integer not null default 0,
  parked   boolean not null default false
);
create index chunk_gc_due on chunk_gc (since) where not parked;

create table nodes (                                           -- 8-byte columns first: about 140 bytes a row
  id         bigint generated by default as identity primary key,      -- oc:fileid; never reused
  parent_id  bigint references nodes,                          -- null: a drive's root or trash
  content_id bigint references contents,                       -- null: folder
  size       bigint not null default 0,                        -- files; a folder's sum is in folders
  mtime      bigint not null,                                  -- microseconds
  etag_seq   bigint not null,                                  -- with etag_drive: the etag
  created_at bigint not null,
  author_id  bigint references users on delete set null,
  drive_id   integer not null references drives on delete cascade,
  etag_drive integer not null,                                 -- the drive that handed out etag_seq
  kind       smallint not null check (kind in (1, 2)),         -- 1 file, 2 folder
  mime       smallint not null default 0,                      -- 0: see mime_types; else a row of it
  flags      smallint not null default 0,                      -- 1 grants, 2 links, 4 dead properties
  name       text collate "C" not null,                        -- NFC; '' only for roots
  check ((kind = 1) = (content_id is not null))
) with (fillfactor = 92, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.02);
create unique index nodes_by_name on nodes (parent_id, name);  -- path step, DAV listing, the race on a name
create index nodes_listing on nodes (parent_id, kind desc, fold_name(name), name);   -- the order of the API
create index nodes_files_by_mtime on nodes (parent_id, mtime, id) where kind = 1;
create index nodes_files_by_size on nodes (parent_id, size, id) where kind = 1;
create index nodes_by_content on nodes (content_id) where content_id is not null;
create index nodes_by_drive on nodes (drive_id);
create index nodes_by_author on nodes (author_id);
create index nodes_search on nodes using gin (drive_id, fold_name(name) gin_trgm_ops);

alter table drives add constraint drives_root foreign key (root_id) references nodes deferrable initially deferred,
                   add constraint drives_trash foreign key (trash_id) references nodes deferrable initially deferred;
alter table app_passwords add constraint app_passwords_folder
  foreign key (folder_id) references nodes on delete cascade;  -- the folder is gone: so is the password

create table folders (                                         -- no index but the key: every change is HOT
  node_id     bigint primary key references nodes on delete cascade,
  etag_seq    bigint not null,
  changed_at  bigint not null,
  bytes_below bigint not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);

create table mime_types (                                      -- a dictionary: nodes carry two bytes
  id   smallint generated always as identity primary key,
  name text collate "C" not null unique
);

create table versions (
  id          bigint generated always as identity primary key,
  node_id     bigint not null references nodes on delete cascade,
  content_id  bigint not null references contents,
  size        bigint not null,
  mtime       bigint not null,
  author_id   bigint,
  replaced_at timestamptz not null default now(),
  label       text                                             -- labelled ones are kept by the retention rule
);
create index versions_by_node on versions (node_id, id desc) include (content_id, size, mtime);
create index versions_by_content on versions (content_id);

create table trash (
  node_id        bigint primary key references nodes on delete cascade,
  drive_id       integer not null,
  from_parent_id bigint not null,                              -- no key: the parent may be purged first
  bytes          bigint not null,
  deleted_by     bigint,
  deleted_at     timestamptz not null default now(),
  from_name      text collate "C" not null                     -- under the trash node the item is called by its id
);
create index trash_by_time on trash (drive_id, deleted_at);

create table changes (
  seq       bigint not null,
  node_id   bigint not null,
  parent_id bigint not null,
  drive_id  integer not null,
  at_s      integer not null default extract(epoch from now())::integer,
  op        smallint not null,          -- 1 came or changed, 2 content, 3 went (old parent and name), 4 metadata
  old_name  text collate "C",
  primary key (drive_id, seq, node_id, op)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

create table grants (
  id         bigint generated always as identity primary key,
  node_id    bigint not null references nodes on delete cascade,
  user_id    bigint references users on delete cascade,
  group_id   bigint references groups on delete cascade,
  subject_id bigint generated always as (coalesce(user_id, group_id)) stored,
  granted_by bigint references users on delete set null,
  rights     smallint not null,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  note       text,
  check (num_nonnulls(user_id, group_id) = 1),
  unique (node_id, subject_id)
);
create index grants_by_subject on grants (subject_id) include (node_id, rights, expires_at);
create index grants_by_giver on grants (granted_by);
create index grants_by_user on grants (user_id);
create index grants_by_group on grants (group_id);

create table links (
  id             bigint generated always as identity primary key,
  node_id        bigint not null references nodes on delete cascade,
  created_by     bigint not null references users on delete cascade,
  rights         smallint not null,
  downloads_left integer,
  hits           bigint not null default 0,
  expires_at     timestamptz,
  created_at     timestamptz not null default now(),
  token_hash     bytea not null unique,
  password_hash  text,
  label          text
) with (fillfactor = 70);
create index links_by_node on links (node_id);
create index links_by_creator on links (created_by);

create table mounts (                                          -- one row a user and shared node, group shares too
  id        bigint generated always as identity primary key,
  user_id   bigint not null references users on delete cascade,
  parent_id bigint not null references nodes on delete cascade,   -- in the user's own drive, mostly its root
  target_id bigint not null references nodes on delete cascade,
  name      text collate "C" not null,
  unique (user_id, parent_id, name),
  unique (user_id, target_id)
);
create index mounts_by_parent on mounts (parent_id);
create index mounts_by_target on mounts (target_id);

create table locks (
  token          uuid primary key,
  node_id        bigint not null references nodes on delete cascade,
  drive_id       integer not null,
  owner_id       bigint,
  expires_at     timestamptz not null,
  depth_infinity boolean not null,
  exclusive      boolean not null,
  app            smallint not null,
  owner_xml      text
) with (fillfactor = 70);                                      -- a refresh changes expires_at only: HOT
create index locks_by_node on locks (node_id);
create index locks_by_drive on locks (drive_id);

create table node_properties (
  node_id bigint not null references nodes on delete cascade,
  ns      text collate "C" not null,
  name    text collate "C" not null,
  value   text not null,
  primary key (node_id, ns, name)
);

create table favorites (
  user_id bigint not null references users on delete cascade,
  node_id bigint not null references nodes on delete cascade,
  at      timestamptz not null default now(),
  primary key (user_id, node_id)
);
create index favorites_by_node on favorites (node_id);

create table recent (
  user_id bigint not null references users on delete cascade,
  node_id bigint not null references nodes on delete cascade,
  at      timestamptz not null,
  primary key (user_id, node_id)
) with (fillfactor = 70);
create index recent_by_node on recent (node_id);

-- An upload on its way: a resumable one with a client's name, or one plain body that outgrew a batch of chunks.
create table uploads (
  id             bigint generated always as identity primary key,
  user_id        bigint references users on delete cascade,    -- null: by a link
  drive_id       integer not null references drives on delete cascade,
  parent_id      bigint not null,
  total          bigint,                                       -- announced bytes
  reserved       bigint not null default 0,                    -- in drives.reserved_bytes until done or expired
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null,
  result_node_id bigint,                                       -- a repeated finish answers from here
  result_seq     bigint,
  client_dir     text collate "C",
  name           text collate "C" not null
) with (fillfactor = 70);
create unique index uploads_by_dir on uploads (user_id, client_dir) where client_dir is not null;
create index uploads_due on uploads (expires_at);
create index uploads_by_drive on uploads (drive_id);

create table upload_chunks (                                   -- an upload's references: they keep chunks alive
  upload_id bigint not null references uploads on delete cascade,
  part      integer not null,
  off       bigint not null,                                   -- within the part
  chunk_id  bigint not null references chunks,
  primary key (upload_id, part, off)
);
create index upload_chunks_by_chunk on upload_chunks (chunk_id);
