-- The receipt's template, which stays; decisions that an automation is told, beside the letter or in its place; and an
-- hour's total for what leaves by itself. A function that stands in an older migration too does what it says here.

insert into private.templates (occasion, subject, body) values
  ('received', 'We have your application', 'Hello {{first_name}},

thank you for your application to Unplugged. We have it, and we will get back to you soon.

The organisers of Unplugged.')
  -- Somebody may have made one of this name.
  on conflict do nothing;

alter table private.letter_settings
  -- Whether whoever applies is sent a receipt.
  add column receipts boolean not null default false;

alter table private.postman
  -- When a server was last at work that tells an automation of decisions.
  add column automation_seen_at timestamptz not null default '-infinity',
  -- How many receipts and notices were begun in the hour from then on.
  add column hour_began_at timestamptz not null default '-infinity',
  add column in_hour integer not null default 0;

alter table private.letters
  -- By the automation where a server tells it of decisions: beside the letter, or in its place.
  add column way text not null default 'mail' check (way in ('mail', 'automation')),
  -- Of a receipt: whose it is, however the address was written.
  add column mailbox text;
drop index private.letters_once, private.letters_due;
create unique index letters_once on private.letters (application_id, occasion, edition, way)
  where state <> 'withdrawn';
create index letters_due on private.letters (way, (occasion = 'received'), due_at) where state in ('waiting', 'sending');
create index letters_waiting on private.letters (released_at desc, id desc) where state in ('waiting', 'sending');
create index letters_mailbox on private.letters (mailbox, released_at) where mailbox is not null;

-- Whether a letter is what an applicant was written: by mail, or where there was none by the automation.
create function private.is_to_applicant(letter private.letters) returns boolean
  language sql stable set search_path = ''
as $$
  select letter.way = 'mail' or not exists (
    select from private.letters as mail
    where mail.application_id = letter.application_id and mail.act = letter.act and mail.way = 'mail'
  )
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
      and letter.occasion in ('accepted', 'waitlisted', 'declined')
    order by coalesce(sent_at, withdrawn_at, released_at) desc limit 1;
  if not again and former is not null and (
    told = draft.occasion or draft.occasion not in ('accepted', 'waitlisted', 'declined')
  ) then
    return null;
  end if;
  -- An automation that was told something else since is told anew.
  select max(edition) filter (where letter.occasion = draft.occasion),
      (array_agg(letter.occasion order by sent_at desc))[1] into told_before, told_last
    from private.letters as letter
    where application_id = application and way = 'automation' and state = 'sent';
  if told_last <> draft.occasion then former := greatest(former, told_before); end if;
  update private.letters set state = 'draft', withdrawn_at = null, edition = coalesce(former, 0) + 1
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
  if new.status in ('accepted', 'waitlisted', 'declined') then
    perform private.draft(new.application_id, new.status);
  end if;
  return null;
end
$$;

-- The answers that a letter may quote, by their placeholders, as the applicant read them; hidden from who reads blind, who
-- is told that one is blank.
create or replace function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and name in ('first_name', 'last_name', 'email', 'phone', 'linkedin', 'company')
      and btrim(answer, E' \t\r\n') <> '' then '(hidden)'
    else btrim(answer, E' \t\r\n') end)
  from (values
    ('first_name', application.first_name), ('last_name', application.last_name), ('email', application.email),
    ('phone', application.phone), ('linkedin', application.linkedin), ('company', application.company),
    ('paid_solution', case application.paid_solution
      when 'not' then 'I have not' when 'screen' then 'Yes, screen time related'
      when 'travel' then 'Yes, travel related' when 'work' then 'Yes, work or team related'
      when 'custom' then 'Custom' else '' end),
    ('custom_solution', application.custom_solution),
    ('team_size', case application.team_size when 'just-me' then 'Just me' else application.team_size end),
    ('reason', application.reason)
  ) as answers (name, answer)
$$;

