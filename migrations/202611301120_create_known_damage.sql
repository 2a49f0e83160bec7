-- What a check found and could not repair, so that the next check tells it apart from what is new. Rows are written by
-- `welkin fsck --repair` only, and go when a later one does not meet the damage any more.
-- Lock: SHARE on chunks while an index over its (normally no) quarantined rows is made. Rows touched: 0. Stage: expand.
create table known_damage (
  kind     text collate "C" not null,                -- "content.layout" ...
  subject  text collate "C" not null,                -- "content 4711" ...
  detail   text not null,
  since    timestamptz not null default now(),
  seen_at  timestamptz not null default now(),
  primary key (kind, subject)
);

-- What is to be healed: few rows, looked for often.
create index chunks_quarantined on chunks (id) where quarantined;
