-- Contents, as whoever wants to read one needs them.

-- A content, its body where that is a row, and the first p_limit of its chunks that overlap [p_from, p_to), in order.
-- A plain select, so that it becomes a part of the statement that asks: the way to a node and what is to be read of it are
-- one round trip.
create or replace function content_view(p_content bigint, p_from bigint, p_to bigint, p_limit bigint)
  returns table (size bigint, crc32 integer, sha256 bytea, n_chunks integer, body bytea,
                 offs bigint[], ids bigint[], sizes integer[], hashes bytea, seen_us bigint[])
  language sql stable as $$
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
