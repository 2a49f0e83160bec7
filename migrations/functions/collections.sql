-- Calendars and address books. SQLSTATEs as in drives.sql. Expects READ
-- COMMITTED: each statement after the wait for collection_state sees what was committed meanwhile. Lock order:
-- collection_state by collection, then what belongs to it.

-- 3 owner, 2 writes, 1 reads, 0 nothing. p_mask: the rights of the caller's credential.
create or replace function collection_access(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer)
  returns smallint language plpgsql stable as $$
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

create or replace function create_default_collections(p_user bigint) returns void language plpgsql as $$
begin
  with made as (
    insert into collections (owner_id, kind, components, path)
      values (p_user, 1, 7, 'personal'), (p_user, 1, 2, 'tasks'), (p_user, 2, 0, 'contacts'), (p_user, 5, 0, 'inbox')
    returning id)
  insert into collection_state (collection_id) select id from made;
end $$;

-- Takes the state row; every change of a collection or its members begins here. Several: in the order of their ids.
create or replace function lock_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_access smallint) returns collection_state language plpgsql as $$
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

-- p_expect: 0 anything, 1 nothing of that name, 2 something, 3 just this etag.
create or replace function require_expected(p_expect smallint, p_etag uuid, p_found boolean, p_found_etag uuid)
  returns void language plpgsql immutable as $$
begin
  if p_expect = 1 and p_found or p_expect = 2 and not p_found
     or p_expect = 3 and (not p_found or p_found_etag is distinct from p_etag) then
    raise exception using errcode = 'WP412', message = 'precondition_failed'; end if;
end $$;

-- Writes one object under a name. verdict: '' done, 'uid_conflict' with the holder's name: nothing was changed.
create or replace function put_object(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_name text, p_expect smallint, p_expected uuid, p_etag uuid, p_uid text, p_uid_hash uuid, p_component smallint,
    p_flags smallint, p_t0 bigint, p_t1 bigint, p_title text, p_search text, p_emails text[], p_phones text[], p_data bytea,
    out verdict text, out holder text, out created boolean, out modified_at timestamptz) language plpgsql as $$
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
  select x.name into holder from collection_objects x
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

-- Makes a live row its own tombstone, under a number that the caller took.
create or replace function bury_object(p_id bigint, p_seq bigint) returns void language plpgsql as $$
begin
  update collection_objects set seq = p_seq, deleted = true, t0 = null, t1 = null, etag = null, uid_hash = null, size = 0,
         component = 0, flags = 0, uid = null, title = null, emails = '{}', phones = '{}', search = null, data = null, schedule_tag = null,
         modified_at = clock_timestamp()
   where id = p_id;
end $$;

create or replace function delete_object(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_name text, p_expect smallint, p_expected uuid) returns void language plpgsql as $$
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

-- Moves or copies one object, bytes and etag as they are. verdict as put_object's, 'exists' when something has the name
-- that may not be replaced, 'supported_component'; then nothing was changed.
create or replace function transfer_object(p_from bigint, p_name text, p_to bigint, p_to_name text, p_copy boolean,
    p_overwrite boolean, p_user bigint, p_subjects bigint[], p_mask integer, p_expect smallint, p_expected uuid,
    out verdict text, out holder text, out created boolean) language plpgsql as $$
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
    select x.name into holder from collection_objects x
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

-- p_user_id null: what everybody sees. No name stands twice.
create or replace function set_collection_properties(p_collection bigint, p_user_id bigint, p_set_ns text[],
    p_set_names text[], p_set_values text[], p_gone_ns text[], p_gone_names text[], p_count_max integer)
  returns void language plpgsql as $$
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

create or replace function create_collection(p_user bigint, p_mask integer, p_kind smallint, p_path text,
    p_components smallint, p_set_ns text[], p_set_names text[], p_set_values text[], p_many_max integer, p_count_max integer)
  returns bigint language plpgsql as $$
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

-- The owner sets what everybody sees and raises the number; anybody else who reads it sets what he sees.
create or replace function patch_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_set_ns text[], p_set_names text[], p_set_values text[], p_gone_ns text[], p_gone_names text[], p_count_max integer)
  returns void language plpgsql as $$
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

-- Deleting is for the owner: it goes to the trash with all that is in it. Who was invited leaves.
create or replace function delete_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_token text) returns void language plpgsql as $$
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
