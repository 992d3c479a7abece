-- The desk: what organisers make of the applications. It lies apart from the answers, which nothing here changes, and
-- whoever uses it does so by the functions below. No table is anybody's.

-- Where an application stands. No row means New, so that an insert writes nothing more.
create table private.statuses (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  -- The application's own, so that a list of one status is in the order of all.
  created_at timestamptz not null,
  status text not null check (status in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined')),
  -- Counts the changes: who decides says which one they saw.
  version integer not null
);
create index statuses_newest on private.statuses (status, created_at desc, application_id desc);

-- What happened, to an application or to all of this. It is only ever added to, and goes when the application goes.
create table private.history (
  id bigint generated always as identity primary key,
  application_id uuid references public.retreat_applications (id) on delete cascade,
  -- Given by who acts, so that an act that is repeated because its answer was lost is the same act.
  act uuid not null default gen_random_uuid(),
  at timestamptz not null default now(),
  -- An e-mail as text: it outlives the account.
  author text not null,
  kind text not null check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door')),
  detail jsonb not null default '{}',
  unique (application_id, act)
);
create index history_of_no_application on private.history (id) where application_id is null;

-- Whether applications are taken. One row.
create table private.door (
  is_only boolean primary key default true check (is_only),
  version integer not null default 0,
  closed boolean not null default false,
  -- What an applicant reads while it is closed.
  sentence text not null default '',
  closes_at timestamptz,
  closes_after integer check (closes_after > 0),
  opened_at timestamptz not null default '-infinity',
  -- Applications since it was opened; kept only while a number closes it.
  received integer not null default 0
);
insert into private.door default values;

-- Names, e-mail, phone, LinkedIn and company are hidden from who reads blind.
alter table private.organisers add column blind boolean not null default false;

alter table private.statuses enable row level security;
alter table private.history enable row level security;
alter table private.door enable row level security;
revoke all on table private.statuses, private.history, private.door from public, anon, authenticated;

-- Search -----------------------------------------------------------------------------------------------------------

-- Without accents and case; an address falls into its words.
create function private.folded(said text) returns text
  language plpgsql immutable parallel safe
as $$
begin
  -- Most are ASCII, and the other way takes several times as long.
  if octet_length(said) = char_length(said) then
    return regexp_replace(lower(said collate "C"), '[@.:/_+<>&-]', ' ', 'g');
  end if;
  -- Without accents, and without what joins and parts unseen.
  said := regexp_replace(normalize(lower(said collate "und-x-icu"), nfkd),
    '[\u0300-\u036f\u00ad\u200c-\u200f\u2060\ufe00-\ufe0f\ufeff]', '', 'g');
  -- Quotes, dashes, arrows, emoji too: a database without a locale takes them for letters of the word beside them.
  return regexp_replace(said,
    '[@.:/_+<>&\u00a1-\u00bf\u2000-\u2bff\u3000-\u3004\u3008-\u3020\u3030\U0001f000-\U0001faff-]', ' ', 'g');
end
$$;

-- Of what is very long the beginning alone: a vector holds a megabyte, and an application that does not fit must not be
-- refused for that. Who reads blind searches with the first five left out.
create function private.search_vector(
  first_name text, last_name text, email text, linkedin text, company text, custom_solution text, reason text
) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('pg_catalog.simple'::regconfig, private.folded(
    left(first_name, 500) || ' ' || left(last_name, 500) || ' ' || left(email, 500) || ' ' || left(linkedin, 500) || ' '
    || left(company, 500) || ' ' || left(custom_solution, 1000) || ' ' || left(reason, 10000)));

-- Whoever inserts has to be able to compute what is indexed.
revoke all on function private.folded(text) from public;
revoke all on function private.search_vector(text, text, text, text, text, text, text) from public;
grant execute on function private.folded(text) to anon, service_role;
grant execute on function private.search_vector(text, text, text, text, text, text, text) to anon, service_role;

-- Updated in passing: measured, that costs the inserts less, also the slowest of a thousand.
create index retreat_applications_search on public.retreat_applications using gin (
  private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason)
) with (fastupdate = on);
-- A digest, because an index entry holds at most 2,704 bytes.
create index retreat_applications_same_email on public.retreat_applications (md5(lower(email)));

