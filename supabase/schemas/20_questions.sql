-- Questions: what people who are coming are asked on their page, and their answers.

-- At most ten questions of each edition.
create table private.questions (
  id uuid primary key default gen_random_uuid(),
  edition integer not null references private.editions (id),
  position integer not null,
  kind text not null check (kind in ('short', 'long', 'choice', 'yes-no')),
  text text not null check (text <> '' and char_length(text) <= 200),
  -- The options of a `choice`.
  choices text[] not null default '{}',
  is_required boolean not null,
  -- Answers to private questions are hidden from blind readers and erased after the retreat. A table of guests has them only if
  -- an organiser chooses their columns.
  is_private boolean not null
);
alter table private.questions enable row level security;

create table private.question_answers (
  application_id uuid not null references public.retreat_applications (id) on delete cascade,
  question_id uuid not null references private.questions (id) on delete cascade,
  answer text not null check (answer <> '' and char_length(answer) <= 2000),
  answered_at timestamptz not null default now(),
  primary key (application_id, question_id)
);
create index question_answers_question on private.question_answers (question_id);
alter table private.question_answers enable row level security;

-- The digest by which a restore knows an erased answer. It has two random ids, so it reveals nothing.
create function private.answer_digest(given private.question_answers) returns text
  language sql stable set search_path = ''
as $$
  select encode(sha256(convert_to(given.application_id || ' ' || given.question_id, 'UTF8')), 'hex')
$$;

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

-- Stores answers by the id of their question. A blank text removes an answer. Questions that are left out keep their answers. A
-- reminder of questions is dropped if no required question is open any more. The result is the number of changes. The caller has
-- locked the application.
create function private.store_answers(application uuid, answers jsonb) returns integer
  language plpgsql set search_path = ''
as $$
declare
  entry record;
  asked private.questions;
  answer text;
  changes integer := 0;
begin
  if jsonb_typeof(answers) is distinct from 'object' then
    raise exception 'Answers are an object with a text for each question.' using errcode = '22023';
  end if;
  -- Before the answers, as in the order of locks.
  perform from private.questions where edition = private.edition_of(application) order by id for key share;
  for entry in select * from jsonb_each(answers) loop
    select questions.* into asked from private.questions join public.retreat_applications as applied using (edition)
      where applied.id = application and questions.id::text = entry.key;
    answer := btrim(entry.value #>> '{}', E' \t\r\n');
    if not found then
      raise exception 'The questions have changed. Please reload this page.' using errcode = 'PT409';
    elsif jsonb_typeof(entry.value) <> 'string' or char_length(answer) > 2000
      or asked.kind <> 'long' and answer ~ '[[:cntrl:]]'
      or answer <> '' and (
        asked.kind = 'choice' and answer <> all (asked.choices)
        or asked.kind = 'yes-no' and answer not in ('yes', 'no')
      )
    then
      raise exception 'This is no answer to "%".', asked.text using errcode = '22023';
    end if;
    if answer = '' then
      delete from private.question_answers where application_id = application and question_id = asked.id;
    else
      insert into private.question_answers as former (application_id, question_id, answer)
        values (application, asked.id, answer)
        on conflict (application_id, question_id) do update set answer = excluded.answer, answered_at = now()
          where former.answer <> excluded.answer;
    end if;
    if found then changes := changes + 1; end if;
  end loop;
  if not private.has_open_questions(application) then
    perform private.drop_letters(application, 'questions');
  end if;
  return changes;
end
$$;

-- Whether answers differ from the stored ones, or are no answers.
create function private.are_new_answers(application uuid, answers jsonb) returns boolean
  language sql stable set search_path = ''
as $$
  select case when jsonb_typeof(answers) = 'object' then exists (
    select from jsonb_each_text(answers) as given (id, text)
      left join private.question_answers as stored on application_id = application and question_id::text = given.id
    where btrim(text, E' \t\r\n') is distinct from coalesce(stored.answer, '')
  ) else true end
$$;

-- Stores the answers that somebody who is coming gave through their link. Repeating the act stores nothing more, and neither do answers
-- that change nothing. The result is the invitation afterwards. After the last day nothing is stored.
create function public.answer_questions(token text, answers jsonb, act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid := private.application_of_token(token);
begin
  if act is null then
    raise exception 'The act needs an id.' using errcode = '22023';
  elsif application is null then
    return jsonb_build_object('state', 'invalid');
  end if;
  perform private.lock_for_letters(array[application]);
  -- Checked again under the lock, since a decision or an RSVP may have changed it.
  if private.application_of_token(token) is distinct from application then
    return jsonb_build_object('state', 'invalid');
  elsif (public.place_by_token(token) #>> '{questions,is_open}')::boolean then
    -- Refused before answers are compared: otherwise a refusal would tell whether a guess of a private answer is right.
    perform private.refuse_too_many_changes(application, act);
    -- Anybody with the link could otherwise store acts without end.
    if private.are_new_answers(application, answers) and private.begin_act(act, 'answer_questions', token, answers::text) then
      perform private.write_answers(application, act, 'applicant', answers);
    end if;
    if private.has_open_questions(application) then
      raise exception 'Please answer all questions that are required.' using errcode = '22023';
    end if;
  end if;
  return public.place_by_token(token);
end
$$;

-- Stores answers and writes into the history how many changed. The caller has locked the application.
create function private.write_answers(application uuid, act uuid, author text, answers jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  changes integer := private.store_answers(application, answers);
begin
  if changes > 0 then
    perform private.write_down(application, act, author, 'questions', jsonb_build_object('changes', changes));
  end if;
end
$$;

-- Stores answers that somebody gave another way, such as by email. Required questions may stay unanswered.
create function public.desk_answer_questions(act uuid, application uuid, answers jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.lock_accepted(application);
  if me.blind and exists (
    select from private.questions where is_private and id::text in (select jsonb_object_keys(answers))
  ) then
    raise exception 'Private questions are hidden while you read blind.' using errcode = '42501';
  elsif private.begin_act(act, 'desk_answer_questions', application::text, answers::text) then
    perform private.write_answers(application, act, me.email, answers);
  end if;
  return private.application_details(application, me.blind);
end
$$;
