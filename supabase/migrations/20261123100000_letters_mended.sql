-- Letters, mended: one order of locks, stopped letters that follow their template again, letters that did not arrive and
-- are sent to another address or told otherwise, answers that are true of a call that comes twice, bounds for what is
-- filled in, and lists of what who reads blind may see.

alter table private.letters
  -- Counts the changes of a draft.
  add column version integer not null default 0,
  -- Whether it was released as its template had it: stopped, it follows the template again.
  add column from_template boolean not null default false,
  -- Who stopped it, or took the draft away; null where another decision did.
  add column withdrawn_by text;

-- `address`: where letters to this applicant go from then on. `told`: a letter that did not arrive is told otherwise.
alter table private.history drop constraint history_kind_check;
alter table private.history add constraint history_kind_check
  check (kind in ('status', 'note', 'revealed', 'erased', 'blind', 'door', 'letters', 'address', 'told'));

-- Locks -----------------------------------------------------------------------------------------------------------

-- Whoever acts on letters locks templates, then applications, then their statuses, each in one order, before any
-- letter. So one at a time acts on the letters of an application, and in which order they are locked is nobody's matter.
create function private.lock_for_letters(applications uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from public.retreat_applications where id = any (applications) order by id for no key update;
  perform from private.statuses where application_id = any (applications) order by application_id for share;
end
$$;

-- The same by letters, and of their templates, which nobody removes meanwhile.
create function private.lock_letters(letters uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform from private.templates where occasion in (select occasion from private.letters where id = any (lock_letters.letters))
    order by occasion for key share;
  perform private.lock_for_letters(array(select application_id from private.letters where id = any (lock_letters.letters)));
  perform from private.letters where id = any (lock_letters.letters) order by id for update;
end
$$;

-- Refuses more than anybody acts on at once.
create function private.check_number(given uuid[]) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if cardinality(given) > 1000 then
    raise exception 'At most 1,000 letters are acted on at once.' using errcode = '22023';
  end if;
end
$$;

-- Sets statuses, each of them only where the application still stands as whoever decides saw it. `decisions` is an
-- array of {id, status, version, takes_back}; what comes back says of each what became of it: kept, stale (with who did
-- what meanwhile), told (it takes a decision back of which a letter has left), or gone. The same act again changes
-- nothing.
create or replace function public.desk_decide(act uuid, decisions jsonb) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  decision record;
  application record;
  standing private.statuses;
  outcome text;
  last_change record;
  outcomes jsonb := '[]';
begin
  if jsonb_array_length(decisions) > 1000 then
    raise exception 'At most 1,000 applications are decided at once.' using errcode = '22023';
  end if;
  -- In one order, so that two who decide at the same time wait for each other and not in a circle.
  for decision in
    select distinct on (id) id, status, version, takes_back
    from jsonb_to_recordset(decisions) as sent (id uuid, status text, version integer, takes_back boolean) order by id
  loop
    select id, created_at into application
      from public.retreat_applications where id = decision.id for no key update;
    if not found then
      outcomes := outcomes || jsonb_build_object('id', decision.id, 'outcome', 'gone');
      continue;
    end if;
    insert into private.statuses (application_id, created_at, status, version)
      values (application.id, application.created_at, 'new', 0) on conflict do nothing;
    select * into standing from private.statuses where application_id = application.id for update;
    select author, at, history.act into last_change
      from private.history where application_id = application.id and kind = 'status' order by id desc limit 1;
    if last_change.act = desk_decide.act and decision.status = standing.status then
      outcome := 'kept';
    elsif decision.version is distinct from standing.version then
      outcome := 'stale';
    elsif decision.takes_back and exists (
      select from private.letters
      where application_id = application.id and occasion = standing.status and state in ('sending', 'sent')
    ) then
      outcome := 'told';
    else
      outcome := 'kept';
      if decision.status is distinct from standing.status then
        insert into private.history (application_id, act, author, kind, detail) values (
          application.id, desk_decide.act, me.email, 'status',
          jsonb_build_object('status', decision.status, 'former', standing.status)
        ) returning author, at, history.act into last_change;
        update private.statuses set status = decision.status, version = standing.version + 1
          where application_id = application.id returning * into standing;
      end if;
    end if;
    outcomes := outcomes || jsonb_build_object(
      'id', application.id, 'outcome', outcome, 'status', standing.status, 'version', standing.version,
      'author', last_change.author, 'at', last_change.at
    );
  end loop;
  return outcomes;
end
$$;

-- Writes the day's mails that are due, for organisers who were not told of all that came since the last.
create or replace function private.write_day_notices() returns void
  language sql set search_path = ''
  begin atomic
    with due as (
      -- What is being stored this moment comes in the next one.
      select account_id, told_until, now() - interval '1 minute' as until from private.organisers
      where notices <> 'off' and day_due_at <= now() for no key update skip locked
    ), told as (
      update private.organisers as organiser set told_until = due.until,
        day_due_at = day_due_at + ceil(extract(epoch from now() - day_due_at) / 86400 + 0.00001) * interval '1 day'
      from due where organiser.account_id = due.account_id
    )
    insert into private.notices (organiser_id, since, until)
      select account_id, told_until, until from due
      where exists (
        select from public.retreat_applications as application
        where created_at > told_until and created_at <= until and not exists (
          select from private.notices as notice
          where organiser_id = account_id and application_id = application.id and due_at is null
        )
      );
  end;

-- Texts -----------------------------------------------------------------------------------------------------------

-- The answers that a letter may quote, by their placeholders, as the applicant read them. Who reads blind is shown those
-- of the choices and the reason, and of the others whether they are blank.
create or replace function private.placeholders(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(name, case
    when blind and name not in ('paid_solution', 'custom_solution', 'team_size', 'reason')
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

drop function private.fill(text, jsonb);
-- Fills a text in one pass: what an applicant wrote is never read as a placeholder. Says which placeholders there are
-- no answers to (`missing`), and which there are none of (`unknown`), stray braces included. What would be longer than
-- `most` characters is cut, and said to be too long: a template may quote a long answer many times.
create function private.fill(
  given text, answers jsonb, most integer default 20000,
  out filled text, out missing text[], out unknown text[], out is_long boolean
)
  language plpgsql immutable set search_path = ''
as $$
declare
  parts text[] := regexp_split_to_array(given, '\{\{[^{}]*\}\}');
  names text[] := array(
    select btrim(match[1]) from regexp_matches(given, '\{\{([^{}]*)\}\}', 'g') with ordinality as each_one (match, place)
    order by place
  );
begin
  filled := parts[1];
  missing := '{}';
  unknown := case
    when given ~ '\{\{\{|\}\}\}' or array_to_string(parts, ' ') ~ '\{\{|\}\}' then array['{{'] else '{}'
  end;
  for place in 1 .. cardinality(names) loop
    if not answers ? names[place] then
      unknown := unknown || left(names[place], 100);
    elsif answers ->> names[place] = '' then
      missing := missing || names[place];
    end if;
    -- What is cut anyway is not added to.
    if char_length(filled) <= most then
      filled := filled || coalesce(answers ->> names[place], '') || parts[place + 1];
    end if;
  end loop;
  is_long := char_length(filled) > most;
  filled := left(filled, most);
  missing := array(select distinct name from unnest(missing) as name order by name);
  unknown := array(select distinct name from unnest(unknown) as name order by name);
end
$$;

-- Subject and body for one application.
create or replace function private.filled(
  subject text, body text, application public.retreat_applications, blind boolean
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  answers jsonb := private.placeholders(application, blind);
  head record := private.fill(subject, answers, 1000);
  rest record := private.fill(body, answers);
  -- A subject is one line, whatever an applicant wrote.
  line text := btrim(regexp_replace(head.filled, '[[:cntrl:][:space:]\u0085\u2028\u2029]+', ' ', 'g'));
begin
  return jsonb_build_object(
    'subject', line, 'body', rest.filled,
    'is_long', head.is_long or rest.is_long,
    'missing', (select to_jsonb(array(select distinct unnest(head.missing || rest.missing) order by 1))),
    'unknown', (select to_jsonb(array(select distinct unnest(head.unknown || rest.unknown) order by 1)))
  );
end
$$;

-- A letter as it would be sent, or was. A draft's `seen` tells its text from others, by which whoever releases it says
-- what they read: of the template's text, which all organisers may read, a digest; of another, which may name somebody,
-- a number.
create or replace function private.letter_text(letter private.letters, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
  template private.templates;
  text jsonb;
begin
  select * into given from public.retreat_applications where id = letter.application_id;
  select * into template from private.templates where occasion = letter.occasion;
  if letter.subject is null then
    text := private.filled(template.subject, template.body, given, blind);
  else
    -- What was written to somebody names them.
    text := jsonb_build_object(
      'subject', case when blind then '(hidden)' else letter.subject end,
      'body', case when blind then '(hidden)' else letter.body end,
      'missing', '[]'::jsonb, 'unknown', '[]'::jsonb, 'is_long', false
    );
  end if;
  return text || jsonb_build_object('seen', case
    when letter.state <> 'draft' then ''
    when letter.subject is null then md5(template.subject || E'\n' || template.body)
    else letter.version::text
  end);
end
$$;

-- Where letters to an applicant go: to the address that they gave, or that somebody put in its place.
create function private.address_of(application uuid, given text) returns text
  language sql stable set search_path = ''
  begin atomic
    select coalesce((
      select detail ->> 'address' from private.history
      where application_id = application and kind = 'address' order by id desc limit 1
    ), given);
  end;

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
      -- Of what was sent it is ours: by hand, or told otherwise.
      'answer', case when not blind or letter.state = 'sent' then letter.answer else '' end
    ) order by place), '[]')
  from unnest(ids) with ordinality as shown (id, place)
    join private.letters as letter using (id)
    join public.retreat_applications as application on application.id = letter.application_id
$$;

-- What became of the letters of some applications, without their texts.
create or replace function public.desk_letter_states(applications uuid[]) returns jsonb
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
      'state', state, 'answer', case when state = 'sent' then answer else '' end) order by created_at, id), '[]')
    from private.letters
    where application_id = any (applications) and state not in ('draft', 'withdrawn')
  );
