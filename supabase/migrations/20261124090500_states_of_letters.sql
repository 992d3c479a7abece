-- How a letter was sent where no server did, which stood where a mail server's answer does; and one function that moves
-- letters from state to state.
alter table private.letters
  add column otherwise text check (otherwise in ('by hand', 'told'));
update private.letters set otherwise = case answer when 'sent by hand' then 'by hand' else 'told' end, answer = ''
  where state = 'sent' and answer in ('sent by hand', 'told otherwise');

-- Removes a template that organisers made, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
begin
  if occasion = 'received' or private.is_decision(occasion) then
    raise exception 'The templates of the receipt and of the decisions stay.' using errcode = '22023';
  end if;
  delete from private.templates as template
    where template.occasion = desk_remove_template.occasion and template.version = desk_remove_template.version;
  if not found then
    if exists (select from private.templates as template where template.occasion = desk_remove_template.occasion) then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return jsonb_build_object('removed', false);
  end if;
  drafts := array(
    select id from private.letters as letter
    where letter.occasion = desk_remove_template.occasion and state = 'draft'
  );
  perform private.lock_letters(drafts);
  perform private.move(array(
    select id from private.letters where id = any (drafts) and state = 'draft'
  ), 'withdrawn', author => me.email);
  perform private.write_down_letters(me.email, jsonb_build_object('removed', occasion));
  return jsonb_build_object('removed', true);
end
$$;

-- How a letter stands, and what brings it there. It begins as a draft, or as `waiting`: a receipt, or what an automation is
-- told beside a letter.
--
-- | from             | to        | by                                                                                 |
-- | ---------------- | --------- | ---------------------------------------------------------------------------------- |
-- | draft            | waiting   | an organiser releases it: it is due, and can be stopped until it leaves            |
-- | draft            | sent      | an organiser sent it from their own mail program                                   |
-- | draft            | withdrawn | an organiser takes it or its template away, or another decision does               |
-- | waiting          | sending   | a server takes it upon itself, for as long as its lease                            |
-- | waiting          | withdrawn | an organiser stops it, another decision does, or of a receipt that nobody needs    |
-- | sending          | sending   | a server takes it whose lease ran out: nobody knows what became of that try        |
-- | sending          | waiting   | it is tried again later                                                            |
-- | sending          | sent      | the mail server took it, or the automation                                         |
-- | sending          | refused   | the mail server refused it for good                                                |
-- | sending          | given up  | it was tried often enough                                                          |
-- | sending          | withdrawn | a receipt that is too late; or instead of `waiting`, `refused` and `given up` where |
-- |                  |           | another decision came meanwhile (`withdrawn_at`), which takes back nothing that left |
-- | refused, given up | waiting  | an organiser or the operator tries again, or gives another address                 |
-- | refused, given up | sent     | an organiser told it otherwise                                                     |
-- | refused, given up | withdrawn | another decision                                                                  |
-- | withdrawn        | draft     | what it says is decided or asked for again                                         |
--
-- Nothing else sets a state. Whoever calls has locked the letters.
--
-- `due`: of those that are to wait or to be sent, until when. `author`: who withdraws them, null where a decision does.
-- `is_lost`: their server died at a try.
create function private.move(
  wanted uuid[], state text, due timestamptz default null, author text default null, is_lost boolean default false
) returns setof private.letters
  language plpgsql rows 1 set search_path = ''
as $$
declare
  letter private.letters;
  target text;
  is_retried boolean;
begin
  for letter in select * from private.letters where id = any (wanted) for update loop
    target := case
      when letter.state = 'sending' and letter.withdrawn_at is not null
        and move.state in ('waiting', 'refused', 'given up') then 'withdrawn'
      else move.state
    end;
    continue when (letter.state, target) not in (
      ('draft', 'waiting'), ('draft', 'sent'), ('draft', 'withdrawn'), ('waiting', 'sending'), ('waiting', 'withdrawn'),
      ('sending', 'sending'), ('sending', 'waiting'), ('sending', 'sent'), ('sending', 'refused'),
      ('sending', 'given up'), ('sending', 'withdrawn'), ('refused', 'waiting'), ('refused', 'sent'),
      ('refused', 'withdrawn'), ('given up', 'waiting'), ('given up', 'sent'), ('given up', 'withdrawn'),
      ('withdrawn', 'draft')
    );
    is_retried := letter.state in ('refused', 'given up') and target = 'waiting';
    update private.letters as moved set
      state = target,
      due_at = case when target in ('waiting', 'sending') then due end,
      attempts = case when is_retried then 0 when target = 'sending' then moved.attempts + 1 else moved.attempts end,
      uncertain = moved.uncertain + (letter.state = 'sending' and (is_lost or target = 'sending'))::integer,
      answer = case when is_retried or target = 'sent' then '' else moved.answer end,
      sent_at = case when target = 'sent' then now() end,
      withdrawn_at = case target
        when 'draft' then null when 'withdrawn' then coalesce(moved.withdrawn_at, now()) else moved.withdrawn_at
      end,
      withdrawn_by = case target when 'draft' then null when 'withdrawn' then move.author else moved.withdrawn_by end
      where id = letter.id returning * into letter;
    return next letter;
  end loop;