-- A receipt's subject and body. Whoever fills in the form may give a stranger's address: nothing of what they wrote
-- goes there but a first name that is one. Where it is none, it is left out with the blank before it.
create function private.receipt(subject text, body text, first_name text) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  name text := btrim(first_name);
  is_name boolean := name <> '' and char_length(name) <= 40
    -- Nothing that a mail program makes a link of, nor what turns the writing round.
    and name !~ '[[:cntrl:].:/\\@<>\u0085\u2024\u2028-\u202e\u2066-\u2069\u3002\uff0e\uff0f\uff1a\uff61]'
    and name !~* '^www';
  head record;
  rest record;
begin
  if not is_name then
    subject := regexp_replace(subject, '[ \t]*\{\{\s*first_name\s*\}\}', '', 'g');
    body := regexp_replace(body, '[ \t]*\{\{\s*first_name\s*\}\}', '', 'g');
  end if;
  head := private.fill(subject, jsonb_build_object('first_name', name));
  rest := private.fill(body, jsonb_build_object('first_name', name));
  return jsonb_build_object('subject', btrim(head.filled), 'body', rest.filled, 'missing', '[]'::jsonb,
    'unknown', to_jsonb(array(select distinct unnest(head.unknown || rest.unknown) order by 1)));
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
      'to', case when not blind then application.email end,
      'name', case when not blind then
        btrim(left(application.first_name, 200) || ' ' || left(application.last_name, 200)) end,
      'author', letter.author, 'act', letter.act, 'released_at', letter.released_at, 'due_at', letter.due_at,
      'attempts', letter.attempts, 'uncertain', letter.uncertain, 'sent_at', letter.sent_at,
      'withdrawn_at', letter.withdrawn_at, 'answer', case when blind then '' else letter.answer end
    ) order by place), '[]')
  from unnest(ids) with ordinality as shown (id, place)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

-- What became of the letters of some applications, without their texts.
create function public.desk_letter_states(applications uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 applications are asked for at once.' using errcode = '22023';
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('application', application_id, 'occasion', occasion, 'way', way,
      'state', state) order by created_at, id), '[]')
    from private.letters
    where application_id = any (applications) and state not in ('draft', 'withdrawn')
  );
end
$$;

