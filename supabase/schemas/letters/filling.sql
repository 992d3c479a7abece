-- Texts filled in with the form answers of an application, and with its invitation.

-- Fills in the placeholders of a text in one pass, so that an applicant's words are never read as a placeholder. It reports
-- placeholders whose value is blank (`missing`), which stay in the text, and placeholders that do not exist (`unknown`),
-- including stray braces. A text of more than `most` characters is cut and reported as too long (`is_long`): a template may quote
-- a long answer many times.
create function private.fill(
  template_text text, placeholder_values jsonb, most integer default 20000,
  out filled text, out missing text[], out unknown text[], out is_long boolean
)
  language plpgsql immutable set search_path = ''
as $$
declare
  parts text[] := regexp_split_to_array(template_text, '\{\{[^{}]*\}\}');
  names text[] := array(
    select btrim(match[1]) from regexp_matches(template_text, '\{\{([^{}]*)\}\}', 'g') with ordinality as each_one (match, position)
    order by position
  );
begin
  filled := parts[1];
  missing := '{}';
  unknown := case
    when template_text ~ '\{\{\{|\}\}\}' or array_to_string(parts, ' ') ~ '\{\{|\}\}' then array['{{'] else '{}'
  end;
  for position in 1 .. cardinality(names) loop
    if not placeholder_values ? names[position] then
      unknown := unknown || left(names[position], 100);
    elsif placeholder_values ->> names[position] = '' then
      missing := missing || names[position];
    end if;
    -- Append nothing to a text that is cut anyway.
    if char_length(filled) <= most then
      filled := filled || coalesce(
        case placeholder_values ->> names[position]
          when '' then '{{' || names[position] || '}}' else placeholder_values ->> names[position] end, ''
      ) || parts[position + 1];
    end if;
  end loop;
  is_long := char_length(filled) > most;
  filled := left(filled, most);
  missing := array(select distinct name from unnest(missing) as name order by name);
  unknown := array(select distinct name from unnest(unknown) as name order by name);
end
$$;

-- The body of a letter for a retreat. A text of the product leaves out its lines about what is not set yet. In a text that
-- organisers wrote, such a placeholder stays, so that the letter cannot be sent.
create function private.for_retreat(subject text, body text, about_retreat jsonb) returns text
  language plpgsql stable set search_path = ''
as $$
declare
  blank text := (select string_agg(key, '|') from jsonb_each_text(about_retreat) where value = '');
begin
  if blank is null or not exists (
    select from private.first_templates() as first
    where first.subject = for_retreat.subject and first.body = for_retreat.body
  ) then
    return body;
  end if;
  body := regexp_replace(body, '[^\n]*\{\{(' || blank || ')\}\}[^\n]*\n', '', 'g');
  return regexp_replace(body, '\n{3,}', E'\n\n', 'g');
end
$$;

-- Subject and body filled in for one application, and what `private.fill` reports about them. The RSVP link and the deadline stay
-- placeholders.
create function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean, invitation_values jsonb default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  about_retreat jsonb := private.retreat_placeholders(application.edition);
  placeholder_values jsonb := private.placeholders(application, blind) || about_retreat
    || coalesce(invitation_values, private.invitation_placeholders(application.id));
  filled_subject record := private.fill(subject, placeholder_values, 1000);
  filled_body record := private.fill(private.for_retreat(subject, body, about_retreat), placeholder_values);
  -- A subject is one line, regardless of what an applicant wrote.
  subject_line text := btrim(regexp_replace(filled_subject.filled, '[[:cntrl:][:space:]\u0085\u2028\u2029]+', ' ', 'g'));
begin
  return jsonb_build_object(
    'subject', subject_line, 'body', filled_body.filled,
    'is_long', filled_subject.is_long or filled_body.is_long,
    'missing', (select to_jsonb(array(select distinct unnest(filled_subject.missing || filled_body.missing) order by 1))),
    'unknown', (select to_jsonb(array(select distinct unnest(filled_subject.unknown || filled_body.unknown) order by 1)))
  );
end
$$;

-- A text filled in for an application, by default the newest; null if there is none. Its link is only an example. `site`: the
-- desk's address, used if no server has stored the site's. `has_no_site`: the address is unknown, so the link is left out.
create function private.example(
  occasion text, subject text, body text, application uuid, blind boolean, site text default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  application_row public.retreat_applications;
  is_receipt constant boolean := occasion = 'received';
  placeholder constant text := case when is_receipt then 'withdraw_link' else 'answer_link' end;
  example_link text;
  letter jsonb;
begin
  if char_length(subject) > 200 or char_length(body) > 20000 then
    raise exception 'A letter has at most 20,000 characters, and its subject 200.' using errcode = '22023';
  end if;
  if application is null then
    select * into application_row from public.retreat_applications order by created_at desc, id desc limit 1;
  else
    select * into application_row from public.retreat_applications where id = application;
  end if;
  if application_row.id is null then return null; end if;
  if is_receipt then
    letter := '{"is_long": false}'
      || private.receipt(
        subject, body, case when blind then '(hidden)' else application_row.first_name end, application_row.edition);
  else
    letter := private.filled(subject, body, application_row, blind, case when private.may_ask_for_rsvp(occasion)
      then jsonb_build_object('answer_link', '{{answer_link}}', 'reply_by', '{{reply_by}}') end);
    letter := letter || jsonb_build_object('reply_by', (select private.today() + days from private.places));
  end if;
  select coalesce(nullif(places.site, ''), nullif(example.site, '')) || case when is_receipt then '/withdraw' else '/answer' end
      || '/#example'
    into example_link from private.places;
  letter := letter || jsonb_build_object(
    'subject', private.with_link(letter ->> 'subject', placeholder, coalesce(example_link, '')),
    'body', private.with_link(letter ->> 'body', placeholder, example_link),
    'has_no_site', example_link is null and body ~ ('\{\{\s*' || placeholder || '\s*\}\}'));
  return letter || jsonb_build_object('application', application_row.id, 'name', case when not blind then
    private.full_name(application_row) end);
end
$$;
