-- What organisers do with letters. What a server does with them is in src/server/letters/.

-- Writes down what somebody did to letters in general.
create function private.write_down_letters(author text, detail jsonb) returns void
  language sql set search_path = ''
  begin atomic
    insert into private.history (author, kind, detail)
      values (write_down_letters.author, 'letters', write_down_letters.detail);
  end;

-- The state of all letters: who waits for a letter, what did not arrive, and whether a server sends them. Counted up to a
-- thousand, as applications are.
create function private.letters_overview() returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', private.is_recent(seen_at), 'is_automation_there', private.is_recent(automation_seen_at),
        'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem,
        'is_checking', check_wanted_at > checked_at and private.is_recent(check_wanted_at),
        'checked_at', nullif(checked_at, '-infinity'), 'findings', findings
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select private.up_to_thousand(count(*))
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined,reminder}', occasion), occasion)
        from private.templates as template
      ),
      -- Drafts that somebody wrote to one person.
      'personal', (
        select private.up_to_thousand(count(*))
        from (select from private.letters where state = 'draft' and occasion = '' limit 1001) as counted
      ),
      -- What was released and can still be stopped, by its act.
      'leaving', (
        select coalesce(jsonb_agg(to_jsonb(leaving) order by seconds), '[]')
        from (
          select act, count(distinct application_id), ceil(extract(epoch from max(due_at) - now()))::integer as seconds
          from private.letters
          where way in ('mail', 'automation') and state = 'waiting' and due_at > now() and attempts = 0
            and act is not null
          group by act
        ) as leaving
      ),
      'states', (
        select jsonb_object_agg(name, private.up_to_thousand(count))
        from (values
          ('waiting', (select count(*) from (
            select from private.letters where state in ('waiting', 'sending') limit 1001) as counted)),
          ('refused', (select count(*) from (
            select from private.letters where state = 'refused' limit 1001) as counted)),
          ('given up', (select count(*) from (
            select from private.letters where state = 'given up' limit 1001) as counted))
        ) as counts (name, count)
      )
    )
    from private.postman
  );
end
$$;

-- The same for the desk.
create function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  return private.letters_overview();
end
$$;

