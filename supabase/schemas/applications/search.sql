-- Search: the words of an application, and the applications that have the wanted words.

-- Folds a text: removes accents and case, and splits addresses into words. Some characters fold into eighteen others. Texts in
-- real languages need at most three each, so the result is cut at three times the longest text that is indexed. A change of the
-- result needs a new function and a new index (docs/decisions/0073).
create function private.folded(said text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  -- What Unicode does not decompose, as in PostgreSQL's unaccent.rules, and the sigma at the end of a word. Without the `cast`,
  -- each call would parse the text.
  letters constant jsonb := cast('{
    "ß":"ss", "æ":"ae", "ð":"d", "ø":"o", "þ":"th", "đ":"d", "ħ":"h", "ı":"i", "ĸ":"q", "ł":"l", "ŋ":"n", "œ":"oe", "ŧ":"t",
    "ƀ":"b", "ƃ":"b", "ƈ":"c", "ƌ":"d", "ƒ":"f", "ƕ":"hv", "ƙ":"k", "ƚ":"l", "ƞ":"n", "ƣ":"oi", "ƥ":"p", "ƫ":"t", "ƭ":"t",
    "ƴ":"y", "ƶ":"z", "ǥ":"g", "ȡ":"d", "ȥ":"z", "ȴ":"l", "ȵ":"n", "ȶ":"t", "ȷ":"j", "ȸ":"db", "ȹ":"qp", "ȼ":"c", "ȿ":"s",
    "ɀ":"z", "ɇ":"e", "ɉ":"j", "ɍ":"r", "ɏ":"y", "ɓ":"b", "ɕ":"c", "ɖ":"d", "ɗ":"d", "ɛ":"e", "ɟ":"j", "ɠ":"g", "ɡ":"g", "ɢ":"g",
    "ɦ":"h", "ɧ":"h", "ɨ":"i", "ɩ":"i", "ɪ":"i", "ɫ":"l", "ɬ":"l", "ɭ":"l", "ɱ":"m", "ɲ":"n", "ɳ":"n", "ɴ":"n", "ɶ":"oe", "ɼ":"r",
    "ɽ":"r", "ɾ":"r", "ʀ":"r", "ʂ":"s", "ʈ":"t", "ʉ":"u", "ʋ":"v", "ʏ":"y", "ʐ":"z", "ʑ":"z", "ʙ":"b", "ʛ":"g", "ʜ":"h", "ʝ":"j",
    "ʟ":"l", "ʠ":"q", "ʣ":"dz", "ʥ":"dz", "ʦ":"ts", "ʪ":"ls", "ʫ":"lz", "ς":"σ", "ᴀ":"a", "ᴁ":"ae", "ᴃ":"b", "ᴄ":"c", "ᴅ":"d",
    "ᴆ":"d", "ᴇ":"e", "ᴊ":"j", "ᴋ":"k", "ᴌ":"l", "ᴍ":"m", "ᴏ":"o", "ᴘ":"p", "ᴛ":"t", "ᴜ":"u", "ᴠ":"v", "ᴡ":"w", "ᴢ":"z", "ᵫ":"ue",
    "ᵬ":"b", "ᵭ":"d", "ᵮ":"f", "ᵯ":"m", "ᵰ":"n", "ᵱ":"p", "ᵲ":"r", "ᵳ":"r", "ᵴ":"s", "ᵵ":"t", "ᵶ":"z", "ᵺ":"th", "ᵻ":"i", "ᵽ":"p",
    "ᵾ":"u", "ᶀ":"b", "ᶁ":"d", "ᶂ":"f", "ᶃ":"g", "ᶄ":"k", "ᶅ":"l", "ᶆ":"m", "ᶇ":"n", "ᶈ":"p", "ᶉ":"r", "ᶊ":"s", "ᶌ":"v", "ᶍ":"x",
    "ᶎ":"z", "ᶏ":"a", "ᶑ":"d", "ᶒ":"e", "ᶓ":"e", "ᶖ":"i", "ᶙ":"u", "ẜ":"s", "ẝ":"s", "ỻ":"ll", "ỽ":"v", "ỿ":"y", "ⱡ":"l", "ⱥ":"a",
    "ⱦ":"t", "ⱨ":"h", "ⱪ":"k", "ⱬ":"z", "ⱱ":"v", "ⱳ":"w", "ⱴ":"v", "ⱸ":"e", "ⱺ":"o", "ꜰ":"f", "ꜱ":"s", "ꜳ":"aa", "ꜵ":"ao",
    "ꜷ":"au", "ꜹ":"av", "ꜻ":"av", "ꜽ":"ay", "ꝁ":"k", "ꝃ":"k", "ꝅ":"k", "ꝇ":"l", "ꝉ":"l", "ꝋ":"o", "ꝍ":"o", "ꝏ":"oo", "ꝑ":"p",
    "ꝓ":"p", "ꝕ":"p", "ꝗ":"q", "ꝙ":"q", "ꝟ":"v", "ꝡ":"vy", "ꝥ":"th", "ꝧ":"th", "ꝱ":"d", "ꝲ":"l", "ꝳ":"m", "ꝴ":"n", "ꝵ":"r",
    "ꝶ":"r", "ꝷ":"t", "ꝺ":"d", "ꝼ":"f", "ꞇ":"t", "ꞑ":"n", "ꞓ":"c", "ꞡ":"g", "ꞣ":"k", "ꞥ":"n", "ꞧ":"r", "ꞩ":"s"}' as jsonb);
begin
  -- Most texts are ASCII. For them this is several times as fast as the general case below.
  if octet_length(said) = char_length(said) then
    return regexp_replace(lower(said collate "C"), '[@.:/_+<>&-]', ' ', 'g');
  end if;
  -- Removes accents and invisible characters, such as joiners and soft hyphens. A bold letter decomposes into a capital.
  said := regexp_replace(lower(left(normalize(said, nfkd), 40000) collate "und-x-icu"),
    '[\u0300-\u036f\u00ad\u02be\u02bf\u1ab0-\u1aff\u1dc0-\u1dff\u200c-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]',
    '', 'g');
  if said ~ '[\u00df-\u02af\u03c2\u1d00-\u1eff\u2c61-\u2c7f\ua700-\ua7ff]|l\u00b7' then
    said := (
      select string_agg(coalesce(letters ->> letter, letter), '' order by position)
      from string_to_table(replace(said, 'l·', 'l'), null) with ordinality as split (letter, position));
  end if;
  -- Also splits at quotes, dashes, arrows and emoji: a database without a locale treats them as letters.
  return regexp_replace(said,
    '[@.:/_+<>&\u00a1-\u00bf\u00d7\u00f7\u02b9-\u02bd\u02c2-\u02d7\u2000-\u2bff'
    '\u3000-\u3004\u3008-\u3020\u3030\u30a0\u30fb\U0001f000-\U0001faff-]', ' ', 'g');
end
$$;

-- Only the beginning of a very long answer is indexed: a vector holds at most a megabyte, and longer applications must be
-- stored too. Organisers who read blind search without the first five columns.
create function private.search_vector(
  first_name text, last_name text, email text, linkedin text, company text, custom_solution text, reason text
) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('pg_catalog.simple'::regconfig, private.folded(
    left(first_name, 500) || ' ' || left(last_name, 500) || ' ' || left(email, 500) || ' ' || left(linkedin, 500) || ' '
    || left(company, 500) || ' ' || left(custom_solution, 1000) || ' ' || left(reason, 10000)));

-- The words of an application. Organisers who read blind search without the personal form answers.
create function private.words(application public.retreat_applications, blind boolean) returns tsvector
  language sql immutable parallel safe
as $$
  select case
    when blind then private.search_vector('', '', '', '', '', application.custom_solution, application.reason)
    else private.search_vector(application.first_name, application.last_name, application.email, application.linkedin,
      application.company, application.custom_solution, application.reason)
  end
$$;

-- The cost of searching an application, in bytes. Characters beyond ASCII count more, since they take longer to fold. A role
-- that updates applications needs the right to execute this function.
create function private.search_octets(application public.retreat_applications) returns integer
  language sql immutable parallel safe
as $$
  select 3 * (octet_length(application.first_name) + octet_length(application.last_name) + octet_length(application.email)
      + octet_length(application.linkedin) + octet_length(application.company) + octet_length(application.custom_solution)
      + octet_length(application.reason))
    - 2 * (char_length(application.first_name) + char_length(application.last_name) + char_length(application.email)
      + char_length(application.linkedin) + char_length(application.company) + char_length(application.custom_solution)
      + char_length(application.reason))
$$;

-- The index has a pending list (`fastupdate`), which makes inserts cheaper, even the slowest of a thousand. The insert that
-- fills the list merges it into the index. With a small list, this merge is shorter and slightly more frequent
-- (docs/decisions/0019 has the figures).
create index retreat_applications_search on public.retreat_applications using gin (
  private.search_vector(first_name, last_name, email, linkedin, company, custom_solution, reason)
) with (fastupdate = on, gin_pending_list_limit = 256);

create function private.keep_search_vectors() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  answers tsvector;
begin
  -- An application that an update makes short keeps its row, with new vectors.
  if tg_op = 'INSERT' and private.search_octets(new) <= 2000 then return null; end if;
  -- Folds the long answers only once, for both vectors.
  answers := private.words(new, true);
  insert into private.search_vectors values (new.id, strip(answers || private.search_vector(
      new.first_name, new.last_name, new.email, new.linkedin, new.company, '', '')), strip(answers))
    on conflict (application_id) do update set vector = excluded.vector, blind_vector = excluded.blind_vector;
  return null;
end
$$;

create trigger keep_search_vectors after insert on public.retreat_applications for each row
  -- Each byte adds at most 2.5 to `search_octets`, so that 800 bytes are at most 2,000. A new row is not compressed yet.
  when (pg_column_size(new) > 800)
  execute function private.keep_search_vectors();

-- Only operators change form answers, by hand in the database.
create trigger keep_search_vectors_changed after update on public.retreat_applications for each row
  when (private.search_octets(old) > 2000 or private.search_octets(new) > 2000)
  execute function private.keep_search_vectors();

-- The ids of up to 1,001 applications, found with the index.
create function private.indexed(query tsquery) returns uuid[]
  -- Otherwise the planner may scan all rows, which is slow if rows are long.
  language sql stable set search_path = '' set enable_seqscan = off set enable_indexscan = off
as $$
  select array_agg(id) from (
    select id from public.retreat_applications as application where private.words(application, false) @@ query limit 1001
  ) as hit
$$;

-- The words of a search, all of which have to match; null if it has none. From three letters on, the start of the last word is
-- enough. One letter is enough in a script that is written without spaces, since a word in it may be a whole sentence.
create function private.query_of(search text) returns tsquery
  language sql immutable set search_path = ''
as $$
  select cast(string_agg(
    '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
      || case when place = cardinality(words) and (char_length(lexeme) >= 3 or lexeme ~ (
        -- Thai to Burmese, Hangul, Khmer, from Tai Le to Balinese, from Chinese to Yi, Javanese and Tai Viet.
        '^[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u1b7f\u2e80-\ua4cf\ua960-\ua9ff\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff'
        '\U0001b000-\U0001b16f\U00020000-\U0003ffff]'))
        then ':*' else '' end, ' & ') as tsquery)
    from regexp_split_to_array(private.trimmed(private.folded(search)), '\s+') as words,
      unnest(words) with ordinality as word (said, place),
      unnest(tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, said))) as lexeme
