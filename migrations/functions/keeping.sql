-- Repairs of the tree, for `welkin fsck --repair`. Each is one transaction under the drive's lock; none gives up a byte.

-- Counts a drive anew: the bytes below each of its folders, those it uses (files, versions, properties, trash, and what its
-- owner's calendars and address books hold), those it has promised
-- to uploads, and those of each item in its trash. Where the tree has a cycle or an end in nothing, what hangs there counts
-- nowhere: mend that first.
create or replace function recount_drive(p_drive integer) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(1, p_drive);
  perform 1 from drives where id = p_drive for update;
  if not found then return; end if;
  with recursive direct as (
      select n.parent_id id, sum(n.size)::bigint bytes from nodes n
       where n.drive_id = p_drive and n.kind = 1 and n.parent_id is not null group by 1),
    up as (
      select d.id, d.bytes, 0 depth from direct d
      union all
      select n.parent_id, up.bytes, up.depth + 1 from up join nodes n on n.id = up.id
       where n.parent_id is not null and up.depth < 1000),
    truth as (select up.id, sum(up.bytes)::bigint bytes from up group by 1)
  update folders f set bytes_below = coalesce(t.bytes, 0)
    from nodes n left join truth t on t.id = n.id
   where n.id = f.node_id and n.drive_id = p_drive and f.bytes_below <> coalesce(t.bytes, 0);
  update trash t set bytes = x.bytes
    from (select n.id, case when n.kind = 1 then n.size else f.bytes_below end bytes
            from trash t join nodes n on n.id = t.node_id left join folders f on f.node_id = n.id
           where n.drive_id = p_drive) x
   where t.node_id = x.id and t.bytes <> x.bytes;
  update drives d
     set used_bytes = (select coalesce(sum(n.size), 0) from nodes n where n.drive_id = p_drive and n.kind = 1)
                    + (select coalesce(sum(v.size), 0) from nodes n join versions v on v.node_id = n.id
                        where n.drive_id = p_drive)
                    + (select coalesce(sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value)), 0)
                         from node_properties p join nodes n on n.id = p.node_id where n.drive_id = p_drive)
                    + case when d.kind = 1 then collection_bytes(d.owner_id) else 0 end,
         reserved_bytes = (select coalesce(sum(u.reserved), 0) from uploads u where u.drive_id = p_drive)
   where d.id = p_drive;
end $$;

-- Hangs a node that cannot be reached, with what is below it, into the root of its drive as "recovered ID", where its
-- owner finds it. False when it is the drive's own root or trash, or gone.
create or replace function recover_node(p_node bigint) returns boolean language plpgsql as $$
declare d record; n record;
begin
  select x.drive_id into n from nodes x where x.id = p_node;
  if not found then return false; end if;
  d := begin_change(n.drive_id, 0, true);
  select x.drive_id, x.parent_id into n from nodes x where x.id = p_node;
  if d.root_id is null or p_node in (d.root_id, d.trash_id) then return false; end if;
  delete from trash where node_id = p_node;
  update nodes set parent_id = d.root_id, name = 'recovered ' || p_node, etag_seq = d.seq, etag_drive = n.drive_id
   where id = p_node;
  update folders set etag_seq = d.seq, changed_at = now_us() where node_id in (p_node, d.root_id);
  insert into changes (drive_id, seq, node_id, parent_id, op) values (n.drive_id, d.seq, p_node, d.root_id, 1)
    on conflict do nothing;
  return true;
end $$;

-- Gives a node and all below it the drive of its parent. Both drives want a recount afterwards.
create or replace function settle_node(p_node bigint) returns boolean language plpgsql as $$
declare wanted integer; had integer; d record;
begin
  select p.drive_id, n.drive_id into wanted, had from nodes n join nodes p on p.id = n.parent_id where n.id = p_node;
  if not found or wanted = had then return false; end if;
  -- Lower number first, as everybody who takes two drives.
  perform pg_advisory_xact_lock(1, least(wanted, had));
  perform pg_advisory_xact_lock(1, greatest(wanted, had));
  d := begin_change(wanted, 0, true);
  with recursive below as (
    select n.id, 0 depth from nodes n where n.id = p_node
    union all
    select n.id, below.depth + 1 from below join nodes n on n.parent_id = below.id where below.depth < 1000)
  update nodes n set drive_id = wanted from (select distinct id from below) b where n.id = b.id and n.drive_id = had;
  insert into changes (drive_id, seq, node_id, parent_id, op)
    select wanted, d.seq, p_node, n.parent_id, 1 from nodes n where n.id = p_node on conflict do nothing;
  return true;
end $$;
