-- The page: what organisers say on the applicants' page.

-- The texts of the page, and the most characters of each. The limits are those of the settings, too (settings/look-settings.ts).
create function private.page_limits() returns jsonb
  language sql immutable
  return '{"title": 60, "tagline": 120, "badge": 60, "success": 400, "privacy_url": 2000, "privacy_label": 60, "accent": 7,
    "cost": 120, "hear_back": 120, "about": 2000}'::jsonb;

-- Refuses texts that the page cannot show. `texts` has them by name.
create function private.check_page(texts jsonb) returns void
  language plpgsql immutable set search_path = ''
as $$
declare
  words constant jsonb := '{"success": "thank-you text", "privacy_url": "privacy address", "privacy_label": "name of the privacy link",
    "accent": "colour", "hear_back": "time when applicants hear back", "about": "text about the retreat"}'::jsonb;
  limit_of record;
  each_text text;
  called text;
begin
  for limit_of in select key as name, value::integer as most from jsonb_each(private.page_limits()) loop
    each_text := coalesce(texts ->> limit_of.name, '');
    called := coalesce(words ->> limit_of.name, limit_of.name);
    if char_length(each_text) > limit_of.most then
      raise exception 'The % has at most % characters.', called, limit_of.most using errcode = '22023';
    end if;
    -- Control characters, and those that change the direction of the text after them. Paragraphs have line breaks.
    if (case limit_of.name when 'about' then replace(each_text, E'\n', '') else each_text end)
      ~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]'
    then
      raise exception 'The % has to be plain text%.', called, (case limit_of.name when 'about' then '' else ' on one line' end)
        using errcode = '22023';
    end if;
  end loop;
  if texts ->> 'privacy_url' !~ '^(https?://[^[:space:]<>"\\{}]+)?$' then
    raise exception 'The privacy address has to begin with https://.' using errcode = '22023';
  elsif texts ->> 'accent' !~ '^(#[0-9a-f]{6})?$' then
    raise exception 'The colour has six hexadecimal digits, such as #7a1f3d.' using errcode = '22023';
  end if;
end
$$;

-- The texts of the page by name, blank for the default.
create function private.page_texts(page private.page) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, to_jsonb(page) -> name) from jsonb_object_keys(private.page_limits()) as name
$$;

-- The facts that are kept elsewhere, whether the page shows them or not: {starts_on, ends_on, venue, closes_on, closes_at, zone}
-- without those that are not known. `closes_on` is the last day on which people can apply, in the retreat's time zone;
-- `closes_at` is the time of that day, unless it is midnight.
create function private.page_facts() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_strip_nulls(jsonb_build_object(
      'starts_on', newest.starts_on, 'ends_on', newest.ends_on, 'venue', nullif(newest.venue, ''),
      'closes_on', (closing - interval '1 microsecond')::date,
      'closes_at', case when closing::time <> '00:00' then to_char(closing, 'HH24:MI') end,
      'zone', case when closing::time <> '00:00' then coalesce(places.zone, 'UTC') end))
  from private.places cross join private.door
    cross join lateral (select * from private.editions order by id desc limit 1) as newest
    cross join lateral (
      select case when not closed and closes_at > now() and closes_at < '9999-12-31'
        then closes_at at time zone coalesce(places.zone, 'UTC') end as closing
    ) as door_closing
$$;

-- What the applicants' page says: {title, tagline, badge, success, privacy_url, privacy_label, accent, cost, hear_back, about}
-- without the blank ones, and the facts that are shown.
create function private.page_shown() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_strip_nulls((select jsonb_object_agg(key, nullif(value, '')) from jsonb_each_text(private.page_texts(page))))
    || (private.page_facts()
      - case when shows_days then '{}' else '{starts_on,ends_on}'::text[] end
      - case when shows_venue then '{}' else '{venue}'::text[] end
      - case when shows_closing then '{}' else '{closes_on,closes_at,zone}'::text[] end)
  from private.page
$$;

-- The placeholders of letters about the retreat of an edition, blank as long as nothing is set: {retreat, days, venue}. The
-- retreat is called as its edition, otherwise as the page. A title's full stop would be in the middle of a sentence.
create function private.retreat_placeholders(edition integer) returns jsonb
  language sql stable set search_path = ''
as $$
  -- An opening brace in a value must not begin another placeholder.
  select jsonb_object_agg(placeholder, regexp_replace(words, '\{(?=\{|$)', '{ ', 'g'))
  from private.page cross join private.editions cross join lateral (values
    ('retreat', coalesce(nullif(editions.name, ''),
      regexp_replace(coalesce(nullif(operator_title, ''), nullif(title, ''), 'Unplugged.'), '\.$', ''))),
    ('days', private.days_in_words(starts_on, ends_on)),
    ('venue', venue)
  ) as placeholders (placeholder, words)
  where editions.id = retreat_placeholders.edition
$$;

-- Stores the title that a server's settings have, for letters; blank for none.
create function private.know_title(title text) returns void
  language sql set search_path = ''
as $$
  update private.page set operator_title = know_title.title where operator_title <> know_title.title
$$;
