-- What the mail server refused for a reason that may be about all emails (docs/decisions/0072).
alter table private.postman
  add column suspects uuid[] not null default '{}',
  add column refused_at timestamptz not null default '-infinity';
