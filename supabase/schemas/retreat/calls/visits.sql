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
          -- The first condition is for the index, which begins with the edition.
          where edition = any (array(select id from private.editions)) and status = 'aside' and created_at >= begins
            and created_at < ends
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
