-- Deliveries take the place of three outboxes: of applications, of RSVPs, and of notices and tests (docs/decisions/0058).

create table private.deliveries (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('application', 'rsvp', 'notice', 'test')),
  application_id uuid references public.retreat_applications (id) on delete cascade,
  event_id bigint references private.history (id) on delete cascade,
  organiser_id uuid references private.organisers (account_id) on delete cascade,
  since timestamptz,
  until timestamptz,
  subject text,
  body text,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'done', 'failed', 'cancelled')),
  queued_at timestamptz not null default now(),
  due_at timestamptz default now(),
  attempts integer not null default 0,
  tried_at timestamptz,
  done_at timestamptz,
  reply_status integer,
  reply text not null default '',
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

-- In no backup.
insert into private.deliveries (
  id, kind, application_id, event_id, organiser_id, since, until, subject, body, state, queued_at, due_at, attempts, tried_at,
  done_at, may_have_arrived, closings)
select notice.id, case when body is null then 'notice' else 'test' end,
  coalesce(notice.application_id, answered.application_id, example_id), answer_id, organiser_id, since, until,
  case when due_at is not null then subject end, case when due_at is not null then body end,
  case when due_at is null then 'done' else 'waiting' end, created_at, due_at, attempts, tried_at,
  case when due_at is null then coalesce(tried_at, created_at) end, uncertain, closings
from private.notices as notice left join private.history as answered on answered.id = answer_id;

do $$
begin
  if (select count(*) from private.deliveries) <> (select count(*) from private.webhook_outbox)
    + (select count(*) from private.answer_outbox) + (select count(*) from private.notices)
  then
    raise exception 'Not every delivery was taken over: nothing was changed.';
  end if;
end
$$;

create index deliveries_of_application on private.deliveries (application_id);
create unique index deliveries_of_event on private.deliveries (event_id, kind, organiser_id) nulls not distinct
  where event_id is not null;
create index deliveries_of_organiser on private.deliveries (organiser_id, kind, queued_at) where organiser_id is not null;
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
drop function private.write_notices(uuid, bigint);
drop function private.write_day_notices();
drop table private.webhook_outbox, private.answer_outbox, private.notices;
alter table private.postman drop column turns;

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

revoke all on function private.claim_delivery(text, integer, interval) from public, anon, authenticated;

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

revoke all on function private.record_delivery(uuid, integer, text, interval, boolean, integer, text, boolean, boolean) from public, anon, authenticated;

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

revoke all on function private.retry_deliveries(text) from public, anon, authenticated;

-- Tells the organisers who hear of each application, or RSVP; of more than ten an hour the day's mail tells.
create function private.write_notices(application uuid, event bigint default null) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.deliveries (kind, organiser_id, application_id, event_id)
      select 'notice', account_id, write_notices.application, event from private.organisers as organiser
      where notices = 'each' and (
        select count(*) from private.deliveries as notice
        where organiser_id = account_id and kind = 'notice' and application_id is not null
          and queued_at > now() - interval '1 hour' and queued_at <= clock_timestamp()
      ) < 10;
  end;

revoke all on function private.write_notices(uuid, bigint) from public, anon, authenticated;

-- Writes the notices of what an applicant answered by this act. Where that fails, the answer is stored all the same.
create or replace function private.write_answer_notices(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.write_notices(application, id) from private.history
    where application_id = application and history.act = write_answer_notices.act;
exception when others then
  raise log 'An answer was stored without notices (SQLSTATE %).', sqlstate;
end
$$;

-- Whether an organiser had a notice about this application alone, or about this RSVP, or it failed.
create function private.is_told(organiser uuid, application uuid, event bigint) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from private.deliveries as notice
    where organiser_id = organiser and kind = 'notice' and application_id = application
      and event_id is not distinct from event and due_at is null
  )
$$;

revoke all on function private.is_told(uuid, uuid, bigint) from public, anon, authenticated;

-- Writes the day's mails that are due, for organisers who were not told of all that came since the last.
create function private.write_day_notices() returns void
  language sql set search_path = ''
  begin atomic
    with due as (
      -- What is being stored this moment comes in the next one.
      select account_id, told_until, now() - interval '1 minute' as until from private.organisers
      where notices <> 'off' and day_due_at <= now() for no key update skip locked
    ), told as (
      update private.organisers as organiser set told_until = due.until,
        day_due_at = day_due_at + ceil(extract(epoch from now() - day_due_at) / 86400 + 0.00001) * interval '1 day'
      from due where organiser.account_id = due.account_id
    )
    insert into private.deliveries (kind, organiser_id, since, until)
      select 'notice', account_id, told_until, until from due
      where exists (
        select from public.retreat_applications as application
        where created_at > told_until and created_at <= until and not private.is_told(account_id, application.id, null)
      ) or exists (
        select from private.history as rsvp
        where kind = 'answer' and author = 'applicant' and at > told_until and at <= until
          and not private.is_told(account_id, rsvp.application_id, rsvp.id)
      );
  end;

