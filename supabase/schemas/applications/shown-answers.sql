-- Form answers: what organisers see of an application.

-- The organiser who added a person, as an author; null if the person applied.
create function private.adder(application public.retreat_applications) returns text
  language plpgsql stable
as $$
begin
  return case when application.added_by is not null then private.author_shown(application.added_by) end;
end
$$;

-- The form answers of an application as an organiser may see them. Organisers who read blind see only the columns named here. The
-- function sets no search path, so that PostgreSQL can inline it. Like each function that takes a row of applications, it has its
-- body in quotes, not as a parsed expression. Newer minor versions of PostgreSQL refuse to add a column to a table whose row type
-- a parsed expression uses.
create function private.form_answers(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable
as $$
  select case
    when blind then jsonb_build_object(
      'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
      'custom_solution', application.custom_solution, 'team_size', application.team_size,
      'reason', application.reason, 'consent', application.consent)
    else to_jsonb(application) - 'edition' || private.blank_name(application)
  end || jsonb_build_object('added_by', private.adder(application))
$$;

-- The status and the RSVP of some applications, when they were withdrawn, whether the same email applied again to the same retreat,
-- and whether it applied to an earlier one. Blind readers do not learn about the same email. One query for all applications, since a
-- query for each would be too slow.
create function private.summaries(applications uuid[], blind boolean) returns table (application_id uuid, summary jsonb)
  language plpgsql stable set search_path = ''
as $$
begin
  return query
    select standing.application_id, jsonb_build_object(
      'status', standing.status, 'version', standing.version, 'withdrawn_at', withdrawn_at, 'answer_state', answer_state, 'answer', answer, 'answered_at', answered_at,
      'kept_until', kept_until, 'same_email', not blind and exists (
        select from public.retreat_applications as other
        where private.person(other.email) = standing.person and other.id <> standing.application_id
          and other.edition = standing.edition
      ), 'applied_before', not blind and standing.edition > 1 and exists (
        select from public.retreat_applications as other
        where private.person(other.email) = standing.person and other.edition < standing.edition
      ))
    from unnest(applications) as one (id) join private.standings as standing on standing.application_id = one.id
      left join private.statuses as own on own.application_id = one.id;
end
$$;

-- The form answers that a letter may quote, by placeholder, as the form words them; all null without an application. Blind
-- readers see the form answers that `private.form_answers` shows them, and whether the others are blank. Double braces in form
-- answers, also of two that follow each other, get a space: at the handover they would be read as a placeholder.
create function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and not shown ? name and private.trimmed(answer) <> '' then '(hidden)'
    else regexp_replace(private.trimmed(case name || ' ' || answer
      when 'paid_solution not' then 'I have not' when 'paid_solution screen' then 'Yes, screen time related'
      when 'paid_solution travel' then 'Yes, travel related' when 'paid_solution work' then 'Yes, work or team related'
      when 'paid_solution custom' then 'Custom' when 'team_size just-me' then 'Just me'
      else answer end), '\{(?=\{|$)', '{ ', 'g') end)
  from jsonb_each_text(coalesce(to_jsonb(application), to_jsonb(jsonb_populate_record(application, '{}')))
    - '{id, created_at, consent, edition, added_by}'::text[]) as answers (name, answer), private.form_answers(application, true) as shown
$$;
