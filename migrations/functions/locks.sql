-- Write locks (RFC 4918 §6, §7). A lock sits on a node and covers it; with depth_infinity everything below too, also what
-- comes later. It covers the membership of a folder as well: who adds, removes or renames a member needs the folder's
-- token. Tokens count only for the user who made the lock; a lock without owner belongs to an application, and its token
-- alone proves it. What a user locks by hand keeps others out and never himself.

drop function if exists is_locked(bigint[], bigint, bigint, integer, uuid[], boolean);

-- The names from p_top (left out) down to p_node; null when p_node is not below p_top.
create or replace function way_down(p_top bigint, p_node bigint) returns text[] language plpgsql stable as $$
declare names text[] := '{}'; at bigint := p_node; n record;
begin
  while at <> p_top loop
    select x.parent_id, x.name into n from nodes x where x.id = at;
    if n.parent_id is null then return null; end if;
    names := n.name || names;
    at := n.parent_id;
  end loop;
  return case when names <> '{}' then names end;
end $$;

-- Whether a lock forbids a change of p_node (null: it is new), whose way up is p_chain (with or without itself). p_parent:
-- the membership of that folder changes too; null: it does not. An exclusive lock needs its token; of several shared ones
-- on a resource one token is enough (§6.2). p_deep: what is below p_node goes along, so a lock anywhere below forbids it.
create or replace function is_locked(p_chain bigint[], p_node bigint, p_parent bigint, p_drive integer,
    p_subjects bigint[], p_tokens uuid[], p_deep boolean) returns boolean language plpgsql stable as $$
begin
  if not exists (select from locks l where l.drive_id = p_drive and l.expires_at > now()) then return false; end if;
  if exists (
    select from (
      select r.resource, l.exclusive, coalesce(l.token = any (p_tokens)
               and (l.owner_id is null or l.owner_id = any (p_subjects))
               or l.app = 2 and l.owner_id = any (p_subjects), false) satisfied
        from locks l cross join lateral (values
               (1, l.depth_infinity or l.node_id = p_node),
               (2, p_parent is not null and (l.node_id = p_parent
                                             or l.depth_infinity and l.node_id is distinct from p_node))) r (resource, covered)
       where l.node_id = any (p_chain || p_node) and l.expires_at > now() and r.covered) x
     group by x.resource having bool_or(x.exclusive and not x.satisfied) or not bool_or(x.satisfied)) then
    return true;
  end if;
  return p_deep and exists (
    select from (
      select l.node_id, l.exclusive, coalesce(l.token = any (p_tokens)
               and (l.owner_id is null or l.owner_id = any (p_subjects))
               or l.app = 2 and l.owner_id = any (p_subjects), false) satisfied
        from (select distinct y.node_id from locks y
               where y.drive_id = p_drive and y.expires_at > now() and y.node_id <> p_node) d
        join locks l on l.drive_id = p_drive and l.node_id = d.node_id and l.expires_at > now()
       where way_down(p_node, d.node_id) is not null) x
     group by x.node_id having bool_or(x.exclusive and not x.satisfied) or not bool_or(x.satisfied));
end $$;

-- What a user locks by hand (locks.app = 2) is shown beside the file, so the folders above get new etags and whoever
-- compares them looks. Other locks are made and ended with every save of a document and change no etag.
create or replace function tell_of_lock(p_node bigint, p_drive integer) returns void language plpgsql as $$
declare d record;
begin
  d := begin_change(p_drive, 0, false);
  with recursive up as (
    select id, parent_id from nodes where id = p_node
    union all
    select n.id, n.parent_id from nodes n join up on n.id = up.parent_id)
  update folders f set etag_seq = d.seq from up where f.node_id = up.id;
  insert into changes (drive_id, seq, node_id, parent_id, op)
    select p_drive, d.seq, n.id, n.parent_id, 4 from nodes n where n.id = p_node;
end $$;

