-- The transactional outbox of the webhook: an application and the promise to send it on are stored together
-- or not at all. A row says only which application and how its delivery stands, nothing of its content.

-- Not `public`: the API exposes that schema, and nobody outside has any business here.
create schema if not exists private;
revoke all on schema private from public, anon, authenticated;

create table private.webhook_outbox (
  -- Goes when the application goes.
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  attempts integer not null default 0,
  -- When it is due. While an attempt is under way: when another server may take it for failed.
  -- Null: no more attempts, because it was delivered or given up.
  next_attempt_at timestamptz default now(),
  delivered_at timestamptz,
  -- What the last attempt came to: the HTTP status, or null where there was no answer.
  last_status integer
);

-- Finding what is due costs the same however many were delivered before.
create index webhook_outbox_due on private.webhook_outbox (next_attempt_at)
  where next_attempt_at is not null;

alter table private.webhook_outbox enable row level security;
revoke all on table private.webhook_outbox from public, anon, authenticated;

-- `security definer`, because the inserting role may not touch the outbox; the empty search path keeps
-- anyone from slipping in a table of the same name.
create function private.enqueue_webhook() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.webhook_outbox (application_id) values (new.id);
  return null;
end
$$;
revoke all on function private.enqueue_webhook() from public, anon, authenticated;

create trigger enqueue_webhook after insert on public.retreat_applications
  for each row execute function private.enqueue_webhook();
