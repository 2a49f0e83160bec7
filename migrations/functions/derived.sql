-- Members that the server makes: birthdays, and what subscriptions bring. Nobody's rights are asked; nothing goes to the trash.

-- The calendar's state row, taken as every writer takes it; null: it is gone.
create or replace function lock_derived(p_collection bigint) returns bigint language plpgsql as $$
declare s bigint;
begin
  select st.seq into s from collection_state st join collections c on c.id = st.collection_id
   where st.collection_id = p_collection and c.deleted_at is null and c.origin <> 0 for update of st;
  return s;
end $$;

-- false: it stood there just so already, and no number was taken.
create or replace function put_derived_object(p_collection bigint, p_name text, p_etag uuid, p_uid text, p_uid_hash uuid,
    p_component smallint, p_flags smallint, p_t0 bigint, p_t1 bigint, p_title text, p_search text, p_data bytea)
  returns boolean language plpgsql as $$
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

create or replace function drop_derived_object(p_collection bigint, p_name text) returns boolean language plpgsql as $$
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

-- The birthday calendar of a user, made when there is none; null: he does not want one. Takes the row that whoever
-- writes into it holds.
create or replace function open_birthdays(p_user bigint, p_make boolean) returns bigint language plpgsql as $$
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

-- Switched off, the calendar goes for good; switched on, all books are read again.
create or replace function switch_birthdays(p_user bigint, p_is_enabled boolean) returns void language plpgsql as $$
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
