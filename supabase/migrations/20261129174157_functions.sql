-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.

-- Deletes acts that are older than a day, at most `most`. Skips those that another call is deleting.
create or replace function private.delete_expired_acts(most integer) returns void
  language sql set search_path = ''
as $$
  delete from private.acts where act = any (array(
    select act from private.acts where at < now() - interval '1 day' limit most for update skip locked
  ))
$$;

revoke all on function private.delete_expired_acts(integer) from public, anon, authenticated;

-- Begins an act. Returns false for a retry, after waiting for the first call to finish. Refuses an id that was used with
-- another call, other arguments or another account. The history remembers an act longer than a day, and through a restore.
create or replace function private.begin_act(act uuid, call text, variadic arguments text[]) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  digest constant text := md5(begin_act.arguments::text);
begin
  if act is null then
    raise exception 'The act needs an id.' using errcode = '22023';
  end if;
  insert into private.acts (act, account_id, call, given)
    values (begin_act.act, auth.uid(), begin_act.call, digest) on conflict do nothing;
  if found then
    perform private.delete_expired_acts(1000);
    perform from private.history where history.act = begin_act.act;
    if not found then
      return true;
    end if;
    perform from private.history
      where history.act = begin_act.act and history.given = begin_act.call || ' ' || digest
        and coalesce(author_id, auth.uid()) is not distinct from auth.uid();
  else
    perform from private.acts
      where acts.act = begin_act.act and acts.call = begin_act.call and acts.given = digest
        and account_id is not distinct from auth.uid();
  end if;
  if not found then
    raise exception 'This id was used for another act: nothing was saved.' using errcode = 'PT409';
  end if;
  return false;
end
$$;

-- What tells junk apart, of some applications in their order. `same_reason` is a digest of the first thousand characters. It ends
-- after a second, with the applications that it has read by then.
create or replace function private.traits(ids uuid[]) returns table (
  id uuid, created_at timestamptz, person text, domain text, same_reason text, is_links boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  blanks constant text := '[' || private.blanks() || ']+';
  ends constant timestamptz := clock_timestamp() + interval '1 second';
begin
  for start in 1..cardinality(ids) by 50 loop
    exit when clock_timestamp() > ends;
    return query
      select application.id, application.created_at, private.person(email),
        lower(reverse(split_part(reverse(email), '@', 1))),
        -- Most blanks are spaces, for which `replace` is much faster.
        md5(regexp_replace(replace(lower(left(reason, 1000)), ' ', ''), blanks, '', 'g')),
        left(reason, 5000) ~* '^(?:[\s,;]*(?:https?://|www\.)\S+)+[\s,;]*$'
      from public.retreat_applications as application where application.id = any (ids[start:start + 49]);
  end loop;
end
$$;

revoke all on function private.traits(uuid[]) from public, anon, authenticated;

-- The 20 largest groups among the newest 20,000 applications that are New in the newest edition, the largest first. If finding
-- them takes a second, or reading them, fewer applications are grouped. `reason`: at least three addresses sent a reason with the
-- same beginning, ignoring blanks and case. `links`: the reason is nothing but links. `domain`: 20 or more applied within one
-- hour with addresses of the same domain, which is no large provider's. Each application is in at most one group.
create or replace function public.desk_junk() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
  undecided_ids uuid[] := (private.find('{"status": "new"}', null, 20000, 50000, me.blind, me.id)).ids;
begin
  return (
    with undecided as materialized (
      select * from private.traits(undecided_ids)
    ), same_reasons as (
      select same_reason from undecided group by 1 having count(distinct person) >= 3
    ), counted as (
      select *, count(*) over (
        partition by domain order by created_at range between interval '1 hour' preceding and current row
      ) as in_an_hour
      from undecided
    ), judged as (
      select *, case
        when same_reason in (select same_reasons.same_reason from same_reasons) then 'reason'
        when is_links then 'links'
        when max(in_an_hour) over (
          partition by domain order by created_at range between current row and interval '1 hour' following
        ) >= 20 and not private.is_mailbox_provider(domain) then 'domain'
      end as kind
      from counted
    ), grouped as (
      select kind, case kind when 'reason' then same_reason when 'domain' then domain else '' end as key,
        array_agg(id order by created_at desc) as ids
      from judged where kind is not null group by 1, 2 order by count(*) desc, key limit 20
    )
    select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'key', case when kind = 'domain' and not me.blind then key end,
      'example', example, 'applications', applications) order by cardinality(ids) desc, key), '[]')
    from grouped
      cross join lateral (
        select left(regexp_replace(left(reason, 1000), '\s+', ' ', 'g'), 200) as example
        from public.retreat_applications where id = ids[1]
      ) as newest
      cross join lateral (
        select jsonb_agg(jsonb_build_object('id', id, 'status', 'new', 'version', coalesce(version, 0))
          || case when me.blind then '{}' else private.names(application) end order by position) as applications
        from unnest(ids) with ordinality as one (id, position)
          join public.retreat_applications as application using (id)
          left join private.statuses on application_id = id
      ) as members
  );
