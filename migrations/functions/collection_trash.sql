-- What calendars and address books cost their owner, and what is in their trash. SQLSTATEs as in drives.sql. Lock order:
-- collection_state, collection_trash, then the drives, the lower one first.

-- Charges the personal drive of a user, in the statement that checks his quota, so that no burst can pass it. Whoever has
-- no drive has no quota. p_checked false: what others deliver to him comes in however full he is.
create or replace function charge_owner(p_owner bigint, p_bytes bigint, p_checked boolean) returns void language plpgsql as $$
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

create or replace function charge_collection(p_collection bigint, p_bytes bigint, p_checked boolean) returns void language plpgsql as $$
begin
  perform charge_owner((select c.owner_id from collections c where c.id = p_collection), p_bytes, p_checked);
end $$;

-- What a transfer costs both owners. p_freed: what it takes the place of in the target.
create or replace function charge_transfer(p_from bigint, p_to bigint, p_bytes bigint, p_freed bigint, p_copy boolean)
  returns void language plpgsql as $$
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

-- What somebody's collections weigh by what their counters say, for whoever counts his drive anew.
create or replace function collection_bytes(p_owner bigint) returns bigint language plpgsql stable as $$
begin
  return (select coalesce(sum(s.bytes), 0) from collections c join collection_state s on s.collection_id = c.id
           where c.owner_id = p_owner)
       + (select coalesce(sum(octet_length(t.data)), 0) from collections c join collection_trash t on t.collection_id = c.id
           where c.owner_id = p_owner);
end $$;

-- Counts a collection anew. Its owner's drive wants a recount afterwards.
create or replace function recount_collection(p_collection bigint) returns void language plpgsql as $$
begin
  perform 1 from collection_state s where s.collection_id = p_collection for update;
  update collection_state s set object_count = x.many, bytes = x.bytes
    from (select count(*)::integer many, coalesce(sum(o.size), 0)::bigint bytes from collection_objects o
           where o.collection_id = p_collection and not o.deleted) x
   where s.collection_id = p_collection;
end $$;

-- Puts an object of the trash back, described anew by the caller. p_other_name: if its own is taken.
create or replace function restore_object(p_trash bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_other_name text, p_etag uuid, p_uid text, p_uid_hash uuid, p_component smallint, p_flags smallint, p_t0 bigint,
    p_t1 bigint, p_title text, p_search text, p_emails text[], p_phones text[], out restored text) language plpgsql as $$
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

-- For whoever may write where it came from.
create or replace function purge_trashed_object(p_trash bigint, p_kind smallint, p_user bigint, p_subjects bigint[],
    p_mask integer)
  returns void language plpgsql as $$
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

-- A deleted collection is its owner's alone. p_days: how long it is kept.
create or replace function restore_collection(p_collection bigint, p_user bigint, p_mask integer, p_other_path text,
    p_days integer, p_many_max integer) returns void language plpgsql as $$
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

-- For good: it is past its time from now on, and end_collection_trash takes it away.
create or replace function purge_collection(p_collection bigint, p_user bigint, p_mask integer, p_days integer)
  returns void language plpgsql as $$
begin
  perform 1 from collection_state s where s.collection_id = p_collection for update;
  if not exists (select from collections x where x.id = p_collection and x.owner_id = p_user
                    and x.deleted_at > now() - make_interval(days => p_days) and p_mask & 1 = 1) then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
  if p_mask & 16 = 0 then raise exception using errcode = 'WF403', message = 'forbidden'; end if;
  update collections set deleted_at = '-infinity' where id = p_collection;
end $$;

-- Everything a user has deleted of one kind, some at a time. How many went, and whether that was all.
create or replace function empty_collection_trash(p_user bigint, p_kind smallint, p_mask integer, p_days integer,
    p_limit integer, out gone integer, out done boolean) language plpgsql as $$
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

-- Ends what was deleted longer ago than p_days, p_limit rows at a time: objects in the trash, then the members of deleted
-- collections, then those themselves. Every sum stays true in between. True: more is waiting.
create or replace function end_collection_trash(p_days integer, p_limit integer) returns boolean language plpgsql as $$
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
