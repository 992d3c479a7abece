-- Editions: the texts of a retreat that ends with a newer one.

-- The drafts with their template's text, filled in. Placeholders that are blank or unknown stay in the text, so that the draft
-- cannot be sent before an organiser edits it. So do all placeholders if the text would be too long.
create function private.filled_drafts() returns setof private.letters
  language sql stable set search_path = ''
as $$
  select draft.*
  from private.letters as letter join private.templates as former on former.name = letter.template
    join public.retreat_applications as application on application.id = letter.application_id
    cross join lateral private.filled(former.subject, former.body, application, false) as text
    cross join lateral jsonb_populate_record(letter, case when (text ->> 'is_long')::boolean
      then jsonb_build_object('subject', former.subject, 'body', former.body) else text end) as draft
  where letter.state = 'draft' and letter.subject is null
$$;