create or replace function end_lock(p_token uuid) returns void language plpgsql as $$
declare l record;
begin
  select drive_id, app into l from locks where token = p_token;
  if l.app = 2 then perform pg_advisory_xact_lock(1, l.drive_id); end if;
  delete from locks where token = p_token returning node_id, drive_id, app into l;
  if l.app = 2 then perform tell_of_lock(l.node_id, l.drive_id); end if;
end $$;

-- Locks do not travel: a node that leaves its name leaves its locks, and those below, behind (§7.6).
create or replace function drop_locks(p_node bigint, p_drive integer) returns void language plpgsql as $$
begin
  delete from locks l
   where l.drive_id = p_drive
     and l.node_id in (select d.node_id from (select distinct y.node_id from locks y where y.drive_id = p_drive) d
                        where d.node_id = p_node or way_down(p_node, d.node_id) is not null);
end $$;

-- Takes a lock, or returns the locks that stand against it: where each sits, as levels above p_node or names below it.
-- p_right: what the caller must have on the node; 0: it was made in this transaction, and making it was allowed.
create or replace function lock_node(p_node bigint, p_user bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_right integer,
    p_token uuid, p_infinity boolean, p_exclusive boolean, p_seconds integer, p_app smallint, p_owner_xml text,
    p_node_max integer, p_user_max integer)
  returns table (token uuid, above integer, below text[]) language plpgsql as $$
#variable_conflict use_column
declare g record; drive integer;
begin
  select x.drive_id into drive from nodes x where x.id = p_node;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  -- The queue of the drive's writers, but no number: a lock changes nothing that is listed.
  perform pg_advisory_xact_lock(1, drive);
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  if not g.live or g.drive <> drive or p_right <> 0 and g.rights & 1 = 0 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if g.rights & p_right <> p_right or p_user = 0 then
    raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  delete from locks l where l.drive_id = drive and l.expires_at <= now() and l.app <> 2;
  return query
    select l.token, array_position(g.chain, l.node_id) - 1, coalesce(way_down(p_node, l.node_id), '{}')
      from locks l
     where l.drive_id = drive and (l.exclusive or p_exclusive) and l.expires_at > now()
       and (l.node_id = p_node or l.depth_infinity and l.node_id = any (g.chain)
            or p_infinity and way_down(p_node, l.node_id) is not null)
     limit 100;
  if found then return; end if;
  if (select count(*) from locks l where l.node_id = p_node) >= p_node_max
     or (select count(*) from locks l where l.owner_id = p_user) >= p_user_max then
    raise exception using errcode = 'WF403', message = 'too_many_locks'; end if;
  insert into locks (token, node_id, drive_id, owner_id, expires_at, seconds, depth_infinity, exclusive, app, owner_xml)
    values (p_token, p_node, drive, p_user, now() + make_interval(secs => p_seconds), p_seconds, p_infinity, p_exclusive,
            p_app, p_owner_xml);
  if p_app = 2 then perform tell_of_lock(p_node, drive); end if;
end $$;

-- Into the trash with files that a LOCK made, nobody wrote and nobody has locked any more (RFC 4918 §7.3 leaves them
-- behind when a client dies before its PUT). True: there may be more.
create or replace function put_away_unwritten(p_seconds integer, p_limit integer) returns boolean language plpgsql as $$
declare b record; seen integer := 0;
begin
  for b in select x.node_id, n.parent_id, etag_text(n.etag_drive, n.etag_seq, n.id) etag,
                  n.size = 0 and n.etag_seq = x.etag_seq unwritten
             from born_by_lock x join nodes n on n.id = x.node_id
            where x.born_at <= now() - make_interval(secs => p_seconds)
              and not exists (select from locks l where l.node_id = x.node_id and l.expires_at > now())
            order by x.born_at limit p_limit loop
    seen := seen + 1;
    delete from born_by_lock where node_id = b.node_id;
    if b.unwritten then
      begin
        perform trash_node(b.node_id, 0, '{}', 127, 0, b.parent_id, 127, 3::smallint, array[b.etag], '{}');
      exception when sqlstate 'WN404' or sqlstate 'WP412' or sqlstate 'WL423' then null;
      end;
    end if;
  end loop;
  return seen = p_limit;
end $$;
