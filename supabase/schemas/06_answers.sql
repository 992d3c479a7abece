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

-- The answers that a letter may quote, by their placeholders, in the words that the applicant read. Whoever reads blind sees the
-- choices and the reason, and of the others whether they are blank. In an answer, text that looks like a placeholder which is
-- filled in at the handover is changed.
create function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and name not in ('paid_solution', 'custom_solution', 'team_size', 'reason')
      and btrim(answer, E' \t\r\n') <> '' then '(hidden)'
    else regexp_replace(btrim(answer, E' \t\r\n'), '\{(?=\{\s*(?:answer_link|reply_by)\s*\}\})', '{ ', 'g') end)
  from (values
    ('first_name', application.first_name), ('last_name', application.last_name), ('email', application.email),
    ('phone', application.phone), ('linkedin', application.linkedin), ('company', application.company),
    ('paid_solution', case application.paid_solution
      when 'not' then 'I have not' when 'screen' then 'Yes, screen time related'
      when 'travel' then 'Yes, travel related' when 'work' then 'Yes, work or team related'
      when 'custom' then 'Custom' else '' end),
    ('custom_solution', application.custom_solution),
    ('team_size', case application.team_size when 'just-me' then 'Just me' else application.team_size end),
    ('reason', application.reason)
  ) as answers (name, answer)
$$;
