-- Many items changed by one request: one transaction, each item with its own verdict ('ok', or the SQLSTATE it was
-- refused with and a slug). An item that is refused leaves nothing, the others go on.
--   p_op        1 move, 2 copy (both to p_to), 3 to the trash, 4 delete for good, 5 out of the trash, 6 purge from the
--               trash, 7 create the folders p_names in p_items
--   p_in        0, or: everything in this folder except p_items
--   p_conflict  a name that is taken at p_to: 0 refuses, 1 what has it goes to the trash, 2 a name like it is taken
create or replace function batch_change(p_op integer, p_items bigint[], p_names text[], p_in bigint, p_to bigint,
    p_conflict integer, p_user bigint, p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint,
    p_link_rights integer, p_tokens uuid[], p_depth_max integer, p_nodes_max integer, p_items_max integer)
  returns table (item bigint, kind smallint, verdict text, made bigint, folders_made bigint, files_made bigint)
  language plpgsql as $$
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
