-- Who made a node stays; author_id is who wrote its present content and changes with every overwrite.
-- Lock: access exclusive on nodes for the column and while rows are filled in. Rows touched: all nodes, once.
-- Stage: expand.
alter table nodes add column creator_id bigint references users on delete set null;
update nodes set creator_id = author_id where author_id is not null;
create index nodes_by_creator on nodes (creator_id);
