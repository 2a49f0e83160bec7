-- What is in the trash: whose it is to see, its way back, and its end. An item that is marked `purging` is gone for
-- everybody; purge_batch removes its rows in bounded steps.

-- What a member of the drive may do, cut by his credential. Grants do not count: what they gave on a folder ends when
-- the folder is deleted, and what keeps others' data safe from who was merely invited (the trash, old versions) is the
-- members' to destroy.
create or replace function member_rights(p_drive integer, p_subjects bigint[], p_mask integer) returns integer
  language plpgsql stable as $$
begin
  return p_mask & (select coalesce(bit_or(m.rights), 0)::integer from drive_members m
                    where m.drive_id = p_drive and m.subject_id = any (p_subjects));
end $$;

-- What the caller may do with an item of the trash: a member of the drive, if no folder limits his credential, has his
-- rights of membership; who deleted it himself has those he still has at the place it came from.
create or replace function trash_rights(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_limit bigint, p_link_node bigint, p_link_rights integer) returns integer language plpgsql stable as $$
declare t record; g record; found_rights integer := 0;
begin
  select x.* into t from trash x where x.node_id = p_node and not x.purging;
  if not found then return 0; end if;
  if p_limit = 0 then found_rights := member_rights(t.drive_id, p_subjects, p_mask); end if;
  if p_user <> 0 and t.deleted_by = p_user then
    g := gate(t.from_parent_id, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
    if g.live and g.drive = t.drive_id then found_rights := found_rights | g.rights; end if;
  end if;
  return found_rights;
end $$;

-- A name like p_name that is free in p_parent: "a (2).txt" beside "a.txt". The stem gives way where 255 bytes would be
-- passed.
create or replace function free_name(p_parent bigint, p_name text, p_is_folder boolean) returns text
  language plpgsql stable as $$
declare stem text := p_name; ending text := ''; parts text[]; n integer := 1; tried text := p_name;
begin
  if not p_is_folder then
    parts := regexp_match(p_name, '^(.+)(\.[^.]{1,16})$');
    if parts is not null then stem := parts[1]; ending := parts[2]; end if;
  end if;
  while exists (select from nodes x where x.parent_id = p_parent and x.name = tried collate "C") loop
    n := n + 1;
    tried := stem || ' (' || n || ')' || ending;
    while octet_length(tried) > 255 loop
      stem := left(stem, -1);
      tried := stem || ' (' || n || ')' || ending;
    end loop;
  end loop;
  return tried;
end $$;

-- Out of the trash: to the folder it came from if that is still there, else to the root of its drive; under its name,
-- or one like it where that is taken.
create or replace function restore_node(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_limit bigint, p_link_node bigint, p_link_rights integer, p_tokens uuid[], p_depth_max integer) returns void
  language plpgsql as $$
declare d record; t record; h record; place bigint; bytes bigint; drive integer; is_folder boolean;
begin
  select x.drive_id into drive from trash x where x.node_id = p_node;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  d := begin_change(drive, 0, true);
  select x.* into t from trash x join nodes n on n.id = x.node_id
   where x.node_id = p_node and n.parent_id = d.trash_id and not x.purging;
  if not found or trash_rights(p_node, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights) & 17 <> 17 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  is_folder := (select n.kind = 2 from nodes n where n.id = p_node);
  place := t.from_parent_id;
  h := gate(place, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  if not h.live or h.drive <> drive or not exists (select from nodes n where n.id = place and n.kind = 2)
      or cardinality(h.chain) + (case when is_folder then height_of(p_node) else 0 end) > p_depth_max + 1 then
    place := d.root_id;
    h := gate(place, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  end if;
  if h.rights & 4 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if is_locked(h.chain, null, place, drive, p_subjects, p_tokens, false) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;
  bytes := bytes_of(p_node);
  delete from trash where node_id = p_node;
  update nodes set parent_id = place, name = free_name(place, t.from_name, is_folder) where id = p_node;
  update folders set etag_seq = d.seq where node_id = p_node;
  perform raise_chain(array[d.trash_id], d.seq, -bytes);
  perform raise_chain(h.chain, d.seq, bytes);
  insert into changes (drive_id, seq, node_id, parent_id, op) values (drive, d.seq, p_node, place, 1);
end $$;

-- Marks an item for its end; from then on nobody sees it. Its rows follow by purge_batch.
create or replace function purge_item(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_limit bigint, p_link_node bigint, p_link_rights integer) returns void language plpgsql as $$
declare t record;
begin
  select x.drive_id into t from trash x where x.node_id = p_node;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform pg_advisory_xact_lock(1, t.drive_id);
  if trash_rights(p_node, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights) & 17 <> 17 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if member_rights(t.drive_id, p_subjects, p_mask) & 16 = 0 then
    raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  update trash set purging = true where node_id = p_node;
end $$;

-- Deletes without a stop in the trash.
create or replace function destroy_node(p_node bigint, p_user bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_expect smallint, p_etags text[], p_tokens uuid[]) returns void language plpgsql as $$
begin
  perform trash_node(p_node, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights, p_expect, p_etags,
                     p_tokens);
  if member_rights((select t.drive_id from trash t where t.node_id = p_node), p_subjects, p_mask) & 16 = 0 then
    raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  update trash set purging = true where node_id = p_node;
end $$;

-- Marks everything in a drive's trash. How many items that was.
create or replace function purge_drive_trash(p_drive integer, p_subjects bigint[], p_mask integer, p_limit bigint)
  returns bigint language plpgsql as $$
declare marked bigint; allowed integer;
begin
  allowed := member_rights(p_drive, p_subjects, p_mask);
  if p_limit <> 0 or allowed & 1 = 0 then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if allowed & 16 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  perform pg_advisory_xact_lock(1, p_drive);
  update trash set purging = true where drive_id = p_drive and not purging;
  get diagnostics marked = row_count;
  return marked;
end $$;

-- Removes at most p_limit nodes of one marked item, files first, then folders from the leaves up; gives their bytes and
-- those of their versions and properties back and hands the contents to the collector. True when the item is gone. Call until true,
-- commit between calls.
create or replace function purge_batch(p_node bigint, p_limit integer) returns boolean language plpgsql as $$
declare
  d record; drive integer; ids bigint[]; used bigint[]; freed bigint; old bigint; noted bigint; done boolean := false;
begin
  select x.drive_id into drive from trash x where x.node_id = p_node;
  if not found then return true; end if;
  d := begin_change(drive, 0, false);
  if not exists (select from trash x join nodes n on n.id = x.node_id
                  where x.node_id = p_node and x.purging and n.parent_id = d.trash_id) then return true; end if;
  with recursive fo as (
    select n.id from nodes n where n.id = p_node and n.kind = 2
    union all
    select c.id from fo cross join lateral (
      select x.id from nodes x where x.parent_id = fo.id and x.kind = 2 offset 0) c)
  select array_agg(x.id), array_agg(x.content_id), sum(x.size) into ids, used, freed
    from (select c.id, c.content_id, c.size from fo cross join lateral (
            select n.id, n.content_id, n.size from nodes n where n.parent_id = fo.id and n.kind = 1 offset 0) c
          limit p_limit) x;
  if ids is null then                               -- only folders are left, deepest first; or the item is a file
    with recursive fo as (
      select n.id, n.content_id, n.size, 0 depth from nodes n where n.id = p_node
      union all
      select c.id, c.content_id, c.size, fo.depth + 1 from fo cross join lateral (
        select * from nodes x where x.parent_id = fo.id offset 0) c)
    select array_agg(x.id), array_agg(x.content_id) filter (where x.content_id is not null), sum(x.size),
           bool_or(x.id = p_node)
      into ids, used, freed, done from (select * from fo order by depth desc limit p_limit) x;
  end if;
  with gone as (delete from versions where node_id = any (ids) returning content_id, size),
  queued as (
    insert into content_gc (content_id) select content_id from gone union select unnest(used) on conflict do nothing)
  select coalesce(sum(size), 0) into old from gone;
  -- Every sum above stays true, so that a check in between finds nothing wrong.
  with recursive walk as (
    select n.parent_id id, sum(n.size)::bigint bytes from nodes n where n.id = any (ids) and n.kind = 1 group by 1
    union all
    select n.parent_id, w.bytes
      from walk w cross join lateral (select x.parent_id from nodes x where x.id = w.id offset 0) n
     where n.parent_id is not null),
  total as (select w.id, sum(w.bytes)::bigint bytes from walk w group by 1)
  update folders f set bytes_below = f.bytes_below - t.bytes from total t where f.node_id = t.id;
  noted := property_bytes(ids);
  delete from nodes where id = any (ids);           -- folders, trash, grants, links, marks go by cascade
  update drives set used_bytes = used_bytes - freed - old - noted where id = drive;
  return done;
end $$;
