-- Finding: which applications pass a filter, and the position of one of them.

-- The ids of the applications that pass a filter, in order, and the cursor for the next call, null at the end of the list. A
-- call reads up to `look` candidates, for up to a second. So it may return fewer than `most` ids, even none, before the end
-- of the list.
--
-- All keys of the filter are optional: status, search, team_size, paid_solution, answer (an RSVP state), since, until, and order
-- (`oldest` first; by default the newest).
create function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, out ids uuid[], out next jsonb
)
  -- Most calls end long before `look` candidates. Planned for that many, the query would sort thousands of rows and be
  -- compiled.
  language plpgsql stable set search_path = '' set enable_sort = off set jit = off
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  wanted_rsvp text := filter ->> 'answer';
  query tsquery;
  hits uuid[];
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  -- The list is between these two positions, both exclusive.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  since_id uuid := first_id;
  before timestamptz := coalesce((filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := first_id;
  -- The parts of the query.
  source text := 'public.retreat_applications as application where true';
  position text := 'application.created_at, application.id';
  conditions text[] := array['true'];
  octets text := '0';
  candidates refcursor;
  candidate_at timestamptz;
  candidate_id uuid;
  candidate_octets integer;
  passes boolean;
  last_at timestamptz;
  last_id uuid;
  looked integer := 0;
  -- The cost of two hundred ordinary applications.
  octets_left integer := 60000;
  ends timestamptz := clock_timestamp() + interval '1 second';
begin
  if wanted not in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined') then
    raise exception 'There is no status "%".', left(wanted, 100) using errcode = '22023';
  elsif wanted_rsvp not in ('coming', 'not coming', 'no answer', 'late', 'not told') then
    raise exception 'There is no answer "%".', left(wanted_rsvp, 100) using errcode = '22023';
  elsif wanted_rsvp is not null then
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
    select found.query, found.hits into query, hits from private.search(filter ->> 'search', blind) as found;
    -- The search has only punctuation, which matches nothing.
    if query is null then return; end if;
    if hits is null then look := least(look, 200); end if;
  end if;

  if hits is not null then
    -- `offset 0` makes the planner sort the few hits instead of following an index's order.
    source := '(select * from public.retreat_applications where id = any ($6) offset 0) as application where true';
  elsif query is not null then
    source := 'public.retreat_applications as application
      left join private.search_vectors as kept on kept.application_id = id where true';
    conditions := array_append(conditions,
      'coalesce(case when $8 then blind_vector else vector end, private.words(application, $8)) @@ $7');
    -- Reading a stored vector costs as much as searching a short application.
    octets := 'case when vector is null then private.search_octets(application) else 300 end';
  elsif wanted <> 'new' then
    source := 'private.statuses as decided
      left join public.retreat_applications as application on id = decided.application_id where decided.status = $9';
    position := 'decided.created_at, decided.application_id';
  end if;
  -- These two are subqueries: with joins, the planner would read all statuses before the first row.
  if wanted = 'new' or wanted is not null and query is not null then
    conditions := array_append(conditions,
      'coalesce((select status from private.statuses as own where own.application_id = id), ''new'') = $9');
  end if;
  if wanted_rsvp is not null then
    conditions := array_append(conditions, '(select private.rsvp_state(is_accepted, told_at, deadline, rsvp, $11)
      from private.invitations as own where own.application_id = id) = any ($10)');
  end if;
  if filter ->> 'team_size' is not null then
    conditions := array_append(conditions, 'team_size = $12');
  end if;
  if filter ->> 'paid_solution' is not null then
    conditions := array_append(conditions, 'paid_solution = $13');
  end if;
  -- The text contains no values. They are parameters, which PostgreSQL knows when it plans the query.
  open candidates for execute format(
    'select %1$s, %2$s, %3$s from %4$s and (%1$s) > ($1, $2) and (%1$s) < ($3, $4) order by 1 %5$s, 2 %5$s limit $5',
    position, octets, array_to_string(conditions, ' and '), source, case when is_oldest_first then 'asc' else 'desc' end
  ) using since, since_id, before, before_id, look + 1, hits, query, blind, wanted,
    case wanted_rsvp when 'no answer' then array['no answer', 'late'] else array[wanted_rsvp] end,
    case when wanted_rsvp is not null then private.today() end,
    filter ->> 'team_size', filter ->> 'paid_solution';
  loop
    fetch candidates into candidate_at, candidate_id, candidate_octets, passes;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      next := jsonb_build_object('created_at', last_at, 'id', last_id);
      exit;
    end if;
    looked := looked + 1;
    octets_left := octets_left - candidate_octets;
    last_at := candidate_at;
    last_id := candidate_id;
    if passes then ids := ids || candidate_id; end if;
  end loop;
  close candidates;
end
$$;

-- The first application after a position; null if none is found within a tenth of a second.
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

-- The position of an application in a filtered list. `number` is its position, null if it is not among the first thousand.
-- `count` is the length of the list, up to a thousand, and less if few of the first two thousand candidates pass. `previous`
-- and `next` are its neighbours, even if a decision has removed the application itself from the list.
create function private.list_position(application uuid, filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  list record := private.find(filter, null, 1000, 2000, blind);
  number integer := array_position(list.ids, application);
  is_oldest_first boolean := coalesce(filter ->> 'order', '') = 'oldest';
  own_position record;
  list_end record;
  count_before integer := number - 1;
  previous uuid;
  next uuid;
begin
  select created_at, id into own_position from public.retreat_applications where id = application;
  select (list.next ->> 'created_at')::timestamptz as created_at, (list.next ->> 'id')::uuid as id into list_end;
  if number is null and list.next is not null and (
    case when is_oldest_first then own_position > list_end else own_position < list_end end
  ) then
    previous := private.find_one(filter || jsonb_build_object(
      'order', case when is_oldest_first then 'newest' else 'oldest' end), to_jsonb(own_position), blind);
    next := private.find_one(filter, to_jsonb(own_position), blind);
  else
    if number is null then
      select count(*) into count_before from public.retreat_applications as other
        where other.id = any (list.ids) and case
          when is_oldest_first then (other.created_at, other.id) < (own_position.created_at, own_position.id)
          else (other.created_at, other.id) > (own_position.created_at, own_position.id)
        end;
    end if;
    previous := list.ids[count_before];
    next := list.ids[coalesce(number, count_before) + 1];
    if next is null and list.next is not null then
      next := private.find_one(filter, list.next, blind);
    end if;
  end if;
  return jsonb_build_object('number', number, 'count', cardinality(list.ids), 'more', list.next is not null,
    'previous', previous, 'next', next);
end
$$;
