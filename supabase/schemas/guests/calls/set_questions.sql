-- Checks one question as `desk_set_questions` gets it, and returns it as a row.
create function private.question_given(sent jsonb, edition integer, list_position integer) returns private.questions
  language plpgsql stable set search_path = ''
as $$
declare
  question private.questions;
  former private.questions;
begin
  question := jsonb_populate_record(null::private.questions, sent);
  question.id := coalesce(question.id, gen_random_uuid());
  question.edition := question_given.edition;
  question.position := list_position;
  question.text := btrim(coalesce(question.text, ''), E' \t\r\n');
  question.choices := case when question.kind = 'choice'
    then array(select btrim(choice) from unnest(question.choices) with ordinality as of_question (choice, number) order by number)
    else '{}' end;
  select * into former from private.questions where id = question.id;
  if question.kind is null or question.kind not in ('short', 'long', 'choice', 'yes-no')
    or question.is_required is null or question.is_private is null
  then
    raise exception 'A question has a kind, and is required or not, private or not.' using errcode = '22023';
  elsif question.text = '' or char_length(question.text) > 200 or question.text ~ '[[:cntrl:]]' then
    raise exception 'A question is one line of 1 to 200 characters.' using errcode = '22023';
  elsif question.kind = 'choice' and (
    cardinality(question.choices) not between 2 and 20
    or (
      select count(distinct choice) < count(*) or bool_or(choice = '' or char_length(choice) > 100 or choice ~ '[[:cntrl:]]')
      from unnest(question.choices) as choice
    )
  ) then
    raise exception 'A question has 2 to 20 different options of 1 to 100 characters.' using errcode = '22023';
  elsif former.edition <> question.edition then
    raise exception 'This question belongs to another retreat.' using errcode = '22023';
  elsif former.kind <> question.kind or former.is_private and not question.is_private then
    -- Somebody may be answering it at this moment, because it is private.
    raise exception 'A saved question keeps its kind, and stays private. Remove it, and ask a new one.' using errcode = '22023';
  end if;
  return question;
end
$$;

-- Sets the questions of an edition, by default the newest, in the order of `questions`. Former questions that are not among them
-- are removed with their answers. `until` is the last day for answers, null for the first day of the retreat. `private_days`
-- counts from the end of the retreat.
create function public.desk_set_questions(
  version integer, questions jsonb, until date, private_days integer, edition integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.editions;
  wanted private.questions[];
begin
  if jsonb_typeof(questions) is distinct from 'array' or jsonb_array_length(questions) > 10 then
    raise exception 'There are at most 10 questions.' using errcode = '22023';
  elsif until < '2000-01-01' or until >= '3000-01-01' then
    raise exception 'The days are between 2000 and 2999.' using errcode = '22023';
  end if;
  select * into former from private.editions
    where id = coalesce(desk_set_questions.edition, (select max(id) from private.editions)) for update;
  wanted := array(
    select private.question_given(question, former.id, list_position::integer)
    from jsonb_array_elements(questions) with ordinality as listed (question, list_position) order by list_position
  );
  if (select count(distinct id) < count(*) from unnest(wanted)) then
    raise exception 'Two questions have the same id.' using errcode = '22023';
  elsif not exists (select from unnest(wanted) where is_private) then
    private_days := null;
  elsif not coalesce(private_days between 1 and 365, false) then
    raise exception 'Private answers are erased 1 to 365 days after the retreat.' using errcode = '22023';
  end if;
  if (former.questions_until, former.private_days) is not distinct from (until, desk_set_questions.private_days)
    and wanted = array(select question from private.questions as question where question.edition = former.id order by position)
  then
    return public.desk_questions(former.id);
  elsif former.questions_version is distinct from desk_set_questions.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  -- In the order of locks: announcements before questions, and questions before their answers.
  if former.private_days is distinct from desk_set_questions.private_days then
    perform private.end_announcements(former.id, 'answers');
  end if;
  perform from private.questions where questions.edition = former.id order by id for update;
  delete from private.questions where questions.edition = former.id and id not in (select id from unnest(wanted));
  insert into private.questions select * from unnest(wanted)
    on conflict (id) do update set (position, text, choices, is_required, is_private)
      = (excluded.position, excluded.text, excluded.choices, excluded.is_required, excluded.is_private);
  update private.editions set questions_version = former.questions_version + 1, questions_until = until,
    private_days = desk_set_questions.private_days where id = former.id;
  insert into private.history (author, kind, detail)
    values (me.email, 'questions', jsonb_build_object('questions', cardinality(wanted)));
  return public.desk_questions(former.id);
end
$$;
