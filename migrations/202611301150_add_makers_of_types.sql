-- Who brought a media type into the dictionary: one person must not be able to fill it for all.
-- Lock: short, on `mime_types`. Rows touched: none. Stage: expand.
alter table mime_types add column made_by bigint references users on delete set null;
create index mime_types_by_maker on mime_types (made_by) where made_by is not null;
