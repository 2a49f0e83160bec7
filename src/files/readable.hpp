#pragma once

/// Which of many nodes the caller may read, in one statement: $1 their ids, $2..$6 the gate's values (see
/// node_store.hpp). A node without grants of its own is as readable as the folder it is in, so the gate is
/// asked once for each folder, not once for each node. `visible` has the columns id, rights, drive, chain (of
/// the place that was asked about: the node, or its folder).
#define WELKIN_READABLE_GATES                                                                          \
  "gates as materialized (select p.place, g.rights, g.live, g.drive, g.chain from"                     \
  " (select distinct i.place from item i) p cross join lateral gate(p.place, $2, $3, $4, $5, $6) g),"  \
  " visible as (select i.id, g.rights, g.drive, g.chain from item i join gates g on g.place = i.place" \
  "  where g.live and g.rights & 1 = 1)"
// The root of a credential or of a link is where rights begin: what holds for it does not hold above it.
#define WELKIN_READABLE_PLACE                                                                      \
  "case when n.flags & 1 = 1 or n.parent_id is null or n.id in ($4::bigint, $5::bigint) then n.id" \
  " else n.parent_id end"
#define WELKIN_READABLE_CTES                                           \
  "item as materialized (select distinct n.id, " WELKIN_READABLE_PLACE \
  " place"                                                             \
  " from unnest($1::bigint[]) a (id) join nodes n on n.id = a.id), " WELKIN_READABLE_GATES
