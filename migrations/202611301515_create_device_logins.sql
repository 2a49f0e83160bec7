-- Devices that wait for their owner to let them in from a browser, tokens that are good for one thing, and what people
-- say they are doing. Secrets are kept as SHA-256 only; the password a device gets is made when it fetches it.
-- Lock: none (new tables). Rows touched: 0. Stage: expand.
create table device_logins (
  poll_hash  bytea primary key check (octet_length(poll_hash) = 32),          -- what the device asks with
  page_hash  bytea not null unique check (octet_length(page_hash) = 32),      -- what the address of the page holds
  user_id    bigint references users on delete cascade,                       -- null: nobody has agreed yet
  login      text not null default '',                                        -- what he typed, for the device to keep
  device     text not null,                                                   -- its user agent
  address    text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index device_logins_by_expiry on device_logins (expires_at);
create index device_logins_by_user on device_logins (user_id) where user_id is not null;

-- Whoever has such a token is the user as far as the credential it was made with still is, for one purpose.
create table one_time_tokens (
  hash            bytea primary key check (octet_length(hash) = 32),
  purpose         smallint not null,
  user_id         bigint not null references users on delete cascade,
  app_password_id bigint,                                                     -- made with: this, or
  session_id      bigint,                                                     -- this, or neither: the account's password
  access_gen      bigint not null,                                            -- of the account, for its password
  node_id         bigint not null default 0,                                  -- what it is about; 0: nothing
  expires_at      timestamptz not null
);
create index one_time_tokens_by_expiry on one_time_tokens (expires_at);
create index one_time_tokens_by_user on one_time_tokens (user_id);

create table user_statuses (
  user_id    bigint primary key references users on delete cascade,
  state      text not null default 'online' check (state in ('online', 'away', 'dnd', 'busy', 'invisible', 'offline')),
  is_chosen  boolean not null default false,                                  -- by the user, not by a heartbeat
  seen_at    timestamptz not null default now(),
  message_id text not null default '',                                        -- of a predefined message; '': his own
  icon       text not null default '',
  message    text not null default '',
  clear_at   timestamptz                                                      -- of the message; null: it stays
);