end
$$;

revoke all on function private.move(uuid[], text, timestamp with time zone, text, boolean) from public, anon, authenticated;

-- Makes the draft of an occasion, unless there is one, or a letter that has left or is to leave. One that was withdrawn
-- before it was released comes back as it was. `again`: also where it was sent before.
create or replace function private.draft(application uuid, occasion text, again boolean default false) returns uuid
  language plpgsql set search_path = ''
as $$
declare
  former integer;
  told text;
  told_before integer;
  told_last text;
  made uuid;
begin
  if exists (
    select from private.letters as letter
    where application_id = application and letter.occasion = draft.occasion
      and state not in ('sent', 'withdrawn') and private.is_to_applicant(letter)
  ) then
    return null;
  end if;
  select max(edition) into former
    from private.letters as letter
    where application_id = application and letter.occasion = draft.occasion and state = 'sent'
      and private.is_to_applicant(letter);
  -- What they were told last need not be told again; what they were told before something else has to be. Something that
  -- may have arrived was told.
  select letter.occasion into told
    from private.letters as letter
    where application_id = application and (state = 'sent' or uncertain > 0) and private.is_to_applicant(letter)
      and private.is_decision(letter.occasion)
    order by coalesce(sent_at, withdrawn_at, released_at) desc limit 1;
  if not again and former is not null and (told = draft.occasion or not private.is_decision(draft.occasion)) then
    return null;
  end if;
  -- An automation that was told something else since is told anew.
  select max(edition) filter (where letter.occasion = draft.occasion),
      (array_agg(letter.occasion order by sent_at desc))[1] into told_before, told_last
    from private.letters as letter
    where application_id = application and way = 'automation' and state = 'sent';
  if told_last <> draft.occasion then former := greatest(former, told_before); end if;
  update private.letters set edition = coalesce(former, 0) + 1
    where id = (
      select id from private.letters as letter
      where application_id = application and letter.occasion = draft.occasion
        and state = 'withdrawn' and released_at is null
      order by withdrawn_at desc limit 1
    )
    returning id into made;
  perform private.move(array[made], 'draft');
  if made is null then
    insert into private.letters (application_id, occasion, edition, state)
      values (application, draft.occasion, coalesce(former, 0) + 1, 'draft')
      on conflict do nothing returning id into made;
  end if;
  return made;
end
$$;

-- Withdraws what has not left of an application, and drafts what stands now. What a server is handing over this moment
-- is marked: if it comes back, it is not tried again. A receipt says nothing of decisions, and leaves.
create or replace function private.redraft() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.move(array(
    select id from private.letters
    where application_id = new.application_id and state not in ('sending', 'sent', 'withdrawn')
      and occasion <> 'received' for update
  ), 'withdrawn');
  -- Behind that: what a server takes meanwhile is seen here.
  update private.letters set withdrawn_at = now()
    where application_id = new.application_id and state = 'sending' and occasion <> 'received';
  if private.is_decision(new.status) then
    perform private.draft(new.application_id, new.status);
  end if;
  return null;
end
$$;

-- Letters as an organiser may see them, in the order of their ids.
create or replace function private.letters_shown(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select coalesce(jsonb_agg(
    private.letter_text(letter, blind) || jsonb_build_object(
      'id', letter.id, 'application', application.id, 'occasion', letter.occasion, 'edition', letter.edition,
      'way', letter.way,
      'state', letter.state, 'is_edited', letter.state = 'draft' and letter.subject is not null,
      'to', case when not blind then private.address_of(application.id, application.email) end,
      'name', case when not blind then
        btrim(left(application.first_name, 200) || ' ' || left(application.last_name, 200)) end,
      'author', letter.author, 'act', letter.act, 'released_at', letter.released_at, 'due_at', letter.due_at,
      'attempts', letter.attempts, 'uncertain', letter.uncertain, 'sent_at', letter.sent_at,
      'withdrawn_at', letter.withdrawn_at, 'withdrawn_by', letter.withdrawn_by,
      'answer', case when not blind then letter.answer else '' end, 'otherwise', letter.otherwise
    ) order by place), '[]')
  from unnest(ids) with ordinality as shown (id, place)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

-- Lets letters leave that were refused or given up, for the decision that stands; no receipt that is older than a day.
-- What comes back counts those that are on their way, or arrived.
create or replace function private.retry(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  perform private.move(array(
    select id from private.letters
    where id = any (wanted) and state in ('refused', 'given up')
      and (occasion <> 'received' or released_at > now() - interval '1 day')
  ), 'waiting', due => now());
  return (select count(*) from private.letters where id = any (wanted) and state in ('waiting', 'sending', 'sent'));
end
$$;

-- Who reads a letter needs no receipt any more.
create or replace function private.withdraw_receipt(application uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.move(array(
    select id from private.letters
    where application_id = application and occasion = 'received' and state = 'waiting' for update
  ), 'withdrawn');
end
$$;

-- What became of the letters of some applications, without their texts.
create or replace function public.desk_letter_states(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state, 'otherwise', otherwise) order by created_at, id), '[]')
    from private.letters
    where application_id = any (applications) and state not in ('draft', 'withdrawn')
  );