end
$$;

-- What a text is filled in for: an application, or the newest one where none is named; null where there is none.
create or replace function private.example(
  occasion text, subject text, body text, application uuid, blind boolean
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
begin
  if char_length(subject) > 200 or char_length(body) > 20000 then
    raise exception 'A letter has at most 20,000 characters, and its subject 200.' using errcode = '22023';
  end if;
  if application is null then
    select * into given from public.retreat_applications order by created_at desc, id desc limit 1;
  else
    select * into given from public.retreat_applications where id = application;
  end if;
  if given.id is null then return null; end if;
  return '{"is_long": false}' || case occasion
      when 'received' then private.receipt(subject, body, case when blind then '(hidden)' else given.first_name end)
      else private.filled(subject, body, given, blind)
    end || jsonb_build_object('application', given.id, 'name', case when not blind then
      btrim(left(given.first_name, 200) || ' ' || left(given.last_name, 200)) end);
end
$$;

-- Reading blind ---------------------------------------------------------------------------------------------------

-- An application as an organiser may see it: its answers, of which who reads blind is shown those that are named here,
-- where it stands, and whether its e-mail applied again.
create or replace function private.shown(application public.retreat_applications, blind boolean) returns jsonb
  language sql stable set search_path = ''
as $$
  select case
      when blind then jsonb_build_object(
        'id', application.id, 'created_at', application.created_at, 'paid_solution', application.paid_solution,
        'custom_solution', application.custom_solution, 'team_size', application.team_size,
        'reason', application.reason, 'consent', application.consent)
      else to_jsonb(application)
    end
    || jsonb_build_object(
      'status', coalesce(standing.status, 'new'),
      'version', coalesce(standing.version, 0),
      'same_email', not blind and exists (
        select from public.retreat_applications as other
        where md5(lower(other.email)) = md5(lower(application.email)) and other.id <> application.id
      )
    )
  from (values (application.id)) as one (id) left join private.statuses as standing on application_id = one.id
$$;

-- What happened as an organiser may see it: who reads blind reads of these kinds alone more than that it happened.
create function private.detail_shown(kind text, detail jsonb, blind boolean) returns jsonb
  language sql immutable set search_path = ''
  return case when not blind or kind in ('status', 'note', 'revealed', 'told') then detail else '{}' end;

-- One application with everything that is known of it.
create or replace function private.whole(application uuid, blind boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  given public.retreat_applications;
begin
  select * into given from public.retreat_applications where id = application;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  return jsonb_build_object(
    'application', private.shown(given, blind),
    'history', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'act', act, 'at', at, 'author', author, 'kind', kind,
        'detail', private.detail_shown(kind, detail, blind)) order by id), '[]')
      from private.history where application_id = application
    ),
    'delivery', (
      select jsonb_build_object('delivered_at', delivered_at, 'attempts', attempts, 'last_status', last_status,
        'next_attempt_at', next_attempt_at)
      from private.webhook_outbox where application_id = application
    ),
    'others', case when blind then '[]' else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'created_at', created_at, 'company', left(company, 200), 'status', status)), '[]')
      from (
        select id, other.created_at, company, coalesce(standing.status, 'new') as status
        from public.retreat_applications as other left join private.statuses as standing on application_id = id
        where md5(lower(email)) = md5(lower(given.email)) and id <> application
        order by other.created_at desc, id desc limit 100
      ) as other
    ) end
  );
