-- Finding: which applications pass a filter, and the position of one of them.

-- The edition that a filter names, otherwise the newest.
create function private.edition_in(filter jsonb) returns integer
  language plpgsql stable set search_path = ''
as $$
declare
  wanted integer := (filter ->> 'edition')::integer;
  found_id integer;
begin
  select id into found_id from private.editions where wanted is null or id = wanted order by id desc limit 1;
  if not found then
    raise exception 'There is no such retreat.' using errcode = '22023';
  end if;
  return found_id;
end
$$;

-- The edition of an application; null if it was erased.
create function private.edition_of(application uuid) returns integer
  language sql stable set search_path = ''
as $$
  select edition from public.retreat_applications where id = application
$$;

-- The ids of the applications that pass a filter, in order, and the cursor for the next call, null at the end of the list. A call
-- reads up to `look` candidates, for up to a second, and fewer if they are costly to search. So it may return fewer than `most`
-- ids, even none, before the end of the list.
--
-- Without an edition, it finds those of the newest. Without a status, or with `all`, it leaves out the applications that were put
-- aside. With `new` or `shortlisted` it leaves out those that were withdrawn. All keys of the filter are optional: edition, status,
-- search, team_size, paid_solution, answer (an RSVP state), since, until, marks and order. Marks are `none of mine`, or `disagree`:
-- a visible Yes and a visible No. By default the newest are first. Other orders are `oldest`, `most yes` (the most visible Yes
-- first) and `shuffled` (for each account another order, which stays the same).
create function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, account uuid, out ids uuid[], out next jsonb
)
  -- Most calls end long before `look` candidates. If PostgreSQL planned for all of them, it would sort thousands of rows and
  -- compile the query (JIT).
  language plpgsql stable set search_path = '' set enable_sort = off set jit = off
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  wanted_rsvp text := filter ->> 'answer';
  query tsquery;
  hits uuid[];
  sorting text := coalesce(filter ->> 'order', 'newest');
  wanted_marks text := filter ->> 'marks';
  is_oldest_first boolean := sorting = 'oldest';
  -- The next retreat may begin between two calls.
  edition integer := private.edition_in(jsonb_build_object('edition', coalesce(filter ->> 'edition', after ->> 'edition')));
  -- Sorts before every other id.
  first_id constant uuid := cast('00000000-0000-0000-0000-000000000000' as uuid);
  -- The list is between (since, since_id) and (before, before_id), both exclusive.
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  since_id uuid := first_id;
  before timestamptz := coalesce((filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := first_id;
  -- The parts of the query. `row_condition` is in its `where`, and `conditions` are its column `passes`.
  source text := 'public.retreat_applications as application';
  edition_column text := 'application.edition';
  position text := 'application.created_at, application.id';
  conditions text[] := array['true'];
  octets text := '0';
  yes text := '0';
  row_condition text := 'true';
  sequence text := case sorting when 'oldest' then '1, 2' when 'most yes' then '5 desc, 1 desc, 2 desc'
    when 'shuffled' then 'md5($14 || id::text)' else '1 desc, 2 desc' end;
  candidates refcursor;
  candidate_at timestamptz;
  candidate_id uuid;
  candidate_octets integer;
  candidate_yes integer;
  passes boolean;
  last_at timestamptz;
  last_id uuid;
  last_yes integer;
  looked integer := 0;
  -- The cost of two hundred ordinary applications.
  octets_left integer := 60000;
  ends timestamptz := clock_timestamp() + interval '1 second';
begin
  if wanted not in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined', 'aside') then
    raise exception 'There is no status "%".', left(wanted, 100) using errcode = '22023';
  elsif wanted_rsvp not in ('coming', 'not coming', 'no answer', 'late', 'not told') then
    raise exception 'There is no answer "%".', left(wanted_rsvp, 100) using errcode = '22023';
  elsif wanted_marks not in ('none of mine', 'disagree') then
    raise exception 'There are no marks "%".', left(wanted_marks, 100) using errcode = '22023';
  elsif wanted_rsvp is not null then
    wanted := coalesce(wanted, 'accepted');
  end if;
  if sorting = 'most yes' then
    yes := 'coalesce(tally.yes, 0)';
    row_condition := '($15 is null or (coalesce(tally.yes, 0), application.created_at, id) < ($15, $16, $17))';
  elsif sorting = 'shuffled' then
    row_condition := '($17 is null or md5($14 || id::text) > md5($14 || $17::text))';
  elsif is_oldest_first then
    since := coalesce((after ->> 'created_at')::timestamptz, since);
    since_id := coalesce((after ->> 'id')::uuid, first_id);
  else
    before := coalesce((after ->> 'created_at')::timestamptz, before);
    before_id := coalesce((after ->> 'id')::uuid, first_id);
  end if;
  ids := '{}';
  if private.trimmed(filter ->> 'search') <> '' then
    select found.query, found.hits into query, hits from private.search(filter ->> 'search', blind) as found;
    -- The search has only punctuation, which matches nothing.
    if query is null then return; end if;
    if hits is null then look := least(look, 200); end if;
  end if;

  if wanted_marks = 'disagree' then
    if query is not null and hits is null then
      conditions := array_append(conditions, 'private.words(application, $8) @@ $7');
    end if;
    hits := array(
      select application_id from private.visible_marks(account) where hits is null or application_id = any (hits)
      group by 1 having bool_or(mark = 'yes') and bool_or(mark = 'no')
    );
  elsif wanted_marks = 'none of mine' then
    conditions := array_append(conditions, 'not exists (
      select from private.marks where application_id = id and account_id = $14 and mark is not null)');
  end if;

  if hits is not null then
    -- `offset 0` makes the planner sort the few hits instead of following an index's order.
    source := '(select * from public.retreat_applications where id = any ($6) offset 0) as application';
  elsif query is not null then
    source := 'public.retreat_applications as application
      left join private.search_vectors as kept on kept.application_id = id';
    conditions := array_append(conditions,
      'coalesce(case when $8 then blind_vector else vector end, private.words(application, $8)) @@ $7');
    -- A stored vector counts as 300 bytes: reading it costs as much as searching an application of that length.
    octets := 'case when vector is null then private.search_octets(application) else 300 end';
  elsif wanted <> 'new' then
    source := 'private.statuses as decided
      left join public.retreat_applications as application on id = decided.application_id';
    row_condition := row_condition || ' and decided.status = $9';
    edition_column := 'decided.edition';
    position := 'decided.created_at, decided.application_id';
  end if;
  if wanted is null and exists (select from private.statuses where status = 'aside') then
    -- Applications that were put aside are only in the list of their status.
    conditions := array_append(conditions,
      'not exists (select from private.statuses as own where own.application_id = id and own.status = ''aside'')');
  end if;
  -- The next two conditions are subqueries: with joins, the planner would read all statuses before the first row.
  if wanted = 'new' or wanted is not null and (query is not null or hits is not null) then
    conditions := array_append(conditions,
      'coalesce((select status from private.statuses as own where own.application_id = id), ''new'') = $9');
  end if;
  if wanted in ('new', 'shortlisted') and exists (select from private.statuses where withdrawn_at is not null) then
    -- Nobody has to read or decide them any more. They are in the list of all.
    conditions := array_append(conditions, 'not exists (
      select from private.statuses as own where own.application_id = id and own.withdrawn_at is not null)');
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
  if sorting = 'most yes' then
    -- Counts all visible marks in one subquery, instead of once for each application.
    source := source || ' left join (
      select application_id as marked_id, count(*)::integer as yes from private.visible_marks($14)
      where mark = ''yes'' group by 1) as tally on marked_id = id';
  end if;
  -- The text contains no values. They are parameters, which PostgreSQL knows when it plans the query.
  open candidates for execute format(
    'select %1$s, %2$s, %3$s, %4$s from %5$s
      where %8$s = $18 and %6$s and (%1$s) > ($1, $2) and (%1$s) < ($3, $4) order by %7$s limit $5',
    position, octets, array_to_string(conditions, ' and '), yes, source, row_condition, sequence, edition_column
  ) using since, since_id, before, before_id, look + 1, hits, query, blind, wanted,
    case wanted_rsvp when 'no answer' then array['no answer', 'late'] else array[wanted_rsvp] end,
    case when wanted_rsvp is not null then private.today() end,
    filter ->> 'team_size', filter ->> 'paid_solution', account,
    (after ->> 'yes')::integer, (after ->> 'created_at')::timestamptz, (after ->> 'id')::uuid, edition;
  loop
    fetch candidates into candidate_at, candidate_id, candidate_octets, passes, candidate_yes;
    exit when not found;
    if cardinality(ids) = most or looked = look or octets_left <= 0 or looked > 0 and clock_timestamp() > ends then
      next := jsonb_build_object('created_at', last_at, 'id', last_id, 'edition', edition)
        || case when sorting = 'most yes' then jsonb_build_object('yes', last_yes) else '{}' end;
      exit;
    end if;
    looked := looked + 1;
    octets_left := octets_left - candidate_octets;
    last_at := candidate_at;
    last_id := candidate_id;
    last_yes := candidate_yes;
    if passes then ids := ids || candidate_id; end if;
  end loop;
  close candidates;
end
$$;

-- The first application of a filtered list after a position; null if none is found within a tenth of a second.
create function private.find_one(filter jsonb, after jsonb, blind boolean, account uuid) returns uuid
  language plpgsql stable set search_path = ''
as $$
declare
  part record;
  ends timestamptz := clock_timestamp() + interval '0.1 seconds';
begin
  loop
    part := private.find(filter, after, 1, 1000, blind, account);
    exit when cardinality(part.ids) = 1 or part.next is null or clock_timestamp() > ends;
    after := part.next;
  end loop;
  return part.ids[1];
end
$$;

-- The position of an application in a filtered list. `number` is its position, null if it is not among the first thousand.
-- `count` is the length of the list, up to a thousand, and less if few of the first two thousand candidates pass. `previous`
-- and `next` are its neighbours, even if a decision has removed the application itself from the list.
create function private.list_position(application uuid, filter jsonb, blind boolean, account uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  list record := private.find(filter, null, 1000, 2000, blind, account);
  number integer := array_position(list.ids, application);
  sorting text := coalesce(filter ->> 'order', 'newest');
  is_oldest_first boolean := sorting = 'oldest';
  own_position record;
  list_end record;
  count_before integer := number - 1;
  previous uuid;
  next uuid;
begin
  select created_at, id into own_position from public.retreat_applications where id = application;
  select (list.next ->> 'created_at')::timestamptz as created_at, (list.next ->> 'id')::uuid as id into list_end;
  if number is null and list.next is not null and sorting not in ('most yes', 'shuffled') and (
    case when is_oldest_first then own_position > list_end else own_position < list_end end
  ) then
    previous := private.find_one(filter || jsonb_build_object(
      'order', case when is_oldest_first then 'newest' else 'oldest' end), to_jsonb(own_position), blind, account);
    next := private.find_one(filter, to_jsonb(own_position), blind, account);
  else
    if number is null then
      select count(*) into count_before from public.retreat_applications as other
        where other.id = any (list.ids) and case
          when sorting = 'shuffled' then md5(account || other.id::text) < md5(account || own_position.id::text)
          when is_oldest_first then (other.created_at, other.id) < (own_position.created_at, own_position.id)
          else (other.created_at, other.id) > (own_position.created_at, own_position.id)
        end;
    end if;
    previous := list.ids[count_before];
    next := list.ids[coalesce(number, count_before) + 1];
    if next is null and list.next is not null then
      next := private.find_one(filter, list.next, blind, account);
    end if;
  end if;
  return jsonb_build_object('number', number, 'count', cardinality(list.ids), 'more', list.next is not null,
    'previous', previous, 'next', next);
end
$$;
