-- Properties that clients keep with a node count in the drive, like its files and their versions.
-- Lock: row locks of the drives that hold some. Rows touched: those. Stage: expand.
update drives d set used_bytes = d.used_bytes + x.bytes
  from (select n.drive_id, sum(octet_length(p.ns) + octet_length(p.name) + octet_length(p.value))::bigint bytes
          from node_properties p join nodes n on n.id = p.node_id group by n.drive_id) x
 where x.drive_id = d.id;
