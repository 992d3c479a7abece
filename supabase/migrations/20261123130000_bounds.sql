-- What strangers send is bounded, and what a search takes does not depend on what they sent.

-- Length -----------------------------------------------------------------------------------------------------------

-- Against abuse alone, far beyond what anybody writes. A trigger and no constraint: what was stored before stays, also
-- in a backup that is restored, and whoever applies reads a sentence.
create function private.refuse_too_long() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  answer record;
begin
  for answer in
    select * from (values
      ('first_name', new.first_name, 10000), ('last_name', new.last_name, 10000), ('email', new.email, 10000),
      ('phone', new.phone, 10000), ('linkedin', new.linkedin, 10000), ('company', new.company, 10000),
      ('custom_solution', new.custom_solution, 100000), ('reason', new.reason, 100000)
    ) as answers (name, said, most)
  loop
    if char_length(answer.said) > answer.most then
      raise exception 'The answer "%" is too long: it may have up to % characters.',
        answer.name, ltrim(to_char(answer.most, '999,999')) using errcode = '23514', column = answer.name;
    end if;
  end loop;
  return new;
end
$$;
revoke all on function private.refuse_too_long() from public, anon, authenticated;

create trigger refuse_too_long
  before insert or update of first_name, last_name, email, phone, linkedin, company, custom_solution, reason
  on public.retreat_applications for each row
  -- Bytes are known, characters are counted: only where there may be too many is the function called.
  when (
    octet_length(new.first_name) > 10000 or octet_length(new.last_name) > 10000 or octet_length(new.email) > 10000
    or octet_length(new.phone) > 10000 or octet_length(new.linkedin) > 10000 or octet_length(new.company) > 10000
    or octet_length(new.custom_solution) > 100000 or octet_length(new.reason) > 100000
  )
  execute function private.refuse_too_long();

-- Search -----------------------------------------------------------------------------------------------------------

-- Without accents and case; an address falls into its words. Some letters fold into eighteen: no language needs more
-- than three for one, so beyond that it is cut. What was indexed before differs in nothing else.
create or replace function private.folded(said text) returns text
  language plpgsql immutable parallel safe
as $$
begin
  -- Most are ASCII, and the other way takes several times as long.
  if octet_length(said) = char_length(said) then
    return regexp_replace(lower(said collate "C"), '[@.:/_+<>&-]', ' ', 'g');
  end if;
  -- Without accents, and without what joins and parts unseen.
  said := regexp_replace(left(normalize(lower(said collate "und-x-icu"), nfkd), 40000),
    '[\u0300-\u036f\u00ad\u200c-\u200f\u2060\ufe00-\ufe0f\ufeff]', '', 'g');
  -- Quotes, dashes, arrows, emoji too: a database without a locale takes them for letters of the word beside them.
  return regexp_replace(said,
    '[@.:/_+<>&\u00a1-\u00bf\u2000-\u2bff\u3000-\u3004\u3008-\u3020\u3030\U0001f000-\U0001faff-]', ' ', 'g');
end
$$;

-- How much there is to search in an application, in bytes; those of signs beyond ASCII count more, since they take longer
-- to fold. Whoever inserts has to be able to compute it.
create function private.search_octets(
  first_name text, last_name text, email text, linkedin text, company text, custom_solution text, reason text
) returns integer
  language sql immutable parallel safe
  return 3 * (octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(linkedin)
      + octet_length(company) + octet_length(custom_solution) + octet_length(reason))
    - 2 * (char_length(first_name) + char_length(last_name) + char_length(email) + char_length(linkedin)
      + char_length(company) + char_length(custom_solution) + char_length(reason));
revoke all on function private.search_octets(text, text, text, text, text, text, text) from public;
grant execute on function private.search_octets(text, text, text, text, text, text, text) to anon, service_role;

-- What is found among the newest is compared with each of them: folding them and parting them into words takes sixty
-- times as long for the longest as for an ordinary one. So of the long ones this is done once and kept.
create table private.search_vectors (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  vector tsvector not null,
  -- Of what is searched by who reads blind.
  blind_vector tsvector not null
);
alter table private.search_vectors enable row level security;
revoke all on table private.search_vectors from public, anon, authenticated;

create function private.search_vectors_of(application public.retreat_applications) returns private.search_vectors
  language sql stable set search_path = ''
as $$
  with parts as materialized (
    select
      private.search_vector(application.first_name, application.last_name, application.email, application.linkedin,
        application.company, '', '') as others,
      private.search_vector('', '', '', '', '', application.custom_solution, application.reason) as answers
  )
  select application.id, strip(others || answers), strip(answers) from parts
$$;

create function private.keep_search_vectors() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.search_vectors select kept.* from private.search_vectors_of(new) as kept
    on conflict (application_id) do update set vector = excluded.vector, blind_vector = excluded.blind_vector;
  return null;
