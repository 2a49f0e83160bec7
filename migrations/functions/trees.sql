-- Trees change their place: move, copy, trash. What lies below a moved or trashed folder is not touched; a copy and a
-- move between drives work on whole sets of rows, bounded in number. Drives are locked in the order of their ids.

-- The caller's demand on the present state of a node (p_expect as in commit_files).
create or replace function require_expected(p_node bigint, p_expect smallint, p_etags text[]) returns void
  language plpgsql stable as $$
declare n record; etag text;
begin
  select x.kind, x.etag_drive, x.drive_id, x.etag_seq, f.etag_seq folder_seq into n
    from nodes x left join folders f on f.node_id = x.id where x.id = p_node;
  etag := case when n.kind = 2 then etag_text(n.drive_id, n.folder_seq, p_node)
               else etag_text(n.etag_drive, n.etag_seq, p_node) end;
  if p_expect = 1 or p_expect = 3 and etag <> all (p_etags) or p_expect = 4 and etag = any (p_etags) then
    raise exception using errcode = 'WP412', message = 'precondition_failed'; end if;
end $$;

-- What a change of a node itself has to find true; shared by move and trash.
drop function if exists require_change(integer, bigint, record, integer, smallint, text[], uuid[]);
create or replace function require_change(p_drive integer, p_node bigint, p_gate record, p_right integer,
    p_subjects bigint[], p_expect smallint, p_etags text[], p_tokens uuid[]) returns void language plpgsql stable as $$
begin
  if not p_gate.live or p_gate.drive <> p_drive or p_gate.rights & 1 = 0 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if cardinality(p_gate.chain) = 1 then raise exception using errcode = 'WF403', message = 'is_root'; end if;
  if p_gate.rights & p_right <> p_right then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  perform require_expected(p_node, p_expect, p_etags);
  if is_locked(p_gate.chain, p_node, p_gate.chain[2], p_drive, p_subjects, p_tokens, true) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;
end $$;

-- Whether something may come to p_parent (whose gate is p_gate) under p_name. p_from: the way up of what comes, itself
-- first; p_self: a node that may have the name already. Null: the name is free; else the node that has it and that the
-- caller may replace.
create or replace function require_place(p_parent bigint, p_name text, p_gate record, p_self bigint, p_from bigint[],
    p_replace boolean, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_tokens uuid[]) returns bigint language plpgsql stable as $$
