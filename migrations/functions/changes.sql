-- Reading and forgetting the change log. Rows of `changes`: op 1 came, with everything below it (moved, restored, copied;
-- a file: made), 2 content, 3 went from an old parent and name, 4 metadata, 5 a folder was made, empty.

-- What a sync token of a folder is compared with, in one look-up. `number` is that of the last change in or below the
-- folder; a folder that came from another drive carries a number of that one, hence the cut. `mounts` is a digest of what
-- the caller has mounted in or below the folder and may read: those are not in the drive's log.
create or replace function sync_head(p_folder bigint, p_user bigint,
    p_subjects bigint[], p_mask integer, p_limit bigint, p_link_node bigint, p_link_rights integer,
    out live boolean, out rights integer, out kind integer, out drive integer, out epoch integer, out number bigint,
    out seq bigint, out pruned_seq bigint, out mounts bigint) language plpgsql stable as $$
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

-- Deletes at most about p_batch of a drive's oldest rows (a number's rows go together): those from before p_before_s,
-- those beyond the newest p_keep_rows, and all of them when the drive is gone. False: nothing was due. The drive is
-- locked for its own row only.
create or replace function prune_changes(p_drive integer, p_before_s integer, p_keep_rows integer, p_batch integer)
    returns boolean language plpgsql as $$
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
