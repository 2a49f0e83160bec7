-- What a file was before. A version is a reference to a content; its bytes count in the drive.

-- The gate to a file's versions: who may change the file. Its node row under the drive's lock.
create or replace function require_versioned(p_node bigint, p_drive integer, p_gate record) returns void
  language plpgsql stable as $$
begin
  if not p_gate.live or p_gate.drive <> p_drive or p_gate.rights & 1 = 0 then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if p_gate.rights & 8 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  if exists (select from nodes n where n.id = p_node and n.kind <> 1) then
    raise exception using errcode = 'WI400', message = 'not_a_file'; end if;
end $$;

-- A version becomes the present content, and the present content a version. The restored version is used up, so that
-- no bytes are counted twice, unless somebody has labelled it. Restoring is writing: etag, mtime and author are new.
create or replace function restore_version(p_node bigint, p_version bigint, p_user bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    p_expect smallint, p_etags text[], p_tokens uuid[]) returns void language plpgsql as $$
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

-- A name for a version; a version with one is kept by the rule of age. Null takes it away.
create or replace function label_version(p_node bigint, p_version bigint, p_label text,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer) returns void
  language plpgsql as $$
declare g record; drive integer;
begin
  select l.drive into drive from lock_drives(p_node, 0) l;
  g := gate(p_node, p_subjects, p_mask, p_limit, p_link_node, p_link_rights);
  perform require_versioned(p_node, drive, g);
  update versions set label = p_label where id = p_version and node_id = p_node;
  if not found then raise exception using errcode = 'WN404', message = 'not_found'; end if;
end $$;

-- Versions of nodes of one drive go for good, labelled ones too: bytes back, contents to the collector. How many.
create or replace function drop_versions(p_drive integer, p_versions bigint[]) returns bigint language plpgsql as $$
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

create or replace function delete_version(p_node bigint, p_version bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer) returns void
  language plpgsql as $$
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

-- Whether the rule of age ends a version: no label, older than p_days, and at least p_keep newer ones of its file.
create or replace function is_expired_version(p_version versions, p_days integer, p_keep integer) returns boolean
  language plpgsql stable as $$
begin
  return p_version.label is null and p_version.replaced_at < now() - make_interval(days => p_days)
     and (select count(*) from (select from versions w where w.node_id = p_version.node_id and w.id > p_version.id
                                 limit p_keep) x) >= p_keep;
end $$;

-- One step of the rule over the versions above the id p_after, oldest first: looks at p_limit of them. A row for each
-- drive with what has expired there; last_id is where it came to, null when only young ones follow.
create or replace function expired_versions(p_after bigint, p_days integer, p_keep integer, p_limit integer)
  returns table (drive integer, ids bigint[], last_id bigint) language plpgsql stable as $$
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

-- Ends what expired_versions found, if the rule still says so now that the drive is ours.
create or replace function expire_versions(p_drive integer, p_ids bigint[], p_days integer, p_keep integer)
  returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(1, p_drive);
  return drop_versions(p_drive, array(
    select v.id from versions v where v.id = any (p_ids) and is_expired_version(v, p_days, p_keep)));
end $$;
