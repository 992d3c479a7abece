-- Questions: what people who are coming are asked on their page, and their answers.

-- Whether guests of an edition may still change their answers.
create function private.are_questions_open(edition integer) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.questions where questions.edition = are_questions_open.edition)
    and coalesce(questions_until, starts_on, 'infinity') >= private.today()
  from private.editions where id = are_questions_open.edition
$$;

-- Whether an edition has a required question. Without one, a caller need not read each person of the retreat.
create function private.has_required_questions(edition integer) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (select from private.questions where questions.edition = has_required_questions.edition and is_required)
$$;

-- Whether somebody has not answered all required questions of their edition, and still can.
create function private.has_open_questions(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from public.retreat_applications as asked join private.questions using (edition)
    where asked.id = application and is_required and private.are_questions_open(edition) and not exists (
      select from private.question_answers where application_id = application and question_id = questions.id
    )
  )
$$;

-- The questions of an edition with the answers of an application, in order: [{id, kind, text, choices, is_required, is_private,
-- is_answered, answer}]. `answer` is null for a private question, unless `shows_private` is set.
create function private.questions_of(application uuid, edition integer, shows_private boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', id, 'kind', kind, 'text', text, 'choices', choices, 'is_required', is_required, 'is_private', is_private,
    'is_answered', answer is not null, 'answer', case when shows_private or not is_private then answer end
  ) order by position), '[]')
  from private.questions left join private.question_answers on question_id = id and application_id = application
  where questions.edition = questions_of.edition
$$;