revoke all on function private.write_day_notices() from public, anon, authenticated;

-- Drops notices and tests that were not sent within a day, and those that are over, and writes the day's mails that are due. Single
-- ones are kept until the day's mail has left out what they told.
create function private.keep_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  -- A time later than it is ever set is from before the clock was set back.
  update private.organisers
    set told_until = least(told_until, now() - interval '1 minute'),
      day_due_at = day_due_at
        - greatest(0, ceil(extract(epoch from day_due_at - now()) / 86400) - 1) * interval '1 day'
    where told_until > now() or day_due_at > now() + interval '1 day';
  update private.deliveries set due_at = now()
    where kind in ('notice', 'test') and due_at > now() + interval '27 hours';
  delete from private.deliveries as notice using private.organisers
    where account_id = organiser_id and kind in ('notice', 'test') and queued_at <= now() - interval '1 day'
      and (kind = 'test' or application_id is null or due_at is not null or queued_at < told_until - interval '1 hour');
  perform private.write_day_notices();
end
$$;

revoke all on function private.keep_notices() from public, anon, authenticated;

-- Claims a notice or a test that is due. Nothing where the day's mail has told what it is about, or will: then it is dropped.
create function private.claim_notice(notice uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  organiser private.organisers;
  told jsonb;
begin
  select * into claimed from private.deliveries where id = notice;
  select * into organiser from private.organisers where account_id = claimed.organiser_id;
  if claimed.kind = 'notice' and claimed.application_id is not null and (
    claimed.attempts = 0 and (
      select count(*) from private.deliveries as other
      where organiser_id = claimed.organiser_id and kind = 'notice' and application_id is not null
        and tried_at > now() - interval '1 hour' and tried_at <= clock_timestamp()
        and queued_at > now() - interval '1 day'
    ) >= 10
    or claimed.queued_at <= organiser.told_until and organiser.told_until <= clock_timestamp()
  ) then
    delete from private.deliveries where id = notice;
    return null;
  end if;
  update private.deliveries set state = 'sending', attempts = attempts + 1, tried_at = now(), due_at = now() + lease
    where id = notice returning * into claimed;
  if claimed.kind = 'notice' then
    told := private.told_by(claimed, organiser.blind);
    if claimed.application_id is null and told @> '{"count": 0, "coming": 0, "notComing": 0}' then
      delete from private.deliveries where id = notice;
      return null;
    end if;
  end if;
  return (
    select jsonb_build_object('id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.may_have_arrived,
      'closings', claimed.closings, 'age', extract(epoch from now() - claimed.queued_at) * 1000, 'to', email,
      'says', coalesce(told, jsonb_build_object('subject', claimed.subject, 'body', claimed.body)))
    from auth.users where id = claimed.organiser_id
  );
end
$$;

revoke all on function private.claim_notice(uuid, interval) from public, anon, authenticated;

-- What a notice tells: of one application or RSVP, or how many of a day, with up to fifty plain names of applicants. Applications
-- are counted up to a thousand. Whoever reads blind is told no name.
create function private.told_by(notice private.deliveries, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'application', notice.application_id,
      'answer', (select detail ->> 'answer' from private.history where id = notice.event_id),
      'since', notice.since, 'count', count(*),
      'names', case when blind then '[]' else coalesce(to_jsonb((array_agg(name order by place) filter (where name is not null))[:50]), '[]') end
    )
    from (
      select coalesce(private.plain_name(first_name || ' ' || last_name), private.plain_name(first_name)) as name,
        row_number() over (order by created_at, id) as place
      from public.retreat_applications as application
      where application.id = notice.application_id
        or created_at > notice.since and created_at <= notice.until
          and not private.is_told(notice.organiser_id, application.id, null)
      order by created_at, id limit 1000
    ) as application
  ) || (
    select jsonb_build_object(
      'coming', count(*) filter (where detail ->> 'answer' = 'coming'),
      'notComing', count(*) filter (where detail ->> 'answer' = 'not coming'))
    from private.history as rsvp
    where kind = 'answer' and author = 'applicant' and at > notice.since and at <= notice.until
      and not private.is_told(notice.organiser_id, rsvp.application_id, rsvp.id)
  );
