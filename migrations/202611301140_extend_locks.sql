-- A refresh without a Timeout grants the old length again; a user's locks are counted. Files that a LOCK made and nobody
-- wrote are remembered, to be put away later.
-- Lock: short, on `locks`. Rows touched: the few live locks. Stage: expand.
alter table locks add column seconds integer not null default 3600,          -- the length last granted
                  add column created_at timestamptz not null default now();
create index locks_by_owner on locks (owner_id);

create table born_by_lock (
  node_id  bigint primary key references nodes on delete cascade,
  etag_seq bigint not null,                                      -- still that of the node: nobody wrote it
  born_at  timestamptz not null default now()
);
