-- Drives come and go. Custom SQLSTATEs, translated by the stores: WN404 gone, WF403 forbidden, WC409 conflict,
-- WP412 precondition, WL423 locked, WQ507 quota, WI400 not allowed here.

-- Wall time of a node, in microseconds; clock_timestamp because a transaction may wait for its drive.
create or replace function now_us() returns bigint language sql volatile
  as $$ select (extract(epoch from clock_timestamp()) * 1e6)::bigint $$;

-- A personal drive with its root and trash and its owner as member. p_quota 0: unlimited.
create or replace function create_personal_drive(p_user bigint, p_quota bigint) returns integer language plpgsql as $$
declare d integer; r bigint; t bigint; stamp bigint := now_us();
begin
  insert into drives (kind, owner_id, seq, quota_bytes)
    values (1, p_user, 1, case when p_quota = 0 then 9223372036854775807 else p_quota end) returning id into d;
  insert into nodes (mtime, etag_seq, created_at, creator_id, author_id, drive_id, etag_drive, kind, name)
    values (stamp, 1, stamp, p_user, p_user, d, d, 2, '') returning id into r;
  insert into nodes (mtime, etag_seq, created_at, creator_id, author_id, drive_id, etag_drive, kind, name)
    values (stamp, 1, stamp, p_user, p_user, d, d, 2, '') returning id into t;
  insert into folders (node_id, etag_seq, changed_at) values (r, 1, stamp), (t, 1, stamp);
  insert into drive_members (drive_id, user_id, rights) values (d, p_user, 127);
  update drives set root_id = r, trash_id = t where id = d;
  return d;
end $$;

-- Removes at most p_limit nodes of a drive, leaves first, and hands their contents to the collector; true when the drive
-- is gone. Call until true, commit between calls. The owner is disabled before, so nobody adds meanwhile.
create or replace function drop_drive_batch(p_drive integer, p_limit integer) returns boolean language plpgsql as $$
declare ids bigint[];
begin
  perform pg_advisory_xact_lock(1, p_drive);
  perform 1 from drives where id = p_drive for update;
  if not found then return true; end if;
  select array_agg(x.id) into ids from (
    select n.id from nodes n where n.drive_id = p_drive
       and not exists (select from nodes c where c.parent_id = n.id) limit p_limit) x;
  if ids is null then
    delete from drives where id = p_drive;
    return true;
  end if;
  insert into content_gc (content_id)
    select content_id from nodes where id = any (ids) and content_id is not null
    union select content_id from versions where node_id = any (ids) on conflict do nothing;
  update drives set root_id = case when root_id = any (ids) then null else root_id end,
                    trash_id = case when trash_id = any (ids) then null else trash_id end where id = p_drive;
  delete from nodes where id = any (ids);
  return false;
end $$;
