-- Uploads that come in parts (table upload_parts). Bytes are reserved in a drive from the first word of them on; an upload
-- is found by its user and the name he gave it. The upload's row is locked before its drive, as by whoever joins its
-- parts. Expects READ COMMITTED, see files.sql.

-- Null: there is one of that name already.
create or replace function begin_part_upload(p_user bigint, p_drive integer, p_parent bigint, p_dir text, p_total bigint,
    p_seconds integer, p_user_max integer) returns bigint language plpgsql as $$
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

-- Makes room for p_bytes beside what is stored. The caller holds the upload's row.
create or replace function reserve_for_upload(p_upload bigint, p_bytes bigint) returns void language plpgsql as $$
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

-- The number of a new part, and the upload's life anew. p_total: what the client now says the whole will be.
create or replace function begin_part(p_upload bigint, p_bytes bigint, p_total bigint, p_seconds integer, p_parts_max integer)
  returns integer language plpgsql as $$
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

-- A part is there as a whole. What had its name before goes. True: it is new.
create or replace function put_part(p_upload bigint, p_name text, p_part integer, p_size bigint, p_crc32 integer,
    p_seconds integer) returns boolean language plpgsql as $$
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

create or replace function drop_part(p_upload bigint, p_name text) returns boolean language plpgsql as $$
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

-- The reservation to the drive the file goes to, which gives it back when the file is there.
create or replace function move_upload(p_upload bigint, p_drive integer) returns void language plpgsql as $$
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