declare old bigint; g record;
begin
  select x.id into old from nodes x where x.parent_id = p_parent and x.name = p_name;
  if not found or old = p_self then return null; end if;
  if not p_replace then raise exception using errcode = 'WC409', message = 'exists'; end if;
  if old = any (p_from) then raise exception using errcode = 'WI400', message = 'into_itself'; end if;
  g := gate(old, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  if g.rights & 16 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if old = p_limit or old = p_link_node then raise exception using errcode = 'WF403', message = 'is_root'; end if;
  if is_locked(g.chain, old, p_parent, g.drive, p_subjects, p_tokens, true) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;
  return old;
end $$;

-- How many folders lie inside each other at and below a folder. Looks at a bounded number of them, so that moving a large
-- tree stays cheap; in a tree that wide the answer may be too small.
create or replace function height_of(p_folder bigint) returns integer language plpgsql stable as $$
begin
  return (with recursive below as (
      select p_folder id, 1 height
      union all
      select n.id, b.height + 1
        from below b cross join lateral (select x.id from nodes x where x.parent_id = b.id and x.kind = 2 offset 0) n)
    select max(x.height) from (select height from below limit 5000) x);
end $$;

-- Charges bytes to a drive whose lock is held.
create or replace function charge_drive(p_drive integer, p_bytes bigint) returns void language plpgsql as $$
declare held jsonb := held_back(); charged bigint;
begin
  if held is not null then
    charged := coalesce((held -> 'u' ->> p_drive::text)::bigint, 0) + p_bytes;
    if p_bytes > 0 and not exists (select from drives v where v.id = p_drive
                                      and v.used_bytes + v.reserved_bytes + charged <= v.quota_bytes) then
      raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
    perform hold_back('u', p_drive::text, to_jsonb(charged));
    return;
  end if;
  update drives set used_bytes = used_bytes + p_bytes
   where id = p_drive and (p_bytes <= 0 or used_bytes + reserved_bytes + p_bytes <= quota_bytes);
  if not found then raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
end $$;

create or replace function bytes_of(p_node bigint) returns bigint language plpgsql volatile as $$
begin
  return (select case when n.kind = 1 then n.size
                      else (select f.bytes_below from folders f where f.node_id = n.id)
                           + coalesce((held_back() -> 'f' -> n.id::text ->> 0)::bigint, 0) end
            from nodes n where n.id = p_node);
end $$;

-- The rows of going to the trash, decided already. p_above: the way up from the node's parent. Under the trash an item
-- is called by its id. Its locks are the caller's to drop.
create or replace function put_in_trash(p_node bigint, p_user bigint, p_drive integer, p_seq bigint, p_trash bigint,
    p_above bigint[]) returns void language plpgsql as $$
declare bytes bigint := bytes_of(p_node);
begin
  insert into trash (node_id, drive_id, from_parent_id, bytes, deleted_by, from_name)
    select p_node, p_drive, n.parent_id, bytes, nullif(p_user, 0), n.name from nodes n where n.id = p_node;
  insert into changes (drive_id, seq, node_id, parent_id, op, old_name)
    select p_drive, p_seq, p_node, n.parent_id, 3, n.name from nodes n where n.id = p_node;
  update nodes set parent_id = p_trash, name = p_node::text where id = p_node;
  perform raise_chain(p_above, p_seq, -bytes);
  perform raise_chain(array[p_trash], p_seq, bytes);
end $$;

drop function if exists lock_drives(integer, integer);

-- Locks the drives of a node and of the folder it goes to (0: none), in the order of their ids and before any of their
-- rows. A node may change its drive while its lock is waited for; then the locks are given back, with the subtransaction
-- that took them, and taken anew.
create or replace function lock_drives(p_node bigint, p_to bigint, out drive integer, out target integer)
  language plpgsql as $$
begin
  for tries in 1 .. 100 loop
    select n.drive_id into drive from nodes n where n.id = p_node;
    if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
    target := coalesce((select n.drive_id from nodes n where n.id = p_to), drive);
    begin
      perform pg_advisory_xact_lock(1, least(drive, target));
      if drive <> target then perform pg_advisory_xact_lock(1, greatest(drive, target)); end if;
      if drive = (select n.drive_id from nodes n where n.id = p_node)
          and target = coalesce((select n.drive_id from nodes n where n.id = p_to), drive) then return; end if;
      raise exception using errcode = 'WX001';
    exception when sqlstate 'WX001' then null;
    end;
  end loop;
  raise exception using errcode = 'serialization_failure', message = 'moved meanwhile';
end $$;

-- A whole tree changes its drive: the bytes it counts for, versions and properties too, and the etags of its folders, which belong to
-- the drive that hands out their numbers. Files keep theirs. Nobody keeps an access that the new drive did not give.
create or replace function move_to_drive(p_node bigint, p_from integer, p_to integer, p_seq bigint, p_nodes_max integer)
  returns void language plpgsql as $$
declare ids bigint[]; total bigint;
begin
  with recursive tree as (
    select n.id, n.kind from nodes n where n.id = p_node
    union all
    select c.id, c.kind
      from tree t cross join lateral (select x.id, x.kind from nodes x where x.parent_id = t.id offset 0) c
     where t.kind = 2)
  select array_agg(x.id) into ids from (select t.id from tree t limit p_nodes_max + 1) x;
  if cardinality(ids) > p_nodes_max then
    raise exception using errcode = 'WU422', message = 'too_many_nodes'; end if;
  select (select coalesce(sum(n.size), 0) from nodes n where n.id = any (ids) and n.kind = 1)
       + (select coalesce(sum(v.size), 0) from versions v where v.node_id = any (ids)) + property_bytes(ids) into total;
  perform charge_drive(p_to, total);
  perform charge_drive(p_from, -total);
  delete from grants where node_id = any (ids);
  delete from links where node_id = any (ids);
  update nodes set drive_id = p_to, flags = flags & ~3 where id = any (ids);
  update folders set etag_seq = p_seq where node_id = any (ids);
end $$;

drop function if exists move_node(bigint, bigint, text, bigint[], integer, bigint, bigint, integer, smallint, text[],
  uuid[], integer);
drop function if exists move_node(bigint, bigint, text, boolean, bigint, bigint[], integer, bigint, bigint, integer,
  smallint, text[], uuid[], integer, integer);

-- Whether a file is what a program writes before it renames it onto the name it means: made within the last minute by
-- the user, with no past, no shares and no properties of its own that could be lost.
create or replace function is_fresh(p_node nodes, p_user bigint) returns boolean language plpgsql stable as $$
begin
  return p_node.kind = 1 and p_user <> 0 and p_node.creator_id = p_user and p_node.flags & 7 = 0
     and p_node.created_at > now_us() - 60000000
     and not exists (select from versions v where v.node_id = p_node.id);
end $$;

-- The file the user put into the trash from that name within the last minute; null: none.
create or replace function just_trashed(p_drive integer, p_parent bigint, p_name text, p_user bigint) returns bigint
  language plpgsql stable as $$
begin
  return (select t.node_id from trash t join nodes n on n.id = t.node_id
           where t.drive_id = p_drive and t.deleted_at > now() - interval '60 seconds' and t.deleted_by = p_user
             and t.from_parent_id = p_parent and t.from_name = p_name and not t.purging and n.kind = 1
           order by t.deleted_at desc limit 1);
end $$;

-- A file goes on with the content of another one, which ends: its id, shares, properties and versions stay, and what it
-- held becomes a version, unless it was empty. p_above: the way up from the folder it lies in, or comes back to from the
-- trash; p_from: the way up from the folder of the one that ends. All in one drive, whose bytes stay the same.
create or replace function succeed_file(p_heir bigint, p_node bigint, p_name text, p_drive integer, p_seq bigint,
    p_trash bigint, p_above bigint[], p_from bigint[]) returns void language plpgsql as $$
declare o record; n record; was_trashed boolean;
begin
  select x.* into o from nodes x where x.id = p_heir;
  select x.* into n from nodes x where x.id = p_node;
  was_trashed := o.parent_id = p_trash;
  if o.size > 0 then
    insert into versions (node_id, content_id, size, mtime, author_id, mime)
      values (p_heir, o.content_id, o.size, o.mtime, o.author_id, o.mime);
  else
    insert into content_gc (content_id) values (o.content_id) on conflict do nothing;
  end if;
  insert into changes (drive_id, seq, node_id, parent_id, op, old_name) values
    (p_drive, p_seq, p_node, n.parent_id, 3, n.name),
    (p_drive, p_seq, p_heir, p_above[1], case when was_trashed then 1 else 2 end, null);
  delete from trash where node_id = p_heir;
  delete from nodes where id = p_node;
  update nodes set content_id = n.content_id, size = n.size, mtime = n.mtime, mime = n.mime, author_id = n.author_id,
                   etag_seq = p_seq, etag_drive = p_drive, parent_id = p_above[1], name = p_name where id = p_heir;
  if was_trashed then perform raise_chain(array[p_trash], p_seq, -o.size); end if;
  perform raise_chain(p_from, p_seq, -n.size);
  perform raise_chain(p_above, p_seq, n.size - case when was_trashed then 0 else o.size end);
end $$;

-- Rename or move. Inside a drive: one node row, two ways up. p_to 0: stays where it is; p_name null: keeps its name;
-- p_replace: what has the name goes to the trash. A file's etag stays, since its content does. p_succeed: a fresh file
-- that comes to the name of a file, or of one the user has deleted a moment ago, becomes the next content of that one.
create or replace function move_node(p_node bigint, p_to bigint, p_name text, p_replace boolean, p_user bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_expect smallint, p_etags text[], p_tokens uuid[], p_depth_max integer, p_nodes_max integer,
    p_succeed boolean default false, out created boolean, out moved bigint) language plpgsql as $$
declare
  d record; e record; n nodes; g record; h record;
  drive integer; target integer; destination bigint; wanted text; taken bigint; heir bigint; bytes bigint;
begin
  select l.drive, l.target into drive, target from lock_drives(p_node, p_to) l;
  d := begin_change(drive, 0, true);
  e := d;
  if target <> drive then e := begin_change(target, 0, true); end if;
  select x.* into n from nodes x where x.id = p_node;
  destination := case when p_to = 0 then n.parent_id else p_to end;
  wanted := coalesce(p_name, n.name);
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  h := gate(destination, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  -- A change of name is an update of the item; leaving a folder is a deletion there and a creation elsewhere.
  perform require_change(drive, p_node, g, case when destination = n.parent_id then 8 else 16 end,
                         p_subjects, p_expect, p_etags, p_tokens);
  if p_node = p_limit or p_node = p_link_node then raise exception using errcode = 'WF403', message = 'is_root'; end if;
  if not h.live or h.rights = 0 or not exists (select from nodes x where x.id = destination and x.kind = 2) then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if destination <> n.parent_id then
    if h.rights & 4 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
    if p_node = any (h.chain) then raise exception using errcode = 'WI400', message = 'into_itself'; end if;
    if cardinality(h.chain) + (case when n.kind = 2 then height_of(p_node) else 0 end) > p_depth_max + 1 then
      raise exception using errcode = 'WI400', message = 'too_deep'; end if;
    if is_locked(h.chain, null, destination, target, p_subjects, p_tokens, false) then
      raise exception using errcode = 'WL423', message = 'locked'; end if;
  end if;
  taken := require_place(destination, wanted, h, p_node, g.chain, p_replace, p_subjects, p_mask, p_limit, p_link_node,
                         p_link_rights, p_tokens);
  created := taken is null;
  moved := p_node;
  if p_succeed and target = drive and h.rights & 25 = 25 and is_fresh(n, p_user) then
    heir := case when taken is null then just_trashed(drive, destination, wanted, p_user)
                 else (select x.id from nodes x where x.id = taken and x.kind = 1) end;
  end if;
  if heir is not null then
    if taken is not null then perform drop_locks(taken, drive); end if;
    perform drop_locks(p_node, drive);
    perform succeed_file(heir, p_node, wanted, drive, d.seq, d.trash_id, h.chain, g.chain[2:]);
    moved := heir;
    return;
  end if;
  if taken is not null then
    perform drop_locks(taken, target);
    perform put_in_trash(taken, p_user, target, e.seq, e.trash_id, h.chain);
  end if;
  perform drop_locks(p_node, drive);
  bytes := bytes_of(p_node);
  if target <> drive then perform move_to_drive(p_node, drive, target, e.seq, p_nodes_max); end if;
  update nodes set parent_id = destination, name = wanted where id = p_node;
  update folders set etag_seq = e.seq where node_id = p_node;
  perform raise_chain(g.chain[2:], d.seq, -bytes);
  perform raise_chain(h.chain, e.seq, bytes);
  insert into changes (drive_id, seq, node_id, parent_id, op, old_name) values
    (drive, d.seq, p_node, n.parent_id, 3, n.name), (target, e.seq, p_node, destination, 1, null);
end $$;

-- Copies a file, a folder with everything below, or (p_children false) a folder alone, with dead properties (RFC 4918
-- §9.8.2), contents shared by reference. Locks, grants, links and versions stay behind. Only the target's drive is
-- locked: the tree is read in one snapshot, together with the right to it.
create or replace function copy_node(p_node bigint, p_to bigint, p_name text, p_children boolean, p_replace boolean,
    p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_expect smallint, p_etags text[], p_tokens uuid[], p_depth_max integer, p_nodes_max integer,
    out node_id bigint, out created boolean, out folders_made bigint, out files_made bigint) language plpgsql as $$
#variable_conflict use_column
declare
  d record; n record; g record; h record; author bigint := nullif(p_user, 0); stamp bigint;
  target integer; taken bigint; deep boolean; total bigint; noted bigint;
begin
  select l.drive into target from lock_drives(p_to, 0) l;
  d := begin_change(target, 0, true);
  stamp := now_us();
  select x.* into n from nodes x where x.id = p_node;
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  h := gate(p_to, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  if n.id is null or not g.live or g.rights & 1 = 0 or not h.live or h.rights = 0
      or not exists (select from nodes x where x.id = p_to and x.kind = 2) then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform require_expected(p_node, p_expect, p_etags);
  if h.rights & 4 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  deep := n.kind = 2 and p_children;
  if deep and p_node = any (h.chain) then raise exception using errcode = 'WI400', message = 'into_itself'; end if;
  if cardinality(h.chain) + (case when deep then height_of(p_node) when n.kind = 2 then 1 else 0 end)
      > p_depth_max + 1 then
    raise exception using errcode = 'WI400', message = 'too_deep'; end if;
  if is_locked(h.chain, null, p_to, target, p_subjects, p_tokens, false) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;
  taken := require_place(p_to, p_name, h, null, g.chain, p_replace, p_subjects, p_mask, p_limit, p_link_node,
                         p_link_rights, p_tokens);
  created := taken is null;
  -- Refused before the work where it can be known; what is inserted decides below.
  if n.kind = 1 or deep then
    if exists (select from drives v where v.id = target
                 and v.used_bytes + v.reserved_bytes > v.quota_bytes - bytes_of(p_node) and bytes_of(p_node) > 0) then
      raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
  end if;
  if taken is not null then perform put_in_trash(taken, p_user, target, d.seq, d.trash_id, h.chain); end if;

  with recursive tree as (
    select x.id, nextval('nodes_id_seq') fresh, p_to above, p_name collate "C" as name, x.content_id, x.size, x.mtime, x.kind, x.mime,
           x.flags
      from nodes x where x.id = p_node
       and exists (select from gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights) s
                    where s.live and s.rights & 1 = 1)
    union all
    select c.id, nextval('nodes_id_seq'), t.fresh, c.name, c.content_id, c.size, c.mtime, c.kind, c.mime, c.flags
      from tree t cross join lateral (select * from nodes x where x.parent_id = t.id offset 0) c
     where deep and t.kind = 2),
  picked as materialized (select * from tree limit p_nodes_max + 1),
  added as (
    insert into nodes (id, parent_id, content_id, size, mtime, etag_seq, created_at, creator_id, author_id, drive_id,
                       etag_drive, kind, mime, flags, name)
    select fresh, above, content_id, size, mtime, d.seq, stamp, author, author, target, target, kind, mime, flags & 4,
           name from picked),
  made_folders as (
    insert into folders (node_id, etag_seq, changed_at, bytes_below)
    select s.fresh, d.seq, stamp, case when deep then f.bytes_below else 0 end
      from picked s cross join lateral (select x.bytes_below from folders x where x.node_id = s.id offset 0) f
     where s.kind = 2),
  properties as (
    insert into node_properties (node_id, ns, name, value)
    select s.fresh, p.ns, p.name, p.value
      from picked s cross join lateral (select * from node_properties x where x.node_id = s.id offset 0) p
     where s.flags & 4 = 4
    returning octet_length(ns) + octet_length(name) + octet_length(value) bytes)
  select count(*) filter (where kind = 2), count(*) filter (where kind = 1),
         coalesce(sum(size) filter (where kind = 1), 0), min(fresh) filter (where id = p_node),
         (select coalesce(sum(w.bytes), 0) from properties w)
    into folders_made, files_made, total, node_id, noted from picked;
  if folders_made + files_made = 0 then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if folders_made + files_made > p_nodes_max then raise exception using errcode = 'WU422', message = 'too_many_nodes'; end if;
  perform charge_drive(target, total + noted);
  if taken is not null then  -- a lock on the replaced name protects the name (RFC 4918 §7.6), those below it end
    update locks l set node_id = copy_node.node_id where l.node_id = taken;
    perform drop_locks(taken, target);
  end if;
  perform raise_chain(h.chain, d.seq, total);
  insert into changes (drive_id, seq, node_id, parent_id, op) values (target, d.seq, copy_node.node_id, p_to, 1);
end $$;

-- Into the drive's trash: one node row, whatever is below it.
create or replace function trash_node(p_node bigint, p_user bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_expect smallint, p_etags text[], p_tokens uuid[]) returns void language plpgsql as $$
declare d record; g record; drive integer;
begin
  select l.drive into drive from lock_drives(p_node, 0) l;
  d := begin_change(drive, 0, true);
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  perform require_change(drive, p_node, g, 16, p_subjects, p_expect, p_etags, p_tokens);
  if p_node = p_limit or p_node = p_link_node then raise exception using errcode = 'WF403', message = 'is_root'; end if;
  perform drop_locks(p_node, drive);
  perform put_in_trash(p_node, p_user, drive, d.seq, d.trash_id, g.chain[2:]);
end $$;