-- All words have to be there; the last may be the beginning of one, from three letters on.
create function private.search_query(search text) returns tsquery
  language plpgsql immutable set search_path = ''
as $$
declare
  words text[] := regexp_split_to_array(btrim(private.folded(left(search, 200))), '\s+');
  query text;
begin
  select string_agg(
    '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
      || case when place = cardinality(words) and char_length(lexeme) >= 3 then ':*' else '' end, ' & ')
    into query
    from unnest(words) with ordinality as word (said, place),
      unnest(tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, said))) as lexeme;
  return cast(query as tsquery);
end
$$;

-- Finding ----------------------------------------------------------------------------------------------------------

-- The ids of the applications that a filter lets through, the newest first, and where to go on. It looks at so many
-- candidates and no more, whatever the filter: a call that finds little comes back with where it stopped.
--
-- In the filter, each of them optional: status, search, team_size, paid_solution, since, until.
create function private.find(
  filter jsonb, after jsonb, most integer, look integer, blind boolean, out ids uuid[], out next jsonb
)
  language plpgsql stable set search_path = ''
as $$
declare
  wanted text := nullif(filter ->> 'status', 'all');
  query tsquery;
  hits uuid[];
  -- Where it begins, exclusive, and where it ends.
  before timestamptz := coalesce((after ->> 'created_at')::timestamptz, (filter ->> 'until')::timestamptz, 'infinity');
  before_id uuid := coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
  since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  candidates refcursor;
  candidate record;
  looked integer := 0;
begin
  if wanted not in ('new', 'shortlisted', 'accepted', 'waitlisted', 'declined') then
    raise exception 'There is no status "%".', left(wanted, 100) using errcode = '22023';
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
        coalesce(standing.status, 'new') as status, true as matches
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where id = any (hits) and (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  elsif query is null and wanted <> 'new' then
    open candidates for
      select id, application.created_at, team_size, paid_solution, standing.status, true as matches
      from private.statuses as standing join public.retreat_applications as application on id = application_id
      where standing.status = wanted
        and (standing.created_at, application_id) < (before, before_id) and standing.created_at >= since
      order by standing.created_at desc, application_id desc;
  else
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, query is null or case when blind
          then private.search_vector('', '', '', '', '', custom_solution, reason)
          else private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason)
        end @@ query as matches
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  end if;
  loop
    fetch candidates into candidate;
    exit when not found;
    if cardinality(ids) = most or looked = look then
      -- There is more: the next call begins behind the last one that was looked at.
      return;
    end if;
    looked := looked + 1;
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

-- The applications that a search finds, where they are few; null where they are many.
create function private.hits(query tsquery, blind boolean) returns uuid[]
  -- Volatile, because no other function may ask for a plan. Expecting to find a thousand soon, the planner would read
  -- the whole table.
  language plpgsql volatile set search_path = '' set enable_seqscan = off
as $$
declare
  plan jsonb;
  hits uuid[];
