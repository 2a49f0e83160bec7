-- The words of files, for searching inside them: filled in the background, gone with the content. And how far
-- the background has followed each drive's changes.
-- Lock: none (new tables). Rows touched: 0. Stage: expand.

create table content_text (
  content_id bigint primary key references contents on delete cascade,
  words      tsvector not null                                 -- 'simple', folded as names are; empty: no text
);
create index content_text_words on content_text using gin (words);
