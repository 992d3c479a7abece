-- Answers: what organisers see of an application.

-- The answers of an application as an organiser may see them. Whoever reads blind sees only the columns named here. The
-- function sets no search path, so that PostgreSQL can inline it.
create function private.answers(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable
  return case
    when blind then jsonb_build_object(
      'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
      'custom_solution', application.custom_solution, 'team_size', application.team_size,
      'reason', application.reason, 'consent', application.consent)
    else to_jsonb(application)
  end;

-- For some applications: the status of each, whether the applicant comes, and whether the same e-mail applied again. It is one
-- query, since a call for each of a thousand would take longer than everything else.
create function private.summaries(applications uuid[], blind boolean) returns table (application_id uuid, summary jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    select application.id,
      jsonb_build_object(
        'status', coalesce(kept.status, 'new'),
        'version', coalesce(kept.version, 0),
        'same_email', not blind and exists (
          select from public.retreat_applications as other
          where private.person(other.email) = private.person(application.email) and other.id <> application.id
        )
      )
      -- Not called for the many who are not asked.
      || case when is_accepted then private.rsvp_shown(application.id) else private.no_rsvp() end
    from unnest(applications) as one (id)
      join public.retreat_applications as application using (id)
      left join private.statuses as kept on kept.application_id = application.id
      left join private.invitations as invitation on invitation.application_id = application.id;
end
$$;

-- The beginning of a long answer, since an answer may be as long as a request.
create function private.beginnings(shown jsonb) returns jsonb
  language sql immutable set search_path = ''
as $$
  select jsonb_object_agg(
    key, case jsonb_typeof(value) when 'string' then to_jsonb(left(value #>> '{}', 200)) else value end)
  from jsonb_each(shown)
$$;

-- The form answers that a letter may quote, by their placeholders, in the words that the applicant read; of no application each is
-- null. Organisers who read blind see the answers that `private.answers` shows them, and of the others whether they are blank. Text
-- in an answer that looks like a placeholder of an invitation is changed.
create function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and not private.answers(application, true) ? name and btrim(answer, E' \t\r\n') <> '' then '(hidden)'
    else regexp_replace(btrim(case name || ' ' || answer
      when 'paid_solution not' then 'I have not' when 'paid_solution screen' then 'Yes, screen time related'
      when 'paid_solution travel' then 'Yes, travel related' when 'paid_solution work' then 'Yes, work or team related'
      when 'paid_solution custom' then 'Custom' when 'team_size just-me' then 'Just me'
      else answer end, E' \t\r\n'), '\{(?=\{\s*(?:answer_link|reply_by)\s*\}\})', '{ ', 'g') end)
  from jsonb_each_text(coalesce(to_jsonb(application), to_jsonb(jsonb_populate_record(application, '{}')))
    - '{id, created_at, consent}'::text[]) as answers (name, answer)
$$;
