-- Retention: applications are erased some months after their retreat, if organisers want that. It is off by default.

-- One row: after how many months applications are erased. `months_for_guests` is for guests (accepted people whose RSVP is that
-- they are coming), and `months` for everybody else. Null means never.
create table private.retention (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  months integer constraint retention_months check (months between 1 and 120),
  months_for_guests integer constraint retention_months_for_guests check (months_for_guests between 1 and 120)
);
insert into private.retention default values;
alter table private.retention enable row level security;

-- A hold: an organiser keeps an application, with a reason, and the retention does not erase it.
create table private.holds (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  reason text not null check (reason <> '' and char_length(reason) <= 500),
  held_by text not null,
  held_at timestamptz not null default now()
);
alter table private.holds enable row level security;

-- The day on which an application is due to be erased; null for never. The months count from the last day of its retreat, or from
-- the day on which it was stored if that is later. It sets no search path, so that PostgreSQL can inline it.
create function private.months_after(ends_on date, stored_on date, months integer) returns date
  language sql immutable
  return (greatest(ends_on, stored_on) + make_interval(months => months))::date;

-- The day on which an application is erased; null for never.
create function private.erased_on(application public.retreat_applications) returns date
  language sql stable set search_path = ''
as $$
  select private.months_after(ends_on, (application.created_at at time zone coalesce(zone, 'UTC'))::date, case when exists (
    select from private.invitations where application_id = application.id and is_accepted and rsvp = 'coming'
  ) then months_for_guests else months end)
  from private.editions, private.retention, private.places
  where editions.id = application.edition and ends_on is not null
    and not exists (select from private.holds where application_id = application.id)
$$;

-- Up to `most` applications of an edition that are due on or before a day, the oldest first.
create function private.due_applications(edition integer, day date, most integer) returns setof uuid
  language sql stable set search_path = ''
as $$
  select application.id
  from private.editions as shown cross join private.retention cross join private.places
    join public.retreat_applications as application
      on application.edition = shown.id and created_at >= shown.since and created_at < shown.before
    left join private.invitations on application_id = application.id and is_accepted and rsvp = 'coming'
  where shown.id = due_applications.edition and shown.ends_on < day
    -- For the index. The five days allow for months of different lengths.
    and created_at < day + interval '5 days' - make_interval(months => least(months, months_for_guests))
    and private.months_after(ends_on, (created_at at time zone coalesce(zone, 'UTC'))::date,
      case when application_id is null then months else months_for_guests end) <= day
    and not exists (select from private.holds where holds.application_id = application.id)
  order by created_at, id limit most
$$;

-- The number of applications that are due by today, counted up to 10,001.
create function private.count_due_applications() returns bigint
  language sql stable set search_path = ''
as $$
  select count(*) from (
    select from private.editions, private.due_applications(id, private.today(), 10001) limit 10001
  ) as due
$$;

-- The applications whose erasing servers announce: {applications, from, days}, or null. `from`: the day of the first erasing.
-- `days`: on how many days they were announced so far.
create function private.announced_applications() returns jsonb
  language sql stable set search_path = ''
as $$
  select case when count(*) > 0 then jsonb_build_object('applications', sum(counted.applications),
    'from', min(announced_on + greatest(private.days_to_announce(round) - days, 0)), 'days', max(days)) end
  from private.announcements as round cross join lateral (
    select count(*) as applications from private.due_applications(edition, until, 10001)
  ) as counted
  where subject = 'applications' and counted.applications > 0
$$;

-- Erases up to `most` applications of an edition that are due on or before a day. Returns their number. `unchanged_since`: leaves
-- out those with a decision or an RSVP since then, which may have become due only thereby.
create function private.erase_due_applications(
  edition integer, day date, most integer, unchanged_since date default null
) returns integer
  language plpgsql set search_path = ''
as $$
declare
  due uuid[] := array(select private.due_applications(edition, day, most));
  erased integer;
begin
  perform private.lock_for_erasing(due);
  -- Checked again under the lock, since an organiser may have put a hold on one meanwhile.
  delete from public.retreat_applications as application
    where id = any (due) and private.erased_on(application) <= day and not exists (
      select from private.history
      where application_id = application.id and kind in ('status', 'answer') and at >= unchanged_since
    );
  get diagnostics erased = row_count;
  return erased;
end
$$;

-- Announces applications that will be erased within six days, and erases up to `most` of those that were announced on seven days.
-- Servers call this regularly, and again at once as long as it erases some: each call is short, and no insert waits for it. The
-- result is {erased, announced}. `announced`: the result of `private.announced_applications` once a day, otherwise null.
create function private.keep_applications(most integer) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  today constant date := private.today();
  shown integer;
  announcement record;
  gone integer := 0;
  is_new boolean := false;
begin
  -- Before their announcements, as in the order of locks.
  perform from private.editions order by id for key share;
  for shown in
    select id from private.editions, private.retention
    where ends_on + make_interval(months => least(months, months_for_guests)) <= today + 6
      or exists (select from private.announcements where edition = id and subject = 'applications')
    order by id
  loop
    if exists (select from private.due_applications(shown, today + 6, 1)) then
      announcement := private.announce(shown, 'applications');
      is_new := is_new or announcement.is_new;
      continue when announcement.erasable_until is null;
      gone := private.erase_due_applications(shown, announcement.erasable_until, most, (
        -- The day before the first announcement, in case the time zones differ.
        select until - 7 from private.announcements where edition = shown and subject = 'applications'));
      update private.announcements as round set erased = round.erased + gone
        where edition = shown and subject = 'applications';
      exit when gone > 0;
    end if;
    perform private.end_announcements(shown, 'applications');
  end loop;
  return jsonb_build_object('erased', gone, 'announced', case when is_new then private.announced_applications() end);
