-- Deliveries: what has to reach somebody, by a webhook or as a mail. An application and its delivery are stored together or not
-- at all. A hosted project has nobody who delivers, and its page calls the webhook itself: there nothing is queued, until a
-- server of ours is pointed at its database and makes the trigger (src/server/database/schemas/16_deliveries.sql).

-- One row for each trip. It has nothing of what it carries, but for the text of a test, and goes when its application goes.
-- Names are filled in when it leaves, so that nobody who was erased is named.
create table private.deliveries (
  -- The `webhook-id`, by which the receiver knows a repeated trip: the application's own, or that of an RSVP.
  id uuid primary key default gen_random_uuid(),
  -- `application`, `rsvp`: to a webhook. `notice`: a mail to an organiser, about one application or RSVP, or all of a day. `test`:
  -- a letter that an organiser tries out.
  kind text not null check (kind in ('application', 'rsvp', 'notice', 'test')),
  -- What it is about, or of a test the application that it is filled in for. A day's notice has none.
  application_id uuid references public.retreat_applications (id) on delete cascade,
  -- The RSVP, in the history.
  event_id bigint references private.history (id) on delete cascade,
  -- Of a mail: who gets it.
  organiser_id uuid references private.organisers (account_id) on delete cascade,
  -- Of a day's notice: between which times.
  since timestamptz,
  until timestamptz,
  -- Of a test, until it is over.
  subject text,
  body text,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'done', 'failed', 'cancelled')),
  queued_at timestamptz not null default now(),
  -- When it is to be tried; while it is being tried, when another server may claim it.
  due_at timestamptz default now(),
  attempts integer not null default 0,
  -- When it was claimed last.
  tried_at timestamptz,
  done_at timestamptz,
  -- What the receiver replied last: the HTTP status, null where there was no response; and its beginning, or what went wrong.
  reply_status integer,
  reply text not null default '',
  -- Tries of a mail that may have arrived, though no reply came; and at which the mail server closed the connection over it.
  may_have_arrived integer not null default 0,
  closings integer not null default 0,
  constraint deliveries_about check (case kind
    when 'application' then application_id = id
    when 'rsvp' then application_id is not null and event_id is not null
    when 'notice' then organiser_id is not null and (application_id is null) = (until is not null)
    else organiser_id is not null end),
  constraint deliveries_due check ((state in ('waiting', 'sending')) = (due_at is not null)),
  constraint deliveries_done check ((state = 'done') = (done_at is not null))
);
alter table private.deliveries enable row level security;

create index deliveries_of_application on private.deliveries (application_id);
create unique index deliveries_of_event on private.deliveries (event_id, kind, organiser_id) nulls not distinct
  where event_id is not null;
create index deliveries_of_organiser on private.deliveries (organiser_id, kind, queued_at) where organiser_id is not null;
create index deliveries_due on private.deliveries (kind, due_at) where due_at is not null;
-- Finds what did not arrive so far, however many arrived.
create index deliveries_open on private.deliveries (kind, state, queued_at) where state in ('waiting', 'sending', 'failed');

-- How a delivery's state changes:
--
-- | from             | to        | by                                                                       |
-- | ---------------- | --------- | ------------------------------------------------------------------------ |
-- | waiting, sending | sending   | a server claims what is due: what waits, or what was claimed for too long |
-- | sending          | done      | the receiver accepted it                                                 |
-- | sending          | waiting   | it is tried again later                                                  |
-- | sending          | failed    | it was tried often enough, or the receiver is gone                       |
-- | failed, waiting  | waiting   | the operator tries again                                                 |
-- | not done         | cancelled | a later RSVP of the same person was delivered                            |

-- Claims deliveries that are due, the longest waiting first, each for one server and for as long as the lease. RSVPs of one
-- person go in their order. What is due later than any wait takes was stored before the clock was set back, and is due.
create function private.claim_delivery(kind text, most integer, lease interval) returns setof private.deliveries
  language plpgsql set search_path = ''
