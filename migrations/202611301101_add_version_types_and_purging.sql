-- A version knows its type, and an item that is being purged is gone for everybody but the job that ends it.
-- Lock: access exclusive on versions and trash, for a moment (constant defaults). Rows touched: 0. Stage: expand.
alter table versions add column mime smallint not null default 0;
alter table trash add column purging boolean not null default false;
create index trash_purging on trash (node_id) where purging;
create index trash_by_age on trash (deleted_at) where not purging;
create index trash_by_deleter on trash (deleted_by, deleted_at);
