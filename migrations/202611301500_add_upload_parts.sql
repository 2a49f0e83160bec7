-- Uploads whose parts come by name and in any order. A part's chunks are upload_chunks of its number; a part that is
-- sent again gets a new number, so that the old one stays whole until the new one is.
-- Lock: none (new table); uploads briefly exclusive (metadata only). Rows touched: 0. Stage: expand.

alter table uploads add column parts_begun integer not null default 0,
                    add column stored bigint not null default 0;              -- bytes of the parts that are there

create table upload_parts (
  upload_id bigint not null references uploads on delete cascade,
  name      text collate "C" not null,
  part      integer not null,                                                 -- in upload_chunks
  size      bigint not null,
  crc32     integer not null,
  stored_at timestamptz not null default now(),
  primary key (upload_id, name)
);
