-- Finding: which applications pass a filter, and where one of them stands among them.

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