-- A page of fifty of these ids, the last of which says where the next one begins, and how all letters stand.
create function private.letter_page(ids uuid[], blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object('letters', private.letters_shown(ids, blind), 'next', (
    select jsonb_build_object('at', coalesce(released_at, created_at), 'id', id)
    from private.letters where cardinality(ids) = 50 and id = ids[50]
  ), 'overview', private.letters_overview())
$$;

-- Fifty drafts of one occasion, the oldest first.
create function public.desk_drafts(occasion text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.letter_page(array(
    select id from private.letters as letter
    where letter.occasion = desk_drafts.occasion and state = 'draft' and (created_at, id) > (
      coalesce((after ->> 'at')::timestamptz, '-infinity'),
      coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
    order by created_at, id limit 50
  ), me.blind);
end
$$;

-- Fifty letters that are to leave (`waiting`), or that did not arrive (`refused`, `given up`).
create function public.desk_outbox(state text, after jsonb default null) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_outbox.state = 'waiting' then
    -- Those of one act are due together: the newest act comes first.
    return private.letter_page(array(
      select id from private.letters as letter
      where letter.state in ('waiting', 'sending') and (released_at, id) < (
        coalesce((after ->> 'at')::timestamptz, 'infinity'),
        coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
      order by released_at desc, id desc limit 50
    ), me.blind);
  elsif desk_outbox.state not in ('refused', 'given up') then
    raise exception 'Letters are listed that are waiting, refused or given up.' using errcode = '22023';
  end if;
  return private.letter_page(array(
    select id from private.letters as letter
    where letter.state = desk_outbox.state and (released_at, id) < (
      coalesce((after ->> 'at')::timestamptz, 'infinity'),
      coalesce((after ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000'))
    order by released_at desc, id desc limit 50
  ), me.blind);
end
$$;

create function public.desk_letters_of(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return private.letters_of(applications, me.blind);
end
$$;

-- For desks that were opened before an update. Newer desks get this with the list.
create function public.desk_letter_states(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.caller();
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return private.letter_states(applications);
end
$$;

-- Drafts letters of an occasion; with `again` also where one was sent. The result has the outcome of each: drafted, written
-- (there is a draft or a letter, in this state), undecided (another decision stands) or gone.
create function public.desk_write(applications uuid[], occasion text, again boolean default false) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  application uuid;
  status_now text;
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
      select status into status_now from private.statuses where application_id = application;
      outcome := case
        when private.is_decision(occasion) and occasion is distinct from status_now then 'undecided'
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

-- Refuses an invalid letter to one person.
create function private.check_letter(subject text, body text) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  perform private.check_text(subject, body);
  -- It is sent as it stands, but for the link and the day, which are known when it is handed over.
  if regexp_replace(subject || body, '\{\{\s*(answer_link|reply_by)\s*\}\}', '', 'g') ~ '\{\{|\}\}' then
    raise exception 'In a letter to one person there are no placeholders but {{answer_link}} and {{reply_by}}: write what is to stand there.'
      using errcode = '22023';
  end if;
end
$$;

-- Drafts a letter to one person, without a template. The same act again drafts none.
create function public.desk_write_to(act uuid, application uuid, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if me.blind then
    raise exception 'Who reads blind writes to nobody.' using errcode = '22023';
  elsif act is null then
    raise exception 'An act has an id.' using errcode = '22023';
  end if;
  perform private.check_letter(subject, body);
  perform private.lock_for_letters(array[application]);
  perform from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  perform private.draft_text(application, subject, body, act);
  perform from private.letters where id = desk_write_to.act and application_id = application and occasion = '';
  if not found then
    raise exception 'This was something else before: nothing was written.' using errcode = 'PT409';
  end if;
  return private.letters_shown(array[act], false) -> 0;
end
$$;

-- Changes one draft. A blank subject and body give it its template's text again, if it has one. `seen` says which text was read.
create function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
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

-- Removes drafts. A new decision makes one again. The result counts the removed ones.
create function public.desk_discard(letters uuid[]) returns jsonb
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

-- Releases drafts, an array of {id, seen}: they leave after a minute. More than thirty need their number, and letters that were
-- sent before need `again`. The result has the outcome of each: released, changed (since it was read), missing (an answer that
-- it quotes is blank), long (longer than a letter may be once it is filled in), again, or gone. The same act again changes
-- nothing. Where only an automation carries letters, what it was told beside a mail that was stopped was sent before, too.
create function public.desk_release(
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
create function public.desk_withdraw(letters uuid[] default null, act uuid default null) returns jsonb
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

-- Lets letters leave that were refused or given up, for the decision that stands.
create function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  perform private.check_number(letters);
  return jsonb_build_object('retried', private.retry(letters));
end
$$;

-- Notes that an organiser sent a draft from their own mail program.
create function public.desk_sent_by_hand(letter uuid, seen text) returns jsonb
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

-- Sends a letter that did not arrive to another address, where all letters to this applicant go from then on. It can be
-- stopped, as when it was released.
create function public.desk_readdress(act uuid, letter uuid, address text) returns jsonb
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
    insert into private.addresses (application_id, address) values (failed.application_id, desk_readdress.address)
      on conflict (application_id) do update set address = excluded.address;
    perform private.move(array[failed.id], 'waiting', due => now() + (select hold from private.letter_settings));
  end if;
  return private.letters_shown(array[failed.id], false) -> 0;
end
$$;

-- Notes that applicants were told without the letters that did not arrive. The result counts these letters.
create function public.desk_settle(letters uuid[]) returns jsonb
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

-- Stops all letters, or lets them leave again.
create function public.desk_stop(stopped boolean) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if desk_stop.stopped is null then
    raise exception 'Letters are stopped or not.' using errcode = '22023';
  end if;
  update private.postman set stopped = desk_stop.stopped where postman.stopped <> desk_stop.stopped;
  if found then perform private.write_down_letters(me.email, jsonb_build_object('stopped', desk_stop.stopped)); end if;
  return jsonb_build_object('stopped', desk_stop.stopped);
end
$$;

-- Asks a server to check the mail server and the sender's domain; `desk_letters` has what it found. Whoever asks during a check
-- gets the result of that check.
create function public.desk_check_mail() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.caller();
  update private.postman set check_wanted_at = now()
    where check_wanted_at not between now() - interval '10 seconds' and now();
  return jsonb_build_object('is_checking', true);
end
$$;

-- Sets the address for answers.
create function public.desk_set_letters(version integer, reply_to text, receipts boolean default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  former private.letter_settings;
  kept private.letter_settings;
begin
  if char_length(reply_to) > 254
    or coalesce(reply_to, '') !~ '^([^][[:cntrl:][:space:]<>()@,;:"\\]+@[^][[:cntrl:][:space:]<>()@,;:"\\]+)?$'
  then
    raise exception 'The address for answers is one e-mail address, or blank.' using errcode = '22023';
  end if;
  select * into former from private.letter_settings for update;
  kept := former;
  kept.version := desk_set_letters.version + 1;
  kept.reply_to := coalesce(desk_set_letters.reply_to, '');
  kept.receipts := coalesce(desk_set_letters.receipts, former.receipts);
  if former.version = desk_set_letters.version then
    update private.letter_settings as settings
      set version = kept.version, reply_to = kept.reply_to, receipts = kept.receipts;
    if kept.reply_to <> former.reply_to then
      perform private.write_down_letters(me.email, jsonb_build_object('reply_to', kept.reply_to));
    end if;
    if kept.receipts <> former.receipts then
      perform private.write_down_letters(me.email, jsonb_build_object('receipts', kept.receipts));
    end if;
  elsif kept is distinct from former then
    raise exception 'Somebody else changed this meanwhile.' using errcode = 'PT409';
  end if;
  return jsonb_build_object('version', kept.version, 'reply_to', kept.reply_to, 'receipts', kept.receipts);
end
$$;