end
$$;

-- Acts on letters -------------------------------------------------------------------------------------------------

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

-- Removes a template that organisers made, and its drafts.
create or replace function public.desk_remove_template(occasion text, version integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  drafts uuid[];
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

-- Drafts letters of an occasion; `again` also where one was sent. What comes back says of each what became of it:
-- drafted, written (there is a draft or a letter, in this state), undecided (another decision stands) or gone.
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
        when occasion in ('accepted', 'waitlisted', 'declined') and occasion is distinct from standing then 'undecided'
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
  perform private.lock_letters(array[desk_edit.letter]);
  select * into draft from private.letters where id = desk_edit.letter and state = 'draft';
  if not found or private.letter_text(draft, false) ->> 'seen' <> seen then
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

-- Takes drafts away. A new decision makes one again. What comes back counts those that somebody took away.
create or replace function public.desk_discard(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  update private.letters set state = 'withdrawn', withdrawn_at = now(), withdrawn_by = me.email
    where id = any (desk_discard.letters) and state = 'draft';
  return (
    select jsonb_build_object('discarded', count(*)) from private.letters
    where id = any (desk_discard.letters) and released_at is null and withdrawn_by is not null
  );
end
$$;

-- Who reads a letter needs no receipt any more.
create function private.withdraw_receipt(application uuid) returns void
  language sql set search_path = ''
  begin atomic
    update private.letters set state = 'withdrawn', withdrawn_at = now(), due_at = null
      where application_id = application and occasion = 'received' and state = 'waiting';
  end;

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
      when letter.occasion = any (decisions) and letter.occasion is distinct from standing.status then 'gone'
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
      if is_postman_there and is_automation_there and letter.occasion = any (decisions) then
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
    update private.letters set state = 'withdrawn', withdrawn_at = now(), withdrawn_by = me.email, due_at = null
      where id = letter.id;
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

-- Lets letters leave that were refused or given up, for the decision that stands; no receipt that is older than a day.
-- What comes back counts those that are on their way, or arrived.
create function private.retry(wanted uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
begin
  perform private.lock_letters(wanted);
  update private.letters set state = 'waiting', attempts = 0, due_at = now(), answer = ''
    where id = any (wanted) and state in ('refused', 'given up')
      and (occasion <> 'received' or released_at > now() - interval '1 day');
  return (select count(*) from private.letters where id = any (wanted) and state in ('waiting', 'sending', 'sent'));
end
$$;

create or replace function public.desk_retry(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  return jsonb_build_object('retried', private.retry(letters));
end
$$;

-- Lets a letter that did not arrive leave to another address, where all letters to this applicant go from then on. It
-- can be stopped, as when it was released.
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
    update private.letters set state = 'waiting', attempts = 0, answer = '',
      due_at = now() + (select hold from private.letter_settings) where id = failed.id;
  end if;
  return private.letters_shown(array[failed.id], false) -> 0;
end
$$;

-- Notes that what letters say that did not arrive was told otherwise. What comes back counts those of which it is noted.
create function public.desk_settle(letters uuid[]) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
begin
  perform private.check_number(letters);
  perform private.lock_letters(letters);
  with settled as (
    update private.letters set state = 'sent', sent_at = now(), due_at = null, answer = 'told otherwise'
      where id = any (desk_settle.letters) and state in ('refused', 'given up')
      returning application_id, occasion, way
  )
  insert into private.history (application_id, author, kind, detail)
    select application_id, me.email, 'told', jsonb_build_object('occasion', occasion, 'way', way) from settled;
  return (
    select jsonb_build_object('settled', count(*)) from private.letters
    where id = any (desk_settle.letters) and state = 'sent' and answer = 'told otherwise'
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
  if draft.state = 'sent' and draft.answer = 'sent by hand' and draft.author = me.email then
    -- Sent again, because its answer was lost.
    return private.letters_shown(array[draft.id], false) -> 0;
  end if;
  select status into standing from private.statuses where application_id = draft.application_id;
  text := private.letter_text(draft, false);
  if draft.state is distinct from 'draft' or text ->> 'seen' <> seen
    or (draft.occasion in ('accepted', 'waitlisted', 'declined') and draft.occasion is distinct from standing)
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

drop function public.desk_send_test(text, text, uuid, text);
-- Sends a text to whoever calls, filled in for an application as it would be for its applicant. The same act again
-- sends nothing more.
create function public.desk_send_test(
  subject text, body text, application uuid default null, occasion text default null,
  act uuid default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  text jsonb;
begin
  perform private.check_template(occasion, subject, body);
  if not exists (select from private.postman where seen_at > now() - interval '1 minute') then
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  end if;
  text := private.example(occasion, subject, body, application, me.blind);
  if text is null then
    raise exception 'There is no application to fill it with yet.' using errcode = '22023';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'Filled in, this letter is longer than a letter may be.' using errcode = '22023';
  end if;
  -- Whoever calls twice at the same moment is counted one after the other.
  perform from private.organisers where account_id = auth.uid() for no key update;
  if exists (select from private.notices as test where id = act and organiser_id = auth.uid()) then
    return jsonb_build_object('to', me.email);
  elsif (
    select count(*) from private.notices as test
    where organiser_id = auth.uid() and test.body is not null
      and created_at > now() - interval '1 hour' and created_at <= clock_timestamp()
  ) >= 20 then
    raise exception 'At most twenty tests an hour.' using errcode = 'PT429';
  end if;
  insert into private.notices (id, organiser_id, example_id, subject, body)
    values (coalesce(act, gen_random_uuid()), auth.uid(), (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;

revoke all on function
  private.lock_for_letters(uuid[]), private.lock_letters(uuid[]), private.check_number(uuid[]),
  private.fill(text, jsonb, integer), private.address_of(uuid, text), private.detail_shown(text, jsonb, boolean),
  private.withdraw_receipt(uuid), private.retry(uuid[])
  from public;
revoke all on function
  public.desk_readdress(uuid, uuid, text), public.desk_settle(uuid[]),
  public.desk_send_test(text, text, uuid, text, uuid)
  from public, anon, authenticated;
grant execute on function
  public.desk_readdress(uuid, uuid, text), public.desk_settle(uuid[]),
  public.desk_send_test(text, text, uuid, text, uuid)
  to authenticated;