end
$$;

create or replace function private.remember_erasures() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  gone constant text[] := array(select id from erased);
begin
  insert into private.erasures (digest)
    select encode(sha256(convert_to(id::text, 'UTF8')), 'hex') from erased on conflict do nothing;
  -- Another call may be deleting expired acts, and wait for these applications.
  perform private.delete_expired_acts(null);
  -- Remove them from the results of acts.
  update private.acts set result = (
      select coalesce(jsonb_agg(entry order by position), '[]')
      from jsonb_array_elements(result) with ordinality as of_act (entry, position)
      where not private.ids_in(entry) ?| gone
    )
    where act = any (array(
      select act from private.acts
      where at >= now() - interval '1 day' and jsonb_typeof(result) = 'array' and private.ids_in(result) ?| gone
      order by act for update
    ));
  return null;
end
$$;

-- Locks applications that the caller erases, in the order of locks, and the questions that they answered.
create or replace function private.lock_for_erasing(applications uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from public.retreat_applications where id = any (applications) order by id for update;
  perform from private.questions
    where edition in (select edition from public.retreat_applications where id = any (applications))
    order by id for key share;
end
$$;

revoke all on function private.lock_for_erasing(uuid[]) from public, anon, authenticated;

-- Permanently erases applications of one email, with everything that is known about them. The history records only who
-- erased how many.
create or replace function public.desk_erase(applications uuid[], email text, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  erased integer;
begin
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_erase', applications::text, email) then
    return coalesce((select result from private.acts where acts.act = desk_erase.act), (
      select jsonb_build_object('erased', detail -> 'applications') from private.history where history.act = desk_erase.act
    ));
  end if;
  perform private.lock_for_erasing(applications);
  if exists (
    select from public.retreat_applications as application
    where id = any (applications)
      and private.person(application.email) is distinct from private.person(desk_erase.email)
  ) then
    raise exception 'This is not the email of this application. Nothing was erased.' using errcode = '22023';
  end if;
  delete from public.retreat_applications as application
    where id = any (applications) and private.person(application.email) = private.person(desk_erase.email);
  get diagnostics erased = row_count;
  if erased > 0 then
    insert into private.history (act, author, kind, detail)
      values (desk_erase.act, me.email, 'erased', jsonb_build_object('applications', erased));
  end if;
  return private.end_act(act, jsonb_build_object('erased', erased));
end
$$;

-- Locks deliveries in the order of locks: the latest first, as recording an RSVP or a decision locks it before the earlier ones.
create or replace function private.lock_deliveries(wanted uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from private.deliveries
    where id = any (wanted) order by event_id desc nulls last, queued_at desc, id desc for update;
end
$$;

revoke all on function private.lock_deliveries(uuid[]) from public, anon, authenticated;

-- Records the result of a claim: `done`, `failed`, or `waiting` for another try after a pause. `counts`: this try uses up one
-- of the allowed attempts. Without a reply, the former reply is unchanged. `is_uncertain`: it may have arrived. `is_closing`:
-- the mail server closed the connection. `refused`: the receiver refused it permanently. Returns the new state, which is
-- `cancelled` if it was recalled during the try. Returns null if this claim is no longer the current one.
create or replace function private.record_delivery(
  delivery uuid, attempt integer, state text, pause interval default '0', counts boolean default true,
  reply_status integer default null, reply text default null, is_uncertain boolean default false, is_closing boolean default false,
  refused boolean default false
) returns text
  language plpgsql set search_path = ''
as $$
declare
  claimed private.deliveries;
  is_recalled boolean;
  recorded private.deliveries;
  superseded uuid[];
begin
  loop
    select * into claimed from private.deliveries where id = delivery and attempts = attempt and deliveries.state = 'sending';
    if not found then return null; end if;
    is_recalled := claimed.recalled_at is not null;
    -- Locked before the delivery's row, as in the order of locks: `follow_told` adds a delivery that refers to the application.
    if is_recalled then
      perform private.lock_letters(array[delivery]);
    elsif claimed.letter_id is not null then
      perform from public.retreat_applications where id = claimed.application_id for key share;
    end if;
    perform from private.deliveries
      where id = delivery and attempts = attempt and deliveries.state = 'sending' and (recalled_at is not null) = is_recalled
      for update;
    -- Repeat if the recall changed between the two statements.
    exit when found;
  end loop;
  -- Locks the postman's row before invitations, as a claim does.
  if record_delivery.state = 'done' and claimed.kind in ('letter', 'receipt', 'notice', 'test') then
    perform private.accept_mail(claimed.tried_at);
  end if;
  update private.deliveries as row set
      state = case when is_recalled and record_delivery.state <> 'done' then 'cancelled' else record_delivery.state end,
      due_at = case when record_delivery.state = 'waiting' and not is_recalled then now() + pause end,
      done_at = case when record_delivery.state = 'done' then now() end,
      attempts = attempts - (not counts)::integer,
      -- Without a counted try, there is no time of a try.
      tried_at = case when counts or attempts > 1 then tried_at end,
      reply_status = case when record_delivery.reply is null then row.reply_status else record_delivery.reply_status end,
      reply = coalesce(record_delivery.reply, row.reply),
      is_refused = refused,
      may_have_arrived = may_have_arrived + is_uncertain::integer,
      closings = closings + is_closing::integer,
      subject = case when kind <> 'test' or record_delivery.state = 'waiting' then sent.subject end,
      body = case when kind <> 'test' or record_delivery.state = 'waiting' then sent.body end
    from private.as_sent(claimed, record_delivery.state = 'done') as sent
    where id = delivery returning row.* into recorded;
  if recorded.state = 'done' and recorded.kind in ('rsvp', 'decision') then
    -- Otherwise a retry would deliver an older RSVP or decision after a newer one.
    superseded := array(
      select id from private.deliveries as earlier
      where earlier.application_id = recorded.application_id and earlier.kind = recorded.kind
        and private.is_before(earlier, recorded) and earlier.state not in ('done', 'cancelled')
    );
    perform private.lock_deliveries(superseded);
    update private.deliveries set state = 'cancelled', due_at = null
      where id = any (superseded) and deliveries.state not in ('done', 'cancelled');
  end if;
  if is_recalled and recorded.letter_id is not null then
    perform private.settle_recalled(recorded);
  end if;
  return recorded.state;
end
$$;

-- Erases the deliveries about an application, and that of the application itself, before the application, as in the lock order of
-- servers. A server that claims a delivery, or records its result, locks the delivery, then the invitation and earlier RSVPs. It
-- does not lock the application.
create or replace function private.erase_deliveries() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.lock_deliveries(array(select id from private.deliveries where old.id in (id, application_id)));
  delete from private.deliveries where old.id in (id, application_id);
  return old;
end
$$;

-- Cancels deliveries that wait or failed, and recalls those that are being sent. A server may claim a delivery or record its
-- result at any moment, so one statement reads and updates the locked row.
create or replace function private.recall(wanted uuid[], author text default null) returns void
  language sql set search_path = ''
as $$
  select private.lock_deliveries(wanted);
  update private.deliveries set
      state = case state when 'sending' then state else 'cancelled' end, due_at = case state when 'sending' then due_at end,
      recalled_at = coalesce(recalled_at, now()), recalled_by = recall.author
    where id = any (wanted) and state in ('waiting', 'sending', 'failed')
$$;

-- Makes these failed deliveries due again, with the full number of attempts. Returns how many. Skips a decision if a later one of
-- the same applicant is pending.
create or replace function private.retry_failed(wanted uuid[]) returns integer
  language sql set search_path = ''
as $$
  select private.lock_deliveries(wanted);
  with retried as (
    update private.deliveries as delivery set state = 'waiting', attempts = 0, due_at = now(), reply = '', is_refused = false,
        closings = 0
      where id = any (wanted) and state = 'failed' and not (kind = 'decision' and exists (
        select from private.deliveries as later
        where later.application_id = delivery.application_id and later.kind = 'decision'
          and private.is_before(delivery, later) and later.state in ('waiting', 'sending')
      )) returning true
  )
  select count(*)::integer from retried
$$;

-- Makes failed deliveries of a kind due again, with the full number of attempts. Returns how many. Skips a delivery if a later
-- one of the same applicant is pending.
create or replace function private.retry_deliveries(kind text) returns integer
  language plpgsql set search_path = ''
as $$
declare
  retried integer;
begin
  perform private.lock_deliveries(array(
    select id from private.deliveries as failed where failed.kind = retry_deliveries.kind and state = 'failed'
  ));
  update private.deliveries as delivery set state = 'waiting', attempts = 0, due_at = now()
    where delivery.kind = retry_deliveries.kind and state = 'failed' and not exists (
      select from private.deliveries as later
      where later.application_id = delivery.application_id and later.kind = delivery.kind
        and private.is_before(delivery, later)
        and later.state in ('waiting', 'sending')
    );
  get diagnostics retried = row_count;
  return retried;
end
$$;

-- Records that organisers reached the applicants in another way after letters failed. `letters` are the ids of the failed
-- deliveries. The result counts these deliveries.
create or replace function public.desk_settle(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  perform private.lock_deliveries(letters);
  with settled as (
    update private.deliveries set state = 'done', done_at = now(), by = 'elsewhere', reply = ''
      where id = any (desk_settle.letters) and kind in ('letter', 'decision', 'receipt') and state = 'failed'
      returning id
  )
  insert into private.history (application_id, author, kind, detail)
    select application_id, me.email, 'told', jsonb_build_object('occasion', occasion, 'way', way)
    from settled join private.letter_deliveries using (id);
  return (
    select jsonb_build_object('settled', count(*)) from private.deliveries
    where id = any (desk_settle.letters) and state = 'done' and by = 'elsewhere'
  );
end
$$;

-- Deletes notices and tests after a day, sent or not, and writes the daily emails that are due. A notice about one application or
-- RSVP, sent or failed, stays until the daily email has left out that application or RSVP.
create or replace function private.keep_notices() returns void
  language plpgsql set search_path = ''
as $$
begin
  -- A time too far ahead was stored before the clock was set back.
  update private.organisers
    set told_until = least(told_until, now() - interval '1 minute'),
      day_due_at = day_due_at
        - greatest(0, ceil(extract(epoch from day_due_at - now()) / 86400) - 1) * interval '1 day'
    where told_until > now() or day_due_at > now() + interval '1 day';
  -- Skips those that are being erased or sent: the next call deletes them.
  delete from private.deliveries where id = any (array(
    select id from private.deliveries join private.organisers on account_id = organiser_id
    where kind in ('notice', 'test') and queued_at <= now() - interval '1 day'
      and (kind = 'test' or application_id is null or due_at is not null or queued_at < told_until - interval '1 hour')
    for update of deliveries skip locked
  ));
  perform private.write_day_notices();
end
$$;

-- Stores answers by the id of their question. A blank text removes an answer. Questions that are left out keep their answers. A
-- reminder of questions is dropped if no required question is open any more. The result is the number of changes. The caller has
-- locked the application.
create or replace function private.store_answers(application uuid, answers jsonb) returns integer
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

-- Sets the questions of an edition, by default the newest, in the order of `questions`. Former questions that are not among them
-- are removed with their answers. `until` is the last day for answers, null for the first day of the retreat. `private_days`
-- counts from the end of the retreat.
create or replace function public.desk_set_questions(
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

-- Erases the private answers that are due, of the editions `due` or of all (null), and writes into the history how many.
create or replace function private.erase_due_answers(author text, due integer[] default null) returns integer
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
create or replace function private.keep_answers() returns integer
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

-- Stops or resumes all letters. After a resume, each letter waits a minute in which it can be stopped, as after its release.
create or replace function private.stop_letters(stopped boolean, author text) returns void
  language plpgsql set search_path = ''
as $$
declare
  waiting uuid[];
begin
  if not stop_letters.stopped and (select postman.stopped from private.postman) then
    -- Locked before the postman's row, as in the order of locks.
    waiting := array(
      select id from private.deliveries
      where kind in ('letter', 'decision') and state = 'waiting' and attempts = 0 and not is_beside
    );
    perform private.lock_letters(waiting);
    perform private.lock_deliveries(waiting);
    update private.deliveries set due_at = now() + (select hold from private.letter_settings)
      where id = any (waiting) and state = 'waiting' and attempts = 0;
  end if;
  update private.postman set stopped = stop_letters.stopped where postman.stopped <> stop_letters.stopped;
  if found then perform private.write_down_letters(author, jsonb_build_object('stopped', stop_letters.stopped)); end if;
end
$$;

drop function if exists private.applications_of(text[]);

-- The applications that gave an email, the newest first.
create or replace function private.applications_of(email text) returns uuid[]
  language sql stable set search_path = ''
as $$
  select array(
    select id from public.retreat_applications as application
    where private.person(application.email) = private.person(applications_of.email)
    order by created_at desc, id desc
  )
$$;

revoke all on function private.applications_of(text) from public, anon, authenticated;

-- The applications that gave another email, and to which only an address leads with which organisers ever replaced another. They may
-- be another person's: organisers mistype, too. `others`: more emails of the person. `address`: the replacement that leads to the
-- application, null if the application itself gave it. At most `most`, the newest first.
create or replace function private.applications_by_address(email text, others text[], most integer) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  person constant text := private.person(applications_by_address.email);
  people constant text[] := array(select private.person(given) from unnest(others || applications_by_address.email) as given);
begin
  return (
    with replacements as materialized (
      select application_id, address from private.addresses where private.person(address) = any (people)
      union select application_id, detail ->> 'address' from private.history
        where kind = 'address' and private.person(detail ->> 'address') = any (people)
    ), reached as (
      select application as row, (select min(address) from replacements where application_id = id) as address
      from public.retreat_applications as application
      where (private.person(application.email) = any (people) or id = any (array(select application_id from replacements)))
        and private.person(application.email) <> person
      order by created_at desc, id desc limit most
    )
    select coalesce(jsonb_agg(private.names(row) || jsonb_build_object(
      'id', (row).id, 'created_at', (row).created_at, 'email', (row).email, 'address', address
    ) order by (row).created_at desc, (row).id desc), '[]')
    from reached
  );
end
$$;

revoke all on function private.applications_by_address(text, text[], integer) from public, anon, authenticated;

-- The acts of the last day that name an application: those of its history, and those whose result has it, one of its letters or
-- one of its deliveries.
create or replace function private.acts_about(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  ids constant text[] := array(
    select application::text
    union all select id::text from private.letters where application_id = application
    union all select id::text from private.deliveries where application_id = application
  );
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'act', acts.act, 'at', at, 'call', call, 'author', email, 'result', own_result
    ) order by at, acts.act), '[]')
    from private.acts
      left join auth.users on users.id = account_id
      cross join lateral (
        -- The other entries of a list are about other people.
        select case when jsonb_typeof(result) = 'array' then (
          select jsonb_agg(entry) from jsonb_array_elements(result) as entry where private.ids_in(entry) ?| ids
        ) else result end as own_result
      ) as filtered
    where acts.act = any (array(
      select event.act from private.history as event where event.application_id = application
      union select named.act from private.acts as named
        where jsonb_typeof(named.result) = 'array' and private.ids_in(named.result) ?| ids
    ))
  );
end
$$;

-- Everything about the person of an email: {email, applications, left_out, by_address, account}. At most `most` applications, the
-- newest first, and `left_out` counts the others. `others`: more emails of this person. They lead only to `by_address`.
create or replace function private.all_about(
  email text, reader uuid default null, most integer default null, others text[] default '{}'
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  applications constant uuid[] := private.applications_of(all_about.email);
begin
  return jsonb_build_object(
    'email', all_about.email,
    'applications', (
      select coalesce(jsonb_agg(private.all_about_application(id, reader) order by position), '[]')
      from unnest(applications[:coalesce(most, cardinality(applications))]) with ordinality as one (id, position)
    ),
    'left_out', greatest(0, cardinality(applications) - most),
    'by_address', private.applications_by_address(all_about.email, others, most),
    'account', private.account_of(all_about.email, reader)
  );
end
$$;

-- Erases up to `most` applications of an edition that are due on or before a day. Returns their number. `unchanged_since`: leaves
-- out those with a decision or an RSVP since then, which may have become due only thereby.
create or replace function private.erase_due_applications(
  edition integer, day date, most integer, unchanged_since date default null
) returns integer
  language plpgsql set search_path = ''
as $$
declare
  due uuid[] := array(select private.due_applications(edition, day, most));
  erased integer;
begin
  perform private.lock_for_erasing(due);
  -- Checked again under the lock, since an organiser may have put a hold on one meanwhile.
  delete from public.retreat_applications as application
    where id = any (due) and private.erased_on(application) <= day and not exists (
      select from private.history
      where application_id = application.id and kind in ('status', 'answer') and at >= unchanged_since
    );
  get diagnostics erased = row_count;
  return erased;
end
$$;

-- Announces applications that will be erased within six days, and erases up to `most` of those that were announced on seven days.
-- Servers call this regularly, and again at once as long as it erases some: each call is short, and no insert waits for it. The
-- result is {erased, announced}. `announced`: the result of `private.announced_applications` once a day, otherwise null.
create or replace function private.keep_applications(most integer) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  today constant date := private.today();
  shown integer;
  announcement record;
  gone integer := 0;
  is_new boolean := false;
begin
  -- Before their announcements, as in the order of locks.
  perform from private.editions order by id for key share;
  for shown in
    select id from private.editions, private.retention
    where ends_on + make_interval(months => least(months, months_for_guests)) <= today + 6
      or exists (select from private.announcements where edition = id and subject = 'applications')
    order by id
  loop
    if exists (select from private.due_applications(shown, today + 6, 1)) then
      announcement := private.announce(shown, 'applications');
      is_new := is_new or announcement.is_new;
      continue when announcement.erasable_until is null;
      gone := private.erase_due_applications(shown, announcement.erasable_until, most, (
        -- The day before the first announcement, in case the time zones differ.
        select until - 7 from private.announcements where edition = shown and subject = 'applications'));
      update private.announcements as round set erased = round.erased + gone
        where edition = shown and subject = 'applications';
      exit when gone > 0;
    end if;
    perform private.end_announcements(shown, 'applications');
  end loop;
  return jsonb_build_object('erased', gone, 'announced', case when is_new then private.announced_applications() end);
end
$$;

-- Sets after how many months applications are erased, null for never. Seven days of announcements begin again.
create or replace function public.desk_set_retention(version integer, months integer, months_for_guests integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.retention;
begin
  if not coalesce(months between 1 and 120, true) or not coalesce(months_for_guests between 1 and 120, true) then
    raise exception 'Applications are erased 1 to 120 months after the retreat, or never.' using errcode = '22023';
  end if;
  select * into former from private.retention for update;
  if (former.months, former.months_for_guests) is not distinct from (months, desk_set_retention.months_for_guests) then
    -- Nothing to save. The caller may repeat a change, because the response of the first call was lost.
    return public.desk_retention();
  elsif former.version is distinct from desk_set_retention.version then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  update private.retention set version = former.version + 1, months = desk_set_retention.months,
    months_for_guests = desk_set_retention.months_for_guests;
  perform private.end_announcements(id, 'applications') from private.editions order by id;
  insert into private.history (author, kind, detail)
    values (me.email, 'retention', jsonb_build_object('months', months, 'months_for_guests', months_for_guests));
  return public.desk_retention();
end
$$;

-- Puts a hold on an application, with a reason: the retention does not erase it. A blank reason ends the hold. Then the
-- announcements of its edition begin again, so that it is not erased at once.
create or replace function public.desk_hold(act uuid, application uuid, reason text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  reason := btrim(coalesce(reason, ''), E' \t\r\n');
  if char_length(reason) > 500 then
    raise exception 'A reason has at most 500 characters.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_hold', application::text, reason) then
    -- Before the application, which `write_down` locks, as in the order of locks.
    if reason = '' then perform private.end_announcements(private.edition_of(application), 'applications'); end if;
    perform private.write_down(application, act, me.email, 'hold', jsonb_build_object('reason', nullif(reason, '')));
    if reason = '' then
      delete from private.holds where application_id = application;
    else
      insert into private.holds (application_id, reason, held_by) values (application, desk_hold.reason, me.email)
        on conflict (application_id) do update
          set (reason, held_by, held_at) = (excluded.reason, excluded.held_by, excluded.held_at);
    end if;
  end if;
  return private.application_details(application, me.blind);
end
$$;

-- Erases at most 500 applications that are due, without announcements: on a hosted project, no server erases them. The result
-- is {erased, due}. `due` counts the applications that remain to be erased.
create or replace function public.desk_erase_due(act uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  due uuid[];
  total integer;
begin
  if not private.begin_act(act, 'desk_erase_due', '') then
    return coalesce((select result from private.acts where acts.act = desk_erase_due.act), (
      select jsonb_build_object('erased', sum((detail ->> 'erased')::integer), 'due', private.count_due_applications())
      from private.history where history.act = desk_erase_due.act
    ));
  end if;
  due := array(
    select application
    from private.editions cross join lateral private.due_applications(editions.id, private.today(), 500) as application
    order by editions.id limit 500
  );
  perform private.lock_for_erasing(due);
  -- Checked again under the lock, since an organiser may have put a hold on one meanwhile.
  with erased as (
    delete from public.retreat_applications as application
      where id = any (due) and private.erased_on(application) <= private.today() returning edition
  ), remembered as (
    insert into private.history (act, author, kind, detail)
      select desk_erase_due.act, me.email, 'retention', jsonb_build_object('edition', edition, 'erased', count(*))
      from erased group by edition order by edition
  )
  select count(*) into total from erased;
  return private.end_act(act, jsonb_build_object('erased', total, 'due', private.count_due_applications()));
end
$$;
