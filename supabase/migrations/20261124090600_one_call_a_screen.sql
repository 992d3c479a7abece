-- The ids of the applications that a filter lets through, the newest first, and where to go on. It looks at so many
-- candidates and no more, whatever the filter, and a second at the most: a call that finds little comes back with where
-- it stopped.
--
-- In the filter, each of them optional: status, search, team_size, paid_solution, since, until, and order, which is
-- `oldest` where these come first. Each order has queries of its own, which keep to the index.
create or replace function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, out ids uuid[], out next jsonb
)
  language plpgsql stable set search_path = ''
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  query tsquery;
  hits uuid[];
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- Between which moments, both exclusive: it goes on behind the last one that was looked at.
  first_id constant uuid := '00000000-0000-0000-0000-000000000000';
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  since_id uuid := first_id;
  before timestamptz := coalesce((filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := first_id;
  candidates refcursor;
  candidate record;
  looked integer := 0;
  -- As much as in two hundred ordinary applications.
  octets_left integer := 60000;
  ends timestamptz := clock_timestamp() + interval '1 second';
begin
  if wanted not in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined') then
    raise exception 'There is no status "%".', left(wanted, 100) using errcode = '22023';
  end if;
  if is_oldest_first then
    since := coalesce((after ->> 'created_at')::timestamptz, since);
    since_id := coalesce((after ->> 'id')::uuid, first_id);
  else
    before := coalesce((after ->> 'created_at')::timestamptz, before);
    before_id := coalesce((after ->> 'id')::uuid, first_id);
  end if;
  ids := '{}';
  if btrim(filter ->> 'search') <> '' then
    query := private.search_query(filter ->> 'search');
    -- Signs alone are in no index.
    if query is null then return; end if;
    hits := private.hits(query, blind);
    if hits is null then look := least(look, 200); end if;
  end if;
  if hits is not null then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where id = any (hits) and (application.created_at, id) < (before, before_id)
        and (application.created_at, id) > (since, since_id)
      order by case when is_oldest_first then application.created_at end, case when is_oldest_first then id end,
        application.created_at desc, id desc;
  elsif query is null and wanted <> 'new' and is_oldest_first then
    open candidates for
      select id, application.created_at, team_size, paid_solution, standing.status, true as matches, 0 as octets
      from private.statuses as standing join public.retreat_applications as application on id = application_id
      where standing.status = wanted
        and (standing.created_at, application_id) > (since, since_id) and standing.created_at < before
      order by standing.created_at, application_id;
  elsif query is null and wanted <> 'new' then
    open candidates for
      select id, application.created_at, team_size, paid_solution, standing.status, true as matches, 0 as octets
      from private.statuses as standing join public.retreat_applications as application on id = application_id
      where standing.status = wanted
        and (standing.created_at, application_id) < (before, before_id) and standing.created_at >= since
      order by standing.created_at desc, application_id desc;
  elsif query is null and is_oldest_first then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where (application.created_at, id) > (since, since_id) and application.created_at < before
      order by application.created_at, id;
  elsif query is null then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  elsif is_oldest_first then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, case when blind
          then coalesce(blind_vector, private.search_vector('', '', '', '', '', custom_solution, reason))
          else coalesce(vector, private.search_vector(
            first_name, last_name, email, linkedin, company, custom_solution, reason))
        end @@ query as matches,
        -- A vector that is kept takes as long as a short application.
        case when vector is null then private.search_octets(
          first_name, last_name, email, linkedin, company, custom_solution, reason) else 300 end as octets
      from public.retreat_applications as application
        left join private.statuses as standing on standing.application_id = id
        left join private.search_vectors as kept on kept.application_id = id
      where (application.created_at, id) > (since, since_id) and application.created_at < before
      order by application.created_at, id;
  else
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, case when blind
          then coalesce(blind_vector, private.search_vector('', '', '', '', '', custom_solution, reason))
          else coalesce(vector, private.search_vector(
            first_name, last_name, email, linkedin, company, custom_solution, reason))
        end @@ query as matches,
        case when vector is null then private.search_octets(
          first_name, last_name, email, linkedin, company, custom_solution, reason) else 300 end as octets
      from public.retreat_applications as application
        left join private.statuses as standing on standing.application_id = id
        left join private.search_vectors as kept on kept.application_id = id
      where (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  end if;
  loop
    fetch candidates into candidate;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      -- There is more: the next call begins behind the last one that was looked at.
      return;
    end if;
    looked := looked + 1;
    octets_left := octets_left - candidate.octets;
    next := jsonb_build_object('created_at', candidate.created_at, 'id', candidate.id);
    if candidate.matches and candidate.status = coalesce(wanted, candidate.status)
      and candidate.team_size = coalesce(filter ->> 'team_size', candidate.team_size)
      and candidate.paid_solution = coalesce(filter ->> 'paid_solution', candidate.paid_solution)
    then
      ids := ids || candidate.id;
    end if;
  end loop;
  next := null;
end
$$;

-- The same, and on from where it stopped, until there are so many or a tenth of a second is over: a filter that few fit
-- makes short pages.
create function private.find_on(
  filter jsonb, after jsonb, most integer, blind boolean, out ids uuid[], out next jsonb
)
  language plpgsql stable set search_path = ''
as $$
declare
  part record;
  ends timestamptz := clock_timestamp() + interval '0.1 seconds';
begin
  ids := '{}';
  next := after;
  loop
    part := private.find(filter, next, most - cardinality(ids), 1000, blind);
    ids := ids || part.ids;
    next := part.next;
    exit when next is null or cardinality(ids) = most or clock_timestamp() > ends;
  end loop;
end
$$;

revoke all on function private.find_on(jsonb, jsonb, integer, boolean) from public, anon, authenticated;

-- The place of an application in the list of a filter: its `number` there, null where it is not among the first thousand;
-- how many there are, up to a thousand; and which stand before and after it, also where the filter does not let it
-- through, as it does not any more who was decided on.
create function private.place(application uuid, filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  list record := private.find_on(filter, null, 1000, blind);
  number integer := array_position(list.ids, application);
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  here record;
  stopped record;
  before integer := number - 1;
  previous uuid;
  next uuid;
begin
  select created_at, id into here from public.retreat_applications where id = application;
  select (list.next ->> 'created_at')::timestamptz as created_at, (list.next ->> 'id')::uuid as id into stopped;
  if number is null and list.next is not null and (
    case when is_oldest_first then here > stopped else here < stopped end
  ) then
    previous := (private.find_on(filter || jsonb_build_object(
      'order', case when is_oldest_first then 'newest' else 'oldest' end), to_jsonb(here), 1, blind)).ids[1];
    next := (private.find_on(filter, to_jsonb(here), 1, blind)).ids[1];
  else
    if number is null then
      select count(*) into before from public.retreat_applications as other
        where other.id = any (list.ids) and case
          when is_oldest_first then (other.created_at, other.id) < (here.created_at, here.id)
          else (other.created_at, other.id) > (here.created_at, here.id)
        end;
    end if;
    previous := list.ids[before];
    next := list.ids[coalesce(number, before) + 1];
    if next is null and list.next is not null then
      next := (private.find_on(filter, list.next, 1, blind)).ids[1];
    end if;
  end if;
  return jsonb_build_object('number', number, 'count', cardinality(list.ids), 'more', list.next is not null,
    'previous', previous, 'next', next);
end
$$;

revoke all on function private.place(uuid, jsonb, boolean) from public, anon, authenticated;

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
      private.beginnings(private.shown(jsonb_populate_record(null::public.retreat_applications, jsonb_build_object(
          'id', id, 'created_at', created_at, 'first_name', left(first_name, 200), 'last_name', left(last_name, 200),
          'email', email, 'company', left(company, 200), 'team_size', team_size, 'paid_solution', paid_solution
        )), me.blind) - '{phone,linkedin,custom_solution,consent}'::text[])
        || jsonb_build_object('reason', split_part(translate(
          left(ltrim(left(reason, 2000), E' \t\r\n'), 200), E'\r', E'\n'), E'\n', 1)) order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
  ));
end
$$;

-- What became of a list that is on a screen. `shown` are its rows, {id, version}, the first thousand of them; `oldest` is
-- where it ends, null where it was read to its end. What comes back: the rows whose status changed, those that are gone,
-- what became of the letters of all, and how many the filter lets through that are not shown: `newer` than all rows, or
-- between them (`older`). `more`: there may be more of these. Which they are (`unseen`) is for desks that were opened
-- before an update.
create or replace function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- What comes in while a list stands that was read to its end is the newest in either order.
  found record := private.find(case when oldest is null then filter - 'order' else filter end, null, 1000, 1000, me.blind);
  last record;
  stopped record;
begin
  if jsonb_array_length(shown) > 1000 then
    raise exception 'At most 1,000 applications are looked at again at once.' using errcode = '22023';
  end if;
  select (oldest ->> 'created_at')::timestamptz as created_at, (oldest ->> 'id')::uuid as id into last;
  select (found.next ->> 'created_at')::timestamptz as created_at, (found.next ->> 'id')::uuid as id into stopped;
  return (
    with of_list as materialized (
      select id, version from jsonb_to_recordset(shown) as of_list (id uuid, version integer)
    ), unseen as materialized (
      select id, created_at from public.retreat_applications
      where id = any (found.ids) and id not in (select id from of_list) and (oldest is null or case
        when is_oldest_first then (created_at, id) <= (last.created_at, last.id)
        else (created_at, id) >= (last.created_at, last.id)
      end)
    ), newest as materialized (
      select application.created_at, id from of_list join public.retreat_applications as application using (id)
      order by 1 desc, 2 desc limit 1
    )
    select jsonb_build_object(
      'changed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'status', standing.status, 'version', standing.version)), '[]')
        from of_list join private.statuses as standing on application_id = id
        where standing.version <> of_list.version
      ),
      'gone', (
        select coalesce(jsonb_agg(id), '[]') from of_list
        where not exists (select from public.retreat_applications as application where application.id = of_list.id)
      ),
      'letters', private.letter_states(array(select id from of_list)),
      'newer', (
        select count(*) from unseen where not exists (
          select from newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
        )
      ),
      'older', (
        select count(*) from unseen, newest where (newest.created_at, newest.id) >= (unseen.created_at, unseen.id)
      ),
      'unseen', (select coalesce(jsonb_agg(to_jsonb(unseen) order by created_at desc, id desc), '[]') from unseen),
      'more', found.next is not null and (oldest is null or case
        when is_oldest_first then stopped < last else stopped > last end)
    )
  );
end
$$;

-- How many there are in each status, and how the newest thousand that the filter lets through are made up: a day in
-- the time zone that is named, and the answers of the two choices. `more`: there are more than were counted.
create or replace function public.desk_overview(filter jsonb default '{}', zone text default 'UTC') returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sample record := private.find(filter - 'order', null, 1000, 1000, me.blind);
begin
  return (
    with hit as materialized (
      select (created_at at time zone zone)::date as day, team_size, paid_solution
      from public.retreat_applications where id = any (sample.ids)
    )
    select jsonb_build_object(
      'counts', private.counts(filter - '{status,order}'::text[], me.blind),
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

-- What tells one state of an application from another, and of all that is known of it: nothing of it has a text that
-- somebody could guess.
create function private.stamp(application uuid) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return md5(jsonb_build_array(
    (select version from private.statuses where application_id = application),
    -- It is only ever added to.
    (select count(*) from private.history where application_id = application),
    (
      select jsonb_agg(jsonb_build_array(id, state, version, attempts, due_at, otherwise) order by id)
      from private.letters where application_id = application
    ),
    (
      select jsonb_build_array(attempts, delivered_at, next_attempt_at)
      from private.webhook_outbox where application_id = application
    )
  )::text);
end
$$;

revoke all on function private.stamp(uuid) from public, anon, authenticated;

drop function public.desk_application(uuid);

-- One application with everything that is known of it, its letters, and where a filter is given its place there.
create function public.desk_application(application uuid, filter jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.whole(application, me.blind) || jsonb_build_object(
    'letters', private.letters_of(array[application], me.blind),
    'stamp', private.stamp(application),
    'place', case when filter is not null then private.place(application, filter, me.blind) end
  );
end
$$;

revoke all on function public.desk_application(uuid, jsonb) from public, anon, authenticated;
grant execute on function public.desk_application(uuid, jsonb) to authenticated;

-- The stamp alone, for whoever looks at an application and asks again and again whether it has changed.
create function public.desk_stamp(application uuid) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object('stamp', private.stamp(application));
end
$$;

revoke all on function public.desk_stamp(uuid) from public, anon, authenticated;
grant execute on function public.desk_stamp(uuid) to authenticated;

-- The letters of some applications, the oldest first; what was withdrawn before it was released is nobody's.
create function private.letters_of(applications uuid[], blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return private.letters_shown(array(
    select id from private.letters
    where application_id = any (applications) and (state <> 'withdrawn' or released_at is not null)
    order by created_at, id
  ), blind);
end
$$;

revoke all on function private.letters_of(uuid[], boolean) from public, anon, authenticated;

-- What became of the letters of some applications, without their texts, the oldest first.
create function private.letter_states(applications uuid[]) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state, 'otherwise', otherwise) order by created_at, id), '[]')
    from private.letters
    where application_id = any (applications) and state not in ('draft', 'withdrawn')
  );
end
$$;

revoke all on function private.letter_states(uuid[]) from public, anon, authenticated;

create or replace function public.desk_letters_of(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return private.letters_of(applications, me.blind);
end
$$;

-- For desks that were opened before an update: what they ask here comes with the list by now.
create or replace function public.desk_letter_states(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return private.letter_states(applications);
end
$$;

-- Whether the caller hears of applications, and whether anybody carries the mails that say so.
create or replace function public.desk_notices() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object('notices', notices, 'day_due_at', case when notices <> 'off' then day_due_at end,
      'email', me.email, 'is_postman_there', (select seen_at > now() - interval '1 minute' from private.postman))
    from private.organisers where account_id = auth.uid()
  );
end
$$;