end
$$;

-- How long applications are kept: {version, months, months_for_guests, due, announced, editions, holds}. `due`: the number of
-- applications that are due today. `editions`: [{id, name, ends_on, erased_on, guests_erased_on}], the newest first. `holds`: the
-- hundred applications on which a hold was put last: [{id, first_name, last_name, reason, held_by, held_at}]. Blind readers get
-- no names and reasons.
create function public.desk_retention() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object(
      'version', version, 'months', months, 'months_for_guests', months_for_guests,
      'due', private.count_due_applications(),
      'announced', private.announced_applications(),
      'editions', (
        select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'ends_on', ends_on,
          'erased_on', (ends_on + make_interval(months => months))::date,
          'guests_erased_on', (ends_on + make_interval(months => months_for_guests))::date) order by id desc)
        from private.editions
      ),
      'holds', (
        select coalesce(jsonb_agg(jsonb_build_object('id', application_id, 'held_by', held_by, 'held_at', held_at)
          || case when me.blind then '{}' else names || jsonb_build_object('reason', reason) end
          order by held_at desc, application_id), '[]')
        from (
          select application_id, held_by, held_at, holds.reason, private.names(application) as names
          from private.holds join public.retreat_applications as application on id = application_id
          order by held_at desc, application_id limit 100
        ) as held
      ))
    from private.retention
  );
end
$$;

-- Sets after how many months applications are erased, null for never. Seven days of announcements begin again.
create function public.desk_set_retention(version integer, months integer, months_for_guests integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.retention;
begin
  if not coalesce(months between 1 and 120, true) or not coalesce(months_for_guests between 1 and 120, true) then
    raise exception 'Applications are erased 1 to 120 months after the retreat, or never.' using errcode = '22023';
  end if;
  select * into former from private.retention for update;
  if (former.months, former.months_for_guests) is not distinct from (months, desk_set_retention.months_for_guests) then
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
    return public.desk_retention();
  elsif former.version is distinct from desk_set_retention.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.retention set version = former.version + 1, months = desk_set_retention.months,
    months_for_guests = desk_set_retention.months_for_guests;
  perform private.end_announcements(id, 'applications') from private.editions order by id;
  insert into private.history (author, kind, detail)
    values (me.email, 'retention', jsonb_build_object('months', months, 'months_for_guests', months_for_guests));
  return public.desk_retention();
end
$$;

-- Puts a hold on an application, with a reason: the retention does not erase it. A blank reason ends the hold. Then the
-- announcements of its edition begin again, so that it is not erased at once.
create function public.desk_hold(act uuid, application uuid, reason text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  reason := btrim(coalesce(reason, ''), E' \t\r\n');
  if char_length(reason) > 500 then
    raise exception 'A reason has at most 500 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_hold', application::text, reason) then
    -- Before the application, which `write_down` locks, as in the order of locks.
    if reason = '' then perform private.end_announcements(private.edition_of(application), 'applications'); end if;
    perform private.write_down(application, act, me.email, 'hold', jsonb_build_object('reason', nullif(reason, '')));
    if reason = '' then
      delete from private.holds where application_id = application;
    else
      insert into private.holds (application_id, reason, held_by) values (application, desk_hold.reason, me.email)
        on conflict (application_id) do update
          set (reason, held_by, held_at) = (excluded.reason, excluded.held_by, excluded.held_at);
    end if;
  end if;
  return private.application_details(application, me.blind);
end
$$;

-- Erases at most 500 applications that are due, without announcements: on a hosted project, no server erases them. The result
-- is {erased, due}. `due` counts the applications that remain to be erased.
create function public.desk_erase_due(act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  due uuid[];
  total integer;
begin
  if not private.begin_act(act, 'desk_erase_due', '') then
    return coalesce((select result from private.acts where acts.act = desk_erase_due.act), (
      select jsonb_build_object('erased', sum((detail ->> 'erased')::integer), 'due', private.count_due_applications())
      from private.history where history.act = desk_erase_due.act
    ));
  end if;
  due := array(
    select application
    from private.editions cross join lateral private.due_applications(editions.id, private.today(), 500) as application
    order by editions.id limit 500
  );
  perform private.lock_for_erasing(due);
  -- Checked again under the lock, since an organiser may have put a hold on one meanwhile.
  with erased as (
    delete from public.retreat_applications as application
      where id = any (due) and private.erased_on(application) <= private.today() returning edition
  ), remembered as (
    insert into private.history (act, author, kind, detail)
      select desk_erase_due.act, me.email, 'retention', jsonb_build_object('edition', edition, 'erased', count(*))
      from erased group by edition order by edition
  )
  select count(*) into total from erased;
  return private.end_act(act, jsonb_build_object('erased', total, 'due', private.count_due_applications()));
end
$$;
