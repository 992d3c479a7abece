-- Private answers to questions: when they are erased, and what backups have to know about it.

-- The digest by which a restore knows an erased answer. It has two random ids, so it reveals nothing.
create function private.answer_digest(given private.question_answers) returns text
  language sql stable set search_path = ''
as $$
  select encode(sha256(convert_to(given.application_id || ' ' || given.question_id, 'UTF8')), 'hex')
$$;

-- The day on which the private answers of an edition are erased; null while it is unknown.
create function private.answers_erased_on(edition private.editions) returns date
  language sql immutable set search_path = ''
as $$
  select edition.ends_on + edition.private_days
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
create function private.announce_and_erase_answers() returns integer
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

-- The number of private answers that are due to be erased.
create function private.count_due_answers() returns bigint
  language sql stable set search_path = ''
as $$
  select count(*)
  from private.question_answers join private.questions on questions.id = question_id
    join private.editions on editions.id = questions.edition
  where is_private and private.answers_erased_on(editions) <= private.today()
$$;