end
$$;

-- Takes drafts away. A new decision makes one again. What comes back counts those that somebody took away.
create or replace function public.desk_discard(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  perform private.move(array(
    select id from private.letters where id = any (desk_discard.letters) and state = 'draft'
  ), 'withdrawn', author => me.email);
  return (
    select jsonb_build_object('discarded', count(*)) from private.letters
    where id = any (desk_discard.letters) and released_at is null and withdrawn_by is not null
  );
end
$$;

-- Releases drafts, an array of {id, seen}: they leave when a minute is over. More than thirty only by their number,
-- what was sent before only by `again`. What comes back says of each what became of it: released, changed (since it
-- was read), missing (an answer that it quotes is blank), long (filled in it is longer than a letter may be), again, or
-- gone. The same act again changes nothing.
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
    outcome := case
      when letter.act = desk_release.act and letter.state in ('waiting', 'sending', 'sent') then 'released'
      when letter.state is distinct from 'draft' then 'gone'
      when private.is_decision(letter.occasion) and letter.occasion is distinct from standing.status then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when (text ->> 'is_long')::boolean then 'long'
      when letter.edition > 1 and not coalesce(again, false) then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      update private.letters set subject = text ->> 'subject', body = text ->> 'body',
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

-- Stops letters, or all of one act: they are drafts again, and no automation is told any more. What somebody wrote to
-- one person stays as it is; the others follow their template. What has left has left. What comes back counts letters
-- that somebody stopped.
create or replace function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  wanted uuid[] := array(
    select distinct released.id
    from private.letters as given join private.letters as released
      on released.id = given.id or (released.act = given.act and released.application_id = given.application_id)
    where given.id = any (desk_withdraw.letters) or given.act = desk_withdraw.act
  );
  letter private.letters;
  draft uuid;
begin
  perform private.check_number(letters);
  perform private.lock_letters(wanted);
  for letter in
    select * from private.letters where id = any (wanted) and state = 'waiting' order by application_id, id
  loop
    perform private.move(array[letter.id], 'withdrawn', author => me.email);
    -- There is none where the template was removed meanwhile.
    if exists (
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
  standing text;
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
  select status into standing from private.statuses where application_id = draft.application_id;
  text := private.letter_text(draft, false);
  if draft.state is distinct from 'draft' or text ->> 'seen' <> seen
    or (private.is_decision(draft.occasion) and draft.occasion is distinct from standing)
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

-- Lets a letter that did not arrive leave to another address, where all letters to this applicant go from then on. It
-- can be stopped, as when it was released.
create or replace function public.desk_readdress(act uuid, letter uuid, address text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  failed private.letters;
  is_repeat boolean;
begin
  if me.blind then
    raise exception 'Who reads blind gives no address.' using errcode = '22023';
  elsif coalesce(char_length(address), 0) > 254
    or coalesce(address, '') !~ '^[^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+$'
  then
    raise exception 'This is not one e-mail address.' using errcode = '22023';
  end if;
  perform private.lock_letters(array[letter]);
  select * into failed from private.letters where id = desk_readdress.letter;
  is_repeat := exists (
    select from private.history as written
    where application_id = failed.application_id and written.act = desk_readdress.act
  );
  if not is_repeat and (
    failed.state is null or failed.state not in ('refused', 'given up') or failed.way <> 'mail'
    or failed.occasion = 'received'
  ) then
    raise exception 'This letter does not wait for another address any more.' using errcode = 'PT409';
  end if;
  perform private.write_down(failed.application_id, act, me.email, 'address',
    jsonb_build_object('address', address, 'occasion', failed.occasion));
  if not is_repeat then
    perform private.move(array[failed.id], 'waiting', due => now() + (select hold from private.letter_settings));
  end if;
  return private.letters_shown(array[failed.id], false) -> 0;
end
$$;

-- Notes that what letters say that did not arrive was told otherwise. What comes back counts those of which it is noted.
create or replace function public.desk_settle(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  with settled as (
    update private.letters set otherwise = 'told'
      where id = any (desk_settle.letters) and state in ('refused', 'given up')
      returning application_id, occasion, way
  )
  insert into private.history (application_id, author, kind, detail)
    select application_id, me.email, 'told', jsonb_build_object('occasion', occasion, 'way', way) from settled;
  perform private.move(array(
    select id from private.letters
    where id = any (desk_settle.letters) and state in ('refused', 'given up') and otherwise = 'told'
  ), 'sent');
  return (
    select jsonb_build_object('settled', count(*)) from private.letters
    where id = any (desk_settle.letters) and state = 'sent' and otherwise = 'told'
  );
end
$$;
