-- Properties that clients keep with a node, and those of its own that they may set. Expects READ COMMITTED, see files.sql.

-- The bytes of nodes' properties, which count in the drive like those of files. Nodes say by a flag that they have some.
create or replace function property_bytes(p_nodes bigint[]) returns bigint language plpgsql stable as $$
begin
  return (select coalesce(sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value)), 0)::bigint
            from nodes n join node_properties p on p.node_id = n.id
           where n.id = any (p_nodes) and n.flags & 4 = 4);
end $$;

-- What is in p_set_* is set, what is in p_gone_* removed; no name stands twice. p_mtime, p_created (microseconds) and
-- p_mime are left alone when 0. The etag and, unless told to, the time of a file stay as they are; the folders above get
-- new etags, so that whoever compares them looks.
create or replace function patch_properties(p_node bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_expect smallint, p_etags text[], p_tokens uuid[], p_set_ns text[], p_set_names text[], p_set_values text[],
    p_gone_ns text[], p_gone_names text[], p_mtime bigint, p_created bigint, p_mime smallint, p_count_max integer)
  returns void language plpgsql as $$
declare d record; g record; n record; drive integer; etag text; total record; before bigint;
begin
  select x.drive_id into drive from nodes x where x.id = p_node;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  d := begin_change(drive, 0, false);
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  if not g.live or g.drive <> drive or g.rights & 1 = 0 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if g.rights & 8 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  select x.parent_id, x.kind, x.etag_drive, x.drive_id, x.etag_seq, f.etag_seq folder_seq into n
    from nodes x left join folders f on f.node_id = x.id where x.id = p_node;
  etag := case when n.kind = 2 then etag_text(n.drive_id, n.folder_seq, p_node)
               else etag_text(n.etag_drive, n.etag_seq, p_node) end;
  if p_expect = 1 or p_expect = 3 and etag <> all (p_etags) or p_expect = 4 and etag = any (p_etags) then
    raise exception using errcode = 'WP412', message = 'precondition_failed'; end if;
  if is_locked(g.chain, p_node, null, drive, p_subjects, p_tokens, false) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;

  before := property_bytes(array[p_node]);
  delete from node_properties p using unnest(p_gone_ns, p_gone_names) w (ns, name)
   where p.node_id = p_node and p.ns = w.ns and p.name = w.name;
  insert into node_properties (node_id, ns, name, value)
    select p_node, w.ns, w.name, w.value from unnest(p_set_ns, p_set_names, p_set_values) w (ns, name, value)
    on conflict (node_id, ns, name) do update set value = excluded.value;
  select count(*) many, coalesce(sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value)), 0) bytes
    into total from node_properties p where p.node_id = p_node;
  if cardinality(p_set_names) > 0 and (total.many > p_count_max or total.bytes > 262144) then
    raise exception using errcode = 'WQ507', message = 'too_many_properties'; end if;
  if total.bytes <> before then perform charge_drive(drive, (total.bytes - before)::bigint); end if;

  update nodes set flags = case when total.many > 0 then flags | 4 else flags & ~4 end,
                   mtime = case when p_mtime <> 0 then p_mtime else mtime end,
                   created_at = case when p_created <> 0 then p_created else created_at end,
                   mime = case when p_mime <> 0 and kind = 1 then p_mime else mime end
   where id = p_node;
  if n.kind = 2 and p_mtime <> 0 then update folders set changed_at = p_mtime where node_id = p_node; end if;
  update folders set etag_seq = d.seq where node_id = any (case when n.kind = 2 then g.chain else g.chain[2:] end);
  insert into changes (drive_id, seq, node_id, parent_id, op)
    values (drive, d.seq, p_node, coalesce(n.parent_id, p_node), 4);
end $$;
