-- Every change of a drive is one call of one of these functions: a single statement of data-modifying CTEs would take
-- its snapshot before it waits for the drive, and lose writes. They expect READ COMMITTED.
-- The caller is always the same six values: his subjects, the mask of his credential, the folder it is limited to
-- (0: none), and, for a link, its node and rights.

-- The text clients see, without quotes: drive, number of the change, node. Never handed out twice.
create or replace function etag_text(p_drive integer, p_seq bigint, p_node bigint) returns text
  language sql immutable parallel safe as $$
  select lpad(to_hex(p_drive), 8, '0') || lpad(to_hex(p_seq), 16, '0')
      || lpad(to_hex(p_node), greatest(8, length(to_hex(p_node))), '0') $$;

-- What batch_change holds back until its end, null outside of it: a row that is updated with every one of 10,000 items
-- leaves as many dead versions, which nobody may clear away before the end and every later look passes by.
--   d  drives: number, root, trash   u  drives: bytes to be charged   f  folders: bytes that come, number
-- A setting of the transaction, because that goes back with an item that is refused.
create or replace function held_back() returns jsonb language plpgsql as $$
begin
  return nullif(current_setting('welkin.held_back', true), '')::jsonb;
end $$;

create or replace function hold_back(p_kind text, p_key text, p_value jsonb) returns void language plpgsql as $$
begin
  perform set_config('welkin.held_back', jsonb_set(held_back(), array[p_kind, p_key], p_value)::text, true);
end $$;

