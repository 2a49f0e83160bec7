-- What files say of themselves (size of a picture, when and where it was taken, by which camera), read in the
-- background; a row without values says that there is nothing to read. And how far the background has come.
-- Lock: none (new tables). Rows touched: 1. Stage: expand.

create table content_facts (
  content_id  bigint primary key references contents on delete cascade,
  width       integer,                                         -- as shown, that is after turning
  height      integer,
  orientation smallint,                                        -- EXIF, 1 to 8
  taken_at    bigint,                                          -- microseconds; the camera's clock read as UTC unless it says its offset
  latitude    double precision,
  longitude   double precision,
  make        text,
  model       text
);
create index content_facts_taken on content_facts (content_id) include (taken_at) where taken_at is not null;

-- Contents get their numbers before they are committed, so a number is passed for good only when it was seen
-- ten minutes ago: no transaction that writes a content lives that long.
create table content_reading (
  only_row boolean primary key default true check (only_row),
  done_to  bigint not null default 0,                          -- read for good
  seen_to  bigint not null default 0,                          -- the last number at seen_at
  seen_at  timestamptz not null default now()
);
insert into content_reading default values;
