-- The schema as all migrations make it. Written by scripts/dump-schema.

CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;

COMMENT ON EXTENSION btree_gin IS 'support for indexing common datatypes in GIN';

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;

COMMENT ON EXTENSION unaccent IS 'text search dictionary that removes accents';

CREATE FUNCTION public.batch_change(p_op integer, p_items bigint[], p_names text[], p_in bigint, p_to bigint, p_conflict integer, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_tokens uuid[], p_depth_max integer, p_nodes_max integer, p_items_max integer) RETURNS TABLE(item bigint, kind smallint, verdict text, made bigint, folders_made bigint, files_made bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare g record; c record; n record; ids bigint[] := p_items; wanted text; broken text; i integer; tries integer;
begin
  -- All drives in the order of their ids, before any row of them.
  perform pg_advisory_xact_lock(1, x.drive_id) from (
    select distinct o.drive_id from nodes o where o.id = any (p_items || p_in || p_to) order by 1) x;
  if p_in <> 0 then
    g := gate(p_in, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
    if not g.live or g.rights & 1 = 0 then raise exception using errcode = 'WN404', message = 'not_found'; end if;
    ids := array(select x.id from nodes x where x.parent_id = p_in and x.id <> all (p_items)
                  order by x.kind desc, fold_name(x.name), x.name limit p_items_max + 1);
  end if;
  if cardinality(ids) > p_items_max then
    raise exception using errcode = 'WU422', message = 'too_many_items'; end if;
  perform set_config('welkin.held_back', '{"d": {}, "u": {}, "f": {}}', true);
  for i in 1 .. cardinality(ids) loop
    tries := 0;
    <<again>> loop
    item := ids[i]; verdict := 'ok'; made := item; folders_made := 0; files_made := 0; tries := tries + 1;
    begin
      select x.name, x.parent_id, x.kind into n from nodes x where x.id = item;
      -- What reads the sums below a folder finds them whole.
      if n.kind = 2 and held_back() -> 'f' ? item::text then perform settle_held_back(); end if;
      wanted := n.name; kind := coalesce(n.kind, 1);
      if p_op in (1, 2) and p_conflict = 2 and not (p_op = 1 and n.parent_id = p_to) then
        wanted := free_name(p_to, n.name, n.kind = 2);
      end if;
      if p_op = 1 then
        perform move_node(item, p_to, wanted, p_conflict = 1, p_user, p_subjects, p_mask, p_limit, p_link_node,
                          p_link_rights, 0::smallint, '{}', p_tokens, p_depth_max, p_nodes_max);
      elsif p_op = 2 then
        if n.parent_id is null then raise exception using errcode = 'WN404', message = 'not_found'; end if;
        c := copy_node(item, p_to, wanted, true, p_conflict = 1, p_user, p_subjects, p_mask, p_limit, p_link_node,
                       p_link_rights, 0::smallint, '{}', p_tokens, p_depth_max, p_nodes_max);
        made := c.node_id; folders_made := c.folders_made; files_made := c.files_made;
      elsif p_op = 3 then
        perform trash_node(item, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights, 0::smallint, '{}',
                           p_tokens);
      elsif p_op = 4 then
        perform destroy_node(item, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights, 0::smallint, '{}',
                             p_tokens);
      elsif p_op = 5 then
        perform restore_node(item, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights, p_tokens,
                             p_depth_max);
      elsif p_op = 6 then
        perform purge_item(item, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
      else
        c := create_folder(item, p_names[i], p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights, p_tokens,
                           p_depth_max);
        made := c.node_id;
      end if;
    exception
      when unique_violation then
        get stacked diagnostics broken = constraint_name;
        if broken = 'changes_pkey' and tries = 1 then  -- the batch has changed this node before: that needs another number
          perform set_config('welkin.held_back', jsonb_set(held_back(), '{d}', '{}')::text, true);
          continue again;
        end if;
        verdict := 'WC409 exists'; made := 0;
      when others then
        if sqlstate not like 'W%' then raise; end if;  -- the whole is run again, or fails
        verdict := sqlstate || ' ' || sqlerrm; made := 0;
    end;
    exit again;
    end loop;
    return next;
  end loop;
  perform settle_held_back();
  perform set_config('welkin.held_back', '', true);
end $$;

CREATE FUNCTION public.begin_change(p_drive integer, p_grow bigint, p_shape boolean, OUT seq bigint, OUT root_id bigint, OUT trash_id bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.begin_part(p_upload bigint, p_bytes bigint, p_total bigint, p_seconds integer, p_parts_max integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare number integer;
begin
  update uploads set parts_begun = parts_begun + 1, expires_at = now() + make_interval(secs => p_seconds),
                     total = coalesce(total, p_total)
   where id = p_upload returning parts_begun into number;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if (select count(*) from upload_parts p where p.upload_id = p_upload) >= p_parts_max then
    raise exception using errcode = 'WI400', message = 'too_many_parts'; end if;
  perform reserve_for_upload(p_upload, p_bytes);
  return number;
end $$;

CREATE FUNCTION public.begin_part_upload(p_user bigint, p_drive integer, p_parent bigint, p_dir text, p_total bigint, p_seconds integer, p_user_max integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare made bigint;
begin
  perform pg_advisory_xact_lock(1, p_drive);
  if (select count(*) from uploads u where u.user_id = p_user and u.client_dir is not null) >= p_user_max then
    raise exception using errcode = 'WF403', message = 'too_many_uploads'; end if;
  insert into uploads (user_id, drive_id, parent_id, total, reserved, expires_at, client_dir, name)
    values (p_user, p_drive, p_parent, p_total, coalesce(p_total, 0), now() + make_interval(secs => p_seconds), p_dir, '')
    on conflict (user_id, client_dir) where client_dir is not null do nothing returning id into made;
  if made is null then return null; end if;
  update drives set reserved_bytes = reserved_bytes + coalesce(p_total, 0)
   where id = p_drive and (coalesce(p_total, 0) = 0 or used_bytes + reserved_bytes + p_total <= quota_bytes);
  if not found then raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
  return made;
end $$;

CREATE FUNCTION public.begin_upload(p_user bigint, p_drive integer, p_parent bigint, p_name text, p_total bigint, p_seconds integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.bury_object(p_id bigint, p_seq bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  update collection_objects set seq = p_seq, deleted = true, t0 = null, t1 = null, etag = null, uid_hash = null, size = 0,
         component = 0, flags = 0, uid = null, title = null, emails = '{}', phones = '{}', search = null, data = null, schedule_tag = null,
         modified_at = clock_timestamp()
   where id = p_id;
end $$;

CREATE FUNCTION public.bytes_of(p_node bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
begin
  return (select case when n.kind = 1 then n.size
                      else (select f.bytes_below from folders f where f.node_id = n.id)
                           + coalesce((held_back() -> 'f' -> n.id::text ->> 0)::bigint, 0) end
            from nodes n where n.id = p_node);
end $$;

CREATE FUNCTION public.charge_collection(p_collection bigint, p_bytes bigint, p_checked boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform charge_owner((select c.owner_id from collections c where c.id = p_collection), p_bytes, p_checked);
end $$;

CREATE FUNCTION public.charge_drive(p_drive integer, p_bytes bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.charge_owner(p_owner bigint, p_bytes bigint, p_checked boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare drive integer;
begin
  if p_bytes = 0 then return; end if;
  select d.id into drive from drives d where d.owner_id = p_owner and d.kind = 1;
  if not found then return; end if;
  perform pg_advisory_xact_lock(1, drive);
  update drives d set used_bytes = greatest(d.used_bytes + p_bytes, 0)
   where d.id = drive and (not p_checked or p_bytes <= 0 or d.used_bytes + d.reserved_bytes + p_bytes <= d.quota_bytes);
  if not found and exists (select from drives d where d.id = drive) then
    raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
end $$;

CREATE FUNCTION public.charge_transfer(p_from bigint, p_to bigint, p_bytes bigint, p_freed bigint, p_copy boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare giver bigint; taker bigint;
begin
  select c.owner_id into giver from collections c where c.id = p_from;
  select c.owner_id into taker from collections c where c.id = p_to;
  if giver = taker then
    perform charge_owner(taker, case when p_copy then p_bytes else 0 end - p_freed, true);
    return;
  end if;
  perform pg_advisory_xact_lock(1, x.id)
     from (select d.id from drives d where d.owner_id in (giver, taker) and d.kind = 1 order by d.id offset 0) x;
  perform charge_owner(taker, p_bytes - p_freed, true);
  if not p_copy then perform charge_owner(giver, -p_bytes, true); end if;
end $$;

CREATE FUNCTION public.collection_access(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer) RETURNS smallint
    LANGUAGE plpgsql STABLE
    AS $$
declare c record; best smallint;
begin
  select x.owner_id, x.deleted_at into c from collections x where x.id = p_collection;
  if not found or c.deleted_at is not null or p_mask & 1 = 0 then return 0; end if;
  if c.owner_id = p_user then
    best := 3;
  else
    select coalesce(max(s.access), 0) into best from collection_shares s
     where s.collection_id = p_collection and s.subject_id = any (p_subjects);
  end if;
  return case when best > 1 and p_mask & 28 <> 28 then 1 else best end;
end $$;

CREATE FUNCTION public.collection_bytes(p_owner bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return (select coalesce(sum(s.bytes), 0) from collections c join collection_state s on s.collection_id = c.id
           where c.owner_id = p_owner)
       + (select coalesce(sum(octet_length(t.data)), 0) from collections c join collection_trash t on t.collection_id = c.id
           where c.owner_id = p_owner);
end $$;

CREATE FUNCTION public.commit_files(p_drive integer, p_user bigint, p_session bigint, p_app_password bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_parents bigint[], p_names text[], p_files bigint[], p_contents bigint[], p_sizes bigint[], p_mtimes bigint[], p_mimes smallint[], p_expects smallint[], p_etags text[], p_overwrites boolean[], p_tokens text[], p_uploads bigint[]) RETURNS TABLE(ord integer, verdict text, node_id bigint, parent_id bigint, name text, seq bigint, created boolean, created_at bigint, rights integer, creator bigint)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

CREATE FUNCTION public.content_view(p_content bigint, p_from bigint, p_to bigint, p_limit bigint) RETURNS TABLE(size bigint, crc32 integer, sha256 bytea, n_chunks integer, body bytea, offs bigint[], ids bigint[], sizes integer[], hashes bytea, seen_us bigint[])
    LANGUAGE sql STABLE
    AS $$
  select c.size, c.crc32, c.sha256, c.n_chunks, b.body, p.offs, p.ids, p.sizes, p.hashes, p.seen_us
    from contents c left join inline_bodies b on b.content_id = c.id
    cross join lateral (
      select array_agg(x.off) offs, array_agg(x.id) ids, array_agg(x.size) sizes, string_agg(x.sha256, ''::bytea) hashes,
             array_agg(x.seen_us) seen_us
        from (
          select cc.off, k.id, k.size, k.sha256, coalesce((extract(epoch from k.verified_at) * 1e6)::bigint, 0) seen_us
            from content_chunks cc join chunks k on k.id = cc.chunk_id
           where cc.content_id = c.id and c.n_chunks > 0 and cc.off < p_to
             and cc.off >= coalesce((select max(off) from content_chunks where content_id = c.id and off <= p_from), 0)
           order by cc.off limit p_limit) x) p
   where c.id = p_content $$;

CREATE FUNCTION public.copy_node(p_node bigint, p_to bigint, p_name text, p_children boolean, p_replace boolean, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_expect smallint, p_etags text[], p_tokens uuid[], p_depth_max integer, p_nodes_max integer, OUT node_id bigint, OUT created boolean, OUT folders_made bigint, OUT files_made bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.create_collection(p_user bigint, p_mask integer, p_kind smallint, p_path text, p_components smallint, p_set_ns text[], p_set_names text[], p_set_values text[], p_many_max integer, p_count_max integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare made bigint;
begin
  if p_mask & 5 <> 5 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  -- One at a time a user, so that the count holds.
  perform 1 from users u where u.id = p_user for no key update;
  if (select count(*) from collections c where c.owner_id = p_user and c.deleted_at is null) >= p_many_max then
    raise exception using errcode = 'WQ507', message = 'too_many_collections'; end if;
  insert into collections (owner_id, kind, components, path) values (p_user, p_kind, p_components, p_path)
    on conflict (owner_id, kind, path) where deleted_at is null do nothing returning id into made;
  if made is null then raise exception using errcode = 'WC409', message = 'exists'; end if;
  insert into collection_state (collection_id) values (made);
  perform set_collection_properties(made, null, p_set_ns, p_set_names, p_set_values, '{}', '{}', p_count_max);
  return made;
end $$;

CREATE FUNCTION public.create_default_collections(p_user bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  with made as (
    insert into collections (owner_id, kind, components, path)
      values (p_user, 1, 7, 'personal'), (p_user, 1, 2, 'tasks'), (p_user, 2, 0, 'contacts'), (p_user, 5, 0, 'inbox')
    returning id)
  insert into collection_state (collection_id) select id from made;
end $$;

CREATE FUNCTION public.create_folder(p_parent bigint, p_name text, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_tokens uuid[], p_depth_max integer, OUT node_id bigint, OUT drive integer, OUT seq bigint, OUT stamp bigint, OUT rights integer) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.create_personal_drive(p_user bigint, p_quota bigint) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.delete_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_token text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare s collection_state; access smallint;
begin
  s := lock_collection(p_collection, p_user, p_subjects, p_mask, 1::smallint);
  if p_mask & 16 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if p_token <> '' and p_token <> s.epoch || '-' || s.seq then
    raise exception using errcode = 'WP412', message = 'precondition_failed'; end if;
  access := collection_access(p_collection, p_user, p_subjects, 127);
  if access < 3 then
    delete from collection_shares where collection_id = p_collection and user_id = p_user;
    -- One that came through a group cannot be left by one of its members.
    if not found then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
    delete from collection_properties where collection_id = p_collection and user_id = p_user;
    return;
  end if;
  if exists (select from birthday_calendars b where b.collection_id = p_collection) then
    perform switch_birthdays(p_user, false);
    return;
  end if;
  update collections set deleted_at = now() where id = p_collection;
  delete from collection_feeds where collection_id = p_collection;
  update collection_state set seq = seq + 1, changed_at = now() where collection_id = p_collection;
end $$;

CREATE FUNCTION public.delete_object(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_name text, p_expect smallint, p_expected uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare s collection_state; o record;
begin
  s := lock_collection(p_collection, p_user, p_subjects, p_mask, 2::smallint);
  select x.id, x.etag, x.size, x.flags into o
    from collection_objects x where x.collection_id = p_collection and x.name = p_name and not x.deleted;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform require_open_object(p_collection, p_user, p_subjects, o.flags, true);
  perform require_expected(p_expect, p_expected, true, o.etag);
  insert into collection_trash (collection_id, deleted_by, flags, name, title, data)
    select p_collection, p_user, x.flags, x.name, x.title, x.data
      from collection_objects x join collections c on c.id = x.collection_id
     where x.id = o.id and c.kind <> 5;   -- a message that was read is no loss
  if not found then perform charge_collection(p_collection, -o.size, true); end if;
  update collection_state set seq = s.seq + 1, object_count = object_count - 1, bytes = bytes - o.size, changed_at = now()
   where collection_id = p_collection;
  perform bury_object(o.id, s.seq + 1);
end $$;

CREATE FUNCTION public.delete_version(p_node bigint, p_version bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare g record; drive integer;
begin
  select l.drive into drive from lock_drives(p_node, 0) l;
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  perform require_versioned(p_node, drive, g);
  -- As in the trash: who was merely invited cannot destroy what others have to fall back on.
  if member_rights(drive, p_subjects, p_mask) & 16 = 0 then
    raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if not exists (select from versions v where v.id = p_version and v.node_id = p_node) then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform drop_versions(drive, array[p_version]);
end $$;

CREATE FUNCTION public.destroy_node(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_expect smallint, p_etags text[], p_tokens uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform trash_node(p_node, p_user, p_subjects, p_mask, p_limit, p_link_node, p_link_rights, p_expect, p_etags,
                     p_tokens);
  if member_rights((select t.drive_id from trash t where t.node_id = p_node), p_subjects, p_mask) & 16 = 0 then
    raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  update trash set purging = true where node_id = p_node;
end $$;

CREATE FUNCTION public.drop_derived_object(p_collection bigint, p_name text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare o record; s bigint;
begin
  if lock_derived(p_collection) is null then return false; end if;
  select x.id, x.size into o from collection_objects x
   where x.collection_id = p_collection and x.name = p_name and not x.deleted;
  if not found then return false; end if;
  perform charge_collection(p_collection, -o.size, false);
  update collection_state st set seq = st.seq + 1, object_count = st.object_count - 1, bytes = st.bytes - o.size,
         changed_at = now() where st.collection_id = p_collection returning st.seq into s;
  perform bury_object(o.id, s);
  return true;
end $$;

CREATE FUNCTION public.drop_drive_batch(p_drive integer, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare ids bigint[]; uploads_ended boolean;
begin
  perform pg_advisory_xact_lock(1, p_drive);
  perform 1 from drives where id = p_drive for update;
  if not found then return true; end if;
  -- Unfinished uploads first: the rows that name their chunks would go with the drive, and the chunks be forgotten.
  with ended as materialized (select u.id from uploads u where u.drive_id = p_drive limit 20),
  queued as (
    insert into chunk_gc (chunk_id)
    select c.chunk_id from ended e join upload_chunks c on c.upload_id = e.id on conflict do nothing),
  gone as (delete from uploads u using ended e where u.id = e.id)
  select exists (select from ended) into uploads_ended;
  if uploads_ended then return false; end if;
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

CREATE FUNCTION public.drop_locks(p_node bigint, p_drive integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  delete from locks l
   where l.drive_id = p_drive
     and l.node_id in (select d.node_id from (select distinct y.node_id from locks y where y.drive_id = p_drive) d
                        where d.node_id = p_node or way_down(p_node, d.node_id) is not null);
end $$;

CREATE FUNCTION public.drop_part(p_upload bigint, p_name text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare old record;
begin
  perform 1 from uploads where id = p_upload for no key update;  -- parts may come side by side
  delete from upload_parts p where p.upload_id = p_upload and p.name = p_name returning p.part, p.size into old;
  if old.part is null then return false; end if;
  insert into chunk_gc (chunk_id) select c.chunk_id from upload_chunks c
   where c.upload_id = p_upload and c.part = old.part on conflict do nothing;
  delete from upload_chunks c where c.upload_id = p_upload and c.part = old.part;
  update uploads set stored = stored - old.size where id = p_upload;
  return true;
end $$;

CREATE FUNCTION public.drop_upload(p_upload bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.drop_versions(p_drive integer, p_versions bigint[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare dropped bigint; freed bigint;
begin
  with gone as (
    delete from versions v using nodes n
     where v.id = any (p_versions) and n.id = v.node_id and n.drive_id = p_drive returning v.content_id, v.size),
  queued as (insert into content_gc (content_id) select content_id from gone on conflict do nothing)
  select count(*), coalesce(sum(size), 0) into dropped, freed from gone;
  update drives set used_bytes = used_bytes - freed where id = p_drive and freed > 0;
  return dropped;
end $$;

CREATE FUNCTION public.empty_collection_trash(p_user bigint, p_kind smallint, p_mask integer, p_days integer, p_limit integer, OUT gone integer, OUT done boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare ids bigint[]; freed bigint; many integer;
begin
  if p_mask & 16 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  select array_agg(x.id) into ids from (
    select t.id from collections c join collection_trash t on t.collection_id = c.id
     where c.owner_id = p_user and c.kind = p_kind and c.deleted_at is null limit p_limit for update of t skip locked) x;
  gone := coalesce(cardinality(ids), 0);
  with deleted as (delete from collection_trash where id = any (ids) returning octet_length(data) bytes)
    select coalesce(sum(bytes), 0) into freed from deleted;
  done := gone < p_limit;
  if done then
    update collections set deleted_at = '-infinity'
     where owner_id = p_user and kind = p_kind and deleted_at > now() - make_interval(days => p_days);
    get diagnostics many = row_count;
    gone := gone + many;
  end if;
  perform charge_owner(p_user, -freed, true);
end $$;

CREATE FUNCTION public.end_collection_trash(p_days integer, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare trashed bigint[]; members bigint[]; each record;
begin
  select array_agg(x.id) into trashed from (
    select t.id from collection_trash t where t.deleted_at < now() - make_interval(days => p_days)
    union
    select t.id from collections c join collection_trash t on t.collection_id = c.id
     where c.deleted_at < now() - make_interval(days => p_days)
    limit p_limit) x;
  select array_agg(x.id) into members from (
    select o.id from collections c join collection_objects o on o.collection_id = c.id
     where c.deleted_at < now() - make_interval(days => p_days) limit p_limit) x;
  perform 1 from collection_state s
    where s.collection_id in (select o.collection_id from collection_objects o where o.id = any (members))
    order by s.collection_id for update;
  for each in
    with ended as (delete from collection_trash t where t.id = any (trashed) returning t.collection_id, octet_length(t.data) bytes),
    gone as (delete from collection_objects o where o.id = any (members) returning o.collection_id, o.size, o.deleted),
    counted as (
      update collection_state s set bytes = s.bytes - g.bytes, object_count = s.object_count - g.many
        from (select collection_id, sum(size)::bigint bytes, (count(*) filter (where not deleted))::integer many from gone group by 1) g
       where s.collection_id = g.collection_id),
    freed as (select collection_id, bytes::bigint from ended union all select collection_id, size::bigint from gone)
    select c.owner_id, min(d.id) drive, sum(f.bytes)::bigint bytes
      from freed f join collections c on c.id = f.collection_id left join drives d on d.owner_id = c.owner_id and d.kind = 1
     group by c.owner_id order by drive
  loop
    perform charge_owner(each.owner_id, -each.bytes, true);
  end loop;
  delete from collections c where c.deleted_at < now() - make_interval(days => p_days)
     and not exists (select from collection_objects o where o.collection_id = c.id)
     and not exists (select from collection_trash t where t.collection_id = c.id);
  return coalesce(cardinality(trashed), 0) >= p_limit or coalesce(cardinality(members), 0) >= p_limit;
end $$;

CREATE FUNCTION public.end_lock(p_token uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare l record;
begin
  select drive_id, app into l from locks where token = p_token;
  if l.app = 2 then perform pg_advisory_xact_lock(1, l.drive_id); end if;
  delete from locks where token = p_token returning node_id, drive_id, app into l;
  if l.app = 2 then perform tell_of_lock(l.node_id, l.drive_id); end if;
end $$;

CREATE FUNCTION public.etag_text(p_drive integer, p_seq bigint, p_node bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select lpad(to_hex(p_drive), 8, '0') || lpad(to_hex(p_seq), 16, '0')
      || lpad(to_hex(p_node), greatest(8, length(to_hex(p_node))), '0') $$;

CREATE FUNCTION public.expire_versions(p_drive integer, p_ids bigint[], p_days integer, p_keep integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_advisory_xact_lock(1, p_drive);
  return drop_versions(p_drive, array(
    select v.id from versions v where v.id = any (p_ids) and is_expired_version(v, p_days, p_keep)));
end $$;

CREATE FUNCTION public.expired_versions(p_after bigint, p_days integer, p_keep integer, p_limit integer) RETURNS TABLE(drive integer, ids bigint[], last_id bigint)
    LANGUAGE plpgsql STABLE
    AS $$
#variable_conflict use_column
begin
  return query
  with looked as materialized (select v.* from versions v where v.id > p_after order by v.id limit p_limit),
  judged as (
    select l.id, (select n.drive_id from nodes n where n.id = l.node_id) drive,
           is_expired_version(row(l.*)::versions, p_days, p_keep) expired from looked l)
  select j.drive, coalesce(array_agg(j.id) filter (where j.expired), '{}'),
         (select max(l.id) from looked l having max(l.replaced_at) < now() - make_interval(days => p_days))
    from judged j group by j.drive;
end $$;

CREATE FUNCTION public.fold_name(t text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ select lower(public.unaccent('public.unaccent'::regdictionary, t) collate "default") $$;

CREATE FUNCTION public.free_name(p_parent bigint, p_name text, p_is_folder boolean) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $_$
declare stem text := p_name; ending text := ''; parts text[]; taken integer := 1; free integer := 2; middle integer;
begin
  if not exists (select from nodes x where x.parent_id = p_parent and x.name = p_name collate "C") then
    return p_name; end if;
  if not p_is_folder then
    parts := regexp_match(p_name, '^(.+)(\.[^.]{1,16})$');
    if parts is not null then stem := parts[1]; ending := parts[2]; end if;
  end if;
  while exists (select from nodes x where x.parent_id = p_parent
                   and x.name = numbered_name(stem, free, ending) collate "C") loop
    taken := free; free := free * 2;
  end loop;
  while free - taken > 1 loop
    middle := (taken + free) / 2;
    if exists (select from nodes x where x.parent_id = p_parent
                  and x.name = numbered_name(stem, middle, ending) collate "C") then
      taken := middle;
    else
      free := middle;
    end if;
  end loop;
  return numbered_name(stem, free, ending);
end $_$;

CREATE FUNCTION public.gate(p_node bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, OUT chain bigint[], OUT drive integer, OUT live boolean, OUT rights integer, OUT names text[]) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.height_of(p_folder bigint) RETURNS integer
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return (with recursive below as (
      select p_folder id, 1 height
      union all
      select n.id, b.height + 1
        from below b cross join lateral (select x.id from nodes x where x.parent_id = b.id and x.kind = 2 offset 0) n)
    select max(x.height) from (select height from below limit 5000) x);
end $$;

CREATE FUNCTION public.held_back() RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
begin
  return nullif(current_setting('welkin.held_back', true), '')::jsonb;
end $$;

CREATE FUNCTION public.hold_back(p_kind text, p_key text, p_value jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform set_config('welkin.held_back', jsonb_set(held_back(), array[p_kind, p_key], p_value)::text, true);
end $$;

CREATE TABLE public.versions (
    id bigint NOT NULL,
    node_id bigint NOT NULL,
    content_id bigint NOT NULL,
    size bigint NOT NULL,
    mtime bigint NOT NULL,
    author_id bigint,
    replaced_at timestamp with time zone DEFAULT now() NOT NULL,
    label text,
    mime smallint DEFAULT 0 NOT NULL
);

CREATE FUNCTION public.is_expired_version(p_version public.versions, p_days integer, p_keep integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return p_version.label is null and p_version.replaced_at < now() - make_interval(days => p_days)
     and (select count(*) from (select from versions w where w.node_id = p_version.node_id and w.id > p_version.id
                                 limit p_keep) x) >= p_keep;
end $$;

CREATE TABLE public.nodes (
    id bigint NOT NULL,
    parent_id bigint,
    content_id bigint,
    size bigint DEFAULT 0 NOT NULL,
    mtime bigint NOT NULL,
    etag_seq bigint NOT NULL,
    created_at bigint NOT NULL,
    author_id bigint,
    drive_id integer NOT NULL,
    etag_drive integer NOT NULL,
    kind smallint NOT NULL,
    mime smallint DEFAULT 0 NOT NULL,
    flags smallint DEFAULT 0 NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    creator_id bigint,
    CONSTRAINT nodes_check CHECK (((kind = 1) = (content_id IS NOT NULL))),
    CONSTRAINT nodes_kind_check CHECK ((kind = ANY (ARRAY[1, 2])))
)
WITH (fillfactor='92', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');

CREATE FUNCTION public.is_fresh(p_node public.nodes, p_user bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return p_node.kind = 1 and p_user <> 0 and p_node.creator_id = p_user and p_node.flags & 7 = 0
     and p_node.created_at > now_us() - 60000000
     and not exists (select from versions v where v.node_id = p_node.id);
end $$;

CREATE FUNCTION public.is_locked(p_chain bigint[], p_node bigint, p_parent bigint, p_drive integer, p_subjects bigint[], p_tokens uuid[], p_deep boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.join_part_uploads(p_into bigint, p_from bigint[], p_parts_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare whole record; source record; base integer; start bigint;
begin
  perform 1 from uploads u where u.id = any (p_from || p_into) order by u.id for update;
  select * into whole from uploads where id = p_into;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  base := whole.parts_begun;
  start := whole.stored;
  for source in select u.* from unnest(p_from) with ordinality f (id, ord) join uploads u on u.id = f.id order by f.ord loop
    if source.drive_id <> whole.drive_id then raise exception using errcode = 'WN404', message = 'not_found'; end if;
    update upload_chunks set upload_id = p_into, part = part + base where upload_id = source.id;
    insert into upload_parts (upload_id, name, part, size, crc32, stored_at)
      select p_into, (start + sum(p.size) over (order by p.name::bigint) - p.size)::bigint::text, p.part + base, p.size,
             p.crc32, p.stored_at
        from upload_parts p where p.upload_id = source.id;
    base := base + source.parts_begun;
    start := start + source.stored;
    update uploads set reserved = reserved + source.reserved, stored = start, parts_begun = base where id = p_into;
    delete from uploads where id = source.id;
  end loop;
  if (select count(*) from upload_parts p where p.upload_id = p_into) > p_parts_max then
    raise exception using errcode = 'WI400', message = 'too_many_parts'; end if;
end $$;

CREATE FUNCTION public.just_trashed(p_drive integer, p_parent bigint, p_name text, p_user bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return (select t.node_id from trash t join nodes n on n.id = t.node_id
           where t.drive_id = p_drive and t.deleted_at > now() - interval '60 seconds' and t.deleted_by = p_user
             and t.from_parent_id = p_parent and t.from_name = p_name and not t.purging and n.kind = 1
           order by t.deleted_at desc limit 1);
end $$;

CREATE FUNCTION public.label_version(p_node bigint, p_version bigint, p_label text, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare g record; drive integer;
begin
  select l.drive into drive from lock_drives(p_node, 0) l;
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  perform require_versioned(p_node, drive, g);
  update versions set label = p_label where id = p_version and node_id = p_node;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
end $$;

CREATE TABLE public.collection_state (
    collection_id bigint NOT NULL,
    epoch integer DEFAULT 1 NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    object_count integer DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

CREATE FUNCTION public.lock_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_access smallint) RETURNS public.collection_state
    LANGUAGE plpgsql
    AS $$
declare s collection_state; has smallint;
begin
  select * into s from collection_state x where x.collection_id = p_collection for update;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  has := collection_access(p_collection, p_user, p_subjects, p_mask);
  if has = 0 then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if has < p_access then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  -- What the server writes nobody else does, its owner neither.
  if p_access = 2 and (select c.origin <> 0 from collections c where c.id = p_collection) then
    raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  return s;
end $$;

CREATE FUNCTION public.lock_derived(p_collection bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare s bigint;
begin
  select st.seq into s from collection_state st join collections c on c.id = st.collection_id
   where st.collection_id = p_collection and c.deleted_at is null and c.origin <> 0 for update of st;
  return s;
end $$;

CREATE FUNCTION public.lock_drives(p_node bigint, p_to bigint, OUT drive integer, OUT target integer) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.lock_node(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_right integer, p_token uuid, p_infinity boolean, p_exclusive boolean, p_seconds integer, p_app smallint, p_owner_xml text, p_node_max integer, p_user_max integer) RETURNS TABLE(token uuid, above integer, below text[])
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.member_rights(p_drive integer, p_subjects bigint[], p_mask integer) RETURNS integer
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return p_mask & (select coalesce(bit_or(m.rights), 0)::integer from drive_members m
                    where m.drive_id = p_drive and m.subject_id = any (p_subjects));
end $$;

CREATE FUNCTION public.move_node(p_node bigint, p_to bigint, p_name text, p_replace boolean, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_expect smallint, p_etags text[], p_tokens uuid[], p_depth_max integer, p_nodes_max integer, p_succeed boolean DEFAULT false, OUT created boolean, OUT moved bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.move_to_drive(p_node bigint, p_from integer, p_to integer, p_seq bigint, p_nodes_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.move_upload(p_upload bigint, p_drive integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare u record;
begin
  select drive_id, reserved, stored into u from uploads where id = p_upload for update;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if u.drive_id = p_drive then return; end if;
  perform pg_advisory_xact_lock(1, least(u.drive_id, p_drive));
  perform pg_advisory_xact_lock(1, greatest(u.drive_id, p_drive));
  update drives set reserved_bytes = reserved_bytes - u.reserved where id = u.drive_id;
  update drives set reserved_bytes = reserved_bytes + u.stored
   where id = p_drive and used_bytes + reserved_bytes + u.stored <= quota_bytes;
  if not found then raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
  update uploads set drive_id = p_drive, reserved = u.stored where id = p_upload;
end $$;

CREATE FUNCTION public.now_us() RETURNS bigint
    LANGUAGE sql
    AS $$ select (extract(epoch from clock_timestamp()) * 1e6)::bigint $$;

CREATE FUNCTION public.numbered_name(p_stem text, p_number integer, p_ending text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare stem text := p_stem; tried text;
begin
  loop
    tried := stem || ' (' || p_number || ')' || p_ending;
    exit when octet_length(tried) <= 255;
    stem := left(stem, -1);
  end loop;
  return tried;
end $$;

CREATE FUNCTION public.open_birthdays(p_user bigint, p_make boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare b birthday_calendars; made bigint;
begin
  insert into birthday_calendars (user_id) values (p_user) on conflict do nothing;
  select * into b from birthday_calendars x where x.user_id = p_user for update;
  if not b.is_enabled then return null; end if;
  if b.collection_id is not null or not p_make then return b.collection_id; end if;
  insert into collections (owner_id, kind, components, path, origin)
    select p_user, 1, 1, case when exists (select from collections c where c.owner_id = p_user and c.kind = 1
                                and c.path = 'contact-birthdays' and c.deleted_at is null)
                         then 'contact-birthdays-' || p_user else 'contact-birthdays' end, 1
    on conflict (owner_id, kind, path) where deleted_at is null do nothing returning id into made;
  if made is null then return null; end if;
  insert into collection_state (collection_id) values (made);
  update birthday_calendars set collection_id = made where user_id = p_user;
  return made;
end $$;

CREATE FUNCTION public.patch_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_set_ns text[], p_set_names text[], p_set_values text[], p_gone_ns text[], p_gone_names text[], p_count_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare access smallint;
begin
  perform lock_collection(p_collection, p_user, p_subjects, p_mask, 1::smallint);
  if p_mask & 8 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  access := collection_access(p_collection, p_user, p_subjects, 127);
  perform set_collection_properties(p_collection, case when access <> 3 then p_user end, p_set_ns, p_set_names,
                                    p_set_values, p_gone_ns, p_gone_names, p_count_max);
  if access = 3 then
    update collection_state set seq = seq + 1, changed_at = now() where collection_id = p_collection;
  end if;
end $$;

CREATE FUNCTION public.patch_properties(p_node bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_expect smallint, p_etags text[], p_tokens uuid[], p_set_ns text[], p_set_names text[], p_set_values text[], p_gone_ns text[], p_gone_names text[], p_mtime bigint, p_created bigint, p_mime smallint, p_count_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.property_bytes(p_nodes bigint[]) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return (select coalesce(sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value)), 0)::bigint
            from nodes n join node_properties p on p.node_id = n.id
           where n.id = any (p_nodes) and n.flags & 4 = 4);
end $$;

CREATE FUNCTION public.prune_changes(p_drive integer, p_before_s integer, p_keep_rows integer, p_batch integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare spare bigint; upto bigint; is_gone boolean;
begin
  is_gone := not exists (select from drives d where d.id = p_drive);
  select c.seq into spare from changes c where c.drive_id = p_drive order by c.seq desc offset p_keep_rows limit 1;
  select max(x.seq) into upto
    from (select c.seq, c.at_s from changes c where c.drive_id = p_drive order by c.seq limit p_batch) x
   where is_gone or x.at_s < p_before_s or x.seq <= spare;
  if upto is null then return false; end if;
  delete from changes c where c.drive_id = p_drive and c.seq <= upto;
  perform pg_advisory_xact_lock(1, p_drive);
  update drives d set pruned_seq = greatest(d.pruned_seq, upto) where d.id = p_drive;
  return true;
end $$;

CREATE FUNCTION public.publish_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_token_hash bytea, p_with_alarms boolean, p_with_attendees boolean, p_expires_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform lock_collection(p_collection, p_user, p_subjects, p_mask, 3::smallint);
  if p_mask & 32 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if (select c.kind <> 1 from collections c where c.id = p_collection) then
    raise exception using errcode = 'WI400', message = 'not_a_calendar'; end if;
  delete from collection_feeds where collection_id = p_collection;
  if p_token_hash is null then return; end if;
  insert into collection_feeds (collection_id, token_hash, with_alarms, with_attendees, expires_at)
    values (p_collection, p_token_hash, p_with_alarms, p_with_attendees, p_expires_at);
end $$;

CREATE FUNCTION public.purge_batch(p_node bigint, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.purge_collection(p_collection bigint, p_user bigint, p_mask integer, p_days integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform 1 from collection_state s where s.collection_id = p_collection for update;
  if not exists (select from collections x where x.id = p_collection and x.owner_id = p_user
                    and x.deleted_at > now() - make_interval(days => p_days) and p_mask & 1 = 1) then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if p_mask & 16 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  update collections set deleted_at = '-infinity' where id = p_collection;
end $$;

CREATE FUNCTION public.purge_drive_trash(p_drive integer, p_subjects bigint[], p_mask integer, p_limit bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.purge_item(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.purge_trashed_object(p_trash bigint, p_kind smallint, p_user bigint, p_subjects bigint[], p_mask integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare place record; freed bigint;
begin
  select c.id, c.owner_id, c.deleted_at, x.flags into place
    from collection_trash x join collections c on c.id = x.collection_id
   where x.id = p_trash and c.kind = p_kind;
  if not found or place.deleted_at is not null
     or collection_access(place.id, p_user, p_subjects, p_mask | 28) < 2 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform require_hidden_owner(place.id, p_user, place.flags);
  if p_mask & 16 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  delete from collection_trash where id = p_trash returning octet_length(data) into freed;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform charge_owner(place.owner_id, -freed, true);
end $$;

CREATE FUNCTION public.put_away_unwritten(p_seconds integer, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.put_derived_object(p_collection bigint, p_name text, p_etag uuid, p_uid text, p_uid_hash uuid, p_component smallint, p_flags smallint, p_t0 bigint, p_t1 bigint, p_title text, p_search text, p_data bytea) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare o record; had boolean; had_size integer := 0; s bigint; stamp timestamptz := clock_timestamp();
begin
  if lock_derived(p_collection) is null then return false; end if;
  select x.etag, x.size, x.deleted into o from collection_objects x where x.collection_id = p_collection and x.name = p_name;
  had := found and not o.deleted;
  if had and o.etag = p_etag then return false; end if;
  -- Another member of this UID makes room; it is named after something else now.
  perform drop_derived_object(p_collection, x.name) from collection_objects x
    where x.collection_id = p_collection and x.uid_hash = p_uid_hash and not x.deleted and x.name <> p_name;
  if had then had_size := o.size; end if;
  -- Birthdays come however full the drive is; what is fetched from elsewhere needs room like what is put.
  perform charge_collection(p_collection, octet_length(p_data) - had_size,
                            (select c.origin = 2 from collections c where c.id = p_collection));
  update collection_state st set seq = st.seq + 1, object_count = st.object_count + (not had)::integer,
         bytes = st.bytes + octet_length(p_data) - had_size, changed_at = stamp
   where st.collection_id = p_collection returning st.seq into s;
  insert into collection_objects (collection_id, seq, t0, t1, etag, uid_hash, size, component, flags, name, uid, title,
                                  search, data, created_at, modified_at)
    values (p_collection, s, p_t0, p_t1, p_etag, p_uid_hash, octet_length(p_data), p_component, p_flags, p_name, p_uid,
            p_title, p_search, p_data, stamp, stamp)
    on conflict (collection_id, name) do update set
      seq = excluded.seq, t0 = excluded.t0, t1 = excluded.t1, etag = excluded.etag, uid_hash = excluded.uid_hash,
      size = excluded.size, component = excluded.component, flags = excluded.flags, deleted = false, uid = excluded.uid,
      title = excluded.title, search = excluded.search, data = excluded.data, modified_at = excluded.modified_at,
      created_at = case when had then collection_objects.created_at else excluded.created_at end;
  return true;
end $$;

CREATE FUNCTION public.put_in_trash(p_node bigint, p_user bigint, p_drive integer, p_seq bigint, p_trash bigint, p_above bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.put_object(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_name text, p_expect smallint, p_expected uuid, p_etag uuid, p_uid text, p_uid_hash uuid, p_component smallint, p_flags smallint, p_t0 bigint, p_t1 bigint, p_title text, p_search text, p_emails text[], p_phones text[], p_data bytea, OUT verdict text, OUT holder text, OUT created boolean, OUT modified_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare s collection_state; o record; had boolean; had_size integer := 0;
begin
  verdict := ''; holder := ''; modified_at := clock_timestamp();
  s := lock_collection(p_collection, p_user, p_subjects, p_mask, 2::smallint);
  select x.id, x.etag, x.uid_hash, x.size, x.deleted, x.flags into o
    from collection_objects x where x.collection_id = p_collection and x.name = p_name;
  had := found and not o.deleted;
  if had then perform require_open_object(p_collection, p_user, p_subjects, o.flags, false); end if;
  perform require_expected(p_expect, p_expected, had, o.etag);
  if (select c.kind = 1 and c.components & p_component = 0 from collections c where c.id = p_collection) then
    verdict := 'supported_component'; return;
  end if;
  if had and o.uid_hash <> p_uid_hash then
    verdict := 'uid_conflict'; holder := p_name; return;
  end if;
  select shown_name(p_collection, p_user, x.flags, x.name) into holder from collection_objects x
   where x.collection_id = p_collection and x.uid_hash = p_uid_hash and not x.deleted and x.name <> p_name;
  if found then verdict := 'uid_conflict'; return; end if;
  holder := ''; created := not had;
  if had then had_size := o.size; end if;
  -- 128 in the mask: an invitation or an answer, which nobody may miss because he is short of room.
  perform charge_collection(p_collection, octet_length(p_data) - had_size, p_mask & 128 = 0);
  update collection_state st set seq = s.seq + 1, object_count = st.object_count + (not had)::integer,
         bytes = st.bytes + octet_length(p_data) - had_size, changed_at = put_object.modified_at
   where st.collection_id = p_collection;
  insert into collection_objects (collection_id, seq, t0, t1, etag, uid_hash, size, component, flags, name, uid, title,
                                  emails, phones, search, data, created_at, modified_at)
    values (p_collection, s.seq + 1, p_t0, p_t1, p_etag, p_uid_hash, octet_length(p_data), p_component, p_flags, p_name,
            p_uid, p_title, p_emails, p_phones, p_search, p_data, put_object.modified_at, put_object.modified_at)
    on conflict (collection_id, name) do update set
      seq = excluded.seq, t0 = excluded.t0, t1 = excluded.t1, etag = excluded.etag, uid_hash = excluded.uid_hash,
      size = excluded.size, component = excluded.component, flags = excluded.flags, deleted = false, uid = excluded.uid,
      title = excluded.title, emails = excluded.emails, phones = excluded.phones, search = excluded.search,
      data = excluded.data, modified_at = excluded.modified_at,
      created_at = case when had then collection_objects.created_at else excluded.created_at end;
end $$;

CREATE FUNCTION public.put_part(p_upload bigint, p_name text, p_part integer, p_size bigint, p_crc32 integer, p_seconds integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare old record;
begin
  perform 1 from uploads where id = p_upload for no key update;  -- parts may come side by side
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  delete from upload_parts p where p.upload_id = p_upload and p.name = p_name returning p.part, p.size into old;
  if old.part is not null then
    insert into chunk_gc (chunk_id) select c.chunk_id from upload_chunks c
     where c.upload_id = p_upload and c.part = old.part on conflict do nothing;
    delete from upload_chunks c where c.upload_id = p_upload and c.part = old.part;
  end if;
  update uploads set stored = stored - coalesce(old.size, 0), expires_at = now() + make_interval(secs => p_seconds)
   where id = p_upload;
  perform reserve_for_upload(p_upload, p_size);
  update uploads set stored = stored + p_size where id = p_upload;
  insert into upload_parts (upload_id, name, part, size, crc32) values (p_upload, p_name, p_part, p_size, p_crc32);
  return old.part is null;
end $$;

CREATE FUNCTION public.raise_chain(p_chain bigint[], p_seq bigint, p_bytes bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.recount_collection(p_collection bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform 1 from collection_state s where s.collection_id = p_collection for update;
  update collection_state s set object_count = x.many, bytes = x.bytes
    from (select count(*)::integer many, coalesce(sum(o.size), 0)::bigint bytes from collection_objects o
           where o.collection_id = p_collection and not o.deleted) x
   where s.collection_id = p_collection;
end $$;

CREATE FUNCTION public.recount_drive(p_drive integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.recover_node(p_node bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.require_change(p_drive integer, p_node bigint, p_gate record, p_right integer, p_subjects bigint[], p_expect smallint, p_etags text[], p_tokens uuid[]) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if not p_gate.live or p_gate.drive <> p_drive or p_gate.rights & 1 = 0 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if cardinality(p_gate.chain) = 1 then raise exception using errcode = 'WF403', message = 'is_root'; end if;
  if p_gate.rights & p_right <> p_right then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  perform require_expected(p_node, p_expect, p_etags);
  if is_locked(p_gate.chain, p_node, p_gate.chain[2], p_drive, p_subjects, p_tokens, true) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;
end $$;

CREATE FUNCTION public.require_expected(p_node bigint, p_expect smallint, p_etags text[]) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
declare n record; etag text;
begin
  select x.kind, x.etag_drive, x.drive_id, x.etag_seq, f.etag_seq folder_seq into n
    from nodes x left join folders f on f.node_id = x.id where x.id = p_node;
  etag := case when n.kind = 2 then etag_text(n.drive_id, n.folder_seq, p_node)
               else etag_text(n.etag_drive, n.etag_seq, p_node) end;
  if p_expect = 1 or p_expect = 3 and etag <> all (p_etags) or p_expect = 4 and etag = any (p_etags) then
    raise exception using errcode = 'WP412', message = 'precondition_failed'; end if;
end $$;

CREATE FUNCTION public.require_expected(p_expect smallint, p_etag uuid, p_found boolean, p_found_etag uuid) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if p_expect = 1 and p_found or p_expect = 2 and not p_found
     or p_expect = 3 and (not p_found or p_found_etag is distinct from p_etag) then
    raise exception using errcode = 'WP412', message = 'precondition_failed'; end if;
end $$;

CREATE FUNCTION public.require_hidden_owner(p_collection bigint, p_user bigint, p_flags smallint) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if p_flags & 12 <> 0 and not exists (select from collections c where c.id = p_collection and c.owner_id = p_user) then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
end $$;

CREATE FUNCTION public.require_open_object(p_collection bigint, p_user bigint, p_subjects bigint[], p_flags smallint, p_hides boolean) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if p_flags & 12 = 0 or collection_access(p_collection, p_user, p_subjects, 127) = 3 then return; end if;
  if p_hides and p_flags & 4 <> 0 then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  raise exception using errcode = 'WF403', message = 'forbidden';
end $$;

CREATE FUNCTION public.require_place(p_parent bigint, p_name text, p_gate record, p_self bigint, p_from bigint[], p_replace boolean, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_tokens uuid[]) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.require_versioned(p_node bigint, p_drive integer, p_gate record) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if not p_gate.live or p_gate.drive <> p_drive or p_gate.rights & 1 = 0 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if p_gate.rights & 8 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if exists (select from nodes n where n.id = p_node and n.kind <> 1) then
    raise exception using errcode = 'WI400', message = 'not_a_file'; end if;
end $$;

CREATE FUNCTION public.reserve_for_upload(p_upload bigint, p_bytes bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare u record; more bigint;
begin
  select * into u from uploads where id = p_upload;
  more := u.stored + p_bytes - u.reserved;
  if more <= 0 then return; end if;
  perform pg_advisory_xact_lock(1, u.drive_id);
  update drives set reserved_bytes = reserved_bytes + more
   where id = u.drive_id and used_bytes + reserved_bytes + more <= quota_bytes;
  if not found then raise exception using errcode = 'WQ507', message = 'quota_exceeded'; end if;
  update uploads set reserved = reserved + more where id = p_upload;
end $$;

CREATE FUNCTION public.restore_collection(p_collection bigint, p_user bigint, p_mask integer, p_other_path text, p_days integer, p_many_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare c record; wanted text;
begin
  perform 1 from users u where u.id = p_user for no key update;
  perform 1 from collection_state s where s.collection_id = p_collection for update;
  select x.kind, x.path into c from collections x
   where x.id = p_collection and x.owner_id = p_user and x.deleted_at > now() - make_interval(days => p_days)
     and p_mask & 1 = 1;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if p_mask & 5 <> 5 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if (select count(*) from collections x where x.owner_id = p_user and x.deleted_at is null) >= p_many_max then
    raise exception using errcode = 'WQ507', message = 'too_many_collections'; end if;
  wanted := c.path;
  if exists (select from collections x where x.owner_id = p_user and x.kind = c.kind and x.path = c.path
                and x.deleted_at is null) then wanted := p_other_path; end if;
  update collections set deleted_at = null, path = wanted where id = p_collection;
  update collection_state set seq = seq + 1, changed_at = now() where collection_id = p_collection;
end $$;

CREATE FUNCTION public.restore_node(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_tokens uuid[], p_depth_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.restore_object(p_trash bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_other_name text, p_etag uuid, p_uid text, p_uid_hash uuid, p_component smallint, p_flags smallint, p_t0 bigint, p_t1 bigint, p_title text, p_search text, p_emails text[], p_phones text[], OUT restored text) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare place bigint; t record; w record;
begin
  select x.collection_id into place from collection_trash x where x.id = p_trash;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if exists (select from collections c where c.id = place and c.owner_id = p_user and c.deleted_at is not null) then
    raise exception using errcode = 'WC409', message = 'collection_gone'; end if;
  -- Who only reads is not told what others have deleted.
  if collection_access(place, p_user, p_subjects, p_mask | 28) < 2 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform lock_collection(place, p_user, p_subjects, p_mask, 2::smallint);
  select x.name, x.data, x.flags into t from collection_trash x where x.id = p_trash for update;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform require_hidden_owner(place, p_user, t.flags);
  restored := t.name;
  if exists (select from collection_objects o where o.collection_id = place and o.name = t.name and not o.deleted) then
    restored := p_other_name;
  end if;
  -- Out of the trash and back in again weighs the same, so a full drive is no reason to refuse.
  delete from collection_trash where id = p_trash;
  perform charge_collection(place, -octet_length(t.data), true);
  select * into w from put_object(place, p_user, p_subjects, p_mask, restored, 1::smallint, p_etag, p_etag, p_uid,
    p_uid_hash, p_component, p_flags, p_t0, p_t1, p_title, p_search, p_emails, p_phones, t.data);
  if w.verdict <> '' then raise exception using errcode = 'WC409', message = w.verdict; end if;
end $$;

CREATE FUNCTION public.restore_version(p_node bigint, p_version bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_expect smallint, p_etags text[], p_tokens uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare d record; g record; n record; v record; drive integer;
begin
  select l.drive into drive from lock_drives(p_node, 0) l;
  d := begin_change(drive, 0, false);
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  perform require_versioned(p_node, drive, g);
  perform require_expected(p_node, p_expect, p_etags);
  select x.* into n from nodes x where x.id = p_node;
  select x.* into v from versions x where x.id = p_version and x.node_id = p_node;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if is_locked(g.chain, p_node, null, drive, p_subjects, p_tokens, false) then
    raise exception using errcode = 'WL423', message = 'locked'; end if;
  if v.label is null then
    delete from versions where id = p_version;
  else
    perform charge_drive(drive, v.size);
  end if;
  if n.size > 0 then
    insert into versions (node_id, content_id, size, mtime, author_id, mime)
      values (p_node, n.content_id, n.size, n.mtime, n.author_id, n.mime);
  else
    insert into content_gc (content_id) values (n.content_id) on conflict do nothing;
  end if;
  update nodes set content_id = v.content_id, size = v.size, mtime = now_us(), mime = v.mime, etag_seq = d.seq,
                   etag_drive = drive, author_id = nullif(p_user, 0) where id = p_node;
  perform raise_chain(g.chain[2:], d.seq, v.size - n.size);
  insert into changes (drive_id, seq, node_id, parent_id, op) values (drive, d.seq, p_node, n.parent_id, 2);
end $$;

CREATE FUNCTION public.set_collection_properties(p_collection bigint, p_user_id bigint, p_set_ns text[], p_set_names text[], p_set_values text[], p_gone_ns text[], p_gone_names text[], p_count_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare total record;
begin
  delete from collection_properties p using unnest(p_gone_ns, p_gone_names) w (ns, name)
   where p.collection_id = p_collection and p.user_id is not distinct from p_user_id and p.ns = w.ns and p.name = w.name;
  insert into collection_properties (collection_id, user_id, ns, name, value)
    select p_collection, p_user_id, w.ns, w.name, w.value from unnest(p_set_ns, p_set_names, p_set_values) w (ns, name, value)
    on conflict (collection_id, coalesce(user_id, 0), ns, name) do update set value = excluded.value;
  select count(*) many, coalesce(sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value)), 0) bytes
    into total from collection_properties p
   where p.collection_id = p_collection and p.user_id is not distinct from p_user_id;
  if cardinality(p_set_names) > 0 and (total.many > p_count_max or total.bytes > 262144) then
    raise exception using errcode = 'WQ507', message = 'too_many_properties'; end if;
end $$;

CREATE FUNCTION public.settle_held_back() RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.settle_node(p_node bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.share_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_set bigint[], p_access smallint[], p_gone bigint[], p_many_max integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform lock_collection(p_collection, p_user, p_subjects, p_mask, 3::smallint);
  -- A share is the right to give rights; a credential that may not share does not.
  if p_mask & 32 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if p_user = any (p_set) then raise exception using errcode = 'WI400', message = 'share_with_owner'; end if;
  delete from collection_shares s where s.collection_id = p_collection and s.subject_id = any (p_gone);
  insert into collection_shares (collection_id, user_id, group_id, access)
    select p_collection, u.id, g.id, w.access
      from unnest(p_set, p_access) w (subject, access)
      left join users u on u.id = w.subject and u.deleting_since is null
      left join groups g on g.id = w.subject
     where num_nonnulls(u.id, g.id) = 1
    on conflict (collection_id, subject_id) do update set access = excluded.access;
  if (select count(*) from collection_shares s where s.collection_id = p_collection) > p_many_max then
    raise exception using errcode = 'WQ507', message = 'too_many_shares'; end if;
  -- What somebody set for himself goes when he does.
  delete from collection_properties p where p.collection_id = p_collection and p.user_id = any (p_gone)
     and not exists (select from collection_shares s join group_members m on m.group_id = s.group_id
                      where s.collection_id = p_collection and m.user_id = p.user_id);
end $$;

CREATE FUNCTION public.shown_name(p_collection bigint, p_user bigint, p_flags smallint, p_name text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return case when p_flags & 4 = 0 or exists (select from collections c where c.id = p_collection and c.owner_id = p_user)
              then p_name else '' end;
end $$;

CREATE FUNCTION public.succeed_file(p_heir bigint, p_node bigint, p_name text, p_drive integer, p_seq bigint, p_trash bigint, p_above bigint[], p_from bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.switch_birthdays(p_user bigint, p_is_enabled boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare b birthday_calendars;
begin
  insert into birthday_calendars (user_id, is_enabled) values (p_user, p_is_enabled) on conflict do nothing;
  select * into b from birthday_calendars x where x.user_id = p_user for update;
  if b.is_enabled = p_is_enabled then return; end if;
  perform charge_owner(p_user, -s.bytes, false) from collection_state s where s.collection_id = b.collection_id;
  delete from collections where id = b.collection_id;
  update birthday_calendars set is_enabled = p_is_enabled, collection_id = null where user_id = p_user;
  delete from birthday_sources x using collections c where c.id = x.book_id and c.owner_id = p_user;
end $$;

CREATE FUNCTION public.sync_head(p_folder bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, OUT live boolean, OUT rights integer, OUT kind integer, OUT drive integer, OUT epoch integer, OUT number bigint, OUT seq bigint, OUT pruned_seq bigint, OUT mounts bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
declare g record; m record;
begin
  g := gate(p_folder, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  live := g.live; rights := g.rights; drive := g.drive;
  if not live then return; end if;
  select n.kind, d.epoch, least(f.etag_seq, d.seq), d.seq, d.pruned_seq into kind, epoch, number, seq, pruned_seq
    from nodes n join drives d on d.id = n.drive_id left join folders f on f.node_id = n.id where n.id = p_folder;
  mounts := 0;
  for m in select x.id, x.parent_id, x.target_id, x.name from mounts x where x.user_id = p_user loop
    if p_folder = any ((gate(m.parent_id, p_subjects, p_mask, p_limit, p_link_node, p_link_rights)).chain) then
      g := gate(m.target_id, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
      if g.live and g.rights & 1 = 1 then
        mounts := mounts # hashtextextended(concat_ws('/', m.id, m.parent_id, m.target_id, m.name), 0);
      end if;
    end if;
  end loop;
end $$;

CREATE FUNCTION public.tell_of_lock(p_node bigint, p_drive integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.transfer_object(p_from bigint, p_name text, p_to bigint, p_to_name text, p_copy boolean, p_overwrite boolean, p_user bigint, p_subjects bigint[], p_mask integer, p_expect smallint, p_expected uuid, OUT verdict text, OUT holder text, OUT created boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare o collection_objects; t record; had boolean; source_seq bigint; target_seq bigint; target record; had_size integer := 0;
begin
  verdict := ''; holder := '';
  perform 1 from collection_state s where s.collection_id in (p_from, p_to) order by s.collection_id for update;
  perform lock_collection(p_from, p_user, p_subjects, p_mask, case when p_copy then 1::smallint else 2::smallint end);
  perform lock_collection(p_to, p_user, p_subjects, p_mask, 2::smallint);
  select * into o from collection_objects x where x.collection_id = p_from and x.name = p_name and not x.deleted;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  perform require_open_object(p_from, p_user, p_subjects, o.flags, true);
  perform require_expected(p_expect, p_expected, true, o.etag);
  select c.kind, c.components into target from collections c where c.id = p_to;
  if target.kind <> (select c.kind from collections c where c.id = p_from)
     or target.kind = 1 and target.components & o.component = 0 then
    verdict := 'supported_component'; return;
  end if;
  select x.id, x.size, x.uid_hash, x.deleted, x.flags into t
    from collection_objects x where x.collection_id = p_to and x.name = p_to_name;
  had := found and not t.deleted;
  if had then perform require_open_object(p_to, p_user, p_subjects, t.flags, false); end if;
  if had and not p_overwrite then verdict := 'exists'; return; end if;
  if had and t.uid_hash <> o.uid_hash then verdict := 'uid_conflict'; holder := p_to_name; return; end if;
  if p_from <> p_to or p_copy then
    select shown_name(p_to, p_user, x.flags, x.name) into holder from collection_objects x
     where x.collection_id = p_to and x.uid_hash = o.uid_hash and not x.deleted and x.name <> p_to_name;
    if found then verdict := 'uid_conflict'; return; end if;
  end if;
  holder := ''; created := not had;
  if had then had_size := t.size; end if;
  perform charge_transfer(p_from, p_to, o.size, had_size, p_copy);
  if not p_copy then
    update collection_state s set seq = s.seq + 1, object_count = s.object_count - 1, bytes = s.bytes - o.size,
           changed_at = now() where s.collection_id = p_from returning s.seq into source_seq;
    perform bury_object(o.id, source_seq);
  end if;
  update collection_state s set seq = s.seq + 1, object_count = s.object_count + (not had)::integer,
         bytes = s.bytes + o.size - had_size, changed_at = now() where s.collection_id = p_to returning s.seq into target_seq;
  insert into collection_objects (collection_id, seq, t0, t1, etag, uid_hash, size, component, flags, name, uid, title,
                                  emails, phones, search, data, created_at, modified_at)
    values (p_to, target_seq, o.t0, o.t1, o.etag, o.uid_hash, o.size, o.component, o.flags, p_to_name, o.uid, o.title,
            o.emails, o.phones, o.search, o.data, case when p_copy then now() else o.created_at end, o.modified_at)
    on conflict (collection_id, name) do update set
      seq = excluded.seq, t0 = excluded.t0, t1 = excluded.t1, etag = excluded.etag, uid_hash = excluded.uid_hash,
      size = excluded.size, component = excluded.component, flags = excluded.flags, deleted = false, uid = excluded.uid,
      title = excluded.title, emails = excluded.emails, phones = excluded.phones, search = excluded.search,
      data = excluded.data, created_at = excluded.created_at, modified_at = excluded.modified_at;
end $$;

CREATE FUNCTION public.trash_node(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer, p_expect smallint, p_etags text[], p_tokens uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.trash_rights(p_node bigint, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer) RETURNS integer
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.way_down(p_top bigint, p_node bigint) RETURNS text[]
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE TABLE public.app_passwords (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    label text NOT NULL,
    prefix text NOT NULL,
    secret_hash bytea NOT NULL,
    protocol_mask integer NOT NULL,
    read_only boolean DEFAULT false NOT NULL,
    folder_id bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT app_passwords_label_check CHECK ((label <> ''::text))
);

ALTER TABLE public.app_passwords ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.app_passwords_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.audit (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor_id bigint,
    action text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    request_id text DEFAULT ''::text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE public.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.birthday_calendars (
    user_id bigint NOT NULL,
    collection_id bigint,
    is_enabled boolean DEFAULT true NOT NULL
);

CREATE TABLE public.birthday_sources (
    book_id bigint NOT NULL,
    seq bigint NOT NULL
);

CREATE TABLE public.born_by_lock (
    node_id bigint NOT NULL,
    etag_seq bigint NOT NULL,
    born_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.calendar_subscriptions (
    collection_id bigint NOT NULL,
    source text NOT NULL,
    refresh_seconds integer NOT NULL,
    next_at timestamp with time zone DEFAULT now() NOT NULL,
    fetched_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    etag text DEFAULT ''::text NOT NULL,
    last_modified text DEFAULT ''::text NOT NULL,
    body_hash bytea,
    CONSTRAINT calendar_subscriptions_refresh_seconds_check CHECK ((refresh_seconds >= 900))
);

CREATE TABLE public.changes (
    seq bigint NOT NULL,
    node_id bigint NOT NULL,
    parent_id bigint NOT NULL,
    drive_id integer NOT NULL,
    at_s integer DEFAULT (EXTRACT(epoch FROM now()))::integer NOT NULL,
    op smallint NOT NULL,
    old_name text COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_insert_scale_factor='0.05');

CREATE TABLE public.chunk_gc (
    chunk_id bigint NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    parked boolean DEFAULT false NOT NULL
);

CREATE SEQUENCE public.chunk_ids
    START WITH 64
    INCREMENT BY 64
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.chunks (
    id bigint NOT NULL,
    sha256 bytea NOT NULL,
    size integer NOT NULL,
    crc32 integer NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    codec smallint DEFAULT 0 NOT NULL,
    key_id smallint,
    wrapped_key bytea,
    stored_size integer NOT NULL,
    quarantined boolean DEFAULT false NOT NULL,
    verified_at timestamp with time zone,
    CONSTRAINT chunks_sha256_check CHECK ((length(sha256) = 32))
);

CREATE TABLE public.collection_feeds (
    collection_id bigint NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    with_alarms boolean DEFAULT false NOT NULL,
    with_attendees boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone,
    last_read_at timestamp with time zone
);

CREATE TABLE public.collection_objects (
    id bigint NOT NULL,
    collection_id bigint NOT NULL,
    seq bigint NOT NULL,
    t0 bigint,
    t1 bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    modified_at timestamp with time zone DEFAULT now() NOT NULL,
    etag uuid,
    uid_hash uuid,
    size integer DEFAULT 0 NOT NULL,
    component smallint DEFAULT 0 NOT NULL,
    flags smallint DEFAULT 0 NOT NULL,
    deleted boolean DEFAULT false NOT NULL,
    is_long boolean GENERATED ALWAYS AS (((t1 = '9223372036854775807'::bigint) OR (t0 = '-9223372036854775808'::bigint) OR ((t1 - t0) > 2678400))) STORED,
    name text NOT NULL COLLATE pg_catalog."C",
    uid text,
    title text,
    emails text[] DEFAULT '{}'::text[] NOT NULL,
    phones text[] DEFAULT '{}'::text[] NOT NULL,
    search text,
    data bytea,
    schedule_tag uuid,
    CONSTRAINT collection_objects_name_check CHECK (((name <> ''::text) AND (octet_length(name) <= 255)))
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
ALTER TABLE ONLY public.collection_objects ALTER COLUMN search SET COMPRESSION lz4;
ALTER TABLE ONLY public.collection_objects ALTER COLUMN data SET COMPRESSION lz4;

ALTER TABLE public.collection_objects ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.collection_objects_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.collection_properties (
    collection_id bigint NOT NULL,
    user_id bigint,
    ns text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);

CREATE TABLE public.collection_shares (
    id bigint NOT NULL,
    collection_id bigint NOT NULL,
    user_id bigint,
    group_id bigint,
    subject_id bigint GENERATED ALWAYS AS (COALESCE(user_id, group_id)) STORED,
    access smallint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT collection_shares_access_check CHECK ((access = ANY (ARRAY[1, 2]))),
    CONSTRAINT collection_shares_check CHECK ((num_nonnulls(user_id, group_id) = 1))
);

ALTER TABLE public.collection_shares ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.collection_shares_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.collection_trash (
    id bigint NOT NULL,
    collection_id bigint NOT NULL,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_by bigint,
    name text NOT NULL COLLATE pg_catalog."C",
    title text,
    data bytea NOT NULL,
    flags smallint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.collection_trash ALTER COLUMN data SET COMPRESSION lz4;

ALTER TABLE public.collection_trash ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.collection_trash_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.collections (
    id bigint NOT NULL,
    uid uuid DEFAULT gen_random_uuid() NOT NULL,
    owner_id bigint NOT NULL,
    kind smallint NOT NULL,
    components smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    path text NOT NULL COLLATE pg_catalog."C",
    origin smallint DEFAULT 0 NOT NULL,
    CONSTRAINT collections_kind_check CHECK (((kind >= 1) AND (kind <= 9))),
    CONSTRAINT collections_origin_check CHECK ((origin = ANY (ARRAY[0, 1, 2]))),
    CONSTRAINT collections_path_check CHECK (((path <> ''::text) AND (octet_length(path) <= 255)))
);

ALTER TABLE public.collections ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.collections_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.content_chunks (
    content_id bigint NOT NULL,
    off bigint NOT NULL,
    chunk_id bigint NOT NULL
);

CREATE TABLE public.content_facts (
    content_id bigint NOT NULL,
    width integer,
    height integer,
    orientation smallint,
    taken_at bigint,
    latitude double precision,
    longitude double precision,
    make text,
    model text
);

CREATE TABLE public.content_gc (
    content_id bigint NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.content_reading (
    only_row boolean DEFAULT true NOT NULL,
    done_to bigint DEFAULT 0 NOT NULL,
    seen_to bigint DEFAULT 0 NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT content_reading_only_row_check CHECK (only_row)
);

CREATE TABLE public.content_text (
    content_id bigint NOT NULL,
    words tsvector NOT NULL
);

CREATE TABLE public.contents (
    id bigint NOT NULL,
    size bigint NOT NULL,
    crc32 integer NOT NULL,
    sha256 bytea,
    sha1 bytea,
    n_chunks integer NOT NULL,
    CONSTRAINT contents_sha256_check CHECK ((length(sha256) = 32))
);

ALTER TABLE public.contents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.contents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.device_logins (
    poll_hash bytea NOT NULL,
    page_hash bytea NOT NULL,
    user_id bigint,
    login text DEFAULT ''::text NOT NULL,
    device text NOT NULL,
    address text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT device_logins_page_hash_check CHECK ((octet_length(page_hash) = 32)),
    CONSTRAINT device_logins_poll_hash_check CHECK ((octet_length(poll_hash) = 32))
);

CREATE TABLE public.drive_members (
    drive_id integer NOT NULL,
    user_id bigint,
    group_id bigint,
    subject_id bigint GENERATED ALWAYS AS (COALESCE(user_id, group_id)) STORED NOT NULL,
    rights smallint NOT NULL,
    CONSTRAINT drive_members_check CHECK ((num_nonnulls(user_id, group_id) = 1))
);

CREATE TABLE public.drives (
    id integer NOT NULL,
    kind smallint NOT NULL,
    epoch integer DEFAULT 1 NOT NULL,
    owner_id bigint,
    root_id bigint,
    trash_id bigint,
    seq bigint DEFAULT 0 NOT NULL,
    shape bigint DEFAULT 0 NOT NULL,
    pruned_seq bigint DEFAULT 0 NOT NULL,
    used_bytes bigint DEFAULT 0 NOT NULL,
    reserved_bytes bigint DEFAULT 0 NOT NULL,
    quota_bytes bigint DEFAULT '9223372036854775807'::bigint NOT NULL,
    CONSTRAINT drives_kind_check CHECK ((kind = ANY (ARRAY[1, 2]))),
    CONSTRAINT drives_reserved_bytes_check CHECK ((reserved_bytes >= 0)),
    CONSTRAINT drives_used_bytes_check CHECK ((used_bytes >= 0))
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE public.drives ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.drives_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.favorites (
    user_id bigint NOT NULL,
    node_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.folders (
    node_id bigint NOT NULL,
    etag_seq bigint NOT NULL,
    changed_at bigint NOT NULL,
    bytes_below bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.grants (
    id bigint NOT NULL,
    node_id bigint NOT NULL,
    user_id bigint,
    group_id bigint,
    subject_id bigint GENERATED ALWAYS AS (COALESCE(user_id, group_id)) STORED,
    granted_by bigint,
    rights smallint NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    note text,
    CONSTRAINT grants_check CHECK ((num_nonnulls(user_id, group_id) = 1))
);

ALTER TABLE public.grants ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.grants_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.group_members (
    user_id bigint NOT NULL,
    group_id bigint NOT NULL
);

CREATE SEQUENCE public.principal_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.groups (
    id bigint DEFAULT nextval('public.principal_ids'::regclass) NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    display_name text NOT NULL
);

CREATE TABLE public.home_properties (
    user_id bigint NOT NULL,
    kind smallint NOT NULL,
    ns text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL,
    CONSTRAINT home_properties_kind_check CHECK ((kind = ANY (ARRAY[1, 2])))
);

CREATE TABLE public.identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE public.inline_bodies (
    content_id bigint NOT NULL,
    body bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', toast.autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY public.inline_bodies ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE public.known_damage (
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.links (
    id bigint NOT NULL,
    node_id bigint NOT NULL,
    created_by bigint NOT NULL,
    rights smallint NOT NULL,
    downloads_left integer,
    hits bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    token_hash bytea NOT NULL,
    password_hash text,
    label text
)
WITH (fillfactor='70');

ALTER TABLE public.links ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.links_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.locks (
    token uuid NOT NULL,
    node_id bigint NOT NULL,
    drive_id integer NOT NULL,
    owner_id bigint,
    expires_at timestamp with time zone NOT NULL,
    depth_infinity boolean NOT NULL,
    exclusive boolean NOT NULL,
    app smallint NOT NULL,
    owner_xml text,
    seconds integer DEFAULT 3600 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.login_failures (
    login text NOT NULL COLLATE pg_catalog."C",
    failures integer NOT NULL,
    last_at timestamp with time zone DEFAULT now() NOT NULL,
    locked_until timestamp with time zone
);

CREATE TABLE public.mime_types (
    id smallint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    made_by bigint
);

ALTER TABLE public.mime_types ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.mime_types_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.mounts (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    parent_id bigint NOT NULL,
    target_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE public.mounts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.mounts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.node_properties (
    node_id bigint NOT NULL,
    ns text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);

ALTER TABLE public.nodes ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nodes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.one_time_tokens (
    hash bytea NOT NULL,
    purpose smallint NOT NULL,
    user_id bigint NOT NULL,
    app_password_id bigint,
    session_id bigint,
    access_gen bigint NOT NULL,
    node_id bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT one_time_tokens_hash_check CHECK ((octet_length(hash) = 32))
);

CREATE TABLE public.recent (
    user_id bigint NOT NULL,
    node_id bigint NOT NULL,
    at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.scheduling_defaults (
    user_id bigint NOT NULL,
    collection_id bigint NOT NULL
);

CREATE TABLE public.scheduling_mails (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    uid text NOT NULL,
    recipient text NOT NULL,
    message bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    next_at timestamp with time zone DEFAULT now(),
    expires_at timestamp with time zone NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    outcome smallint DEFAULT 0 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    CONSTRAINT scheduling_mails_outcome_check CHECK (((outcome >= 0) AND (outcome <= 2)))
);

ALTER TABLE public.scheduling_mails ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.scheduling_mails_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.schema_functions (
    id text NOT NULL COLLATE pg_catalog."C",
    sql text NOT NULL
);

CREATE TABLE public.schema_migrations (
    id text NOT NULL COLLATE pg_catalog."C",
    step integer DEFAULT 0 NOT NULL,
    finished_at timestamp with time zone
);

CREATE UNLOGGED TABLE public.server_life (
    singleton boolean DEFAULT true NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT server_life_singleton_check CHECK (singleton)
);

CREATE TABLE public.sessions (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    access_hash bytea NOT NULL,
    access_expires_at timestamp with time zone NOT NULL,
    refresh_hash bytea NOT NULL,
    refresh_expires_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL,
    address text NOT NULL,
    user_agent text NOT NULL
);

ALTER TABLE public.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.settings (
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);

CREATE TABLE public.spent_refresh_tokens (
    hash bytea NOT NULL,
    session_id bigint NOT NULL,
    spent_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.trash (
    node_id bigint NOT NULL,
    drive_id integer NOT NULL,
    from_parent_id bigint NOT NULL,
    bytes bigint NOT NULL,
    deleted_by bigint,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL,
    from_name text NOT NULL COLLATE pg_catalog."C",
    purging boolean DEFAULT false NOT NULL
);

CREATE TABLE public.upload_chunks (
    upload_id bigint NOT NULL,
    part integer NOT NULL,
    off bigint NOT NULL,
    chunk_id bigint NOT NULL
);

CREATE TABLE public.upload_parts (
    upload_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    part integer NOT NULL,
    size bigint NOT NULL,
    crc32 integer NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.uploads (
    id bigint NOT NULL,
    user_id bigint,
    drive_id integer NOT NULL,
    parent_id bigint NOT NULL,
    total bigint,
    reserved bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    result_node_id bigint,
    result_seq bigint,
    client_dir text COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    parts_begun integer DEFAULT 0 NOT NULL,
    stored bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');

ALTER TABLE public.uploads ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.uploads_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.user_statuses (
    user_id bigint NOT NULL,
    state text DEFAULT 'online'::text NOT NULL,
    is_chosen boolean DEFAULT false NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    message_id text DEFAULT ''::text NOT NULL,
    icon text DEFAULT ''::text NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    clear_at timestamp with time zone,
    CONSTRAINT user_statuses_state_check CHECK ((state = ANY (ARRAY['online'::text, 'away'::text, 'dnd'::text, 'busy'::text, 'invisible'::text, 'offline'::text])))
);

CREATE TABLE public.users (
    id bigint DEFAULT nextval('public.principal_ids'::regclass) NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    login text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    display_name text NOT NULL,
    password_hash text,
    auth_provider text DEFAULT 'local'::text NOT NULL,
    second_factor boolean DEFAULT false NOT NULL,
    is_admin boolean DEFAULT false NOT NULL,
    is_disabled boolean DEFAULT false NOT NULL,
    access_gen bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    last_login_at timestamp with time zone,
    deleting_since timestamp with time zone
);

ALTER TABLE public.versions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY public.app_passwords
    ADD CONSTRAINT app_passwords_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.app_passwords
    ADD CONSTRAINT app_passwords_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.birthday_calendars
    ADD CONSTRAINT birthday_calendars_collection_id_key UNIQUE (collection_id);

ALTER TABLE ONLY public.birthday_calendars
    ADD CONSTRAINT birthday_calendars_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.birthday_sources
    ADD CONSTRAINT birthday_sources_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY public.born_by_lock
    ADD CONSTRAINT born_by_lock_pkey PRIMARY KEY (node_id);

ALTER TABLE ONLY public.calendar_subscriptions
    ADD CONSTRAINT calendar_subscriptions_pkey PRIMARY KEY (collection_id);

ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (drive_id, seq, node_id, op);

ALTER TABLE ONLY public.chunk_gc
    ADD CONSTRAINT chunk_gc_pkey PRIMARY KEY (chunk_id);

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.collection_feeds
    ADD CONSTRAINT collection_feeds_pkey PRIMARY KEY (collection_id);

ALTER TABLE ONLY public.collection_feeds
    ADD CONSTRAINT collection_feeds_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.collection_objects
    ADD CONSTRAINT collection_objects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.collection_shares
    ADD CONSTRAINT collection_shares_collection_id_subject_id_key UNIQUE (collection_id, subject_id);

ALTER TABLE ONLY public.collection_shares
    ADD CONSTRAINT collection_shares_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.collection_state
    ADD CONSTRAINT collection_state_pkey PRIMARY KEY (collection_id);

ALTER TABLE ONLY public.collection_trash
    ADD CONSTRAINT collection_trash_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.collections
    ADD CONSTRAINT collections_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.collections
    ADD CONSTRAINT collections_uid_key UNIQUE (uid);

ALTER TABLE ONLY public.content_chunks
    ADD CONSTRAINT content_chunks_pkey PRIMARY KEY (content_id, off);

ALTER TABLE ONLY public.content_facts
    ADD CONSTRAINT content_facts_pkey PRIMARY KEY (content_id);

ALTER TABLE ONLY public.content_gc
    ADD CONSTRAINT content_gc_pkey PRIMARY KEY (content_id);

ALTER TABLE ONLY public.content_reading
    ADD CONSTRAINT content_reading_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.content_text
    ADD CONSTRAINT content_text_pkey PRIMARY KEY (content_id);

ALTER TABLE ONLY public.contents
    ADD CONSTRAINT contents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_page_hash_key UNIQUE (page_hash);

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_pkey PRIMARY KEY (poll_hash);

ALTER TABLE ONLY public.drive_members
    ADD CONSTRAINT drive_members_pkey PRIMARY KEY (drive_id, subject_id);

ALTER TABLE ONLY public.drives
    ADD CONSTRAINT drives_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.favorites
    ADD CONSTRAINT favorites_pkey PRIMARY KEY (user_id, node_id);

ALTER TABLE ONLY public.folders
    ADD CONSTRAINT folders_pkey PRIMARY KEY (node_id);

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_node_id_subject_id_key UNIQUE (node_id, subject_id);

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.group_members
    ADD CONSTRAINT group_members_pkey PRIMARY KEY (user_id, group_id);

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_name_key UNIQUE (name);

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.home_properties
    ADD CONSTRAINT home_properties_pkey PRIMARY KEY (user_id, kind, ns, name);

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);

ALTER TABLE ONLY public.inline_bodies
    ADD CONSTRAINT inline_bodies_pkey PRIMARY KEY (content_id);

ALTER TABLE ONLY public.known_damage
    ADD CONSTRAINT known_damage_pkey PRIMARY KEY (kind, subject);

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.locks
    ADD CONSTRAINT locks_pkey PRIMARY KEY (token);

ALTER TABLE ONLY public.login_failures
    ADD CONSTRAINT login_failures_pkey PRIMARY KEY (login);

ALTER TABLE ONLY public.mime_types
    ADD CONSTRAINT mime_types_name_key UNIQUE (name);

ALTER TABLE ONLY public.mime_types
    ADD CONSTRAINT mime_types_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mounts
    ADD CONSTRAINT mounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mounts
    ADD CONSTRAINT mounts_user_id_parent_id_name_key UNIQUE (user_id, parent_id, name);

ALTER TABLE ONLY public.mounts
    ADD CONSTRAINT mounts_user_id_target_id_key UNIQUE (user_id, target_id);

ALTER TABLE ONLY public.node_properties
    ADD CONSTRAINT node_properties_pkey PRIMARY KEY (node_id, ns, name);

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.one_time_tokens
    ADD CONSTRAINT one_time_tokens_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.recent
    ADD CONSTRAINT recent_pkey PRIMARY KEY (user_id, node_id);

ALTER TABLE ONLY public.scheduling_defaults
    ADD CONSTRAINT scheduling_defaults_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.scheduling_mails
    ADD CONSTRAINT scheduling_mails_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_functions
    ADD CONSTRAINT schema_functions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.server_life
    ADD CONSTRAINT server_life_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_access_hash_key UNIQUE (access_hash);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_refresh_hash_key UNIQUE (refresh_hash);

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.spent_refresh_tokens
    ADD CONSTRAINT spent_refresh_tokens_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.trash
    ADD CONSTRAINT trash_pkey PRIMARY KEY (node_id);

ALTER TABLE ONLY public.upload_chunks
    ADD CONSTRAINT upload_chunks_pkey PRIMARY KEY (upload_id, part, off);

ALTER TABLE ONLY public.upload_parts
    ADD CONSTRAINT upload_parts_pkey PRIMARY KEY (upload_id, name);

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.user_statuses
    ADD CONSTRAINT user_statuses_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_login_key UNIQUE (login);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_name_key UNIQUE (name);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_pkey PRIMARY KEY (id);

CREATE INDEX app_passwords_by_folder ON public.app_passwords USING btree (folder_id) WHERE (folder_id IS NOT NULL);

CREATE INDEX app_passwords_by_user ON public.app_passwords USING btree (user_id);

CREATE INDEX audit_by_time ON public.audit USING btree (at);

CREATE INDEX calendar_subscriptions_due ON public.calendar_subscriptions USING btree (next_at);

CREATE INDEX chunk_gc_due ON public.chunk_gc USING btree (since) WHERE (NOT parked);

CREATE UNIQUE INDEX chunks_live ON public.chunks USING btree (sha256) WHERE ((state = 0) AND (NOT quarantined));

CREATE INDEX chunks_quarantined ON public.chunks USING btree (id) WHERE quarantined;

CREATE UNIQUE INDEX collection_objects_by_name ON public.collection_objects USING btree (collection_id, name);

CREATE INDEX collection_objects_by_seq ON public.collection_objects USING btree (collection_id, seq) INCLUDE (etag, deleted, component, size, name);

CREATE INDEX collection_objects_by_title ON public.collection_objects USING btree (collection_id, "left"(public.fold_name(COALESCE(title, ''::text)), 100), id) WHERE ((NOT deleted) AND (component = 0) AND (((flags)::integer & 1) = 0));

CREATE UNIQUE INDEX collection_objects_by_uid ON public.collection_objects USING btree (collection_id, uid_hash) WHERE (NOT deleted);

CREATE INDEX collection_objects_emails ON public.collection_objects USING gin (emails) WHERE (emails <> '{}'::text[]);

CREATE INDEX collection_objects_groups ON public.collection_objects USING btree (collection_id, id) WHERE ((NOT deleted) AND (component = 0) AND (((flags)::integer & 1) = 1));

CREATE INDEX collection_objects_long ON public.collection_objects USING btree (collection_id, t1, t0) WHERE ((NOT deleted) AND is_long);

CREATE INDEX collection_objects_short ON public.collection_objects USING btree (collection_id, t1) WHERE ((NOT deleted) AND (NOT is_long));

CREATE INDEX collection_properties_by_user ON public.collection_properties USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX collection_properties_key ON public.collection_properties USING btree (collection_id, COALESCE(user_id, (0)::bigint), ns, name);

CREATE INDEX collection_shares_by_group ON public.collection_shares USING btree (group_id) WHERE (group_id IS NOT NULL);

CREATE INDEX collection_shares_by_subject ON public.collection_shares USING btree (subject_id) INCLUDE (collection_id, access);

CREATE INDEX collection_shares_by_user ON public.collection_shares USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX collection_trash_by_collection ON public.collection_trash USING btree (collection_id, id);

CREATE INDEX collection_trash_by_user ON public.collection_trash USING btree (deleted_by) WHERE (deleted_by IS NOT NULL);

CREATE INDEX collection_trash_due ON public.collection_trash USING btree (deleted_at);

CREATE INDEX collections_by_owner ON public.collections USING btree (owner_id);

CREATE UNIQUE INDEX collections_by_path ON public.collections USING btree (owner_id, kind, path) WHERE (deleted_at IS NULL);

CREATE INDEX collections_deleted ON public.collections USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX content_chunks_by_chunk ON public.content_chunks USING btree (chunk_id);

CREATE INDEX content_facts_taken ON public.content_facts USING btree (content_id) INCLUDE (taken_at) WHERE (taken_at IS NOT NULL);

CREATE INDEX content_gc_due ON public.content_gc USING btree (since);

CREATE INDEX content_text_words ON public.content_text USING gin (words);

CREATE INDEX device_logins_by_expiry ON public.device_logins USING btree (expires_at);

CREATE INDEX device_logins_by_user ON public.device_logins USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX drive_members_by_group ON public.drive_members USING btree (group_id);

CREATE INDEX drive_members_by_subject ON public.drive_members USING btree (subject_id) INCLUDE (drive_id, rights);

CREATE INDEX drive_members_by_user ON public.drive_members USING btree (user_id);

CREATE INDEX drives_by_owner ON public.drives USING btree (owner_id);

CREATE UNIQUE INDEX drives_personal ON public.drives USING btree (owner_id) WHERE (kind = 1);

CREATE INDEX favorites_by_node ON public.favorites USING btree (node_id);

CREATE INDEX grants_by_giver ON public.grants USING btree (granted_by);

CREATE INDEX grants_by_group ON public.grants USING btree (group_id);

CREATE INDEX grants_by_subject ON public.grants USING btree (subject_id) INCLUDE (node_id, rights, expires_at);

CREATE INDEX grants_by_user ON public.grants USING btree (user_id);

CREATE INDEX group_members_by_group ON public.group_members USING btree (group_id);

CREATE INDEX identities_by_user ON public.identities USING btree (user_id);

CREATE INDEX links_by_creator ON public.links USING btree (created_by);

CREATE INDEX links_by_node ON public.links USING btree (node_id);

CREATE INDEX locks_by_drive ON public.locks USING btree (drive_id);

CREATE INDEX locks_by_node ON public.locks USING btree (node_id);

CREATE INDEX locks_by_owner ON public.locks USING btree (owner_id);

CREATE INDEX login_failures_by_age ON public.login_failures USING btree (last_at);

CREATE INDEX mime_types_by_maker ON public.mime_types USING btree (made_by) WHERE (made_by IS NOT NULL);

CREATE INDEX mounts_by_parent ON public.mounts USING btree (parent_id);

CREATE INDEX mounts_by_target ON public.mounts USING btree (target_id);

CREATE INDEX nodes_by_author ON public.nodes USING btree (author_id);

CREATE INDEX nodes_by_content ON public.nodes USING btree (content_id) WHERE (content_id IS NOT NULL);

CREATE INDEX nodes_by_creator ON public.nodes USING btree (creator_id);

CREATE INDEX nodes_by_drive ON public.nodes USING btree (drive_id);

CREATE UNIQUE INDEX nodes_by_name ON public.nodes USING btree (parent_id, name);

CREATE INDEX nodes_files_by_mtime ON public.nodes USING btree (parent_id, mtime, id) WHERE (kind = 1);

CREATE INDEX nodes_files_by_size ON public.nodes USING btree (parent_id, size, id) WHERE (kind = 1);

CREATE INDEX nodes_listing ON public.nodes USING btree (parent_id, kind DESC, public.fold_name(name), name);

CREATE INDEX nodes_search ON public.nodes USING gin (drive_id, public.fold_name(name) public.gin_trgm_ops);

CREATE INDEX one_time_tokens_by_expiry ON public.one_time_tokens USING btree (expires_at);

CREATE INDEX one_time_tokens_by_user ON public.one_time_tokens USING btree (user_id);

CREATE INDEX recent_by_node ON public.recent USING btree (node_id);

CREATE INDEX scheduling_defaults_by_collection ON public.scheduling_defaults USING btree (collection_id);

CREATE INDEX scheduling_mails_by_age ON public.scheduling_mails USING btree (created_at);

CREATE INDEX scheduling_mails_by_user ON public.scheduling_mails USING btree (user_id, created_at);

CREATE INDEX scheduling_mails_due ON public.scheduling_mails USING btree (next_at, id) WHERE (next_at IS NOT NULL);

CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id);

CREATE INDEX sessions_due ON public.sessions USING btree (refresh_expires_at);

CREATE INDEX spent_refresh_tokens_by_session ON public.spent_refresh_tokens USING btree (session_id);

CREATE INDEX spent_refresh_tokens_due ON public.spent_refresh_tokens USING btree (spent_at);

CREATE INDEX trash_by_age ON public.trash USING btree (deleted_at) WHERE (NOT purging);

CREATE INDEX trash_by_deleter ON public.trash USING btree (deleted_by, deleted_at);

CREATE INDEX trash_by_time ON public.trash USING btree (drive_id, deleted_at);

CREATE INDEX trash_purging ON public.trash USING btree (node_id) WHERE purging;

CREATE INDEX upload_chunks_by_chunk ON public.upload_chunks USING btree (chunk_id);

CREATE UNIQUE INDEX uploads_by_dir ON public.uploads USING btree (user_id, client_dir) WHERE (client_dir IS NOT NULL);

CREATE INDEX uploads_by_drive ON public.uploads USING btree (drive_id);

CREATE INDEX uploads_due ON public.uploads USING btree (expires_at);

CREATE INDEX users_admins ON public.users USING btree (id) WHERE is_admin;

CREATE INDEX users_by_age ON public.users USING btree (created_at DESC, id DESC);

CREATE UNIQUE INDEX users_by_email ON public.users USING btree (email) WHERE (email IS NOT NULL);

CREATE INDEX users_deleting ON public.users USING btree (deleting_since) WHERE (deleting_since IS NOT NULL);

CREATE INDEX versions_by_content ON public.versions USING btree (content_id);

CREATE INDEX versions_by_node ON public.versions USING btree (node_id, id DESC) INCLUDE (content_id, size, mtime);

ALTER TABLE ONLY public.app_passwords
    ADD CONSTRAINT app_passwords_folder FOREIGN KEY (folder_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.app_passwords
    ADD CONSTRAINT app_passwords_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.birthday_calendars
    ADD CONSTRAINT birthday_calendars_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.birthday_calendars
    ADD CONSTRAINT birthday_calendars_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.birthday_sources
    ADD CONSTRAINT birthday_sources_book_id_fkey FOREIGN KEY (book_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.born_by_lock
    ADD CONSTRAINT born_by_lock_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.calendar_subscriptions
    ADD CONSTRAINT calendar_subscriptions_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_feeds
    ADD CONSTRAINT collection_feeds_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_objects
    ADD CONSTRAINT collection_objects_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_properties
    ADD CONSTRAINT collection_properties_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_properties
    ADD CONSTRAINT collection_properties_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_shares
    ADD CONSTRAINT collection_shares_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_shares
    ADD CONSTRAINT collection_shares_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_shares
    ADD CONSTRAINT collection_shares_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_state
    ADD CONSTRAINT collection_state_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_trash
    ADD CONSTRAINT collection_trash_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.collection_trash
    ADD CONSTRAINT collection_trash_deleted_by_fkey FOREIGN KEY (deleted_by) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.collections
    ADD CONSTRAINT collections_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.content_chunks
    ADD CONSTRAINT content_chunks_chunk_id_fkey FOREIGN KEY (chunk_id) REFERENCES public.chunks(id);

ALTER TABLE ONLY public.content_chunks
    ADD CONSTRAINT content_chunks_content_id_fkey FOREIGN KEY (content_id) REFERENCES public.contents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.content_facts
    ADD CONSTRAINT content_facts_content_id_fkey FOREIGN KEY (content_id) REFERENCES public.contents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.content_text
    ADD CONSTRAINT content_text_content_id_fkey FOREIGN KEY (content_id) REFERENCES public.contents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.drive_members
    ADD CONSTRAINT drive_members_drive_id_fkey FOREIGN KEY (drive_id) REFERENCES public.drives(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.drive_members
    ADD CONSTRAINT drive_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.drive_members
    ADD CONSTRAINT drive_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.drives
    ADD CONSTRAINT drives_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.drives
    ADD CONSTRAINT drives_root FOREIGN KEY (root_id) REFERENCES public.nodes(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.drives
    ADD CONSTRAINT drives_trash FOREIGN KEY (trash_id) REFERENCES public.nodes(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.favorites
    ADD CONSTRAINT favorites_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.favorites
    ADD CONSTRAINT favorites_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.folders
    ADD CONSTRAINT folders_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_granted_by_fkey FOREIGN KEY (granted_by) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.group_members
    ADD CONSTRAINT group_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.group_members
    ADD CONSTRAINT group_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.home_properties
    ADD CONSTRAINT home_properties_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.inline_bodies
    ADD CONSTRAINT inline_bodies_content_id_fkey FOREIGN KEY (content_id) REFERENCES public.contents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.locks
    ADD CONSTRAINT locks_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mime_types
    ADD CONSTRAINT mime_types_made_by_fkey FOREIGN KEY (made_by) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.mounts
    ADD CONSTRAINT mounts_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mounts
    ADD CONSTRAINT mounts_target_id_fkey FOREIGN KEY (target_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mounts
    ADD CONSTRAINT mounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.node_properties
    ADD CONSTRAINT node_properties_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_content_id_fkey FOREIGN KEY (content_id) REFERENCES public.contents(id);

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_drive_id_fkey FOREIGN KEY (drive_id) REFERENCES public.drives(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES public.nodes(id);

ALTER TABLE ONLY public.one_time_tokens
    ADD CONSTRAINT one_time_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.recent
    ADD CONSTRAINT recent_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.recent
    ADD CONSTRAINT recent_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scheduling_defaults
    ADD CONSTRAINT scheduling_defaults_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES public.collections(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scheduling_defaults
    ADD CONSTRAINT scheduling_defaults_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scheduling_mails
    ADD CONSTRAINT scheduling_mails_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.spent_refresh_tokens
    ADD CONSTRAINT spent_refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.trash
    ADD CONSTRAINT trash_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.upload_chunks
    ADD CONSTRAINT upload_chunks_chunk_id_fkey FOREIGN KEY (chunk_id) REFERENCES public.chunks(id);

ALTER TABLE ONLY public.upload_chunks
    ADD CONSTRAINT upload_chunks_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES public.uploads(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.upload_parts
    ADD CONSTRAINT upload_parts_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES public.uploads(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_drive_id_fkey FOREIGN KEY (drive_id) REFERENCES public.drives(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.user_statuses
    ADD CONSTRAINT user_statuses_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_content_id_fkey FOREIGN KEY (content_id) REFERENCES public.contents(id);

ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id) ON DELETE CASCADE;