-- How it stands with the letters: whom a decision waits for, what does not arrive, and whether anybody carries them.
-- Counted up to a thousand, as applications are.
create or replace function public.desk_letters() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return (
    select jsonb_build_object(
      'settings', (
        select jsonb_build_object('version', version, 'reply_to', reply_to, 'receipts', receipts,
          'hold_seconds', extract(epoch from hold)::integer)
        from private.letter_settings
      ),
      'postman', jsonb_build_object(
        'is_there', seen_at > now() - interval '1 minute',
        'is_automation_there', automation_seen_at > now() - interval '1 minute', 'stopped', stopped,
        'paused_until', case when paused_until > now() then paused_until end, 'problem', problem
      ),
      'templates', (
        select jsonb_agg(to_jsonb(template) || jsonb_build_object('drafts', (
          select jsonb_build_object('count', least(count(*), 1000), 'more', count(*) > 1000)
          from (
            select from private.letters as letter
            where state = 'draft' and letter.occasion = template.occasion limit 1001
          ) as counted
        )) order by array_position('{received,accepted,waitlisted,declined}', occasion), occasion)
        from private.templates as template
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
        select jsonb_object_agg(name, jsonb_build_object('count', least(count, 1000), 'more', count > 1000))
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

-- What a text is filled in for: an application, or the newest one where none is named; null where there is none.
create function private.example(
  occasion text, subject text, body text, application uuid, blind boolean
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
begin
  if application is null then
    select * into given from public.retreat_applications order by created_at desc, id desc limit 1;
  else
    select * into given from public.retreat_applications where id = application;
  end if;
  if given.id is null then return null; end if;
  return case occasion
      when 'received' then private.receipt(subject, body, case when blind then '(hidden)' else given.first_name end)
      else private.filled(subject, body, given, blind)
    end || jsonb_build_object('application', given.id, 'name', case when not blind then
      btrim(left(given.first_name, 200) || ' ' || left(given.last_name, 200)) end);
end
$$;

-- A text filled in for one application; for the newest one where none is named, null where there is none.
drop function public.desk_preview(text, text, uuid);
create function public.desk_preview(
  subject text, body text, application uuid default null, occasion text default null
) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  return private.example(occasion, subject, body, application, me.blind);
end
$$;

-- Refuses what is no template.
create function private.check_template(occasion text, subject text, body text) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(null::public.retreat_applications, false);
  unknown text;
begin
  perform private.check_text(subject, body);
  if occasion = 'received' then answers := '{"first_name": ""}'; end if;
  select min(name) into unknown
    from unnest((private.fill(subject, answers)).unknown || (private.fill(body, answers)).unknown) as name;
  if unknown is not null then
    raise exception 'There is no placeholder %.', case unknown when '{{' then 'that begins or ends like this: {{ }}'
      else '{{' || unknown || '}}' || case occasion when 'received' then ' in a receipt' else '' end end
      using errcode = '22023';
  end if;
end
$$;

-- Changes a template, or makes one of a new occasion (version null). Drafts that nobody edited follow it.
create or replace function public.desk_set_template(occasion text, version integer, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  kept private.templates;
begin
  if coalesce(occasion, '') !~ '^[^[:cntrl:]]{1,60}$' or occasion <> btrim(occasion) then
    raise exception 'An occasion has a name of 1 to 60 characters.' using errcode = '22023';
  end if;
  perform private.check_template(occasion, subject, body);
  if version is null then
    insert into private.templates as template (occasion, subject, body)
      values (desk_set_template.occasion, desk_set_template.subject, desk_set_template.body)
      on conflict do nothing returning * into kept;
  else
    update private.templates as template
      set subject = desk_set_template.subject, body = desk_set_template.body, version = template.version + 1
      where template.occasion = desk_set_template.occasion and template.version = desk_set_template.version
      returning * into kept;
  end if;
  if kept.occasion is null then
    -- Sent again, because its answer was lost.
    select * into kept from private.templates as template
      where template.occasion = desk_set_template.occasion
        and template.version = coalesce(desk_set_template.version + 1, 0)
        and template.subject = desk_set_template.subject and template.body = desk_set_template.body;
    if not found then
      raise exception 'Somebody else changed this template meanwhile.' using errcode = 'PT409';
    end if;
    return to_jsonb(kept);
  end if;
  perform private.write_down_letters(me.email, jsonb_build_object('template', occasion));
  return to_jsonb(kept);
end
$$;

-- Removes a template that organisers made, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  if occasion in ('received', 'accepted', 'waitlisted', 'declined') then
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
  -- In the order in which they are decided.
  with drafts as (
    select id from private.letters as letter
    where letter.occasion = desk_remove_template.occasion and state = 'draft'
    order by application_id, id for update
  )
  update private.letters as letter set state = 'withdrawn', withdrawn_at = now() from drafts where letter.id = drafts.id;
  perform private.write_down_letters(me.email, jsonb_build_object('removed', occasion));
  return jsonb_build_object('removed', true);
end
$$;

-- Drafts letters of an occasion; `again` also where one was sent. What comes back says of each what became of it:
-- drafted, written (there is a draft or a letter), undecided (another decision stands) or gone.
create or replace function public.desk_write(applications uuid[], occasion text, again boolean default false) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  application uuid;
  standing text;
  outcome text;
  outcomes jsonb := '[]';
begin
  if cardinality(applications) > 1000 then
    raise exception 'At most 1,000 letters are drafted at once.' using errcode = '22023';
  elsif not exists (select from private.templates as template where template.occasion = desk_write.occasion) then
    raise exception 'There is no template of this name.' using errcode = '22023';
  elsif occasion = 'received' then
    raise exception 'A receipt goes by itself, and to nobody else.' using errcode = '22023';
  end if;
  -- In the order in which they are decided.
  for application in select distinct unnest(applications) as id order by id loop
    perform from public.retreat_applications where id = application for no key update;
    outcome := case when not found then 'gone' end;
    if outcome is null then
      select status into standing from private.statuses where application_id = application for share;
      outcome := case
        when occasion in ('accepted', 'waitlisted', 'declined') and occasion is distinct from standing then 'undecided'
        when private.draft(application, occasion, coalesce(again, false)) is null then 'written'
        else 'drafted'
      end;
    end if;
    outcomes := outcomes || jsonb_build_object('application', application, 'outcome', outcome);
  end loop;
  return outcomes;
end
$$;

-- Changes one draft; blank for both makes it as the template has it again. `seen` is what whoever edits read.
create or replace function public.desk_edit(letter uuid, seen text, subject text, body text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  draft private.letters;
begin
  if me.blind then
    raise exception 'Who reads blind edits no letter.' using errcode = '22023';
  elsif subject <> '' or body <> '' then
    perform private.check_text(subject, body);
    -- It is sent as it stands.
    if (subject || body) ~ '\{\{|\}\}' then
      raise exception 'In a letter to one person there are no placeholders: write what is to stand there.'
        using errcode = '22023';
    end if;
  end if;
  select * into draft from private.letters where id = desk_edit.letter and state = 'draft' for update;
  if not found or private.letter_text(draft, false) ->> 'seen' <> seen then
    -- Sent again, because its answer was lost.
    if draft.subject = desk_edit.subject and draft.body = desk_edit.body then
      return private.letters_shown(array[draft.id], false) -> 0;
    end if;
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set subject = nullif(desk_edit.subject, ''), body = nullif(desk_edit.body, '')
    where id = draft.id;
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

-- Releases drafts, an array of {id, seen}: they leave when a minute is over. More than thirty only by their number,
-- what was sent before only by `again`. What comes back says of each what became of it: released, changed (since it
-- was read), missing (an answer that it quotes is blank), again, or gone. The same act again changes nothing.
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
  outcomes jsonb := '[]';
  is_postman_there boolean;
  is_automation_there boolean;
  decisions constant text[] := '{accepted,waitlisted,declined}';
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
      and draft.occasion <> all (decisions)
  ) then
    raise exception 'Only decisions are told to the automation, and no server with a mail server is at work.'
      using errcode = 'PT409';
  end if;
  -- In the order in which they are decided: whoever decides meanwhile comes first, or withdraws what was released.
  for sent in
    select distinct on (draft.application_id, wanted.id) wanted.id, draft.application_id, wanted.seen
    from jsonb_to_recordset(letters) as wanted (id uuid, seen text) left join private.letters as draft using (id)
    order by draft.application_id, wanted.id
  loop
    -- First, as whoever erases does.
    perform from public.retreat_applications where id = sent.application_id for key share;
    select version, status into standing from private.statuses where application_id = sent.application_id for share;
    select * into letter from private.letters where id = sent.id for update;
    text := case when letter.id is not null then private.letter_text(letter, me.blind) end;
    outcome := case
      when letter.act = desk_release.act and letter.state in ('waiting', 'sending', 'sent') then 'released'
      when letter.state is distinct from 'draft' then 'gone'
      when letter.occasion = any (decisions) and letter.occasion is distinct from standing.status then 'gone'
      when text ->> 'seen' is distinct from sent.seen then 'changed'
      when text -> 'missing' <> '[]' or text -> 'unknown' <> '[]' then 'missing'
      when letter.edition > 1 and not coalesce(again, false) then 'again'
    end;
    if outcome is null then
      if me.blind then text := private.letter_text(letter, false); end if;
      update private.letters set state = 'waiting', subject = text ->> 'subject', body = text ->> 'body',
        way = case when is_postman_there then 'mail' else 'automation' end,
        author = me.email, act = desk_release.act, status_version = coalesce(standing.version, 0),
        released_at = now(), due_at = now() + (select hold from private.letter_settings)
        where id = letter.id;
      if is_postman_there and is_automation_there and letter.occasion = any (decisions) then
        insert into private.letters (application_id, occasion, edition, way, state, subject, body, author, act,
            status_version, released_at, due_at)
          select application_id, released.occasion, edition, 'automation', state, subject, body, author, released.act,
            status_version, released_at, due_at
          from private.letters as released where id = letter.id
          on conflict do nothing;
      end if;
      -- Who reads a letter needs no receipt any more.
      update private.letters set state = 'withdrawn', withdrawn_at = now(), due_at = null
        where application_id = letter.application_id and occasion = 'received' and state = 'waiting';
      outcome := 'released';
    end if;
    outcomes := outcomes || jsonb_build_object('id', sent.id, 'application', sent.application_id, 'outcome', outcome);
  end loop;
  return outcomes;
end
$$;

-- Stops letters, or all of one act: they are drafts again, as they were released, and no automation is told any more.
-- What has left has left. What comes back counts letters.
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
  withdrawn uuid[] := '{}';
  left_already uuid[] := '{}';
begin
  -- First, as whoever erases does, and then as whoever decides.
  perform from public.retreat_applications
    where id in (select application_id from private.letters where id = any (wanted)) order by id for key share;
  perform from private.statuses
    where application_id in (select application_id from private.letters where id = any (wanted))
    order by application_id for share;
  for letter in
    select * from private.letters where id = any (wanted) and state in ('waiting', 'sending', 'sent')
    order by application_id, id for update
  loop
    if letter.state <> 'waiting' then
      if private.is_to_applicant(letter) then left_already := left_already || letter.application_id; end if;
      continue;
    end if;
    update private.letters set state = 'withdrawn', withdrawn_at = now(), due_at = null where id = letter.id;
    if private.is_to_applicant(letter) then withdrawn := withdrawn || letter.application_id; end if;
    if letter.occasion <> 'received' then
      draft := private.draft(letter.application_id, letter.occasion, letter.edition > 1);
      update private.letters set subject = letter.subject, body = letter.body where id = draft;
    end if;
  end loop;
  return (select jsonb_build_object(
    'withdrawn', count(distinct application) filter (where application <> all (left_already)),
    'left', count(distinct application) filter (where application = any (left_already)))
    from unnest(withdrawn || left_already) as application);
end
$$;

-- Lets letters leave that were refused or given up, for the decision that stands.
create or replace function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  retried integer;
begin
  with failed as (
    select id from private.letters where id = any (desk_retry.letters) and state in ('refused', 'given up')
      -- Older receipts are sent to nobody.
      and (occasion <> 'received' or released_at > now() - interval '1 day')
    order by application_id, id for update
  )
  update private.letters as letter set state = 'waiting', attempts = 0, due_at = now(), answer = ''
    from failed where letter.id = failed.id;
  get diagnostics retried = row_count;
  return jsonb_build_object('retried', retried);
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
  -- In the order in which they are decided.
  perform from public.retreat_applications
    where id = (select application_id from private.letters where id = desk_sent_by_hand.letter) for key share;
  select status into standing from private.statuses
    where application_id = (select application_id from private.letters where id = desk_sent_by_hand.letter) for share;
  select * into draft from private.letters where id = desk_sent_by_hand.letter and state = 'draft' for update;
  text := private.letter_text(draft, false);
  if draft.id is null or text ->> 'seen' <> seen
    or (draft.occasion in ('accepted', 'waitlisted', 'declined') and draft.occasion is distinct from standing)
  then
    raise exception 'This draft has changed meanwhile.' using errcode = 'PT409';
  end if;
  update private.letters set state = 'sent', subject = text ->> 'subject', body = text ->> 'body', author = me.email,
    released_at = now(), sent_at = now(), answer = 'sent by hand' where id = draft.id;
  return private.letters_shown(array[draft.id], false) -> 0;
end
$$;

-- Says where answers go, and whether receipts are sent (null: as before).
drop function public.desk_set_letters(integer, text);
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

revoke all on function
  private.receipt(text, text, text), private.example(text, text, text, uuid, boolean),
  private.check_template(text, text, text), private.is_to_applicant(private.letters)
  from public;
revoke all on function
  public.desk_letter_states(uuid[]), public.desk_preview(text, text, uuid, text),
  public.desk_set_letters(integer, text, boolean)
  from public, anon, authenticated;
grant execute on function
  public.desk_letter_states(uuid[]), public.desk_preview(text, text, uuid, text),
  public.desk_set_letters(integer, text, boolean)
  to authenticated;
