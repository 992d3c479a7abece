-- Questions at the desk: organisers write them, read the answers of all guests, and erase private ones.

-- The day on which the private answers of an edition are erased; null while it is unknown.
create function private.answers_erased_on(edition private.editions) returns date
  language sql immutable set search_path = ''
as $$
  select edition.ends_on + edition.private_days
$$;

-- The number of private answers that are due to be erased.
create function private.count_due_answers() returns bigint
  language sql stable set search_path = ''
as $$
  select count(*)
  from private.question_answers join private.questions on questions.id = question_id
    join private.editions on editions.id = questions.edition
  where is_private and private.answers_erased_on(editions) <= private.today()
$$;

-- The questions of an edition, by default the newest: {edition, version, questions, until, closes_on, private_days, erased_on,
-- due}. `until` is the last day for answers if organisers set it, and `closes_on` the one that counts. `due` counts the private answers
-- of all editions that are due to be erased. Each question has the number of its `answers`.
create function public.desk_questions(edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return (
    select jsonb_build_object(
      'edition', shown.id, 'version', questions_version,
      'until', questions_until, 'closes_on', coalesce(questions_until, starts_on),
      'private_days', private_days, 'erased_on', private.answers_erased_on(shown), 'due', private.count_due_answers(),
      'questions', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', id, 'kind', kind, 'text', text, 'choices', choices, 'is_required', is_required, 'is_private', is_private,
          'answers', (select count(*) from private.question_answers where question_id = questions.id)
        ) order by position), '[]')
        from private.questions where questions.edition = shown.id
      ))
    from private.editions as shown where id = (private.edition_in(jsonb_build_object('edition', desk_questions.edition))).id
  );
end
$$;

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
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
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

-- Up to 1,000 people who are coming to the retreat of an edition, by default the newest: {guests: [{id, first_name, last_name,
-- email, phone, company, answers}], next}. `answers` are by the id of the question, and `next` is the cursor for the next call.
-- Blind readers get only ids, and answers that are not private.
create function public.desk_guests(after jsonb default null, edition integer default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    with guests as (
      select application.*, private.names(application) as names
      from private.invitations join public.retreat_applications as application on application.id = application_id
      where is_accepted and rsvp = 'coming'
        and application.edition = (private.edition_in(jsonb_build_object('edition', desk_guests.edition))).id
        and (after is null or application.id > (after ->> 'id')::uuid)
      order by application.id limit 1001
    ), shown as (
      select * from guests order by id limit 1000
    )
    select jsonb_build_object(
      'guests', coalesce(jsonb_agg(jsonb_build_object('id', shown.id, 'answers', (
        select coalesce(jsonb_object_agg(question_id, answer), '{}')
        from private.question_answers join private.questions on questions.id = question_id
        where application_id = shown.id and not (me.blind and is_private)
      )) || case when me.blind then '{}' else names || jsonb_build_object('email', left(email, 200),
        'phone', left(phone, 200), 'company', left(company, 200)) end order by shown.id), '[]'),
      'next', case when (select count(*) from guests) > 1000
        then jsonb_build_object('id', (array_agg(shown.id order by shown.id desc))[1]) end)
    from shown
  );
end
$$;

-- Erases the private answers that are due, of the editions `due` or of all (null), and writes into the history how many.
create function private.erase_due_answers(author text, due integer[] default null) returns integer
  language plpgsql set search_path = ''
as $$
declare
  asked constant uuid[] := array(
    select questions.id from private.questions join private.editions on editions.id = edition
    where is_private and private.answers_erased_on(editions) <= private.today()
      and editions.id = any (coalesce(due, array[editions.id]))
  );
  erased integer;
begin
  -- Before the answers, as in the order of locks: nobody answers these questions meanwhile.
  perform from private.questions where id = any (asked) order by id for update;
  with gone as (
    delete from private.question_answers as given using private.questions
      where questions.id = question_id and question_id = any (asked) and is_private
      returning private.answer_digest(given) as digest
  ), remembered as (
    insert into private.erasures (digest) select digest from gone on conflict do nothing
  )
  select count(*) into erased from gone;
  if erased > 0 then
    -- A "yes" could be guessed from a digest. A retry is refused from now on.
    -- Skips those that another call is deleting.
    update private.acts set given = '' where act = any (array(
      select act from private.acts where call in ('answer_questions', 'desk_answer_questions') for update skip locked
    ));
    insert into private.history (author, kind, detail) values (author, 'questions', jsonb_build_object('erased', erased));
  end if;
  return erased;
end
$$;

-- Announces private answers that will be erased within six days, and erases those that were announced on seven days. Servers call
-- this regularly. The result is the number of erased answers.
create function private.keep_answers() returns integer
  language plpgsql set search_path = ''
as $$
declare
  due record;
  erased integer := 0;
begin
  perform from private.editions order by id for key share;
  for due in
    select id, private.answers_erased_on(edition) as erased_on from private.editions as edition
    where private.answers_erased_on(edition) - 6 <= private.today() and exists (
      select from private.questions join private.question_answers on question_id = questions.id
      where questions.edition = edition.id and is_private
    )
    order by id
  loop
    if due.erased_on <= (select erasable_until from private.announce(due.id, 'answers')) then
      perform private.end_announcements(due.id, 'answers');
      erased := erased + private.erase_due_answers('server', array[due.id]);
    end if;
  end loop;
  return erased;
end
$$;

-- Erases the private answers that are due now: on a hosted project no server erases them.
create function public.desk_erase_answers() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('erased', private.erase_due_answers(me.email));
end
$$;