as $$
declare
  -- A day between two tries, some of it at random, and no more.
  longest_wait constant interval := interval '27 hours';
  moments record;
begin
  for moments in
    select '-infinity'::timestamptz as since, now() as until
    union all select now() + longest_wait, 'infinity'
  loop
    return query
      with due as (
        select id from private.deliveries as delivery
        where delivery.kind = claim_delivery.kind and due_at >= moments.since and due_at <= moments.until
          -- As alternatives: alone, the second one would be a join, for which PostgreSQL may read all deliveries.
          and (event_id is null or not exists (
            select from private.deliveries as earlier
            where earlier.application_id = delivery.application_id and earlier.kind = delivery.kind
              and earlier.event_id < delivery.event_id and earlier.state in ('waiting', 'sending')
          ))
        order by due_at limit most for update skip locked
      )
      update private.deliveries as claimed set
          state = 'sending', attempts = attempts + 1, tried_at = now(), due_at = now() + lease
        from due where claimed.id = due.id
        returning claimed.*;
    exit when found;
  end loop;
end
$$;

-- Records the result of a claim: `done`, `failed`, or `waiting` for another try after a pause. The try is one of the schedule's
-- where it counts. Without a reply the former one stays. `arrived`: the mail may have arrived; `closed`: the mail server closed
-- the connection. The result is false where another server has claimed it since, or it was cancelled.
create function private.record_delivery(
  delivery uuid, attempt integer, state text, pause interval default '0', counts boolean default true,
  reply_status integer default null, reply text default null, arrived boolean default false, closed boolean default false
) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  recorded private.deliveries;
begin
  update private.deliveries as claimed set
      state = record_delivery.state,
      due_at = case when record_delivery.state = 'waiting' then now() + pause end,
      done_at = case when record_delivery.state = 'done' then now() end,
      attempts = attempts - (not counts)::integer,
      -- What was given back unsent was not tried.
      tried_at = case when counts or attempts > 1 then tried_at end,
      reply_status = case when record_delivery.reply is null then claimed.reply_status else record_delivery.reply_status end,
      reply = coalesce(record_delivery.reply, claimed.reply),
      may_have_arrived = may_have_arrived + arrived::integer,
      closings = closings + closed::integer,
      -- Nothing of a test is kept.
      subject = case when record_delivery.state = 'waiting' then subject end,
      body = case when record_delivery.state = 'waiting' then body end
    where id = delivery and attempts = attempt and claimed.state = 'sending'
    returning * into recorded;
  -- Tried again, an earlier RSVP would be told last.
  if recorded.state = 'done' and recorded.kind = 'rsvp' then
    update private.deliveries as earlier set state = 'cancelled', due_at = null
      where earlier.application_id = recorded.application_id and earlier.kind = 'rsvp'
        and earlier.event_id < recorded.event_id and earlier.state not in ('done', 'cancelled');
  end if;
  return recorded.id is not null;
end
$$;

-- Makes deliveries of a kind due that failed, from the schedule's beginning, and counts them. No RSVP that a later one supersedes.
create function private.retry_deliveries(kind text) returns integer
  language plpgsql set search_path = ''
as $$
declare
  retried integer;
begin
  update private.deliveries as delivery set state = 'waiting', attempts = 0, due_at = now()
    where delivery.kind = retry_deliveries.kind and state = 'failed' and not exists (
      select from private.deliveries as later
      where later.application_id = delivery.application_id and later.kind = delivery.kind
        and later.event_id > delivery.event_id
        and later.state in ('waiting', 'sending')
    );
  get diagnostics retried = row_count;
  return retried;
end
$$;

-- Queues RSVPs while a server was at work within a day that tells an automation.
create function private.enqueue_rsvp() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.deliveries (kind, event_id, application_id)
    select 'rsvp', new.id, new.application_id from private.postman where automation_seen_at > now() - interval '1 day';
  return null;
end
$$;

create trigger enqueue_rsvp after insert on private.history
  for each row when (new.kind = 'answer') execute function private.enqueue_rsvp();
