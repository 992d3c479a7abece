-- Visits: how often the applicants' page was opened and used, by day and by the `from` in its address. Nothing is about a person.

-- Our own server counts them. Visits of a hosted page are not counted.
create table private.visits (
  day date not null,
  -- The `from`, blank if the address had none. `other`: it is not a valid name, or the day has its 200 names already.
  source text not null check (source ~ '^[a-z0-9_-]{0,40}$'),
  -- Documents that were served.
  visits integer not null,
  -- How often the page's script was fetched, which happens when somebody begins to type. Its requests have no source.
  starts integer not null,
  primary key (day, source)
);
alter table private.visits enable row level security;

-- Adds a server's counts to those of today: `counts` has the visits and starts of each source. A day has at most 200 different
-- names, of all servers together.
create function private.count_visits(counts jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  today date := private.today();
  room integer;
begin
  -- One batch after the other, so that two servers neither exceed the limit together nor deadlock.
  lock table private.visits in share row exclusive mode;
  select 200 - count(*) into room from private.visits where day = today and source not in ('', 'other');
  insert into private.visits as stored (day, source, visits, starts)
    select today, case when is_known or position <= room then source else 'other' end, sum(visits), sum(starts)
    from (
      select batch.*, is_known, row_number() over (partition by is_known order by batch.visits desc, source) as position
      from jsonb_to_recordset(counts) as batch (source text, visits integer, starts integer)
        cross join lateral (
          select source in ('', 'other')
            or exists (select from private.visits as former where former.day = today and former.source = batch.source)
        ) as known (is_known)
    ) as numbered
    group by 2
  on conflict (day, source) do update
    set visits = stored.visits + excluded.visits, starts = stored.starts + excluded.starts;
end
$$;

-- The last 90 days, the oldest first: visits, starts, and applications that are not put aside. Also the 20 sources with the most
-- visits in these days. `is_counted`: whether a server has ever counted.
create function public.desk_visits() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  zone text;
  today date;
  first_day date;
begin
  perform private.caller();
  zone := (select coalesce(places.zone, 'UTC') from private.places);
  today := private.today();
  first_day := today - 89;
  return jsonb_build_object(
    'is_counted', exists (select from private.visits),
    'days', (
      select jsonb_agg(jsonb_build_object('day', day, 'visits', coalesce(counted.visits, 0),
        'starts', coalesce(counted.starts, 0), 'applications', received - put_aside) order by day)
      from (select first_day + number as day from generate_series(0, 89) as number) as days
        left join (
          select visits.day, sum(visits.visits) as visits, sum(visits.starts) as starts
          from private.visits where visits.day between first_day and today group by 1
        ) as counted using (day)
        -- The bounds of a day, so that each count reads a range of an index.
        cross join lateral (
          select day::timestamp at time zone zone as begins, (day + 1)::timestamp at time zone zone as ends
        ) as bounds
        cross join lateral (
          select count(*) as received from public.retreat_applications where created_at >= begins and created_at < ends
        ) as applied
        cross join lateral (
          select count(*) as put_aside from private.statuses
          where status = 'aside' and created_at >= begins and created_at < ends
        ) as aside
    ),
    'sources', (
      select coalesce(jsonb_agg(jsonb_build_object('source', source, 'visits', total) order by total desc, source), '[]')
      from (
        select source, sum(visits.visits) as total from private.visits where day between first_day and today
        group by 1 having sum(visits.visits) > 0 order by total desc, source limit 20
      ) as most
    )
  );
end
$$;
