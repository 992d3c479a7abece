-- Search: the words of an application, and which applications have those that are asked for.

-- Folds a text: it removes accents and case, and splits an address into its words. Some letters fold into eighteen. No
-- language needs more than three for one letter, so beyond that it is cut. Older rows were indexed without that cut.
create function private.folded(said text) returns text
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

-- Only the beginning of a very long answer is indexed: a vector holds a megabyte, and an application must not be refused
-- because it is longer. Organisers who read blind search without the first five columns.
create function private.search_vector(
  first_name text, last_name text, email text, linkedin text, company text, custom_solution text, reason text
) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('pg_catalog.simple'::regconfig, private.folded(
    left(first_name, 500) || ' ' || left(last_name, 500) || ' ' || left(email, 500) || ' ' || left(linkedin, 500) || ' '
    || left(company, 500) || ' ' || left(custom_solution, 1000) || ' ' || left(reason, 10000)));

-- The bytes to search in an application. Characters beyond ASCII count more, since they take longer to fold. Whoever inserts
-- needs the right to compute it.
create function private.search_octets(
  first_name text, last_name text, email text, linkedin text, company text, custom_solution text, reason text
) returns integer
  language sql immutable parallel safe
  return 3 * (octet_length(first_name) + octet_length(last_name) + octet_length(email) + octet_length(linkedin)
      + octet_length(company) + octet_length(custom_solution) + octet_length(reason))
    - 2 * (char_length(first_name) + char_length(last_name) + char_length(email) + char_length(linkedin)
      + char_length(company) + char_length(custom_solution) + char_length(reason));

-- The index has a pending list (`fastupdate`), which costs the inserts less, also the slowest of a thousand. When the list has
-- so many kilobytes it is sorted in, and that insert waits: smaller steps make the wait shorter and come a little more often
-- (docs/decisions/0019 has the figures).
create index retreat_applications_search on public.retreat_applications using gin (
  private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason)
) with (fastupdate = on, gin_pending_list_limit = 256);

-- A search reads the newest applications one by one. Folding the longest and splitting it into words takes sixty times as long
-- as for an ordinary one, so the result is kept for the long ones.
create table private.search_vectors (
  application_id uuid primary key references public.retreat_applications (id) on delete cascade,
  vector tsvector not null,
  -- Of what is searched by who reads blind.
  blind_vector tsvector not null
);
alter table private.search_vectors enable row level security;

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
  -- What has become short by a change keeps its words, too.
  if tg_op = 'INSERT' and private.search_octets(new.first_name, new.last_name, new.email, new.linkedin, new.company,
      new.custom_solution, new.reason) <= 2000 then
    return null;
  end if;
  insert into private.search_vectors select kept.* from private.search_vectors_of(new) as kept
    on conflict (application_id) do update set vector = excluded.vector, blind_vector = excluded.blind_vector;
  return null;
end
$$;

create trigger keep_search_vectors after insert on public.retreat_applications for each row
  -- A byte counts for two and a half of the 2,000 at the most. What is stored may be compressed, this is not yet.
  when (pg_column_size(new) > 800)
  execute function private.keep_search_vectors();

-- Answers are only ever changed by hand. An application that has become short keeps its words, too.
create trigger keep_search_vectors_changed
  after update of first_name, last_name, email, linkedin, company, custom_solution, reason
  on public.retreat_applications for each row
  when (private.search_octets(old.first_name, old.last_name, old.email, old.linkedin, old.company,
    old.custom_solution, old.reason) > 2000
    or private.search_octets(new.first_name, new.last_name, new.email, new.linkedin, new.company,
    new.custom_solution, new.reason) > 2000)
  execute function private.keep_search_vectors();

-- All words have to match. The last one may be the beginning of a word, from three letters on.
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

-- At most a thousand and one of the applications that the index finds.
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

-- The applications that a search finds, where they are few; null where they are many.
create function private.hits(query tsquery, blind boolean) returns uuid[]
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
