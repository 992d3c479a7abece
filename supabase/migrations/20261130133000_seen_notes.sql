set local lock_timeout = '1s';

create table private.seen_notes (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  account_id uuid not null,
  until timestamptz not null,
  primary key (application_id, account_id)
);
alter table private.seen_notes enable row level security;
revoke all on private.seen_notes from public, anon, authenticated;