$$;

-- A word of a search with each part that a domain may have in its other form.
create function private.other_form(word text) returns text
  language sql immutable set search_path = ''
as $$
  select coalesce(substring(word, '^.*@'), '') || other from (
    select string_agg(case when label like 'xn--%' then private.unicode_label(label) else private.ascii_label(label) end, '.'
      order by position) as other
    from regexp_split_to_table(substring(word, '[^@]*$'), '\.') with ordinality as split (label, position)) as made
$$;

-- Parses a search into `query`, null if it has no word. `hits` are the ids of the applications found, null if there are more than
-- 1,000. A domain is found in both of its forms. All words have to match. From three letters on, the start of the last word is
-- enough.
create function private.search(search text, blind boolean, out query tsquery, out hits uuid[])
  language plpgsql stable set search_path = ''
as $$
declare
  wanted text := lower(left(private.trimmed(search), 200) collate "und-x-icu");
  row_estimate float := (select reltuples from pg_class where oid = 'public.retreat_applications'::regclass);
begin
  query := private.query_of(wanted);
  if octet_length(wanted) > char_length(wanted) or wanted like '%xn--%' then
    select query || private.query_of(string_agg(private.other_form(word), ' ' order by position)) into query
      from regexp_split_to_table(wanted, '\s+') with ordinality as split (word, position);
  end if;
  if query is null then return; end if;
  -- The index collects all hits, even if few are wanted. So their number is estimated first, from a sample of up to a hundred
  -- applications, fewer if they are long. The sample has the lowest ids, which are random, so that nobody can choose what is in
  -- it. The planner's statistics know common words, but not beginnings that many rare words share.
  if row_estimate > 20000 and row_estimate * (
    select coalesce(avg(fits), 0)
    from (
      select case
          when sum(case when vector is null then private.search_octets(application) else 300 end) over (order by id) <= 30000
          then (coalesce(vector, private.words(application, false)) @@ query)::integer end as fits
      from (select id from public.retreat_applications order by id limit 100) as first_ones
        join public.retreat_applications as application using (id)
        left join private.search_vectors on application_id = id
    ) as sampled
  ) > 20000 then
    return;
  end if;
  hits := private.indexed(query);
  if cardinality(hits) > 1000 then
    hits := null;
  elsif blind then
    hits := array(
      select id from public.retreat_applications as application left join private.search_vectors on application_id = id
      where id = any (hits) and coalesce(blind_vector, private.words(application, true)) @@ query
    );
  else
    hits := coalesce(hits, '{}');
  end if;
end
$$;
