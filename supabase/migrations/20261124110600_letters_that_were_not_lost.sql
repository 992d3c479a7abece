-- Lets letters leave that were refused or given up, for the decision that stands; no receipt that is older than a day, and no
-- reminder that names a day which is over, until an organiser moves that day. What comes back counts those that are on
-- their way, or arrived.
create or replace function private.retry(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.move(array(
    select id from private.letters as letter
    where id = any (wanted) and state in ('refused', 'given up')
      and (occasion <> 'received' or released_at > now() - interval '1 day')
      and not private.is_overdue(letter)
  ), 'waiting', due => now());
  return (select count(*) from private.letters where id = any (wanted) and state in ('waiting', 'sending', 'sent'));
end
$$;

-- Releases drafts, an array of {id, seen}: they leave after a minute. More than thirty need their number, and letters that were
-- sent before need `again`. The result has the outcome of each: released, changed (since it was read), missing (an answer that
-- it quotes is blank), long (longer than a letter may be once it is filled in), again, or gone. The same act again changes
-- nothing. Where only an automation carries letters, what it was told beside a mail that was stopped was sent before, too.
create or replace function public.desk_release(
  act uuid, letters jsonb, number integer default null, again boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sent record;
  letter private.letters;
  standing record;
  text jsonb;
  outcome text;
  outcomes jsonb := jsonb_build_array();
  is_postman_there boolean;
  is_automation_there boolean;
  automated record;
  is_told boolean;
begin
  select seen_at > now() - interval '1 minute', automation_seen_at > now() - interval '1 minute'
    into is_postman_there, is_automation_there from private.postman;
  if jsonb_array_length(letters) > 1000 then
    raise exception 'At most 1,000 letters are released at once.' using errcode = '22023';
  elsif jsonb_array_length(letters) > 30 and number is distinct from jsonb_array_length(letters) then
    raise exception 'The number does not match: these are % letters.', jsonb_array_length(letters)
      using errcode = '22023';
  elsif not (is_postman_there or is_automation_there) then
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  elsif not is_postman_there and exists (
    select from private.letters as draft
    where id in (select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one)
      and not private.is_decision(draft.occasion)
  ) then
    raise exception 'Only decisions are told to the automation, and no server with a mail server is at work.'
      using errcode = 'PT409';
  end if;
  -- Whoever decides meanwhile comes first, or withdraws what was released.
  perform private.lock_letters(array(select (each_one ->> 'id')::uuid from jsonb_array_elements(letters) as each_one));
  for sent in
    select distinct on (draft.application_id, wanted.id) wanted.id, draft.application_id, wanted.seen
    from jsonb_to_recordset(letters) as wanted (id uuid, seen text) left join private.letters as draft using (id)
    order by draft.application_id, wanted.id
  loop
    select version, status into standing from private.statuses where application_id = sent.application_id;
    select * into letter from private.letters where id = sent.id;
    text := case when letter.id is not null then private.letter_text(letter, me.blind) end;
    -- What an automation has of this edition, whose place the draft would take: beside a mail that was stopped.
    select id, state into automated from private.letters as beside
      where not is_postman_there and beside.application_id = letter.application_id and beside.occasion = letter.occasion
        and beside.edition = letter.edition and way = 'automation' and state <> 'withdrawn' and id <> letter.id;
    is_told := coalesce(automated.state not in ('refused', 'given up'), false);
    outcome := case
      when letter.act = desk_release.act and letter.state in ('waiting', 'sending', 'sent') then 'released'
      when letter.state is distinct from 'draft' then 'gone'
      when private.is_decision(letter.occasion) and letter.occasion is distinct from standing.status then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when (letter.edition > 1 and letter.occasion not in ('', 'reminder') or is_told) and not coalesce(again, false)
        then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      if is_told then
        letter.edition := (
          select max(edition) + 1 from private.letters as beside
          where beside.application_id = letter.application_id and beside.occasion = letter.occasion
            and way = 'automation' and state <> 'withdrawn'
        );
      elsif automated.id is not null then
        perform private.move(array[automated.id], 'withdrawn', author => me.email);
      end if;
      update private.letters set edition = letter.edition, subject = text ->> 'subject', body = text ->> 'body',
        from_template = letter.subject is null, way = case when is_postman_there then 'mail' else 'automation' end,
        author = me.email, act = desk_release.act, status_version = coalesce(standing.version, 0), released_at = now()
        where id = letter.id;
      perform private.move(array[letter.id], 'waiting', due => now() + (select hold from private.letter_settings));
      if is_postman_there and is_automation_there and private.is_decision(letter.occasion) then
        insert into private.letters (application_id, occasion, edition, way, state, subject, body, author, act,
            status_version, released_at, due_at)
          select application_id, released.occasion, edition, 'automation', state, subject, body, author, released.act,
            status_version, released_at, due_at
          from private.letters as released where id = letter.id
          on conflict do nothing;
      end if;
      perform private.withdraw_receipt(letter.application_id);
      outcome := 'released';
    end if;
    outcomes := outcomes || jsonb_build_object('id', sent.id, 'application', sent.application_id, 'outcome', outcome);
  end loop;
  return outcomes;
end
$$;

-- Whether a letter is a reminder that asks until a day which is over. One of an acceptance is not: its days count from its
-- handover.
create function private.is_overdue(letter private.letters) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return letter.occasion = 'reminder'
    and private.missing_in(letter.subject || letter.body, letter.application_id) <> '[]';
end
$$;

revoke all on function private.is_overdue(private.letters) from public, anon, authenticated;

-- Sets an answer, null for none, once for each act. Whoever calls has locked the application. The newest counts, and all
-- are kept. Who has answered is reminded no more.
create or replace function private.set_answer(application uuid, act uuid, author text, answer text) returns void
  language plpgsql set search_path = ''
as $$
declare
  is_repeat boolean := exists (
    select from private.history where application_id = application and history.act = set_answer.act
  );
begin
  if not is_repeat and exists (
    select from private.acceptances as acceptance
    where application_id = application and acceptance.answer is not distinct from set_answer.answer
  ) then
    return;
  end if;
  perform private.write_down(application, act, author, 'answer', jsonb_build_object('answer', answer));
  if is_repeat then return; end if;
  if answer is not null then
    -- First of all: a server takes letters, and gives them back, without a lock on the application.
    perform from private.letters
      where application_id = application and occasion = 'reminder' and state not in ('sent', 'withdrawn')
      order by id for update;
    -- Also those that did not arrive, which somebody might try again.
    perform private.move(array(
      select id from private.letters
      where application_id = application and occasion = 'reminder' and state not in ('sending', 'sent', 'withdrawn')
    ), 'withdrawn');
    -- What a server is handing over is marked: it may arrive, but is not tried again.
    update private.letters set withdrawn_at = now()
      where application_id = application and occasion = 'reminder' and state = 'sending';
  end if;
  update private.acceptances as acceptance
    set answer = set_answer.answer, answered_at = case when set_answer.answer is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_answer_notices(application, act);
  end if;
end
$$;
