-- Reading: lists of applications and what is known of each, as an organiser may see it.

-- The ids of the applications that a filter lets through, the newest first, and where to go on. It reads a limited number of
-- candidates, for a second at the most, whatever the filter is. A call that finds few returns where it stopped.
--
-- In the filter, each of them optional: status, search, team_size, paid_solution, answer (one of those who were accepted),
-- since, until, and order, which is `oldest` where these come first. Each order has queries of its own, which keep to the index.
create function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, out ids uuid[], out next jsonb
)
  language plpgsql stable set search_path = ''
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  wanted_answer text := filter ->> 'answer';
  today date := case when wanted_answer is not null then private.today() end;
  query tsquery;
  hits uuid[];
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- Between which moments, both exclusive: it goes on behind the last one that was looked at.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
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
  elsif wanted_answer not in ('coming', 'not coming', 'no answer', 'late', 'not told') then
    raise exception 'There is no answer "%".', left(wanted_answer, 100) using errcode = '22023';
  elsif wanted_answer is not null then
    wanted := coalesce(wanted, 'accepted');
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
      and (wanted_answer is null or private.has_rsvp(candidate.id, wanted_answer, today))
    then
      ids := ids || candidate.id;
    end if;
  end loop;
  next := null;
end
$$;

-- The first application after a position. Where few match, it is searched for a tenth of a second; then there is none.
create function private.find_one(filter jsonb, after jsonb, blind boolean) returns uuid
  language plpgsql stable set search_path = ''
as $$
declare
  part record;
  ends timestamptz := clock_timestamp() + interval '0.1 seconds';
begin
  loop
    part := private.find(filter, after, 1, 1000, blind);
    exit when cardinality(part.ids) = 1 or part.next is null or clock_timestamp() > ends;
    after := part.next;
  end loop;
  return part.ids[1];
end
$$;

