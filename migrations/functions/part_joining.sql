-- Several uploads in parts become one (table upload_parts): lists are joined, no byte moves. The parts of each are called by
-- where they begin, and are called so in the whole again. What they reserved goes along; all are in the caller's drive.
-- Expects READ COMMITTED, see files.sql.
create or replace function join_part_uploads(p_into bigint, p_from bigint[], p_parts_max integer) returns void
  language plpgsql as $$
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
