-- Retention: applications are erased some months after their retreat, if organisers want that. It is off by default.

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
      on application.edition = shown.id
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
create function private.announce_and_erase_applications(most integer) returns jsonb
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
