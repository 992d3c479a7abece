-- Whom the desk belongs to.
create or replace function public.desk_me() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return jsonb_build_object('email', me.email);
end
$$;

-- The statuses that applicants are told of; each is the occasion of a letter, too.
create function private.is_decision(status text) returns boolean
  language sql immutable parallel safe
  return status in ('accepted', 'waitlisted', 'declined');

revoke all on function private.is_decision(text) from public, anon, authenticated;

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
  update private.letters set state = 'withdrawn', withdrawn_at = now(), withdrawn_by = me.email
    where id = any (drafts) and state = 'draft';
  perform private.write_down_letters(me.email, jsonb_build_object('removed', occasion));
  return jsonb_build_object('removed', true);
end
$$;

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
  update private.letters set state = 'draft', withdrawn_at = null, withdrawn_by = null, edition = coalesce(former, 0) + 1
    where id = (
      select id from private.letters as letter
      where application_id = application and letter.occasion = draft.occasion
        and state = 'withdrawn' and released_at is null
      order by withdrawn_at desc limit 1
    )
    returning id into made;
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
  update private.letters
    set withdrawn_at = now(), due_at = case state when 'sending' then due_at end,
      state = case state when 'sending' then 'sending' else 'withdrawn' end
    where application_id = new.application_id and state not in ('sent', 'withdrawn') and occasion <> 'received';
  if private.is_decision(new.status) then
    perform private.draft(new.application_id, new.status);
  end if;
  return null;
end
$$;

-- Drafts letters of an occasion; `again` also where one was sent. What comes back says of each what became of it:
-- drafted, written (there is a draft or a letter, in this state), undecided (another decision stands) or gone.
create or replace function public.desk_write(applications uuid[], occasion text, again boolean default false) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid;
  standing text;
  outcome text;
  outcomes jsonb := jsonb_build_array();
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 letters are drafted at once.' using errcode = '22023';
  elsif occasion = 'received' then
    raise exception 'A receipt goes by itself, and to nobody else.' using errcode = '22023';
  end if;
  -- Whoever removes it waits, and takes these drafts away too.
  perform from private.templates as template where template.occasion = desk_write.occasion for key share;
  if not found then
    raise exception 'There is no template of this name.' using errcode = '22023';
  end if;
  perform private.lock_for_letters(applications);
  for application in select distinct unnest(applications) as id order by id loop
    perform from public.retreat_applications where id = application;
    outcome := case when not found then 'gone' end;
    if outcome is null then
      select status into standing from private.statuses where application_id = application;
      outcome := case
        when private.is_decision(occasion) and occasion is distinct from standing then 'undecided'
        when private.draft(application, occasion, coalesce(again, false)) is null then 'written'
        else 'drafted'
      end;
    end if;
    outcomes := outcomes || jsonb_build_object('application', application, 'outcome', outcome,
      'state', case outcome when 'written' then (
        select state from private.letters as letter
        where application_id = application and letter.occasion = desk_write.occasion and state <> 'withdrawn'
          and private.is_to_applicant(letter)
        -- What stands in the way of another one comes before what was sent.
        order by state = 'sent' limit 1
      ) end);
  end loop;
  return outcomes;
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
      update private.letters set state = 'waiting', subject = text ->> 'subject', body = text ->> 'body',
        from_template = letter.subject is null, way = case when is_postman_there then 'mail' else 'automation' end,
        author = me.email, act = desk_release.act, status_version = coalesce(standing.version, 0),
        released_at = now(), due_at = now() + (select hold from private.letter_settings)
        where id = letter.id;
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
  if draft.state = 'sent' and draft.answer = 'sent by hand' and draft.author = me.email then
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
  update private.letters set state = 'sent', subject = text ->> 'subject', body = text ->> 'body', author = me.email,
    released_at = now(), sent_at = now(), answer = 'sent by hand', from_template = draft.subject is null where id = draft.id;
  perform private.withdraw_receipt(draft.application_id);
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

drop trigger draft_first on private.statuses;
create trigger draft_first after insert on private.statuses
  for each row when (private.is_decision(new.status)) execute function private.redraft();
