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

-- Stores the answers that somebody who is coming gave through their link. Repeating the act stores nothing more, and neither do
-- answers that change nothing. The result is the invitation afterwards. After the last day nothing is stored.
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
    raise exception 'Private questions are hidden while blind reading is on.' using errcode = '42501';
  elsif private.begin_act(act, 'desk_answer_questions', application::text, answers::text) then
    perform private.write_answers(application, act, me.email, answers);
  end if;
  return private.application_details(application, me.blind);
end
$$;