end
$$;

revoke all on function private.told_by(private.deliveries, boolean) from public, anon, authenticated;

-- Sends a text to whoever calls, filled in for an application as it would be for its applicant. The same act again
-- sends nothing more.
create or replace function public.desk_send_test(
  subject text, body text, application uuid default null, occasion text default null,
  act uuid default null, site text default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  text jsonb;
begin
  perform private.check_template(occasion, subject, body);
  if not exists (select from private.postman where private.is_recent(seen_at)) then
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  end if;
  perform private.check_site(site);
  text := private.example(occasion, subject, body, application, me.blind, site);
  if text is null then
    raise exception 'There is no application to fill it with yet.' using errcode = '22023';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'Filled in, this letter is longer than a letter may be.' using errcode = '22023';
  end if;
  perform from public.retreat_applications where id = (text ->> 'application')::uuid for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- Whoever calls twice at the same moment is counted one after the other.
  perform from private.organisers where account_id = auth.uid() for no key update;
  if exists (select from private.deliveries where id = act and organiser_id = auth.uid()) then
    return jsonb_build_object('to', me.email);
  elsif (
    select count(*) from private.deliveries
    where organiser_id = auth.uid() and kind = 'test'
      and queued_at > now() - interval '1 hour' and queued_at <= clock_timestamp()
  ) >= 20 then
    raise exception 'At most twenty tests an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (coalesce(act, gen_random_uuid()), 'test', auth.uid(), (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;

-- How long all mails wait after so many failures in a row of the mail server.
create function private.mail_back_off(failures integer) returns interval
  language sql immutable
  return (array[5, 15, 60, 300, 600])[greatest(1, least(failures, 5))] * interval '1 second';

revoke all on function private.mail_back_off(integer) from public, anon, authenticated;

-- Whether a mail may leave now. A time further ahead than it is ever set is from before the clock was set back, and delays nothing.
create function private.may_leave(postman private.postman, pace interval) returns boolean
  language sql stable
  return not postman.stopped
    and (postman.paused_until <= now()
      or postman.paused_until > clock_timestamp() + private.mail_back_off(postman.failures))
    and (pace is null or postman.next_at <= now() or postman.next_at > clock_timestamp() + pace);

revoke all on function private.may_leave(private.postman, interval) from public, anon, authenticated;

-- Whether the hour has room for a receipt or a notice: all servers together begin a hundred.
create function private.has_room(postman private.postman) returns boolean
  language sql stable
  return postman.in_hour < 100 or postman.hour_began_at not between now() - interval '1 hour' and clock_timestamp();

revoke all on function private.has_room(private.postman) from public, anon, authenticated;

-- Whether another letter is under way to the same person: letters have to arrive in the order in which they were released.
create function private.is_busy(letter private.letters) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  recipient text := (
    select private.person(private.address_of(id, email)) from public.retreat_applications where id = letter.application_id
  );
begin
  return exists (
    select from private.letters as other join public.retreat_applications as theirs on theirs.id = other.application_id
    where other.state = 'sending' and other.way = 'mail' and other.due_at > now() and other.id <> letter.id
      and (other.application_id = letter.application_id
        or private.person(private.address_of(theirs.id, theirs.email)) = recipient)
  );
end
$$;

revoke all on function private.is_busy(private.letters) from public, anon, authenticated;

-- Whether a letter was released for the decision that stands.
create function private.is_current(letter private.letters) returns boolean
  language sql stable set search_path = ''
as $$
  select letter.status_version = coalesce(
    (select version from private.statuses where application_id = letter.application_id), 0)
$$;

revoke all on function private.is_current(private.letters) from public, anon, authenticated;

-- The mail that is due and waits longest: its kind and its id; nothing where none is due. It is locked, and what somebody else has
-- locked is passed over. First tests, for which somebody waits, then letters, then mails that leave automatically: organisers'
-- before receipts, since there may be as many receipts as applications. Letters that were withdrawn on their way come too, to
-- end there. Each kind has an index of what is due: no other table is joined, since PostgreSQL would read everything that is
-- due to find the first.
create function private.due_mail(kinds text[], has_room boolean, out kind text, out id uuid)
  language plpgsql set search_path = ''
as $$
begin
  if 'test' = any (kinds) then
    select 'test', test.id into kind, id from private.deliveries as test
      where test.kind = 'test' and due_at <= now() and queued_at > now() - interval '1 day'
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'letter' = any (kinds) then
    select 'letter', letter.id into kind, id from private.letters as letter
      where way = 'mail' and occasion <> 'received' and due_at <= now()
        and (withdrawn_at is not null or private.is_current(letter) and not private.is_busy(letter))
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'notice' = any (kinds) and has_room then
    select 'notice', notice.id into kind, id from private.deliveries as notice
      where notice.kind = 'notice' and due_at <= now() and queued_at > now() - interval '1 day'
      order by due_at limit 1 for update skip locked;
    if found then return; end if;
  end if;
  if 'receipt' = any (kinds) then
    select 'receipt', letter.id into kind, id from private.letters as letter
      where way = 'mail' and occasion = 'received' and due_at <= now()
        and (withdrawn_at is not null
          or has_room and released_at > private.receipts_since() and not private.is_busy(letter))
      order by due_at limit 1 for update skip locked;
  end if;
end
$$;

revoke all on function private.due_mail(text[], boolean) from public, anon, authenticated;

-- Claims the mail that is due and waits longest, for one server and for as long as the lease; null where none is due or may leave.
-- The postman's row is locked before anything is claimed, and what is due is looked at again then: who had it before may have
-- claimed a letter to the same person. It is the last of all locks. `pace`: the time between two mails, null for none.
create function private.claim_mail(pace interval, kinds text[] default '{test,letter,notice,receipt}') returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  -- Longer than any handover takes.
  lease constant interval := interval '90 seconds';
  -- By which a mail may be late without delaying the mails after it.
  slack constant interval := interval '200 milliseconds';
  postman private.postman;
  due record;
  mail jsonb;
begin
  -- A server is about to change the schema, and waits for the mails that were claimed before.
  if not pg_try_advisory_xact_lock_shared(5610748) then return null; end if;
  select * into postman from private.postman;
  -- Where nothing may leave, or nothing is due, nothing is written.
  if not private.may_leave(postman, pace) then return null; end if;
  due := private.due_mail(kinds, private.has_room(postman));
  if due.id is null then return null; end if;
  select * into postman from private.postman for update;
  if not private.may_leave(postman, pace) then return null; end if;
  loop
    due := private.due_mail(kinds, private.has_room(postman));
    if due.id is null then return null; end if;
    mail := case when due.kind in ('test', 'notice') then private.claim_notice(due.id, lease)
      else private.claim_letter(due.id, lease) end;
    exit when mail is not null;
  end loop;
  update private.postman as row set
    next_at = case when pace is null then row.next_at else least(greatest(row.next_at, now() - slack), now()) + pace end,
    (hour_began_at, in_hour) = (
      select case when counts and is_new then now() else row.hour_began_at end,
        case when not counts then row.in_hour when is_new then 1 else row.in_hour + 1 end
      from (
        select due.kind in ('notice', 'receipt') and not coalesce((mail ->> 'is_withdrawn')::boolean, false) as counts,
          row.hour_began_at not between now() - interval '1 hour' and clock_timestamp() as is_new
      ) as hour
    )
    where not coalesce((mail ->> 'is_withdrawn')::boolean, false);
  return mail || jsonb_build_object('kind', due.kind);
end
$$;

revoke all on function private.claim_mail(interval, text[]) from public, anon, authenticated;

-- Claims a letter or a receipt that is due. One that was withdrawn on its way is claimed to end there, and has no text.
create function private.claim_letter(letter uuid, lease interval) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  was_sending boolean := (select state = 'sending' from private.letters where id = letter);
  claimed private.letters := private.move(array[letter], 'sending', due => now() + lease);
  is_withdrawn boolean := claimed.withdrawn_at is not null;
  sent record;
begin
  if not is_withdrawn then
    sent := private.to_send(claimed.application_id, claimed.subject, claimed.body);
  end if;
  return (
    select jsonb_build_object(
      'id', claimed.id, 'attempt', claimed.attempts, 'uncertain', claimed.uncertain, 'closings', claimed.closings,
      'applicationId', application.id,
      'age', extract(epoch from now() - claimed.released_at) * 1000,
      'to', private.address_of(application.id, application.email),
      'subject', case when not is_withdrawn then sent.subject end, 'body', case when not is_withdrawn then sent.body end,
      'link', case when not is_withdrawn then sent.link end, 'replyTo', reply_to,
      'is_withdrawn', is_withdrawn, 'is_overdue', private.is_overdue(claimed), 'was_sending', was_sending
    )
    from public.retreat_applications as application cross join private.letter_settings
    where application.id = claimed.application_id
  );
end
$$;

revoke all on function private.claim_letter(uuid, interval) from public, anon, authenticated;