begin
  -- By what the planner knows of common words: the index itself takes as long as there are hits.
  execute format(
    'explain (format json) select from public.retreat_applications
     where private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason) @@ %L::tsquery',
    query
  ) into plan;
  if (plan #>> '{0,Plan,Plan Rows}')::float > 20000 then return null; end if;
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
create function private.counts(filter jsonb, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  statuses text[] := '{new,shortlisted,accepted,waitlisted,declined}';
  counts jsonb := '{}';
  each_status text;
  counted integer;
  decided integer := 0;
  sample record;
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
  -- New is what is left. Where too many are decided to be counted, there is only to be said that there are some.
  select count(*) into counted
    from (select from public.retreat_applications limit decided + 1001) as application;
  return counts || jsonb_build_object(
    'new', jsonb_build_object('count', least(counted - decided, 1000),
      'more', counted - decided > 1000 or decided > 20000),
    'all', jsonb_build_object('count', least(counted, 1000), 'more', counted > 1000)
  );
end
$$;

-- An application as an organiser may see it: its answers, where it stands, and whether its e-mail applied again.
create function private.shown(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select to_jsonb(application)
      - case when blind then '{first_name,last_name,email,phone,linkedin,company}' else '{}' end::text[]
    || jsonb_build_object(
      'status', coalesce(standing.status, 'new'),
      'version', coalesce(standing.version, 0),
      'same_email', not blind and exists (
        select from public.retreat_applications as other
        where md5(lower(other.email)) = md5(lower(application.email)) and other.id <> application.id
      )
    )
  from (values (application.id)) as one (id) left join private.statuses as standing on application_id = one.id
$$;

-- The functions of the desk --------------------------------------------------------------------------------------

-- Who calls. Each function of the desk begins with it: asked in a `where`, it would be for the planner to say what
-- comes first.
create function private.caller(out email text, out blind boolean)
  language plpgsql stable set search_path = ''
as $$
begin
  if not private.is_organiser() then
    raise exception 'permission denied: not an organiser' using errcode = '42501';
  end if;
  select users.email, organisers.blind into caller.email, caller.blind
    from private.organisers join auth.users on users.id = account_id where account_id = auth.uid();
end
$$;

-- Of long answers the beginning: an answer may be as long as a request.
create function private.beginnings(shown jsonb) returns jsonb
  language sql immutable set search_path = ''
as $$
  select jsonb_object_agg(
    key, case jsonb_typeof(value) when 'string' then to_jsonb(left(value #>> '{}', 200)) else value end)
  from jsonb_each(shown)
$$;

-- Fifty applications, and where to go on.
create function public.desk_list(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 50, 1000, me.blind);
begin
  return jsonb_build_object('next', found.next, 'applications', (
    select coalesce(jsonb_agg(
      private.beginnings(private.shown(application, me.blind) - '{phone,linkedin,custom_solution,consent}'::text[])
        || jsonb_build_object('reason',
          split_part(translate(left(ltrim(reason, E' \t\r\n'), 200), E'\r', E'\n'), E'\n', 1)) order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
  ));
end
$$;

-- How many there are in each status, and how the newest thousand that the filter lets through are made up: a day in
-- the time zone that is named, and the answers of the two choices. `more`: there are more than were counted.
create function public.desk_overview(filter jsonb default '{}', zone text default 'UTC') returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sample record := private.find(filter, null, 1000, 1000, me.blind);
begin
  return (
    with hit as materialized (
      select (created_at at time zone zone)::date as day, team_size, paid_solution
      from public.retreat_applications where id = any (sample.ids)
    )
    select jsonb_build_object(
      'counts', private.counts(filter - 'status', me.blind),
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

-- Up to a thousand whole applications, fewer where they are long, and where to go on.
create function public.desk_export(filter jsonb default '{}', after jsonb default null) returns jsonb
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
    select coalesce(jsonb_agg(private.shown(application, me.blind) order by place), '[]')
    from unnest(found.ids) with ordinality as hit (id, place)
      join public.retreat_applications as application using (id)
  ));
end
$$;

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
    'application', private.shown(given, blind),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind, 'detail', detail) order by id), '[]')
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
        where md5(lower(email)) = md5(lower(given.email)) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

create function public.desk_application(application uuid) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.whole(application, me.blind);
end
$$;

-- Adds to an application's history, once for each act. An act that was another one already is refused: nothing is said
-- to be written that is not.
create function private.write_down(application uuid, act uuid, author text, kind text, detail jsonb) returns void
  language plpgsql set search_path = ''
as $$
begin
  -- Held until it is written, so that it is refused and not lost where somebody erases meanwhile.
  perform from public.retreat_applications where id = application for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  insert into private.history (application_id, act, author, kind, detail)
    values (application, write_down.act, write_down.author, write_down.kind, write_down.detail) on conflict do nothing;
  if not found and not exists (
    select from private.history as written
    where application_id = application and written.act = write_down.act and written.author = write_down.author
      and written.kind = write_down.kind and written.detail = write_down.detail
  ) then
    raise exception 'This was something else before: nothing was written.' using errcode = 'PT409';
  end if;
end
$$;

-- The same with what blind reading hides, which is written down.
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

-- Whether the caller reads blind.
create function public.desk_blind() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('blind', me.blind);
end
$$;

create function public.desk_set_blind(blind boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_set_blind.blind is null then
    raise exception 'Blind reading is on or off.' using errcode = '22023';
  end if;
  if me.blind <> desk_set_blind.blind then
    update private.organisers set blind = desk_set_blind.blind where account_id = auth.uid();
    insert into private.history (author, kind, detail)
      values (me.email, 'blind', jsonb_build_object('on', desk_set_blind.blind));
  end if;
  return jsonb_build_object('blind', desk_set_blind.blind);
end
$$;

-- Sets statuses, each of them only where the application still stands as whoever decides saw it. `decisions` is an
-- array of {id, status, version}; what comes back says of each what became of it: kept, stale (with who did what
-- meanwhile), or gone. The same act again changes nothing.
create function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  application record;
  standing private.statuses;
  outcome text;
  last_change record;
  outcomes jsonb := '[]';
begin
  if jsonb_array_length(decisions) > 1000 then
    raise exception 'At most 1,000 applications are decided at once.' using errcode = '22023';
  end if;
  -- In one order, so that two who decide at the same time wait for each other and not in a circle.
  for decision in
    select distinct on (id) id, status, version
    from jsonb_to_recordset(decisions) as sent (id uuid, status text, version integer) order by id
  loop
    select id, created_at into application
      from public.retreat_applications where id = decision.id for key share;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, created_at, status, version)
      values (application.id, application.created_at, 'new', 0) on conflict do nothing;
    select * into standing from private.statuses where application_id = application.id for update;
    select author, at, history.act into last_change
      from private.history where application_id = application.id and kind = 'status' order by id desc limit 1;
    if last_change.act = desk_decide.act and decision.status = standing.status then
      outcome := 'kept';
    elsif decision.version is distinct from standing.version then
      outcome := 'stale';
    else
      outcome := 'kept';
      if decision.status is distinct from standing.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          application.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', standing.status)
        ) returning author, at, history.act into last_change;
        update private.statuses set status = decision.status, version = standing.version + 1
          where application_id = application.id returning * into standing;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', application.id, 'outcome', outcome, 'status', standing.status, 'version', standing.version,
      'author', last_change.author, 'at', last_change.at
    );
  end loop;
  return outcomes;
end
$$;

create function public.desk_note(act uuid, application uuid, note text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if coalesce(btrim(note, E' \t\r\n'), '') = '' or char_length(note) > 10000 then
    raise exception 'A note has between 1 and 10,000 characters.' using errcode = '22023';
  end if;
  perform private.write_down(application, act, me.email, 'note', jsonb_build_object('note', note));
  return private.whole(application, me.blind) -> 'history';
end
$$;

-- Erases applications of one e-mail for good, with all that is known of them. Only that it happened stays.
create function public.desk_erase(applications uuid[], email text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  erased integer;
begin
  -- In the order in which they are decided.
  perform from public.retreat_applications where id = any (applications) order by id for update;
  if exists (
    select from public.retreat_applications as application
    where id = any (applications)
      and lower(btrim(application.email)) is distinct from lower(btrim(desk_erase.email))
  ) then
    raise exception 'This is not the e-mail of what is to be erased.' using errcode = '22023';
  end if;
  delete from public.retreat_applications as application
    where id = any (applications) and lower(btrim(application.email)) = lower(btrim(desk_erase.email));
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (author, kind, detail)
      values (me.email, 'erased', jsonb_build_object('applications', erased));
  end if;
  return jsonb_build_object('erased', erased);
end
$$;

-- The door -------------------------------------------------------------------------------------------------------

-- Refuses what comes while it is closed, with the organisers' sentence. After the insert, so that what is stored
-- already is told first, by its index: a repeat of it is a success, whatever the door says.
create function private.keep_door() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  door private.door;
begin
  select * into door from private.door;
  if not door.closed and door.closes_after is not null then
    -- Only while there is a number do those who apply at the same moment wait for each other.
    select * into door from private.door for update;
    if not door.closed and door.received < door.closes_after then
      update private.door set received = received + 1;
      door.closes_after := null;
    end if;
  end if;
  if door.closed or now() >= door.closes_at or door.closes_after is not null then
    raise exception using errcode = 'PT403', message = coalesce(nullif(door.sentence, ''), 'Applications are closed.');
  end if;
  return null;
end
$$;

create trigger keep_door after insert on public.retreat_applications
  for each row execute function private.keep_door();

create function private.door_state() returns jsonb
  language sql stable set search_path = ''
as $$
  select to_jsonb(door) - 'is_only' || jsonb_build_object(
    'opened_at', nullif(opened_at, '-infinity'),
    'is_open', not (closed or coalesce(now() >= closes_at, false) or coalesce(received >= closes_after, false))
  ) from private.door
$$;

-- Opens or closes; from the program's command too, which has seen no version and asks for none.
create function private.set_door(
  author text, seen integer, closed boolean, sentence text, closes_at timestamptz, closes_after integer
) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  stood private.door;
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
  if stood.version <> seen then
    raise exception 'Somebody else changed the door meanwhile.' using errcode = 'PT409';
  elsif set_door.closes_at <= now() and set_door.closes_at is distinct from stood.closes_at then
    raise exception 'The moment at which the door closes is past.' using errcode = '22023';
  end if;
  -- Another sentence on a door that a number or a moment closed does not open it.
  opens := not set_door.closed and not (private.door_state() ->> 'is_open')::boolean and (
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

-- How the door stands, and what happened to it and to no application: who opened, closed, erased.
create function public.desk_door() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.door_state() || jsonb_build_object('history', (
    select coalesce(jsonb_agg(jsonb_build_object('at', at, 'author', author, 'kind', kind, 'detail', detail)), '[]')
    from (select * from private.history where application_id is null order by id desc limit 50) as newest
  ));
end
$$;

create function public.desk_set_door(
  version integer, closed boolean, sentence text default '', closes_at timestamptz default null,
  closes_after integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  -- Who says no version has seen none.
  return private.set_door(me.email, coalesce(version, -1), coalesce(closed, false), sentence, closes_at, closes_after);
end
$$;

-- What is private is nobody's. Hosted projects let the API's roles execute every new function of `public`.
revoke all on function
  private.search_query(text), private.hits(tsquery, boolean), private.counts(jsonb, boolean), private.find(jsonb, jsonb, integer, integer, boolean),
  private.shown(public.retreat_applications, boolean), private.beginnings(jsonb), private.whole(uuid, boolean),
  private.caller(), private.write_down(uuid, uuid, text, text, jsonb),
  private.keep_door(), private.door_state(), private.set_door(text, integer, boolean, text, timestamptz, integer)
  from public;
revoke all on function
  public.desk_list(jsonb, jsonb), public.desk_overview(jsonb, text), public.desk_export(jsonb, jsonb),
  public.desk_application(uuid), public.desk_reveal(uuid, uuid), public.desk_blind(), public.desk_set_blind(boolean),
  public.desk_decide(uuid, jsonb), public.desk_note(uuid, uuid, text), public.desk_erase(uuid[], text),
  public.desk_door(), public.desk_set_door(integer, boolean, text, timestamptz, integer)
  from public, anon, authenticated;
grant execute on function
  public.desk_list(jsonb, jsonb), public.desk_overview(jsonb, text), public.desk_export(jsonb, jsonb),
  public.desk_application(uuid), public.desk_reveal(uuid, uuid), public.desk_blind(), public.desk_set_blind(boolean),
  public.desk_decide(uuid, jsonb), public.desk_note(uuid, uuid, text), public.desk_erase(uuid[], text),
  public.desk_door(), public.desk_set_door(integer, boolean, text, timestamptz, integer)
  to authenticated;
