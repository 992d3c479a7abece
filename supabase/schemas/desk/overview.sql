-- The overview above a list: how many applications have each status, and what came since yesterday.

-- A count of up to a thousand: {count, more}.
create function private.up_to_thousand(counted bigint) returns jsonb
  language sql immutable parallel safe
  return jsonb_build_object('count', least(counted, 1000), 'more', counted > 1000);

-- The number of applications of an edition that have a status, at most `most`.
create function private.count_with_status(status text, edition integer, most integer) returns integer
  language sql stable set search_path = ''
as $$
  select count(*)::integer from (
    select from private.statuses as decided
    where decided.status = count_with_status.status and decided.edition = count_with_status.edition limit most
  ) as having_it
$$;

-- What came to an edition since the day before today began in a time zone: {day, new, replied}. `new` are its applications
-- without those that were put aside or withdrawn, and `replied` counts the applicants who gave an RSVP. Counts go up to a thousand.
create function private.since_yesterday(edition integer, zone text) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  day constant date := (now() at time zone zone)::date - 1;
  start constant timestamptz := day::timestamp at time zone zone;
begin
  return jsonb_build_object(
    'day', day,
    'new', (
      select private.up_to_thousand(count(*)) from (
        select from public.retreat_applications as application left join private.statuses on application_id = id
        where application.edition = since_yesterday.edition and application.created_at >= start
          and status is distinct from 'aside' and withdrawn_at is null limit 1001
      ) as received
    ),
    'replied', (
      select private.up_to_thousand(count(*)) from (
        select distinct application_id
        from private.history join public.retreat_applications as application on application.id = application_id
        where kind = 'answer' and author = 'applicant' and at >= start
          and application.edition = since_yesterday.edition limit 1001
      ) as answered
    )
  );
end
$$;

-- The count of each status, up to a thousand, as its list has it: withdrawn applications are in that of all. The newest thousand applications that pass the filter are also counted by day in
-- the given time zone, by team size and by paid solution. `more`: there are more than were counted. A filter by RSVP applies only
-- to `accepted` and `all`: no other list of the desk has this filter.
create function private.overview(filter jsonb, zone text, blind boolean, account uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  sample record := private.find(filter - 'order', null, 1000, 1000, blind, account);
  in_any_status record := sample;
  statuses constant text[] := array['new', 'shortlisted', 'accepted', 'waitlisted', 'declined', 'aside'];
  counts jsonb := jsonb_build_object();
  each_status text;
  counted integer;
  decided integer := 0;
  aside_count integer;
  withdrawn record;
  shown integer := private.edition_in(filter);
  new_ones record;
  put_aside record;
begin
  if filter - '{edition,status,order,answer}'::text[] <> '{}' then
    if filter ?| '{status,answer}'::text[] then
      in_any_status := private.find(filter - '{status,order,answer}'::text[], null, 1000, 1000, blind, account);
    end if;
    select jsonb_object_agg(name, jsonb_build_object('count', coalesce(count, 0), 'more', in_any_status.next is not null))
      into counts
      from unnest(statuses || 'all'::text) as name left join (
        select case when withdrawn_at is null or status = 'aside' then coalesce(status, 'new') end as name, count(*)
          from unnest(in_any_status.ids) as hit (id) left join private.statuses on application_id = id group by 1
        union all select 'all', cardinality(in_any_status.ids)
      ) as counted using (name);
    if exists (select from private.statuses where status = 'aside') then
      put_aside := private.find(
        filter - '{order,answer}'::text[] || '{"status": "aside"}', null, 1000, 1000, blind, account);
      counts := counts || jsonb_build_object('aside', jsonb_build_object(
        'count', cardinality(put_aside.ids), 'more', put_aside.next is not null));
    end if;
  else
    select count(*) filter (where status = 'new') as new, count(*) filter (where status = 'shortlisted') as shortlisted
      into withdrawn from private.statuses where statuses.edition = shown and withdrawn_at is not null;
    foreach each_status in array statuses[2:] loop
      counted := private.count_with_status(each_status, shown, 20001);
      decided := decided + counted;
      -- The last status is `aside`. `all` does not include it.
      aside_count := counted;
      counts := counts || jsonb_build_object(each_status, private.up_to_thousand(
        counted - case when each_status = 'shortlisted' then withdrawn.shortlisted else 0 end));
    end loop;
    select count(*) into counted from (
      select from public.retreat_applications as application
      where application.edition = shown limit decided + withdrawn.new + 1001
    ) as application;
    counts := counts || jsonb_build_object('all', private.up_to_thousand(counted - aside_count));
    if decided <= 20000 then
      counts := counts || jsonb_build_object('new', private.up_to_thousand(counted - decided - withdrawn.new));
    else
      -- There are too many decisions to count. So new applications are searched: at least this many are new.
      new_ones := private.find(
        jsonb_build_object('status', 'new', 'edition', shown), null, 1000, 1000, blind, account);
      counts := counts || jsonb_build_object('new', jsonb_build_object(
        'count', cardinality(new_ones.ids), 'more', new_ones.next is not null));
    end if;
  end if;
  if filter ->> 'answer' is not null then
    select counts || jsonb_object_agg(name, jsonb_build_object(
        'count', cardinality(sample.ids), 'more', sample.next is not null))
      into counts from unnest('{accepted,all}'::text[]) as name;
  end if;
  return (
    with hit as materialized (
      select (created_at at time zone zone)::date as day, team_size, paid_solution
      from public.retreat_applications where id = any (sample.ids)
    )
    select jsonb_build_object(
      'counts', counts, 'editions', private.editions_shown(), 'acceptances', private.acceptances(shown),
      'since_yesterday', private.since_yesterday(shown, zone),
      'count', cardinality(sample.ids),
      'more', sample.next is not null,
      'days', (select coalesce(jsonb_object_agg(day, count), '{}')
        from (select day, count(*) from hit group by day) as of_day),
      'team_size', (select coalesce(jsonb_object_agg(team_size, count), '{}')
        from (select team_size, count(*) from hit group by team_size) as of_size),
      'paid_solution', (select coalesce(jsonb_object_agg(paid_solution, count), '{}')
        from (select paid_solution, count(*) from hit group by paid_solution) as of_solution)
    )
  );
end
$$;