-- The place of an application in the list of a filter: its `number`, null where it is not among the first ones; the count of
-- the list, up to a thousand, and less where few of the two thousand that are read match; and the applications before and
-- after it, also where the filter does not let it through any more because it was decided on.
create function private.place(application uuid, filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  list record := private.find(filter, null, 1000, 2000, blind);
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
    previous := private.find_one(filter || jsonb_build_object(
      'order', case when is_oldest_first then 'newest' else 'oldest' end), to_jsonb(here), blind);
    next := private.find_one(filter, to_jsonb(here), blind);
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
      next := private.find_one(filter, list.next, blind);
    end if;
  end if;
  return jsonb_build_object('number', number, 'count', cardinality(list.ids), 'more', list.next is not null,
    'previous', previous, 'next', next);
end
$$;

-- So many, counted to a thousand and no further.
create function private.up_to_thousand(counted bigint) returns jsonb
  language sql immutable parallel safe
  return jsonb_build_object('count', least(counted, 1000), 'more', counted > 1000);

-- How many there are in each status, up to a thousand: {"accepted": {"count": 12, "more": false}, ...}.
create function private.counts(filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  statuses text[] := array['new', 'shortlisted', 'accepted', 'waitlisted', 'declined'];
  counts jsonb := jsonb_build_object();
  each_status text;
  counted integer;
  decided integer := 0;
  sample record;
  new_ones jsonb;
begin
  if filter <> '{}' then
    sample := private.find(filter, null, 1000, 1000, blind);
    return (
      select jsonb_object_agg(name, jsonb_build_object('count', coalesce(count, 0), 'more', sample.next is not null))
      from unnest(statuses || 'all'::text) as name left join (
        select coalesce(status, 'new') as name, count(*)
          from unnest(sample.ids) as hit (id) left join private.statuses on application_id = id group by 1
        union all select 'all', cardinality(sample.ids)
      ) as counted using (name)
    );
  end if;
  foreach each_status in array statuses[2:] loop
    select count(*) into counted
      from (select from private.statuses where status = each_status limit 20001) as of_status;
    decided := decided + counted;
    counts := counts || jsonb_build_object(each_status, private.up_to_thousand(counted));
  end loop;
  select count(*) into counted
    from (select from public.retreat_applications limit decided + 1001) as application;
  if decided <= 20000 then
    -- New is what is left.
    new_ones := private.up_to_thousand(counted - decided);
  else
    -- More than are counted here. So many of the newest are new, at the least.
    sample := private.find('{"status": "new"}', null, 1000, 1000, blind);
    new_ones := jsonb_build_object('count', cardinality(sample.ids), 'more', sample.next is not null);
  end if;
  return counts || jsonb_build_object('new', new_ones, 'all', private.up_to_thousand(counted));
end
$$;

-- The answers of an application as an organiser may see them. Whoever reads blind sees only the columns named here. The
-- function sets no search path, so that PostgreSQL can inline it.
create function private.answers(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable
  return case
    when blind then jsonb_build_object(
      'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
      'custom_solution', application.custom_solution, 'team_size', application.team_size,
      'reason', application.reason, 'consent', application.consent)
    else to_jsonb(application)
  end;

-- For some applications: the status of each, whether the applicant comes, and whether the same e-mail applied again. It is one
-- query, since a call for each of a thousand would take longer than everything else.
create function private.summaries(applications uuid[], blind boolean) returns table (application_id uuid, summary jsonb)
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
      -- Not called for the many who are not asked.
      || case when is_accepted then private.rsvp_shown(application.id) else private.no_rsvp() end
    from unnest(applications) as one (id)
      join public.retreat_applications as application using (id)
      left join private.statuses as kept on kept.application_id = application.id
      left join private.invitations as invitation on invitation.application_id = application.id;
end
$$;

-- The beginning of a long answer, since an answer may be as long as a request.
create function private.beginnings(shown jsonb) returns jsonb
  language sql immutable set search_path = ''
as $$
  select jsonb_object_agg(
    key, case jsonb_typeof(value) when 'string' then to_jsonb(left(value #>> '{}', 200)) else value end)
  from jsonb_each(shown)
$$;

-- What happened, as an organiser may see it. Whoever reads blind sees details of these kinds alone, and of all others only
-- that they happened.
create function private.detail_shown(kind text, detail jsonb, blind boolean) returns jsonb
  language sql immutable set search_path = ''
  return case
    when not blind or kind in ('status', 'note', 'revealed', 'told', 'answer', 'kept', 'link') then detail else '{}'
  end;

-- One application with everything that is known of it.
create function private.whole(application uuid, blind boolean) returns jsonb
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

-- Fifty applications with the state of their letters, and where to go on. Answers are cut before anything else is done with
-- them, since they may be long.
create function public.desk_list(filter jsonb default '{}', after jsonb default null) returns jsonb
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
        || summary order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      join private.summaries(found.ids, me.blind) on application_id = id
  ));
end
$$;

-- What happened to a list that is shown. `shown` are its rows, {id, version}, the first thousand of them. `oldest` is the end of
-- the list, null where it was read to its end. The result has the rows whose status changed, those that are gone, the state
-- of all letters, the answers by their ids, and how many applications pass the filter and are not shown: `newer` than all
-- rows, or between them (`older`). `more`: there may be more of these. `unseen`, their ids, is for desks that were opened before
-- an update.
create function public.desk_meanwhile(filter jsonb, shown jsonb, oldest jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- What comes in while a list stands that was read to its end is the newest in either order.
  found record := private.find(
    case when oldest is null then filter - 'order' else filter end, null, 1000, 1000, me.blind);
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
      'answers', (
        select coalesce(jsonb_object_agg(application_id, private.rsvp_shown(application_id)), '{}')
        from private.invitations where application_id in (select id from of_list)
      ),
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

-- The count of each status, and counts of the newest thousand applications that the filter lets through: by day in the given
-- time zone, and by the answers of the two choices. `more`: there are more than were counted.
create function public.desk_overview(filter jsonb default '{}', zone text default 'UTC') returns jsonb
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

-- Up to a thousand of the applications that a filter lets through, with what is needed to act on all of them, and where to go
-- on.
create function public.desk_select(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 1000, 5000, me.blind);
begin
  return jsonb_build_object('next', found.next, 'applications', (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', id, 'status', coalesce(standing.status, 'new'), 'version', coalesce(standing.version, 0))
        || case when me.blind then '{}' else jsonb_build_object(
          'first_name', left(first_name, 200), 'last_name', left(last_name, 200)) end
      order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      left join private.statuses as standing on application_id = id
  ));
end
$$;

-- What organisers did about some applications, for a table: whether the applicants come, who decided last and when, the notes,
-- and the state of the letters. It has no address and no text of a letter, so that whoever reads blind may read it.
create function private.made_of(applications uuid[]) returns table (application_id uuid, made jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    with happened as (
      select history.application_id as id,
        (array_agg(author order by history.id desc) filter (where kind = 'status'))[1] as author,
        max(at) filter (where kind = 'status') as decided_at,
        jsonb_agg(jsonb_build_object('at', at, 'author', author, 'note', detail ->> 'note') order by history.id)
          filter (where kind = 'note') as notes
      from private.history
      where history.application_id = any (applications) and kind in ('status', 'note') group by 1
    ), written as (
      select trip.application_id as id, jsonb_agg(jsonb_build_object(
        'occasion', occasion, 'way', way, 'state', state, 'otherwise', otherwise,
        'at', coalesce(done_at, queued_at)) order by queued_at, way = 'automation', trip.id) as letters
      from private.trips as trip
      where trip.application_id = any (applications) and state <> 'withdrawn' group by 1
    )
    select each_one, jsonb_build_object(
      'answer', case when is_accepted then rsvp end, 'answered_at', case when is_accepted then rsvp_at end,
      'decided_by', author, 'decided_at', decided_at,
      'notes', coalesce(notes, '[]'), 'letters', coalesce(letters, '[]'))
    from unnest(applications) as each_one
      left join happened on happened.id = each_one
      left join written on written.id = each_one
      left join private.invitations as invitation on invitation.application_id = each_one;
end
$$;

-- Up to a thousand whole applications with what organisers did about them, fewer where they are long, and where to go on. As
-- json, which PostgreSQL puts together as text: as jsonb it would copy a megabyte twice.
create function public.desk_export(filter jsonb default '{}', after jsonb default null) returns json
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
  return json_build_object('next', found.next, 'applications', (
    select coalesce(json_agg(private.answers(application, me.blind) || (summary || made) order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
      -- Not inner joins, of which PostgreSQL expects one row, and compares each of a thousand with each.
      left join private.summaries(found.ids, me.blind) as summaries on summaries.application_id = id
      left join private.made_of(found.ids) as made_of on made_of.application_id = id
  ));
end
$$;

-- A stamp that changes with an application and with everything that is known of it. It contains no text that somebody could
-- guess.
create function private.stamp(application uuid) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  return md5(jsonb_build_array(
    (select version from private.statuses where application_id = application),
    -- It is only ever added to.
    (select count(*) from private.history where application_id = application),
    (
      select jsonb_build_array(is_accepted, told_at, deadline, rsvp, rsvp_at)
      from private.invitations where application_id = application
    ),
    (
      select jsonb_agg(jsonb_build_array(id, state, version) order by id)
      from private.letters where application_id = application
    ),
    (
      select jsonb_agg(jsonb_build_array(id, state, attempts, due_at, by, recalled_at) order by id)
      from private.deliveries
      where application_id = application and kind in ('application', 'letter', 'decision', 'receipt')
    )
  )::text);
end
$$;

-- One application with everything that is known of it, its letters, how all letters stand, and where a filter is given its
-- place there.
create function public.desk_application(application uuid, filter jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.whole(application, me.blind) || jsonb_build_object(
    'letters', private.letters_of(array[application], me.blind),
    'overview', private.letters_overview(),
    'stamp', private.stamp(application),
    'place', case when filter is not null then private.place(application, filter, me.blind) end
  );
end
$$;

-- The stamp alone, for a desk that shows an application and asks again and again whether it has changed.
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

-- The same with what blind reading hides. That somebody revealed it is written into the history.
create function public.desk_reveal(act uuid, application uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    perform private.write_down(application, act, me.email, 'revealed', '{}');
  end if;
  return private.whole(application, false);
end
$$;

-- Fifty events of the desk in general, the newest first: about the door, all letters, blind reading, and erased applications.
create function public.desk_history(after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  place bigint := coalesce((after ->> 'id')::bigint, 9223372036854775807);
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'happenings', coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'at', at, 'author', author, 'kind', kind, 'detail', detail) order by id desc), '[]'),
      'next', case when count(*) = 50 then jsonb_build_object('id', min(id)) end)
    from (
      select * from private.history where application_id is null and id < place order by id desc limit 50
    ) as page
  );
end
$$;
