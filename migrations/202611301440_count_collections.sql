-- What calendars and address books hold counts in their owner's drive like files: members, what is in the trash, and what
-- deleted collections still hold. Lists of contacts by name get their order from an index.
-- Lock: row locks of drives, share lock of collection_objects while its indexes are built. Rows touched: a drive a user.
-- Stage: expand.
update drives d set used_bytes = d.used_bytes + x.bytes
  from (select c.owner_id,
               sum(s.bytes + (select coalesce(sum(octet_length(t.data)), 0) from collection_trash t where t.collection_id = c.id))::bigint bytes
          from collections c join collection_state s on s.collection_id = c.id group by c.owner_id) x
 where x.owner_id = d.owner_id and d.kind = 1 and x.bytes > 0;

create index collection_objects_by_title on collection_objects
  (collection_id, (left(fold_name(coalesce(title, '')), 100)), id) where not deleted and component = 0 and flags & 1 = 0;
create index collection_objects_groups on collection_objects (collection_id, id)
  where not deleted and component = 0 and flags & 1 = 1;
