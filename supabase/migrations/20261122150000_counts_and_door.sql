-- The desk, mended: a search is judged by the newest applications, New is counted where many are decided, and a door
-- that closed by itself is opened by nobody who saw it open.

-- The applications that a search finds, where they are few; null where they are many.
create or replace function private.hits(query tsquery, blind boolean) returns uuid[]
  -- Expecting to find a thousand soon, the planner would read the whole table.
  language plpgsql stable set search_path = '' set enable_seqscan = off
as $$
declare
  stored float := (select reltuples from pg_class where oid = 'public.retreat_applications'::regclass);
  hits uuid[];
begin
  -- The index takes as long as there are hits, however few are wanted. How many there will be the newest tell: the
  -- planner knows common words, but not beginnings that are common by many rare words.
  if stored > 20000 and stored / 100 * (
    select count(*) filter (where matches) from (
      select private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason) @@ query
        as matches
      from public.retreat_applications order by created_at desc, id desc limit 100
    ) as newest
  ) > 20000 then
    return null;
  end if;
  select array_agg(id) into hits from (
    select id from public.retreat_applications
    where private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason) @@ query
    limit 1001
  ) as hit;
  if cardinality(hits) > 1000 then return null; end if;
  return array(
    select id from public.retreat_applications
    where id = any (hits)
      and (not blind or private.search_vector('', '', '', '', '', custom_solution, reason) @@ query)
  );
end
$$;

-- How many there are in each status, up to a thousand: {"accepted": {"count": 12, "more": false}, ...}.
create or replace function private.counts(filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  statuses text[] := '{new,shortlisted,accepted,waitlisted,declined}';
  counts jsonb := '{}';
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
    counts := counts || jsonb_build_object(each_status, jsonb_build_object(
      'count', least(counted, 1000), 'more', counted > 1000));
  end loop;
  select count(*) into counted
    from (select from public.retreat_applications limit decided + 1001) as application;
  if decided <= 20000 then
    -- New is what is left.
    new_ones := jsonb_build_object('count', least(counted - decided, 1000), 'more', counted - decided > 1000);
  else
    -- More than are counted here. So many of the newest are new, at the least.
    sample := private.find('{"status": "new"}', null, 1000, 1000, blind);
    new_ones := jsonb_build_object('count', cardinality(sample.ids), 'more', sample.next is not null);
  end if;
  return counts || jsonb_build_object(
    'new', new_ones, 'all', jsonb_build_object('count', least(counted, 1000), 'more', counted > 1000)
  );
end
$$;

-- For some hours the migration that makes the door gave its column another name.
do $$
begin
  if exists (
    select from pg_attribute where attrelid = 'private.door'::regclass and attname = 'changes' and not attisdropped
  ) then
    alter table private.door rename column changes to version;
  end if;
end
$$;

-- How the door stands. The version that is shown counts the changes that somebody made, twice, and one more while it is
-- open: it is another one too when the door closes by itself, since a change that was begun before would open it again.
create or replace function private.door_state() returns jsonb
  language sql stable set search_path = ''
as $$
  select to_jsonb(door) - 'is_only' || jsonb_build_object(
    'opened_at', nullif(opened_at, '-infinity'), 'is_open', is_open, 'version', 2 * version + is_open::integer
  )
  from private.door, lateral (
    select not (closed or coalesce(now() >= closes_at, false) or coalesce(received >= closes_after, false)) as is_open
  ) as state
$$;

-- Opens or closes; from the program's command too, which has seen no version and asks for none.
create or replace function private.set_door(
  author text, seen integer, closed boolean, sentence text, closes_at timestamptz, closes_after integer
) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  stood private.door;
  state jsonb;
  opens boolean;
begin
  if char_length(sentence) > 300 then
    raise exception 'The sentence has at most 300 characters.' using errcode = '22023';
  elsif closes_after <= 0 then
    raise exception 'The number of applications is at least 1.' using errcode = '22023';
  end if;
  -- What is being inserted now is counted before, or is counted by the door. Locked first, as those who insert do.
  if closes_after is not null then lock table public.retreat_applications in share row exclusive mode; end if;
  select * into stood from private.door for update;
  state := private.door_state();
  if (state ->> 'version')::integer <> seen then
    -- Sent again, because its answer was lost.
    if stood.version = seen / 2 + 1 and stood.closed = set_door.closed and stood.sentence = coalesce(set_door.sentence, '')
      and stood.closes_at is not distinct from set_door.closes_at
      and stood.closes_after is not distinct from set_door.closes_after
    then
      return state;
    end if;
    raise exception 'The door has changed meanwhile.' using errcode = 'PT409';
  elsif set_door.closes_at <= now() and set_door.closes_at is distinct from stood.closes_at then
    raise exception 'The moment at which the door closes is past.' using errcode = '22023';
  end if;
  -- Another sentence on a door that a number or a moment closed does not open it.
  opens := not set_door.closed and not (state ->> 'is_open')::boolean and (
    stood.closed or set_door.closes_at is distinct from stood.closes_at
    or set_door.closes_after is distinct from stood.closes_after
  );
  update private.door set
    version = stood.version + 1, closed = set_door.closed, sentence = coalesce(set_door.sentence, ''),
    closes_at = set_door.closes_at, closes_after = set_door.closes_after,
    opened_at = case when opens then now() else stood.opened_at end;
  if closes_after is not null then
    update private.door set received = (
      select count(*) from (
        select from public.retreat_applications where created_at >= opened_at limit set_door.closes_after
      ) as since_opening
    );
  end if;
  insert into private.history (author, kind, detail)
    values (set_door.author, 'door', private.door_state() - '{version,received}'::text[]);
  return private.door_state();
end
$$;
