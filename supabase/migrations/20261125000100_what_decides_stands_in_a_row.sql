alter table private.acceptances add column is_deadline_set boolean not null default false;

-- The same for acceptances: whether an organiser set the last day.
create function private.fill_in_deadlines() returns void
  language sql set search_path = ''
  begin atomic
    update private.acceptances as acceptance set is_deadline_set = true
      where kept_until is not null and exists (
        select from private.history where application_id = acceptance.application_id and kind = 'kept'
      );
  end;

revoke all on function private.fill_in_deadlines() from public, anon, authenticated;

select private.fill_in_deadlines();

-- Refuses an application while the door is closed, with the organisers' sentence. It runs after the insert, so that the index
-- refuses a repeat first: a repeat is a success, whatever the door says.
create or replace function private.keep_door() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  door private.door;
begin
  -- Until the application is stored: whoever sets a number waits for it, as `hold_applying` does.
  perform pg_advisory_xact_lock_shared(5610746);
  select * into door from private.door;
  if not door.closed and door.closes_after is not null then
    -- Only while there is a number do those who apply at the same moment wait for each other.
    select * into door from private.door for update;
    if not door.closed and door.received < door.closes_after then
      update private.door set received = received + 1;
      door.closes_after := null;
    end if;
  end if;
  if door.closed or now() >= door.closes_at or door.closes_after is not null then
    raise exception using errcode = 'PT403', message = coalesce(nullif(door.sentence, ''), 'Applications are closed.');
  end if;
  return null;
end
$$;

-- Waits until nobody is applying, and holds those who want to until the transaction ends. By no lock of the table, since a vacuum
-- has one for a long time. A waiting lock holds everybody who comes later, so it waits for a moment at a time.
create function private.hold_applying() returns void
  language plpgsql set search_path = '' set lock_timeout = '100ms'
as $$
begin
  for attempt in 1 .. 25 loop
    begin
      perform pg_advisory_xact_lock(5610746);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'Somebody is applying at this moment. Please try again.' using errcode = 'PT503';
end
$$;

revoke all on function private.hold_applying() from public, anon, authenticated;

-- Opens or closes the door. The command `door` calls it, too, without a version, since it has seen none.
create or replace function private.set_door(
  author text, seen integer, closed boolean, sentence text, closes_at timestamptz, closes_after integer
) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  stood private.door;
  state jsonb;
  opens boolean;
begin
  if char_length(sentence) > 300 then
    raise exception 'The sentence has at most 300 characters.' using errcode = '22023';
  elsif closes_after <= 0 then
    raise exception 'The number of applications is at least 1.' using errcode = '22023';
  end if;
  -- What is being inserted now is counted before, or is counted by the door. Locked first, as those who insert do.
  if closes_after is not null then perform private.hold_applying(); end if;
  select * into stood from private.door for update;
  state := private.door_state();
  if (state ->> 'version')::integer <> seen then
    -- Sent again, because its answer was lost.
    if stood.version = seen + 1 and stood.closed = set_door.closed and stood.sentence = coalesce(set_door.sentence, '')
      and stood.closes_at is not distinct from set_door.closes_at
      and stood.closes_after is not distinct from set_door.closes_after
    then
      return state;
    end if;
    raise exception 'The door has changed meanwhile.' using errcode = 'PT409';
  elsif set_door.closes_at is distinct from stood.closes_at then
    if set_door.closes_at <= now() then
      raise exception 'The moment at which the door closes is past.' using errcode = '22023';
    elsif set_door.closes_at > '9999-12-31 23:59:59+00' then
      raise exception 'The door closes before the year 10000, or at no moment.' using errcode = '22023';
    end if;
  end if;
  -- Another sentence on a door that a number or a moment closed does not open it.
  opens := not set_door.closed and not (state ->> 'is_open')::boolean and (
    stood.closed or set_door.closes_at is distinct from stood.closes_at
    or set_door.closes_after is distinct from stood.closes_after
  );
  update private.door set
    version = (state ->> 'version')::integer + 1, closed = set_door.closed, sentence = coalesce(set_door.sentence, ''),
    closes_at = set_door.closes_at, closes_after = set_door.closes_after,
    opened_at = case when opens then now() else stood.opened_at end;
  if closes_after is not null then
    update private.door set received = (
      select count(*) from (
        select from public.retreat_applications where created_at >= opened_at limit set_door.closes_after
      ) as since_opening
    );
  end if;
  insert into private.history (author, kind, detail)
    values (set_door.author, 'door', private.door_state() - '{version,received}'::text[]);
  return private.door_state();
end
$$;

