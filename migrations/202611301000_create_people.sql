-- Accounts and what proves them. A subject of rights is one bigint: users and groups share one number space.
-- Lock: none (new tables). Rows touched: 0. Stage: expand.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;
create extension if not exists unaccent;

create table settings (
  key   text collate "C" primary key,
  value text not null
);

create sequence principal_ids;

create table users (
  id            bigint primary key default nextval('principal_ids'),
  name          text collate "C" not null unique,    -- [a-z0-9._-]{1,64}: the id in DAV paths; never changes
  login         text collate "C" not null unique,    -- what is typed, folded by the application
  email         text collate "C",                    -- folded by the application
  display_name  text not null,
  password_hash text,                                -- Argon2id, PHC string; null: no password sign-in
  auth_provider text not null default 'local',
  second_factor boolean not null default false,      -- on: account passwords are no longer taken on Basic
  is_admin      boolean not null default false,
  is_disabled   boolean not null default false,
  access_gen    bigint not null default 1,           -- raised when groups, role, password or state change: caches die
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  last_login_at timestamptz,
  deleting_since timestamptz                         -- set: nobody any more; what is left of him is being removed
);
create index users_admins on users (id) where is_admin;
create index users_deleting on users (deleting_since) where deleting_since is not null;
create unique index users_by_email on users (email) where email is not null;
create index users_by_age on users (created_at desc, id desc);

create table groups (
  id           bigint primary key default nextval('principal_ids'),
  name         text collate "C" not null unique,
  display_name text not null
);

create table group_members (
  user_id  bigint not null references users on delete cascade,
  group_id bigint not null references groups on delete cascade,
  primary key (user_id, group_id)                    -- my groups
);
create index group_members_by_group on group_members (group_id);

-- A signed-in client. Tokens are 256 random bits; only their SHA-256 is kept. The row is the family: a refresh replaces
-- the hashes and notes the old one as spent; a spent token that comes back ends the row.
create table sessions (
  id                 bigint generated always as identity primary key,
  user_id            bigint not null references users on delete cascade,
  access_hash        bytea not null unique,
  access_expires_at  timestamptz not null,
  refresh_hash       bytea not null unique,
  refresh_expires_at timestamptz not null,
  ends_at            timestamptz not null,           -- absolute limit, whatever is refreshed
  created_at         timestamptz not null default now(),
  last_used_at       timestamptz not null default now(),   -- kept to the minute, so that reads stay reads
  address            text not null,
  user_agent         text not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_due on sessions (refresh_expires_at);

create table spent_refresh_tokens (
  hash       bytea primary key,
  session_id bigint not null references sessions on delete cascade,
  spent_at   timestamptz not null default now()
);
create index spent_refresh_tokens_by_session on spent_refresh_tokens (session_id);
create index spent_refresh_tokens_due on spent_refresh_tokens (spent_at);

-- folder_id gets its key with the tree.
create table app_passwords (
  id            bigint generated always as identity primary key,
  user_id       bigint not null references users on delete cascade,
  label         text not null check (label <> ''),
  prefix        text not null,
  secret_hash   bytea not null unique,               -- SHA-256 of 160 random bits: nothing to guess, so no slow hash
  protocol_mask integer not null,
  read_only     boolean not null default false,
  folder_id     bigint,                              -- only this folder and what is below
  created_at    timestamptz not null default now(),
  last_used_at  timestamptz,
  expires_at    timestamptz,
  revoked_at    timestamptz
);
create index app_passwords_by_user on app_passwords (user_id);
create index app_passwords_by_folder on app_passwords (folder_id) where folder_id is not null;

create table identities (                            -- OpenID Connect: an account is found by issuer and subject only
  issuer  text not null,
  subject text not null,
  user_id bigint not null references users on delete cascade,
  primary key (issuer, subject)
);
create index identities_by_user on identities (user_id);

-- Failed sign-ins by what was typed, known name or not, so that a lock tells nobody whether an account exists.
create table login_failures (
  login        text collate "C" primary key,
  failures     integer not null,
  last_at      timestamptz not null default now(),
  locked_until timestamptz
);
create index login_failures_by_age on login_failures (last_at);

-- What happened to accounts and secrets; written in the transaction that did it, never updated.
create table audit (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default now(),
  actor_id   bigint,                                 -- no key: the trail outlives the account
  action     text not null,                          -- "login", "login_failed", "app_password.create" ...
  subject    text not null default '',
  address    text not null default '',
  request_id text not null default '',
  detail     jsonb not null default '{}'
);
create index audit_by_time on audit (at);
