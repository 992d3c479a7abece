-- The answers of an application as an organiser may see them: who reads blind is shown those that are named here. It sets
-- no search path, so that PostgreSQL takes it into the query.
create function private.answers(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable
  return case
    when blind then jsonb_build_object(
      'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
      'custom_solution', application.custom_solution, 'team_size', application.team_size,
      'reason', application.reason, 'consent', application.consent)
    else to_jsonb(application)
  end;

revoke all on function private.answers(retreat_applications, boolean) from public, anon, authenticated;

-- Of some applications: where each stands, whether they come, and whether its e-mail applied again. All in one query: a
-- call for each of a thousand would take longer than the rest.
create function private.standings(applications uuid[], blind boolean) returns table (application_id uuid, standing jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    select application.id,
      jsonb_build_object(
        'status', coalesce(kept.status, 'new'),
        'version', coalesce(kept.version, 0),
        'same_email', not blind and exists (
          select from public.retreat_applications as other
          where private.person(other.email) = private.person(application.email) and other.id <> application.id
        )
      )
      || private.answer_shown(application.id)
    from unnest(applications) as one (id)
      join public.retreat_applications as application using (id)
      left join private.statuses as kept on kept.application_id = application.id;
end
$$;

revoke all on function private.standings(uuid[], boolean) from public, anon, authenticated;

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
      select private.answers(given, blind) || standing from private.standings(array[application], blind)
    ),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind,
        'detail', private.detail_shown(kind, detail, blind)) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', delivered_at, 'attempts', attempts, 'last_status', last_status,
        'next_attempt_at', next_attempt_at)
      from private.webhook_outbox where application_id = application
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

-- Fifty applications with what became of their letters, and where to go on. Cut before anything is made of them: an
-- answer may be long.
create or replace function public.desk_list(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 50, 1000, me.blind);
begin
  return jsonb_build_object('next', found.next, 'letters', private.letter_states(found.ids), 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'created_at', created_at, 'team_size', team_size, 'paid_solution', paid_solution,
        'reason', split_part(translate(
          left(ltrim(left(reason, 2000), E' \t\r\n'), 200), E'\r', E'\n'), E'\n', 1))
        || case when me.blind then '{}' else jsonb_build_object('first_name', left(first_name, 200),
          'last_name', left(last_name, 200), 'email', left(email, 200), 'company', left(company, 200)) end
        || standing order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      join private.standings(found.ids, me.blind) on application_id = id
  ));
end
$$;

-- Up to a thousand whole applications with what organisers made of them, fewer where they are long, and where to go on.
create or replace function public.desk_export(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind);
  fitting integer;
begin
  -- Up to 16 MB and what passes them: no array is longer than 256, and nobody waits for that long.
  select count(*) into fitting from (
    select coalesce(sum(
      octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(phone)
      + octet_length(linkedin) + octet_length(company) + octet_length(custom_solution) + octet_length(reason)
      + (
        select coalesce(sum(octet_length(detail ->> 'note')), 0)
        from private.history where application_id = application.id and kind = 'note'
      )
    ) over (order by place rows between unbounded preceding and 1 preceding), 0) as former
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
  ) as sized where former < 16000000;
  if fitting < cardinality(found.ids) then
    found.ids := found.ids[:fitting];
    select jsonb_build_object('created_at', created_at, 'id', id) into found.next
      from public.retreat_applications where id = found.ids[fitting];
  end if;
  return jsonb_build_object('next', found.next, 'applications', (
    select coalesce(jsonb_agg(private.answers(application, me.blind) || standing || made order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      join private.standings(found.ids, me.blind) as standings on standings.application_id = id
      join private.made_of(found.ids) as made_of on made_of.application_id = id
  ));
end
$$;

-- How it stands with the places, and who waits for one: {places, days, zone, site, today, coming, not_coming, no_answer,
-- late, not_told, free, waitlist}. `late` is a part of `no_answer`; `free` is null where nobody said how many there are,
-- and less than none where more were accepted.
create or replace function public.desk_places(zone text default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  today date;
begin
  if desk_places.zone is not null then
    perform private.adopt_zone(desk_places.zone);
  end if;
  -- Once, and not for each of them.
  today := private.today();
  return (
    with counted as (
      select count(*) filter (where state = 'coming') as coming,
        count(*) filter (where state = 'not coming') as not_coming,
        count(*) filter (where state in ('no answer', 'late')) as no_answer,
        count(*) filter (where state = 'late') as late,
        count(*) filter (where state = 'not told') as not_told
      from (
        select private.answer_state(is_accepted, told_at, kept_until, answer, today) as state
        from private.acceptances
        where is_accepted
      ) as answers
    )
    select to_jsonb(counted) || jsonb_build_object(
      'version', version, 'places', places, 'days', days, 'zone', coalesce(kept.zone, 'UTC'), 'site', site,
      'today', today, 'free', places - coming - no_answer - not_told,
      'waitlist', (
        select coalesce(jsonb_agg(
          jsonb_build_object('set_at', set_at) || private.beginnings(private.answers(application, me.blind) || standing)
          order by set_at, id), '[]')
        from (
          select application_id, set_at from private.statuses
          where status = 'waitlisted' order by set_at, application_id limit 20
        ) as waiting
          join public.retreat_applications as application on id = waiting.application_id
          cross join private.standings(array[id], me.blind)
      ))
    from private.places as kept, counted
  );
end
$$;

drop function private.shown(retreat_applications, boolean);