create or replace function public.desk_set_door(
  version integer, closed boolean, sentence text default '', closes_at timestamptz default null,
  closes_after integer default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if closed is null then
    raise exception 'The door is open or closed.' using errcode = '22023';
  end if;
  -- Who says no version has seen none.
  return private.set_door(me.email, coalesce(version, -1), closed, sentence, closes_at, closes_after);
end
$$;

-- Changes one draft. A blank subject and body give it its template's text again, if it has one. `seen` says which text was read.
create or replace function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
begin
  if me.blind then
    raise exception 'Who reads blind edits no letter.' using errcode = '22023';
  elsif subject <> '' or body <> '' or exists (
    select from private.letters where id = desk_edit.letter and occasion = ''
  ) then
    perform private.check_letter(subject, body);
  end if;
  perform private.lock_letters(array[desk_edit.letter]);
  select * into draft from private.letters where id = desk_edit.letter and state = 'draft';
  if not found then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif private.letter_text(draft, false) ->> 'seen' is distinct from seen then
    -- Sent again, because its answer was lost.
    if coalesce(draft.subject, '') = desk_edit.subject and coalesce(draft.body, '') = desk_edit.body then
      return private.letters_shown(array[draft.id], false) -> 0;
    end if;
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set subject = nullif(desk_edit.subject, ''), body = nullif(desk_edit.body, ''),
    version = version + 1
    where id = draft.id;
  return private.letters_shown(array[draft.id], false) -> 0;
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
  select private.is_recent(seen_at), private.is_recent(automation_seen_at)
    into is_postman_there, is_automation_there from private.postman;
  if act is null then
    raise exception 'An act has an id.' using errcode = '22023';
  elsif jsonb_array_length(letters) > 1000 then
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
    -- Filled in once, so that what is released is what is checked. Nothing of it is told to who reads blind.
    text := case when letter.id is not null then private.letter_text(letter, false) end;
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

-- Stops letters, or all letters of one act: they are drafts again, and no automation is told any more. A letter to one person
-- keeps its text; the others follow their template. Letters that have left stay sent. The result counts the stopped ones.
create or replace function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[];
  letter private.letters;
  draft uuid;
begin
  perform private.check_number(letters);
  perform private.lock_letters(array(
    select id from private.letters as given where id = any (desk_withdraw.letters) or given.act = desk_withdraw.act
  ));
  -- As they stand now that nobody releases them meanwhile.
  wanted := array(
    select distinct released.id
    from private.letters as given join private.letters as released
      on released.id = given.id or (released.act = given.act and released.application_id = given.application_id)
    where given.id = any (desk_withdraw.letters) or given.act = desk_withdraw.act
  );
  perform private.lock_letters(wanted);
  for letter in
    select * from private.letters where id = any (wanted) and state = 'waiting' order by application_id, id
  loop
    perform private.move(array[letter.id], 'withdrawn', author => me.email);
    if letter.occasion = '' then
      perform private.draft_text(letter.application_id, letter.subject, letter.body);
    -- What an automation is told beside a mail is no letter, and its template may have been removed meanwhile.
    elsif private.is_to_applicant(letter) and exists (
      select from private.templates where occasion = letter.occasion and occasion <> 'received'
    ) then
      draft := private.draft(letter.application_id, letter.occasion, letter.edition > 1);
      update private.letters set version = version + 1,
          subject = case when not letter.from_template then letter.subject end,
          body = case when not letter.from_template then letter.body end
        where id = draft;
    end if;
  end loop;
  return (
    select jsonb_build_object(
      'withdrawn', count(*) filter (where is_stopped and not has_left), 'left', count(*) filter (where has_left))
    from (
      select bool_or(withdrawn_by is not null) as is_stopped, bool_or(state in ('sending', 'sent')) as has_left
      from private.letters as released
      where id = any (wanted) and released_at is not null and private.is_to_applicant(released)
      group by application_id
    ) as of_application
  );
end
$$;

-- Notes that an organiser sent a draft from their own mail program.
create or replace function public.desk_sent_by_hand(letter uuid, seen text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  status_now text;
  text jsonb;
begin
  if me.blind then
    raise exception 'Who reads blind sends no letter by hand.' using errcode = '22023';
  end if;
  perform private.lock_letters(array[desk_sent_by_hand.letter]);
  select * into draft from private.letters where id = desk_sent_by_hand.letter;
  if draft.state = 'sent' and draft.otherwise = 'by hand' and draft.author = me.email then
    -- Sent again, because its answer was lost.
    return private.letters_shown(array[draft.id], false) -> 0;
  end if;
  select status into status_now from private.statuses where application_id = draft.application_id;
  text := private.letter_text(draft, false);
  if draft.state is distinct from 'draft' or text ->> 'seen' is distinct from seen
    or (private.is_decision(draft.occasion) and draft.occasion is distinct from status_now)
  then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'Filled in, this letter is longer than a letter may be.' using errcode = '22023';
  end if;
  update private.letters set subject = text ->> 'subject', body = text ->> 'body', author = me.email,
    released_at = now(), otherwise = 'by hand', from_template = draft.subject is null where id = draft.id;
  perform private.move(array[draft.id], 'sent');
  perform private.withdraw_receipt(draft.application_id);
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

-- Follows the letters: who was told that they are accepted is asked from then on; who was told something else gets
-- another link when they are accepted again, and what they answered is over. What may have arrived was told.
create or replace function private.follow_letter() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if not private.is_to_applicant(new) then
    return null;
  elsif private.is_decision(new.occasion) and new.occasion <> 'accepted' then
    update private.acceptances
      set token = gen_random_uuid(), told_at = null, kept_until = null, is_deadline_set = false, answer = null,
        answered_at = null
      where application_id = new.application_id
        and (told_at is not null or kept_until is not null or answer is not null);
  elsif new.occasion = 'accepted' or private.has_link(new.body) then
    update private.acceptances set
        told_at = now(), kept_until = coalesce(kept_until, private.today() + (select days from private.places))
      where application_id = new.application_id and told_at is null;
  end if;
  return null;
end
$$;

-- Whether the last day on which an applicant can answer is over. As long as they were not told and no organiser set that day, the
-- days count from the handover.
create function private.is_day_over(application uuid) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from private.acceptances
    where application_id = application and kept_until < private.today() and (told_at is not null or is_deadline_set)
  );
end
$$;

revoke all on function private.is_day_over(uuid) from public, anon, authenticated;

-- The words in place of the link and the day in a letter until it is handed over; blank where nobody is asked any more.
create or replace function private.place_answers(application uuid) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  is_asked boolean := exists (select from private.acceptances where application_id = application and is_accepted)
    and not private.is_day_over(application);
begin
  return jsonb_build_object(
    'answer_link', case when is_asked then '{{answer_link}}' else '' end,
    'reply_by', case when is_asked then '{{reply_by}}' else '' end);
end
$$;

-- Whether a letter has the day or the link, and that day is over. An automation that is told an acceptance in place of a mail is
-- told both, whatever the text is.
create or replace function private.is_overdue(letter private.letters) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return (
      private.has_link(letter.subject || letter.body) or private.has_day(letter.subject || letter.body)
      or letter.way = 'automation' and letter.occasion = 'accepted'
    )
    and private.is_to_applicant(letter) and private.is_day_over(letter.application_id);
end
$$;

-- Keeps a place for somebody whose letter is being handed over. The result is their link, null where the site's address is not
-- known, and the last day. As long as they were not told and no organiser set a day, the days count from the last handover. What
-- decides is in the row itself: a subquery would keep what it found before the row was waited for.
create or replace function private.keep_place(application uuid, site text default null, out link text, out kept_until date)
  language plpgsql set search_path = ''
as $$
declare
  settings private.places;
  counted date;
begin
  select * into settings from private.places;
  counted := private.today() + settings.days;
  update private.acceptances as acceptance set kept_until = case
      when told_at is null and not is_deadline_set then greatest(acceptance.kept_until, counted)
      else coalesce(acceptance.kept_until, counted)
    end
    where application_id = application and is_accepted
    returning coalesce(nullif(settings.site, ''), nullif(keep_place.site, '')) || '/answer/#' || token,
      acceptance.kept_until
    into link, kept_until;
end
$$;

-- Moves the last day on which somebody can answer.
create or replace function public.desk_keep_until(act uuid, application uuid, until date) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  is_repeat boolean;
begin
  if act is null or until is null or until < private.today() or until > '9999-12-31' then
    raise exception 'A place is kept until today or a later day.' using errcode = '22023';
  end if;
  perform private.lock_acceptance(application);
  is_repeat := exists (
    select from private.history where application_id = application and history.act = desk_keep_until.act
  );
  perform private.write_down(application, act, me.email, 'kept', jsonb_build_object('until', until));
  -- Not again, over what somebody set since.
  if not is_repeat then
    update private.acceptances set kept_until = until, is_deadline_set = true where application_id = application;
  end if;
  return private.whole(application, me.blind);
end
$$;

-- A draft for an organiser's own mail program, with the applicant's link. The history records that the link was given. Where no
-- server knows the site's address, the desk gives it. The same act again gives the same.
create or replace function public.desk_hand_over(act uuid, letter uuid, seen text, site text default null, zone text default null)
  returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
  text jsonb;
  sent record;
begin
  if me.blind then
    raise exception 'Who reads blind sends no letter by hand.' using errcode = '22023';
  end if;
  perform private.check_site(site);
  perform private.lock_letters(array[letter]);
  select * into draft from private.letters where id = desk_hand_over.letter;
  text := case when draft.id is not null then private.letter_text(draft, false) end;
  if draft.state is distinct from 'draft' or text ->> 'seen' is distinct from seen then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  elsif text -> 'missing' <> '[]' then
    raise exception 'This letter quotes what is blank.' using errcode = '22023';
  end if;
  if private.has_link(text ->> 'body') then
    perform private.write_down(draft.application_id, act, me.email, 'link', jsonb_build_object('occasion', draft.occasion));
  end if;
  if zone is not null then perform private.adopt_zone(zone); end if;
  sent := private.to_send(draft.application_id, text ->> 'subject', text ->> 'body', site);
  return jsonb_build_object('subject', sent.subject, 'body', sent.body);
end
$$;
