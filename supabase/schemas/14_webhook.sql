-- The transactional outbox of the webhook: an application and the promise to send it on are stored together or not at
-- all. A hosted project has nobody who empties it, and its page calls the webhook itself: there nothing is queued, until
-- a server of ours is pointed at its database and makes the trigger (src/server/database/schemas/16_deliveries.sql).

-- A row has only the application's id and the state of its delivery, and nothing of its content.
create table private.webhook_outbox (
  -- Goes when the application goes.
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  attempts integer not null default 0,
  -- When it is due. While an attempt is under way: when another server may take it for failed.
  -- Null: no more attempts, because it was delivered or given up.
  next_attempt_at timestamptz default now(),
  delivered_at timestamptz,
  -- What the last attempt came to: the HTTP status, or null where there was no answer.
  last_status integer,
  -- Since when `next_attempt_at` is what it is. Null until it is tried: an insert has nothing to write here.
  waits_since timestamptz,
  -- When there was something to deliver. The application's own moment is in no index of those that wait.
  queued_at timestamptz not null default now(),
  -- The beginning of what the receiver said last, or what went wrong. It goes when the application goes.
  last_answer text not null default ''
);
alter table private.webhook_outbox enable row level security;

-- Finds what is due, what waits, and what was given up at once, however many were delivered.
create index webhook_outbox_due on private.webhook_outbox (next_attempt_at)
  where next_attempt_at is not null;
create index webhook_outbox_waits on private.webhook_outbox (waits_since)
  where next_attempt_at is not null and waits_since is not null;
create index webhook_outbox_waiting on private.webhook_outbox (queued_at) where next_attempt_at is not null;
create index webhook_outbox_given_up on private.webhook_outbox (queued_at)
  where next_attempt_at is null and delivered_at is null;

create trigger begin_wait before update of next_attempt_at on private.webhook_outbox
  for each row when (new.next_attempt_at is distinct from old.next_attempt_at) execute function private.begin_wait();

-- Answers that an automation is to be told, in the same way, where a server of ours tells one. What is told is over.
create table private.answer_outbox (
  id uuid primary key default gen_random_uuid(),
  answer_id bigint not null unique references private.history (id) on delete cascade,
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  attempts integer not null default 0,
  -- As of an application's delivery.
  next_attempt_at timestamptz default now(),
  waits_since timestamptz not null default now(),
  queued_at timestamptz not null default now(),
  -- What the last try came to.
  last_answer text not null default ''
);
alter table private.answer_outbox enable row level security;
create index answer_outbox_of_application on private.answer_outbox (application_id);
create index answer_outbox_due on private.answer_outbox (next_attempt_at) where next_attempt_at is not null;

create trigger begin_wait before update of next_attempt_at on private.answer_outbox
  for each row when (new.next_attempt_at is distinct from old.next_attempt_at) execute function private.begin_wait();

-- Queues answers while a server was at work within a day that tells an automation.
create function private.enqueue_answer() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.answer_outbox (answer_id, application_id)
    select new.id, new.application_id from private.postman where automation_seen_at > now() - interval '1 day';
  return null;
end
$$;

create trigger enqueue_answer after insert on private.history
  for each row when (new.kind = 'answer') execute function private.enqueue_answer();

-- Unused. The first migration of a server of ours makes its trigger with it, also in a project whose own migrations are
-- newer, and the next one makes another; so it stays.
create function private.enqueue_webhook() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.webhook_outbox (application_id) values (new.id);
  return null;
end
$$;