end
$$;
revoke all on function
  private.search_vectors_of(public.retreat_applications), private.keep_search_vectors()
  from public, anon, authenticated;

create trigger keep_search_vectors after insert on public.retreat_applications for each row
  when (private.search_octets(new.first_name, new.last_name, new.email, new.linkedin, new.company,
    new.custom_solution, new.reason) > 2000)
  execute function private.keep_search_vectors();
-- An answer is changed by hand alone. What has become short keeps its words, too.
create trigger keep_search_vectors_changed
  after update of first_name, last_name, email, linkedin, company, custom_solution, reason
  on public.retreat_applications for each row
  when (private.search_octets(old.first_name, old.last_name, old.email, old.linkedin, old.company,
    old.custom_solution, old.reason) > 2000
    or private.search_octets(new.first_name, new.last_name, new.email, new.linkedin, new.company,
    new.custom_solution, new.reason) > 2000)
  execute function private.keep_search_vectors();

insert into private.search_vectors
  select kept.*
  from public.retreat_applications as application, private.search_vectors_of(application) as kept
  where private.search_octets(first_name, last_name, email, linkedin, company, custom_solution, reason) > 2000;

-- A thousand and one of those that the index has, or fewer.
create function private.indexed(query tsquery) returns uuid[]
  -- Where it expects that many fit, the planner would rather compare row after row: costly where they are long.
  language sql stable set search_path = '' set enable_seqscan = off set enable_indexscan = off
as $$
  select array_agg(id) from (
    select id from public.retreat_applications
    where private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason) @@ query
    limit 1001
  ) as hit
$$;
revoke all on function private.indexed(tsquery) from public, anon, authenticated;

-- The applications that a search finds, where they are few; null where they are many.
create or replace function private.hits(query tsquery, blind boolean) returns uuid[]
  language plpgsql stable set search_path = ''
as $$
declare
  stored float := (select reltuples from pg_class where oid = 'public.retreat_applications'::regclass);
  hits uuid[];
begin
  -- The index takes as long as there are hits, however few are wanted. How many there will be a hundred tell, or as many
  -- as are not much to look at: the first by their ids, which are random, so that nobody chooses who is asked. The planner
  -- knows common words, but not beginnings that are common by many rare words.
  if stored > 20000 and stored * (
    select coalesce(avg((coalesce(
      vector, private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason)
    ) @@ query)::integer), 0)
    from (
      select application.*, vector, sum(case when vector is null then private.search_octets(
          first_name, last_name, email, linkedin, company, custom_solution, reason) else 300 end)
        over (order by id) as octets
      from (select * from public.retreat_applications order by id limit 100) as application
        left join private.search_vectors on application_id = id
    ) as sampled
    where octets <= 30000
  ) > 20000 then
    return null;
  end if;
  hits := private.indexed(query);
  if cardinality(hits) > 1000 then return null; end if;
  return array(
    select id from public.retreat_applications left join private.search_vectors on application_id = id
    where id = any (hits) and (not blind
      or coalesce(blind_vector, private.search_vector('', '', '', '', '', custom_solution, reason)) @@ query)
  );
end
$$;

-- The ids of the applications that a filter lets through, the newest first, and where to go on. It looks at so many
-- candidates and no more, whatever the filter, and a second at the most: a call that finds little comes back with where
-- it stopped.
--
-- In the filter, each of them optional: status, search, team_size, paid_solution, since, until.
create or replace function private.find(
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
  -- As much as in two hundred ordinary applications.
  octets_left integer := 60000;
  ends timestamptz := clock_timestamp() + interval '1 second';
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
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where id = any (hits) and (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  elsif query is null and wanted <> 'new' then
    open candidates for
      select id, application.created_at, team_size, paid_solution, standing.status, true as matches, 0 as octets
      from private.statuses as standing join public.retreat_applications as application on id = application_id
      where standing.status = wanted
        and (standing.created_at, application_id) < (before, before_id) and standing.created_at >= since
      order by standing.created_at desc, application_id desc;
  elsif query is null then
    open candidates for
      select id, application.created_at, team_size, paid_solution,
        coalesce(standing.status, 'new') as status, true as matches, 0 as octets
      from public.retreat_applications as application
        left join private.statuses as standing on application_id = id
      where (application.created_at, id) < (before, before_id) and application.created_at >= since
      order by application.created_at desc, id desc;
  else
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

-- Fifty applications, and where to go on. Cut before anything is made of them: an answer may be long.
create or replace function public.desk_list(filter jsonb default '{}', after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  found record := private.find(filter, after, 50, 1000, me.blind);
begin
  return jsonb_build_object('next', found.next, 'applications', (
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
