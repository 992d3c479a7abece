-- Deliveries take the place of two outboxes: that of applications, and that of RSVPs (docs/decisions/0058).

create table private.deliveries (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('application', 'rsvp')),
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  event_id bigint unique references private.history (id) on delete cascade,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'done', 'failed', 'cancelled')),
  queued_at timestamptz not null default now(),
  due_at timestamptz default now(),
  attempts integer not null default 0,
  tried_at timestamptz,
  done_at timestamptz,
  reply_status integer,
  reply text not null default '',
  constraint deliveries_event check ((kind = 'rsvp') = (event_id is not null)),
  constraint deliveries_due check ((state in ('waiting', 'sending')) = (due_at is not null)),
  constraint deliveries_done check ((state = 'done') = (done_at is not null))
);
alter table private.deliveries enable row level security;
revoke all on table private.deliveries from public, anon, authenticated;

-- What goes where. A restore of an older backup runs these two statements, too.
insert into private.deliveries (id, kind, application_id, state, queued_at, due_at, attempts, tried_at, done_at,
  reply_status, reply)
select application_id, 'application', application_id,
  case when delivered_at is not null then 'done' when next_attempt_at is null then 'failed' else 'waiting' end,
  -- The first versions did not store it.
  coalesce(queued_at, created_at), case when delivered_at is null then next_attempt_at end, attempts, waits_since,
  delivered_at, last_status, coalesce(last_answer, '')
from private.webhook_outbox join public.retreat_applications on id = application_id;

insert into private.deliveries (id, kind, application_id, event_id, state, queued_at, due_at, attempts, tried_at, reply)
select id, 'rsvp', application_id, answer_id, case when next_attempt_at is null then 'failed' else 'waiting' end, queued_at,
  next_attempt_at, attempts, waits_since, last_answer
from private.answer_outbox;
-- So far what goes where.

do $$
begin
  if (select count(*) from private.deliveries) <>
    (select count(*) from private.webhook_outbox) + (select count(*) from private.answer_outbox)
  then
    raise exception 'Not every delivery was taken over: nothing was changed.';
  end if;
end
$$;

create index deliveries_of_application on private.deliveries (application_id);
create index deliveries_due on private.deliveries (kind, due_at) where due_at is not null;
create index deliveries_open on private.deliveries (kind, state, queued_at) where state in ('waiting', 'sending', 'failed');

-- Where a server of ours queues deliveries it goes on with the new table at once, also before it is started again.
do $$
begin
  if to_regprocedure('private.enqueue_deliveries()') is not null then
    create or replace function private.enqueue_deliveries() returns trigger
      language plpgsql security definer set search_path = ''
    as $function$
begin
  insert into private.deliveries (id, kind, application_id) select id, 'application', id from arrived;
  return null;
end
$function$;
  end if;
end
$$;

drop trigger enqueue_answer on private.history;
drop function private.enqueue_answer();
drop function private.enqueue_webhook();
drop table private.webhook_outbox, private.answer_outbox;

create function private.enqueue_rsvp() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.deliveries (kind, event_id, application_id)
    select 'rsvp', new.id, new.application_id from private.postman where automation_seen_at > now() - interval '1 day';
  return null;
end
$$;
revoke all on function private.enqueue_rsvp() from public, anon, authenticated;

create trigger enqueue_rsvp after insert on private.history
  for each row when (new.kind = 'answer') execute function private.enqueue_rsvp();

-- The functions that changed. `npm run schema` writes what follows: edit the declared schema instead.
-- One application with everything that is known of it.
create or replace function private.whole(application uuid, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
begin
  select * into given from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object(
    'application', (
      select private.answers(given, blind) || summary from private.summaries(array[application], blind)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind,
        'detail', private.detail_shown(kind, detail, blind)) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', done_at, 'attempts', attempts, 'last_status', reply_status,
        'next_attempt_at', due_at)
      from private.deliveries where id = application
    ),
    'others', case when blind then '[]' else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'company', left(company, 200), 'status', status)), '[]')
      from (
        select id, other.created_at, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where private.person(email) = private.person(given.email) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

-- A stamp that changes with an application and with everything that is known of it. It contains no text that somebody could
-- guess.
create or replace function private.stamp(application uuid) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return md5(jsonb_build_array(
    (select version from private.statuses where application_id = application),
    -- It is only ever added to.
    (select count(*) from private.history where application_id = application),
    private.answer_shown(application),
    (
      select jsonb_agg(jsonb_build_array(id, state, version, attempts, due_at, otherwise) order by id)
      from private.letters where application_id = application
    ),
    (
      select jsonb_build_array(state, attempts, due_at) from private.deliveries where id = application
    )
  )::text);
end
$$;

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
            where earlier.application_id = delivery.application_id and earlier.event_id < delivery.event_id
              and earlier.state in ('waiting', 'sending')
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

revoke all on function private.claim_delivery(text, integer, interval) from public, anon, authenticated;

-- Records the result of a claim: `done`, `failed`, or `waiting` for another try after a pause. The try is one of the schedule's
-- where it counts. Without a reply the former one stays. The result is false where another server has claimed it since, or it was cancelled.
create function private.record_delivery(
  delivery uuid, attempt integer, state text, pause interval, counts boolean, reply_status integer, reply text
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
      reply_status = case when record_delivery.reply is null then claimed.reply_status else record_delivery.reply_status end,
      reply = coalesce(record_delivery.reply, claimed.reply)
    where id = delivery and attempts = attempt and claimed.state = 'sending'
    returning * into recorded;
  -- Tried again, an earlier RSVP would be told last.
  if recorded.state = 'done' and recorded.event_id is not null then
    update private.deliveries as earlier set state = 'cancelled', due_at = null
      where earlier.application_id = recorded.application_id and earlier.event_id < recorded.event_id
        and earlier.state not in ('done', 'cancelled');
  end if;
  return recorded.id is not null;
end
$$;

revoke all on function private.record_delivery(uuid, integer, text, interval, boolean, integer, text) from public, anon, authenticated;

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
      where later.application_id = delivery.application_id and later.event_id > delivery.event_id
        and later.state in ('waiting', 'sending')
    );
  get diagnostics retried = row_count;
  return retried;
end
$$;

revoke all on function private.retry_deliveries(text) from public, anon, authenticated;
