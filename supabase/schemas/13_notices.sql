-- Notices: mails to organisers about new applications, where they switched them on; and tests of letters.

-- A mail to an organiser: about one application or answer, about all between two times, or a test of a letter. Names are filled
-- in when it is handed over, so that nobody who was erased is named.
create table private.notices (
  id uuid primary key default gen_random_uuid(),
  organiser_id uuid not null references private.organisers (account_id) on delete cascade,
  application_id uuid references public.retreat_applications (id) on delete cascade,
  since timestamptz,
  until timestamptz,
  subject text,
  body text,
  created_at timestamptz not null default now(),
  -- When it is to be tried, or another server may take it for lost. Null: it is over.
  due_at timestamptz default now(),
  attempts integer not null default 0,
  tried_at timestamptz,
  -- Since when `due_at` is what it is.
  waits_since timestamptz not null default now(),
  -- Tries at which the mail server closed the connection over it.
  closings integer not null default 0,
  -- Tries of which nobody knows what they came to.
  uncertain integer not null default 0,
  -- The application that a letter which somebody tries out is filled in for: it goes with it.
  example_id uuid references public.retreat_applications (id) on delete cascade,
  -- What an applicant answered.
  answer_id bigint references private.history (id) on delete cascade,
  unique (organiser_id, application_id),
  unique (organiser_id, answer_id),
  check (num_nonnulls(application_id, answer_id, until, body) = 1)
);
alter table private.notices enable row level security;

create index notices_of_organiser on private.notices (organiser_id, created_at);
create index notices_of_application on private.notices (application_id);
create index notices_of_answer on private.notices (answer_id) where answer_id is not null;
create index notices_of_example on private.notices (example_id) where example_id is not null;
-- Finds what is due: notices, and tests, for which somebody waits.
create index notices_due on private.notices (due_at) where body is null and due_at is not null;
create index tests_due on private.notices (due_at) where body is not null and due_at is not null;

create trigger begin_wait before update of due_at on private.notices
  for each row when (new.due_at is distinct from old.due_at) execute function private.begin_wait();

-- Tells the organisers who hear of each application, or answer; of more than ten an hour the day's mail tells.
create function private.write_notices(application uuid, answer bigint default null) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.notices (organiser_id, application_id, answer_id)
      select account_id, write_notices.application, answer from private.organisers as organiser
      where notices = 'each' and (
        select count(*) from private.notices as notice
        where organiser_id = account_id and num_nonnulls(application_id, answer_id) = 1
          and notice.created_at > now() - interval '1 hour' and notice.created_at <= clock_timestamp()
      ) < 10;
  end;

-- Writes the notices of what an applicant answered by this act. Where that fails, the answer is stored all the same.
create function private.write_answer_notices(application uuid, act uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.write_notices(null, id) from private.history
    where application_id = application and history.act = write_answer_notices.act;
exception when others then
  raise log 'An answer was stored without notices (SQLSTATE %).', sqlstate;
end
$$;

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
    insert into private.notices (organiser_id, since, until)
      select account_id, told_until, until from due
      where exists (
        select from public.retreat_applications as application
        where created_at > told_until and created_at <= until and not exists (
          select from private.notices as notice
          where organiser_id = account_id and application_id = application.id and due_at is null
        )
      ) or exists (
        select from private.history as answer
        where kind = 'answer' and author = 'applicant' and at > told_until and at <= until and not exists (
          select from private.notices as notice
          where organiser_id = account_id and answer_id = answer.id and due_at is null
        )
      );
  end;

create function private.announce() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  receipts boolean := (select settings.receipts from private.letter_settings as settings);
  application public.retreat_applications;
begin
  if not receipts and not exists (select from private.organisers where notices = 'each') then return null; end if;
  for application in select stored.* from arrived join public.retreat_applications as stored using (id) loop
    begin
      if receipts then perform private.write_receipt(application); end if;
      perform private.write_notices(application.id);
    -- The application counts for more.
    exception when others then
      raise log 'An application was stored without receipt and notices (SQLSTATE %).', sqlstate;
    end;
  end loop;
  return null;
end
$$;

-- Its name comes after `keep_door`: triggers run in the order of their names, and a refused application sends no notice.
create trigger then_announce after insert on public.retreat_applications
  referencing new table as arrived for each statement execute function private.announce();

-- Whether the caller gets mails about applications, and whether a server sends them.
create function public.desk_notices() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('notices', notices, 'day_due_at', case when notices <> 'off' then day_due_at end,
      'email', me.email, 'is_postman_there', (select private.is_recent(seen_at) from private.postman))
    from private.organisers where account_id = auth.uid()
  );
end
$$;

-- Switches notices on or off. The day's mail comes at the time of day at which they were switched on.
create function public.desk_set_notices(notices text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  if desk_set_notices.notices is null or desk_set_notices.notices not in ('off', 'each', 'daily') then
    raise exception 'Notices are off, each or daily.' using errcode = '22023';
  end if;
  update private.organisers as organiser set notices = desk_set_notices.notices,
    told_until = case organiser.notices when 'off' then now() else told_until end,
    day_due_at = case organiser.notices when 'off' then now() + interval '1 day' else day_due_at end
    where account_id = auth.uid() and organiser.notices <> desk_set_notices.notices;
  return public.desk_notices();
end
$$;

-- Sends a text to whoever calls, filled in for an application as it would be for its applicant. The same act again
-- sends nothing more.
create function public.desk_send_test(
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
  if exists (select from private.notices as test where id = act and organiser_id = auth.uid()) then
    return jsonb_build_object('to', me.email);
  elsif (
    select count(*) from private.notices as test
    where organiser_id = auth.uid() and test.body is not null
      and created_at > now() - interval '1 hour' and created_at <= clock_timestamp()
  ) >= 20 then
    raise exception 'At most twenty tests an hour.' using errcode = 'PT429';
  end if;
  insert into private.notices (id, organiser_id, example_id, subject, body)
    values (coalesce(act, gen_random_uuid()), auth.uid(), (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;