create or replace function settle_held_back() returns void language plpgsql as $$
declare held jsonb := held_back(); stamp bigint := now_us();
begin
  update folders f set etag_seq = x.seq, changed_at = stamp, bytes_below = f.bytes_below + x.bytes
    from (select e.key::bigint id, (e.value ->> 0)::bigint bytes, (e.value ->> 1)::bigint seq
            from jsonb_each(held -> 'f') e) x
   where f.node_id = x.id;
  update drives v set used_bytes = v.used_bytes + x.bytes
    from (select e.key::integer id, (e.value #>> '{}')::bigint bytes from jsonb_each(held -> 'u') e) x where v.id = x.id;
  perform set_config('welkin.held_back', jsonb_build_object('d', held -> 'd', 'u', '{}'::jsonb, 'f', '{}'::jsonb)::text, true);
end $$;

-- Takes the drive's next number; every writer of a drive calls this first. The advisory lock is a fair queue before the
-- row. p_grow is charged against the quota in the same statement, so that no burst can pass it. A batch is one change.
create or replace function begin_change(p_drive integer, p_grow bigint, p_shape boolean,
    out seq bigint, out root_id bigint, out trash_id bigint) language plpgsql as $$
declare held jsonb := held_back(); had jsonb := held -> 'd' -> p_drive::text;
begin
  perform pg_advisory_xact_lock(1, p_drive);
  if had is not null and p_grow = 0 then
    seq := had ->> 0; root_id := had ->> 1; trash_id := had ->> 2;
    return;
  end if;
  update drives d set seq = d.seq + 1, used_bytes = d.used_bytes + p_grow,
                      shape = case when p_shape or held is not null then d.seq + 1 else d.shape end
   where d.id = p_drive and (p_grow <= 0 or d.used_bytes + d.reserved_bytes + p_grow <= d.quota_bytes)
  returning d.seq, d.root_id, d.trash_id into seq, root_id, trash_id;
  if not found then
    if exists (select from drives d where d.id = p_drive) then
      raise exception using errcode = 'WQ507', message = 'quota_exceeded';
    end if;
    raise exception using errcode = 'WN404', message = 'not_found';
  end if;
  if held is not null then
    perform hold_back('d', p_drive::text, jsonb_build_array(seq, root_id, trash_id));
  end if;
end $$;

-- The gate: the way from a node to the top of its drive (the node first), whether it is alive (not in the trash), and
-- what the caller may do there; with the names on the way, the top's first. Rights are the OR of his membership of the drive, of all unexpired grants on the way,
-- and of his link's, cut by his credential. plpgsql on purpose: a language sql function that cannot be inlined is
-- planned again on every call.
create or replace function gate(p_node bigint, p_subjects bigint[], p_mask integer, p_limit bigint,
    p_link_node bigint, p_link_rights integer,
    out chain bigint[], out drive integer, out live boolean, out rights integer, out names text[])
  language plpgsql stable as $$
declare carriers bigint[]; top bigint;
begin
  with recursive up as (
    select id, parent_id, flags, drive_id, name, 0 depth from nodes where id = p_node
    union all
    select n.id, n.parent_id, n.flags, n.drive_id, n.name, up.depth + 1
      from up cross join lateral (select * from nodes x where x.id = up.parent_id offset 0) n)
  select array_agg(up.id order by up.depth), max(up.id) filter (where up.parent_id is null),
         array_agg(up.id) filter (where up.flags & 1 = 1), max(up.drive_id), array_agg(up.name order by up.depth desc)
    into chain, top, carriers, drive, names from up;
  rights := 0;
  live := exists (select from drives d where d.id = drive and d.root_id = top);
  if chain is null then return; end if;
  select coalesce(bit_or(m.rights), 0) into rights from drive_members m
   where m.drive_id = drive and m.subject_id = any (p_subjects);
  if carriers is not null then
    rights := rights | (select coalesce(bit_or(g.rights), 0)::integer from grants g
      where g.node_id = any (carriers) and g.subject_id = any (p_subjects)
        and (g.expires_at is null or g.expires_at > now()));
  end if;
  if p_link_node = any (chain) then rights := rights | p_link_rights; end if;
  if p_limit <> 0 and p_limit <> all (chain) then rights := 0; end if;
  rights := rights & p_mask;
end $$;

create or replace function raise_chain(p_chain bigint[], p_seq bigint, p_bytes bigint) returns void language plpgsql as $$
declare stamp bigint := now_us(); held jsonb := held_back(); folder text;
begin
  if held is null then
    update folders set etag_seq = p_seq, changed_at = stamp, bytes_below = bytes_below + p_bytes
     where node_id = any (p_chain);
    return;
  end if;
  foreach folder in array p_chain loop
    held := jsonb_set(held, array['f', folder],
                      jsonb_build_array(coalesce((held -> 'f' -> folder ->> 0)::bigint, 0) + p_bytes, p_seq));
  end loop;
  perform set_config('welkin.held_back', held::text, true);
end $$;

-- Group commit: bodies of one caller for one drive, one number, each ancestor raised once. Targets are distinct. Each
-- item gets its own verdict: 'ok', or the SQLSTATE it would have raised with a slug behind it; only the ok ones are
-- written. Only the quota fails the group as a whole (WQ507): it is then tried again item by item.
--   p_files     the file whose content is replaced, else 0 and (p_parents, p_names)
--   p_expects   0 anything, 1 must be new, 2 must exist, 3 etag is one of p_etags, 4 etag is none of them
--   p_etags     comma-separated; p_tokens: lock tokens, comma-separated
--   p_uploads   the uploads row that ends with this item, else 0; its reservation is given back
--   p_session, p_app_password  what the caller proved himself by, 0: something else; it must still be good
-- Its result gained a column, its parameters the credential.
do $$ begin
  if exists (select from pg_proc where proname = 'commit_files' and not 'p_session' = any (proargnames)) then
    drop function commit_files;
  end if;
end $$;

create or replace function commit_files(p_drive integer, p_user bigint, p_session bigint, p_app_password bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_parents bigint[], p_names text[], p_files bigint[], p_contents bigint[], p_sizes bigint[], p_mtimes bigint[],
    p_mimes smallint[], p_expects smallint[], p_etags text[], p_overwrites boolean[], p_tokens text[],
    p_uploads bigint[])
  returns table (ord integer, verdict text, node_id bigint, parent_id bigint, name text, seq bigint, created boolean,
    created_at bigint, rights integer, creator bigint)
  -- A custom plan looks cheaper for every group (its arrays are constants then), and costs more than the work itself.
  language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare d record; author bigint := nullif(p_user, 0); charged integer; stamp bigint; any_locks boolean;
begin
  d := begin_change(p_drive, 0, false);
  -- A body may have been long on its way: who was shut out meanwhile writes nothing.
  if p_user <> 0 and not exists (select from users u where u.id = p_user and not u.is_disabled) then
    raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if p_session <> 0 and not exists (select from sessions s where s.id = p_session and s.ends_at > now())
      or p_app_password <> 0 and not exists (select from app_passwords a where a.id = p_app_password
           and a.revoked_at is null and (a.expires_at is null or a.expires_at > now())) then
    raise exception using errcode = 'WA401', message = 'signed_out'; end if;
  stamp := now_us();
  any_locks := exists (select from locks l where l.drive_id = p_drive and l.expires_at > now());
  return query
  with items as materialized (
    select i.*, string_to_array(i.tokens_text, ',')::uuid[] tokens, string_to_array(i.etags_text, ',') etags
      from unnest(p_parents, p_names collate "C", p_files, p_contents, p_sizes, p_mtimes, p_mimes, p_expects, p_etags,
                  p_overwrites, p_tokens, p_uploads)
        with ordinality i (parent_id, name, file_id, content_id, size, mtime, mime, expect, etags_text, overwrite,
                           tokens_text, upload_id, ord)),
  located as materialized (
    select i.*, n.id old_id, coalesce(n.parent_id, i.parent_id) at_parent, coalesce(n.name, i.name) at_name,
           n.kind old_kind, n.content_id old_content, n.size old_size, n.mtime old_mtime, n.author_id old_author,
           n.mime old_type,
           n.created_at old_created, n.creator_id old_creator, etag_text(n.etag_drive, n.etag_seq, n.id) old_etag,
           case when n.flags & 1 = 1 then n.id else coalesce(n.parent_id, i.parent_id) end place
      from items i left join lateral (
        select f.* from nodes f where f.id = i.file_id
        union all
        select f.* from nodes f where i.file_id = 0 and f.parent_id = i.parent_id and f.name = i.name) n on true),
  gates as materialized (
    select p.place, g.chain, g.drive, g.live, g.rights, (select n.kind from nodes n where n.id = p.place) kind
      from (select distinct place from located) p
      cross join lateral gate(p.place, p_subjects, p_mask, p_limit, p_link_node, p_link_rights) g),
  judged as materialized (
    select l.*, g.chain, g.rights,
      case
        when l.file_id <> 0 and l.old_id is null or not g.live or g.drive <> p_drive or g.rights = 0
          or l.old_id is null and g.kind <> 2
          then 'WN404 not_found'
        when g.rights & (case when l.old_id is null then 4 else 8 end) = 0 then 'WF403 forbidden'
        when l.old_kind = 2 then 'WC409 is_a_folder'
        when l.old_id is not null and not l.overwrite then 'WC409 exists'
        when l.expect = 1 and l.old_id is not null or l.expect in (2, 3) and l.old_id is null
          or l.expect = 3 and l.old_etag <> all (l.etags) or l.expect = 4 and l.old_etag = any (l.etags)
          then 'WP412 precondition_failed'
        when any_locks and is_locked(g.chain, l.old_id,
               case when l.old_id is null then l.at_parent end, p_drive, p_subjects, l.tokens, false) then 'WL423 locked'
        else 'ok'
      end verdict
      from located l left join gates g on g.place = l.place),
  -- Many clients make a file empty before they fill it: that is no version to come back to.
  kept as (
    insert into versions (node_id, content_id, size, mtime, author_id, mime)
    select old_id, old_content, old_size, old_mtime, old_author, old_type from judged
     where verdict = 'ok' and old_id is not null and old_size > 0),
  forgotten as (
    insert into content_gc (content_id)
    select old_content from judged where verdict = 'ok' and old_id is not null and old_size = 0 on conflict do nothing),
  changed as (
    update nodes n set content_id = j.content_id, size = j.size, mtime = j.mtime, mime = j.mime, etag_seq = d.seq,
                       etag_drive = p_drive, author_id = author
      from judged j where j.verdict = 'ok' and n.id = j.old_id returning n.id, n.parent_id),
  added as (
    insert into nodes (parent_id, content_id, size, mtime, etag_seq, created_at, creator_id, author_id, drive_id,
                       etag_drive, kind, mime, name)
    select parent_id, content_id, size, mtime, d.seq, stamp, author, author, p_drive, p_drive, 1, mime, name
      from judged where verdict = 'ok' and old_id is null returning id, parent_id, name),
  logged as (
    insert into changes (drive_id, seq, node_id, parent_id, op)
    select p_drive, d.seq, id, parent_id, 1 from added
    union all select p_drive, d.seq, id, parent_id, 2 from changed),
  total as (
    select c.id, sum(j.size - coalesce(j.old_size, 0))::bigint grown
      from judged j cross join lateral unnest(j.chain) c (id) where j.verdict = 'ok' group by 1),
  raised as (
    update folders f set etag_seq = d.seq, changed_at = stamp, bytes_below = f.bytes_below + t.grown
      from total t where f.node_id = t.id)
  select j.ord::integer, j.verdict, coalesce(j.old_id, a.id), j.at_parent, j.at_name, d.seq, j.old_id is null,
         coalesce(j.old_created, stamp), j.rights, case when j.old_id is null then author else j.old_creator end
    from judged j
    left join added a on j.old_id is null and a.parent_id = j.parent_id and a.name = j.name
   order by j.ord;

  -- Charged last, with everything known; the row is ours since begin_change. Versions count, so the whole size grows.
  with written as (
    select coalesce(sum(i.size), 0)::bigint grown, array_agg(i.upload_id) filter (where i.upload_id <> 0) ended
      from unnest(p_contents, p_sizes, p_uploads) i (content_id, size, upload_id)
     where exists (select from nodes n where n.content_id = i.content_id and n.etag_seq = d.seq and n.drive_id = p_drive)),
  ended as (delete from uploads u using written w where u.id = any (w.ended) returning u.reserved),
  freed as (select coalesce(sum(e.reserved), 0)::bigint bytes from ended e)
  update drives v set used_bytes = v.used_bytes + w.grown, reserved_bytes = v.reserved_bytes - f.bytes
    from written w, freed f
   where v.id = p_drive and (w.grown = 0 or v.used_bytes + v.reserved_bytes - f.bytes + w.grown <= v.quota_bytes);
  get diagnostics charged = row_count;
  if charged = 0 then raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
end $$;

create or replace function create_folder(p_parent bigint, p_name text, p_user bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_tokens uuid[], p_depth_max integer, out node_id bigint, out drive integer, out seq bigint, out stamp bigint,
    out rights integer) language plpgsql as $$
declare d record; g record;
begin
  select n.drive_id into drive from nodes n where n.id = p_parent and n.kind = 2;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  d := begin_change(drive, 0, true);
  g := gate(p_parent, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  if not g.live or g.drive <> drive or g.rights = 0 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if g.rights & 4 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if cardinality(g.chain) > p_depth_max then raise exception using errcode = 'WI400', message = 'too_deep'; end if;
  if is_locked(g.chain, null, p_parent, drive, p_subjects, p_tokens, false) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;
  seq := d.seq; stamp := now_us(); rights := g.rights;
  insert into nodes (parent_id, mtime, etag_seq, created_at, creator_id, author_id, drive_id, etag_drive, kind, name)
    values (p_parent, stamp, seq, stamp, nullif(p_user, 0), nullif(p_user, 0), drive, drive, 2, p_name)
    returning id into node_id;
  insert into folders (node_id, etag_seq, changed_at) values (node_id, seq, stamp);
  perform raise_chain(g.chain, seq, 0);
  insert into changes (drive_id, seq, node_id, parent_id, op) values (drive, seq, node_id, p_parent, 5);
end $$;

-- Announces the bytes of a running upload against the quota. The row is its chunks' reference until it ends.
create or replace function begin_upload(p_user bigint, p_drive integer, p_parent bigint, p_name text, p_total bigint,
    p_seconds integer) returns bigint language plpgsql as $$
declare made bigint;
begin
  perform pg_advisory_xact_lock(1, p_drive);
  update drives set reserved_bytes = reserved_bytes + coalesce(p_total, 0)
   where id = p_drive and (coalesce(p_total, 0) = 0 or used_bytes + reserved_bytes + p_total <= quota_bytes);
  if not found then raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
  insert into uploads (user_id, drive_id, parent_id, total, reserved, expires_at, name)
    values (nullif(p_user, 0), p_drive, p_parent, p_total, coalesce(p_total, 0),
            now() + make_interval(secs => p_seconds), p_name) returning id into made;
  return made;
end $$;

-- Ends an upload that came to nothing: reservation back, chunks to the collector. False when it was gone already.
create or replace function drop_upload(p_upload bigint) returns boolean language plpgsql as $$
declare u record;
begin
  select drive_id into u from uploads where id = p_upload;
  if not found then return false; end if;
  perform pg_advisory_xact_lock(1, u.drive_id);
  select drive_id, reserved into u from uploads where id = p_upload for update;
  if not found then return false; end if;
  update drives set reserved_bytes = reserved_bytes - u.reserved where id = u.drive_id and u.reserved > 0;
  insert into chunk_gc (chunk_id) select chunk_id from upload_chunks where upload_id = p_upload on conflict do nothing;
  delete from uploads where id = p_upload;
  return true;
end $$;
