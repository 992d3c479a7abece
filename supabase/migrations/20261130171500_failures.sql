set local lock_timeout = '1s';

create table private.failures (
  delivery_id uuid not null references private.deliveries (id) on delete cascade,
  address text not null,
  at timestamptz not null default now(),
  primary key (delivery_id, address)
);
create index failures_address on private.failures (private.person(address));
alter table private.failures enable row level security;
revoke all on table private.failures from public, anon, authenticated;
insert into private.failures (delivery_id, address, at)
  select delivery.id, private.address_of(application.id, application.email), coalesce(tried_at, queued_at)
  from private.deliveries as delivery join public.retreat_applications as application on application.id = application_id
  where kind in ('letter', 'receipt') and state = 'failed' and (is_refused or attempts > 1) and may_have_arrived = 0;

alter table private.history drop constraint history_kind_check,
  add constraint history_kind_check check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address',
    'told', 'answer', 'questions', 'kept', 'link', 'places', 'edition', 'hold', 'retention', 'page', 'returned')) not valid;
