-- Who a collection is shared with, and what of it he is not shown.

-- Private objects do not exist for anybody but the owner; confidential ones are told as times only, so nobody else may
-- write over, move or copy them. p_flags: of collection_objects. p_hides: whether private ones are told as missing.
create or replace function require_open_object(p_collection bigint, p_user bigint, p_subjects bigint[], p_flags smallint,
    p_hides boolean) returns void language plpgsql stable as $$
begin
  if p_flags & 12 = 0 or collection_access(p_collection, p_user, p_subjects, 127) = 3 then return; end if;
  if p_hides and p_flags & 4 <> 0 then raise exception using errcode = 'WN404', message = 'not_found'; end if;
  raise exception using errcode = 'WF403', message = 'forbidden';
end $$;

-- The same of what is in the trash: hidden objects are their owner's alone.
create or replace function require_hidden_owner(p_collection bigint, p_user bigint, p_flags smallint)
  returns void language plpgsql stable as $$
begin
  if p_flags & 12 <> 0 and not exists (select from collections c where c.id = p_collection and c.owner_id = p_user) then
    raise exception using errcode = 'WN404', message = 'not_found'; end if;
end $$;

-- Sets and ends shares of the owner's collection. Subjects are users and groups; each stands once, in one of the lists.
create or replace function share_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_set bigint[], p_access smallint[], p_gone bigint[], p_many_max integer) returns void language plpgsql as $$
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

-- A feed replaces the one before: its address ends.
create or replace function publish_collection(p_collection bigint, p_user bigint, p_subjects bigint[], p_mask integer,
    p_token_hash bytea, p_with_alarms boolean, p_with_attendees boolean, p_expires_at timestamptz)
  returns void language plpgsql as $$
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
